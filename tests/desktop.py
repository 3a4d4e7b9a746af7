"""A screen, a window manager and Qt for tests of the window.

Run as ``python -m tests.desktop`` it sees to it that they are there. What the environment may say:

* ``RESTANTE_TEST_REQUIRE_PROGRAMS``: a part that cannot be had is a failure, not a reason to skip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = ("Xvfb", "openbox", "xdotool", "xprop", "dbus-daemon", "dbus-monitor")
SIZE = (1280, 900)
# Debian's packages: what the tests use, and what Qt's browser needs of the system (docs/howto/desktop.md).
TOOLS = ("xvfb", "openbox", "xdotool", "x11-utils", "dbus", "fonts-dejavu-core")
LIBRARIES = (
    *("libasound2", "libdbus-1-3", "libegl1", "libfontconfig1", "libgbm1", "libgl1", "libnss3", "libxcb-cursor0"),
    *("libxcb-icccm4", "libxcb-image0", "libxcb-keysyms1", "libxcb-randr0", "libxcb-render-util0", "libxcb-shape0"),
    *("libxcb-sync1", "libxcb-xkb1", "libxcomposite1", "libxdamage1", "libxkbcommon-x11-0", "libxkbfile1"),
    *("libxrandr2", "libxtst6"),
)

_LOCKED = Path(__file__).resolve().parents[1] / "requirements" / "desktop.txt"
_PATIENCE = 60


@cache
def missing() -> tuple[str, ...]:
    """Return what is not here."""
    found = [name for name in PROGRAMS if shutil.which(name) is None]
    if subprocess.run([sys.executable, "-c", "import PySide6.QtWebEngineWidgets"], capture_output=True).returncode:
        found.append("PySide6")
    return tuple(found)


def reason_to_skip() -> str:
    """Return why tests cannot have a window; empty when they can, or must."""
    if not missing() or os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS"):
        return ""
    return f"NOT TESTED: there is no {', '.join(missing())} here; python -m tests.desktop installs what can be had"


@contextmanager
def screen() -> Iterator[str]:
    """Run a screen with a window manager for a while; yields its name."""
    reader, writer = os.pipe()
    with tempfile.TemporaryDirectory(prefix="restante-screen-") as home:
        words = ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp"]
        server = subprocess.Popen(words, pass_fds=(writer,), stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()
        assert number, "the screen did not begin"
        environment = {"DISPLAY": f":{number}", "HOME": home, "PATH": os.environ["PATH"]}
        manager = subprocess.Popen(["openbox", "--sm-disable"], env=environment, stderr=subprocess.DEVNULL)
        try:
            yield environment["DISPLAY"]
        finally:
            for one in (manager, server):
                one.terminate()
                one.wait(_PATIENCE)


@contextmanager
def launcher(heard: Path) -> Iterator[str]:
    """Run what a desktop's launcher hears of badges by; yields its address.

    Args:
        heard: Where it is written what was heard.
    """
    words = ["dbus-daemon", "--session", "--print-address", "--nofork"]
    bus = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert bus.stdout is not None
    address = bus.stdout.readline().strip()
    words = ["dbus-monitor", "--address", address, "interface='com.canonical.Unity.LauncherEntry'"]
    with open(heard, "wb") as file:
        monitor = subprocess.Popen(words, stdout=file, stderr=subprocess.DEVNULL)
    try:
        yield address
    finally:
        for one in (monitor, bus):
            one.terminate()
            one.wait(_PATIENCE)
        bus.stdout.close()


def main() -> int:
    """Install what is missing where that can be done."""
    if "PySide6" in missing() or set(PROGRAMS) & set(missing()):
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "--require-hashes", "-r", str(_LOCKED)])
        if not os.geteuid() and shutil.which("apt-get"):
            _run(["apt-get", "update", "-qq"])
            _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *TOOLS, *LIBRARIES])
        missing.cache_clear()
    if not missing():
        print("the window: a screen and Qt are there")
        return 0
    print(f"{', '.join(missing())}: not found; the tests of the window will be skipped.", file=sys.stderr)
    return 1 if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS") else 0


def _run(words: list[str]) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"{' '.join(words[:4])}: {done.stderr.strip()}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
