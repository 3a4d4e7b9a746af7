"""A server with pages, a person with a browser, a worktree and sessions."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest
from playwright.sync_api import expect
from tests import browser as browsers
from tests.faces.http.api import Actor, Api, Running, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page


class Ground(NamedTuple):
    """Where a test of pages happens."""

    server: Running
    api: Api
    worktree: Path
    home: Path

    @property
    def ui(self) -> str:
        return f"{self.api.url}/ui"

    def key_path(self) -> str:
        """Return the address by which a browser enters, once."""
        answer = self.api.ask("POST", "/ui/key", {}, self.server.person())
        path = answer.data["path"]
        assert isinstance(path, str)
        return path

    def restante(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the person in the worktree."""
        given = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "RESTANTE_DATA": str(self.server.data),
            "OACP_HOME": str(self.home / "oacp"),
            **environment,
        }
        program = [sys.executable, "-I", "-c", "from restante.__main__ import main; main()"]
        return subprocess.run(
            [*program, *words], cwd=self.worktree, env=given, capture_output=True, text=True, timeout=60
        )

    def person_posts(self, to: Actor, text: str, **more: object) -> None:
        answer = self.api.ask("POST", f"/sessions/{to.id}/inbox", {"text": text, **more}, self.server.person())
        assert answer.status == 200, answer


@contextlib.contextmanager
def standing(place: Path) -> Iterator[Ground]:
    """Run a server of one person with a worktree."""
    data, worktree, home = place / "data", place / "tree", place / "home"
    for one in (data, worktree, home):
        one.mkdir()
    subprocess.run(["git", "init", "-q", str(worktree)], check=True)
    settings = {"RESTANTE_SERVER_RATE": "100000", "HOME": str(home), "OACP_HOME": str(home / "oacp")}
    with running(data, **settings) as server:
        yield Ground(server, server.api(), worktree, home)


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    """A server of the test's own."""
    with standing(tmp_path) as one:
        yield one


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """A server for tests of a module that change neither its settings nor who may enter."""
    with standing(tmp_path_factory.mktemp("shared")) as one:
        yield one


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser for all tests of a process."""
    expect.set_options(timeout=30_000)
    if reason := browsers.reason_to_skip():
        pytest.skip(reason)
    with browsers.launched() as one:
        yield one


@pytest.fixture
def faults() -> list[str]:
    """What the browser complained of; a test that expects some takes them out."""
    return []


def _note(message: ConsoleMessage, faults: list[str]) -> None:
    # Older messages that are asked for take the place of a look that is on its way: that one is broken off.
    if message.type == "error" and "htmx:sendAbort" not in message.text:
        faults.append(message.text)


def _refuse(dialog: Dialog, faults: list[str]) -> None:
    faults.append(f"a dialog: {dialog.message}")
    dialog.dismiss()


@pytest.fixture
def page(chromium: Browser, ground: Ground, faults: list[str]) -> Iterator[Page]:
    """A page on which the person has entered."""
    context = chromium.new_context(viewport={"width": 1100, "height": 800})
    one = context.new_page()
    one.set_default_timeout(30_000)
    one.on("console", lambda message: _note(message, faults))
    one.on("pageerror", lambda error: faults.append(str(error)))
    one.on("dialog", lambda dialog: _refuse(dialog, faults))
    one.goto(ground.api.url + ground.key_path())
    yield one
    context.close()
    assert faults == []


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Keep a picture of a page, where somebody wants them."""

    def keep(page: Page, name: str) -> None:
        place = os.environ.get("RESTANTE_TEST_SCREENSHOTS")
        if place:
            os.makedirs(place, exist_ok=True)
            kept = f"{request.node.name}-{name}.png".replace("/", "_")
            page.screenshot(path=os.path.join(place, kept), full_page=True)

    return keep
