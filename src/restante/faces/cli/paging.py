"""``restante ui``, ``tui`` and ``desktop``: the page for people, a screen of the terminal, and the page in a window."""

from __future__ import annotations

import os
import sys

from restante.domain.errors import NothingThere, Refused
from restante.faces.cli.inputs import seconds_from
from restante.faces.cli.output import say

_SCREEN = "restante.faces.tui"
_WINDOW = "restante.faces.desktop"
# The directory of a command to which none was given.
_HERE = "."


def ui(wait: str | None, no_browser: bool, directory: str) -> None:
    """Open the page; where no server runs, become one and let a child open it."""
    from restante.wiring.opening import page_url

    try:
        url = page_url(os.environ, wait=seconds_from(wait) if wait else 0.0)
    except NothingThere:
        if wait:
            raise
        from restante.faces.cli.serving import serve

        serve(None, None, systemd=False, launchd=False, opens=True, directory=directory)
        return
    if no_browser or not _opened(url):
        say(f"open this in a browser within a minute: {url}")
    else:
        say(f"the page is open in your browser: {url.partition('/ui/')[0]}/ui/")


def tui(directory: str) -> None:
    """Show the screen in place of this process."""
    from importlib.util import find_spec

    from restante.wiring.opening import check_no_agent

    check_no_agent(os.environ, "the screen")
    if find_spec("textual") is None:
        raise Refused("the screen's parts are not installed", remedy="pip install 'restante[tui]'")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused("the screen needs a terminal", remedy="restante ls shows the same as lines")
    os.chdir(directory)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-I", "-m", _SCREEN])  # noqa: S606 - no shell is wanted


def desktop(directory: str) -> None:
    """Show the page in a window in place of this process; without a directory, what it showed last."""
    from importlib.util import find_spec

    from restante.wiring.opening import check_no_agent

    check_no_agent(os.environ, "the window")
    if find_spec("PySide6") is None:
        raise Refused("the window's parts are not installed", remedy="pip install 'restante[desktop]'")
    words = [] if directory == _HERE else [os.path.abspath(directory)]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-I", "-m", _WINDOW, *words])  # noqa: S606 - no shell is wanted


def _opened(url: str) -> bool:
    import webbrowser

    has_screen = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    # Without a screen a browser of the terminal would take the terminal over.
    return bool(has_screen) and webbrowser.open(url)
