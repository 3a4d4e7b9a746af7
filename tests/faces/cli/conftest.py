"""A worktree, and the command line run in this process."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from restante.faces.cli import dispatch
from restante.faces.cli.exits import run

if TYPE_CHECKING:
    from collections.abc import Callable

FAKE_SERVER = Path(__file__).parents[2] / "agents" / "fake_app_server.py"


@dataclass(frozen=True)
class Answer:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The answer as JSON."""
        return json.loads(self.out)


@pytest.fixture
def worktree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, which is the current directory."""
    place = tmp_path / "repo"
    (place / ".git" / "info").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(place)
    for variable in (
        *("CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID", "RESTANTE_NOW", "RESTANTE_DATA", "RESTANTE_SERVER_URL"),
        *("XDG_DATA_HOME", "EDITOR", "VISUAL"),
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # Whoever runs the tests by an agent is no person to us.
    monkeypatch.setattr("restante.wiring.sessions.program_above", lambda _: None)
    return place


@pytest.fixture
def restante(worktree: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run a command and return what it did."""

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = run(dispatch, list(arguments))
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def sent(restante: Callable[..., Answer]) -> Callable[..., str]:
    """Send a text and return its id."""

    def call(*arguments: str) -> str:
        answer = restante("send", *arguments)
        assert answer.code == 0, answer.err
        found = re.search(r"sent (msg_\S+)", answer.out)
        assert found
        return found[1]

    return call


@pytest.fixture
def as_agent(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make the caller a Codex session from now on."""
    return lambda: monkeypatch.setenv("CODEX_THREAD_ID", "thread-1")


@pytest.fixture
def fake_codex(worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a script play the Codex program, with a thread in each of the directories (in the worktree by default)."""

    def make(*directories: str) -> None:
        threads = [
            {
                "id": f"thread-{number}",
                "preview": f"task {number}\x1b[31m",
                "name": None,
                "cwd": directory,
                "updatedAt": 1_700_000_000 - number,
                "status": {"type": "idle"},
            }
            for number, directory in enumerate(directories or (str(worktree),))
        ]
        answers = {"thread/list": [{"result": {"data": threads, "nextCursor": None}}]}
        script, program = tmp_path / "script.json", tmp_path / "codex"
        script.write_text(json.dumps({"log": str(tmp_path / "codex.log"), "answers": answers}))
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{FAKE_SERVER}' '{script}' \"$@\"\n")
        program.chmod(0o755)
        monkeypatch.setenv("RESTANTE_CODEX", str(program))

    return make


PLANNER = "0199aaaa-0000-7000-8000-00000000000a"
WORKER = "0199bbbb-0000-7000-8000-00000000000b"


class Cast:
    """Whoever runs commands: a person, or one of the sessions of a worktree. Each has a name and a mailbox."""

    def __init__(self, restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch) -> None:
        self.restante = restante
        self._monkeypatch = monkeypatch

    def act(self, session: str = "") -> None:
        """Be a session from now on; the person with none."""
        if session:
            self._monkeypatch.setenv("CODEX_THREAD_ID", session)
        else:
            self._monkeypatch.delenv("CODEX_THREAD_ID", raising=False)

    def by(self, session: str, *words: str) -> Answer:
        """Run a command as a session."""
        self.act(session)
        return self.restante(*words)

    def enter(self, session: str, name: str) -> None:
        """Register a session."""
        self.act(session)
        answer = self.restante("session", "start", "--name", name)
        assert answer.code == 0, answer.err

    def post(self, sender: str, to: str, text: str, *options: str) -> str:
        """Post as a session and return the message's id."""
        self.act(sender)
        answer = self.restante("post", to, text, *options, "--json")
        assert answer.code == 0, answer.err
        return str(answer.json["message"]["id"])

    def row(self, name: str) -> Any:
        """Return what a list says of a session."""
        rows = self.by("", "ls", "--json").json["sessions"]
        return next(row for row in rows if row["name"] == name)


@pytest.fixture
def cast(restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cast:
    """Two sessions that know of each other, with mail that is kept on disk."""
    monkeypatch.setenv("RESTANTE_DATA", str(tmp_path / "data"))
    cast = Cast(restante, monkeypatch)
    assert restante("persist", "on").code == 0
    cast.enter(PLANNER, "planner")
    cast.enter(WORKER, "worker")
    cast.act()
    return cast
