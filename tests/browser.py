"""A real Chromium for tests of the pages, without anything that it would ask of the network.

Run as ``python -m tests.browser`` it sees to it that there is one. What the environment may say:

* ``RESTANTE_TEST_CHROMIUM``: the program;
* ``RESTANTE_TEST_SCREENSHOTS``: a directory where pictures of the pages are kept;
* ``RESTANTE_TEST_REQUIRE_PROGRAMS``: a program that cannot be had is a failure, not a reason to skip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PLACES = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
)


@cache
def program() -> str:
    """Return the program; empty where there is none."""
    named = os.environ.get("RESTANTE_TEST_CHROMIUM")
    found = (shutil.which(name) for name in _NAMES)
    return named or next((one for one in (*found, *filter(os.path.exists, _PLACES)) if one), "")


def reason_to_skip() -> str:
    """Return why tests cannot have a browser; empty when they can, or must."""
    if program() or os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS"):
        return ""
    return "NOT TESTED: there is no Chromium here; RESTANTE_TEST_CHROMIUM names it"


@contextmanager
def launched() -> Iterator[Browser]:
    """Run a browser for a while."""
    from playwright.sync_api import sync_playwright

    # Its own sandbox cannot be had by root.
    arguments = [*_QUIET, *(() if os.geteuid() else ("--no-sandbox",))]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def main() -> int:
    """Install Debian's package where there is no browser and that can be done; say what was found."""
    if not program() and not os.geteuid() and shutil.which("apt-get"):
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
            environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
                break
        program.cache_clear()
    if program():
        print(f"Chromium: {program()}")
        return 0
    print("Chromium: not found; its tests will be skipped. RESTANTE_TEST_CHROMIUM names it.", file=sys.stderr)
    return 1 if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS") else 0


if __name__ == "__main__":
    sys.exit(main())
