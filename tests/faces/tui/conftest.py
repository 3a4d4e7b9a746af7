"""A person at a terminal, with sessions beside: on what is kept here, and with a server that holds mail in memory."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.faces.http.api import running
from textual.events import Key, Paste
from textual.keys import _character_to_key

from restante.domain.message import Draft
from restante.domain.registry import Arrival
from restante.faces.tui.app import PeopleApp
from restante.faces.tui.ground import Ground
from restante.wiring.sessions import open_window

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from restante.ports.sessions import Window

PATIENCE = 60.0
SIZE = (80, 24)
_ID = "0199{0:04x}-0000-7000-8000-000000000000"


class Place(NamedTuple):
    """Where a test happens."""

    environment: dict[str, str]
    worktree: Path

    @property
    def person(self) -> Window:
        return open_window(self.environment, str(self.worktree))

    def session(self, number: int, name: str = "", *, turns: int = 0) -> Window:
        """Register a session, let it take turns, and return its own window."""
        window = open_window(self.environment | {"CODEX_THREAD_ID": _ID.format(number)}, str(self.worktree))
        window.register(Arrival(_ID.format(number), vendor="codex", worktree=str(self.worktree), name=name))
        for _ in range(turns):
            window.turn(has_ended=False)
            window.turn(has_ended=True)
        return window

    def post(self, to: str, text: str, **more: str) -> str:
        """Post as the person and return the id."""
        return self.person.post(to, Draft(text, **more), allow_warnings=True).posted.message.id  # type: ignore[arg-type]


@pytest.fixture(params=["local", pytest.param("served", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A worktree of a person whose mail is on disk, or in the memory of a server."""
    # Whoever runs the tests by an agent is no person to us.
    monkeypatch.setattr("restante.wiring.sessions.program_above", lambda _: None)
    monkeypatch.setattr("restante.wiring.opening.program_above", lambda _: None)
    monkeypatch.setattr("restante.wiring.grounds.os.path.expanduser", lambda _: str(tmp_path / "home"))
    worktree, data = tmp_path / "tree", tmp_path / "data"
    for one in (worktree, data, tmp_path / "home"):
        one.mkdir()
    subprocess.run(["git", "init", "-q", str(worktree)], check=True)
    environment = {
        "HOME": str(tmp_path / "home"),
        "PATH": os.environ["PATH"],
        "RESTANTE_DATA": str(data),
        "OACP_HOME": str(tmp_path / "oacp"),
    }
    found = Place(environment, worktree)
    if request.param == "local":
        found.person.set_persistence(True)
        yield found
        return
    with running(data, RESTANTE_SERVER_RATE="100000", HOME=environment["HOME"]) as server:
        server.api()
        yield found


class Eye:
    """Who looks at the screen and presses keys."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot

    @property
    def lines(self) -> list[str]:
        """What the terminal would show."""
        return [strip.text for strip in self.pilot.app.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    async def until(self, holds: Callable[[str], object], what: str = "") -> str:
        """Wait until the screen shows something, and return it."""
        end = time.monotonic() + PATIENCE
        while not holds(self.text):
            assert time.monotonic() < end, f"never shown: {what}\n{self.text}"
            await asyncio.sleep(0.05)
        return self.text

    async def sees(self, *words: str) -> str:
        return await self.until(lambda text: all(word in text for word in words), repr(words))

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each when the one before it was taken."""
        for key in keys:
            self._send(key)
            await self._taken()

    async def resize(self, columns: int, lines: int) -> None:
        await self.pilot.resize_terminal(columns, lines)

    async def type(self, text: str) -> None:
        """Type letters as fast as one may."""
        for letter in text:
            self._send("space" if letter == " " else letter)
        await self._taken()

    async def paste(self, text: str) -> None:
        """Paste a text where the cursor is."""
        self.pilot.app.post_message(Paste(text))
        await self._taken()

    async def _taken(self) -> None:
        # From the program to the screen, from there to the widget, and what that one tells in turn.
        for _ in range(3):
            await self.pilot._wait_for_screen()

    def _send(self, key: str) -> None:
        name = key if key.isalnum() or len(key) > 1 else _character_to_key(key)
        letter = " " if key == "space" else key if len(key) == 1 else None
        self.pilot.app.post_message(Key(name, letter))


@pytest.fixture
def looking(place: Place) -> Callable[[Callable[[Eye], Awaitable[None]]], None]:
    """Let somebody look at the screen: the overview is shown when it begins."""

    def look(story: Callable[[Eye], Awaitable[None]], size: tuple[int, int] = SIZE) -> None:
        async def play() -> None:
            app = PeopleApp(Ground(place.environment, str(place.worktree)))
            async with app.run_test(size=size, notifications=True) as pilot:
                eye = Eye(pilot)
                await eye.until(lambda text: "Why look" in text, "the overview")
                await story(eye)

        asyncio.run(play())

    return look
