"""A person before a screen of their own, with the window of ``restante desktop``."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests import desktop
from tests.faces.desktop.devtools import DevTools

from restante.domain.message import Draft
from restante.domain.registry import Arrival
from restante.wiring.sessions import open_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 60.0
PROGRAM = (sys.executable, "-I", "-c", "from restante.__main__ import main; main()")
_SESSION = "0199000a-0000-7000-8000-000000000001"


def until(look: Callable[[], Any], what: str = "") -> Any:
    """Wait until something is so, and return it."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            found = look()
        except (OSError, ValueError, AssertionError, TypeError, KeyError):
            found = None
        if found:
            return found
        assert time.monotonic() < end, f"never so: {what}"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Shown:
    """A window that was started."""

    def __init__(self, desk: Desk, port: int, process: subprocess.Popen[str], said: Path) -> None:
        self._desk = desk
        self._port = port
        self.process = process
        self._said = said

    @property
    def said(self) -> str:
        return self._said.read_text()

    def look(self, expression: str) -> Any:
        """Return what an expression is in the page."""
        with DevTools(self._port) as tools:
            return tools.value(expression)

    def click(self, selector: str) -> None:
        """Click on an element with the mouse."""
        with DevTools(self._port) as tools:
            left, top = tools.middle(selector)
        number = self.titled("Restante")
        self._desk.xdotool("windowactivate", "--sync", number)
        self._desk.xdotool("mousemove", "--window", number, str(left), str(top), "click", "1")

    def at(self, path: str) -> str:
        """Wait until the window shows a page, and return its text."""
        shown = "location.pathname + location.search"
        until(lambda: self.look(f"document.readyState === 'complete' && {shown}") == path, path)
        text = self.look("document.body.innerText")
        assert isinstance(text, str)
        return text

    def titled(self, *words: str) -> str:
        """Wait until the title on the screen says something; return the number of the window."""

        def find() -> str:
            found = [one for one in self._desk.windows() if all(word in self._desk.title(one) for word in words)]
            return found[0] if found else ""

        number = until(find, f"a title with {words}")
        assert isinstance(number, str)
        return number

    def ends(self) -> int:
        return self.process.wait(PATIENCE)


class Desk:
    """Where a person works: a screen, a home, a worktree and a session in it."""

    def __init__(self, display: str, place: Path) -> None:
        self.place = place
        self.home, self.data, self.worktree = (place / name for name in ("home", "data", "tree"))
        programs = place / "programs"
        for one in (self.home, self.worktree, programs):
            one.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.worktree)], check=True)
        self.told = place / "told"
        for name in ("notify-send", "xdg-open"):
            (programs / name).write_text(f'#!/bin/sh\nprintf "%s\\n" {name} "$@" >>{self.told}\n')
            (programs / name).chmod(0o755)
        flags = "--disable-gpu" if os.geteuid() else "--disable-gpu --no-sandbox"
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "DISPLAY": display,
            "RESTANTE_DATA": str(self.data),
            "RESTANTE_SERVER_PORT": "0",
            "RESTANTE_SERVER_RATE": "100000",
            "QTWEBENGINE_CHROMIUM_FLAGS": flags,
        }
        self.shown: list[Shown] = []

    def words(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [*PROGRAM, *words],
            cwd=self.home,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def show(self, *words: str) -> Shown:
        """Start the window and wait until it shows a page."""
        port, said = free_port(), self.place / f"said-{len(self.shown)}"
        with open(said, "w") as file:
            process = subprocess.Popen(
                [*PROGRAM, "desktop", *words],
                cwd=self.home,
                env={**self.environment, "QTWEBENGINE_REMOTE_DEBUGGING": f"127.0.0.1:{port}"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                text=True,
            )
        shown = Shown(self, port, process, said)
        self.shown.append(shown)
        until(lambda: process.poll() is not None or shown.look("document.querySelector('nav') !== null"), shown.said)
        assert process.poll() is None, (process.returncode, shown.said)
        return shown

    def session(self) -> None:
        """Register a session in the worktree."""
        given = self.environment | {"CODEX_THREAD_ID": _SESSION}
        window = open_window(given, str(self.worktree))
        window.register(Arrival(_SESSION, vendor="codex", worktree=str(self.worktree), name="builder"))

    def post(self, text: str) -> None:
        open_window(self.environment, str(self.worktree)).post("builder", Draft(text), allow_warnings=True)

    def press(self, window: str, *keys: str) -> None:
        """Press keys in a window, as whoever works in it."""
        self.xdotool("windowactivate", "--sync", window, "key", *keys)

    def fill_in(self, dialog: str, path: Path) -> None:
        """Type a path into a dialog, and press Enter until it is taken: the first may only choose what is proposed."""
        self.press(dialog, "ctrl+a")
        self.xdotool("type", str(path))

        def has_gone() -> bool:
            if dialog not in self.windows():
                return True
            self.xdotool("key", "Return")
            time.sleep(0.5)
            return False

        until(has_gone, "the dialog is gone")

    def xdotool(self, *words: str) -> str:
        done = subprocess.run(
            ["xdotool", *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE
        )
        return done.stdout.strip()

    def windows(self) -> list[str]:
        """Return the numbers of the windows that are on the screen, as the window manager says."""
        done = subprocess.run(
            ["xprop", "-root", "_NET_CLIENT_LIST"], env=self.environment, capture_output=True, text=True
        )
        listed = done.stdout.partition("# ")[2].split(", ")
        return [str(int(one, 16)) for one in listed if one.strip()]

    def title(self, number: str) -> str:
        return self.xdotool("getwindowname", number)

    @property
    def remembered(self) -> Any:
        return json.loads((self.data / "desktop.json").read_text())

    @property
    def server(self) -> int:
        """The process of the server that lives; 0 for none."""
        try:
            number = int(json.loads((self.data / "server.json").read_text())["pid"])
            os.kill(number, 0)
        except (OSError, ValueError):
            return 0
        return number

    def tidy(self) -> None:
        for one in self.shown:
            if one.process.poll() is None:
                one.process.kill()
            one.ends()
        if self.server:
            os.kill(self.server, signal.SIGKILL)


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """A screen for all tests of a process."""
    if reason := desktop.reason_to_skip():
        pytest.skip(reason)
    with desktop.screen() as name:
        yield name


@pytest.fixture
def desk(display: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A person before a screen."""
    # Whoever runs the tests by an agent is no person to us.
    monkeypatch.setattr("restante.wiring.sessions.program_above", lambda _: None)
    one = Desk(display, tmp_path)
    yield one
    one.tidy()
