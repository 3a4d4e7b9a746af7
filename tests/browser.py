"""A real Chromium for tests of the pages, without anything that it would ask of the network.

Run as ``python -m tests.browser`` it sees to it that there is one, and a terminal (tmux) for tests of the screen. What
the environment may say:

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
    """Install Debian's packages of a browser and a terminal where they are not there and that can be done."""
    for package, found in (("chromium", program), ("tmux", terminal)):
        if not found() and not os.geteuid() and shutil.which("apt-get"):
            _install(package)
            program.cache_clear()
    missing = [name for name, found in (("Chromium", program()), ("tmux", terminal())) if not found]
    for name in missing:
        print(f"{name}: not found; its tests will be skipped.", file=sys.stderr)
    if missing:
        return 1 if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS") else 0
    print(f"Chromium: {program()}; tmux: {terminal()}")
    return 0


def terminal() -> str:
    """Return the program that the tests of the terminal's screen look through; empty where there is none."""
    return shutil.which("tmux") or ""


def _install(package: str) -> None:
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", package]):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
            return


if __name__ == "__main__":
    sys.exit(main())
