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
    for variable in ("CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID", "RESTANTE_NOW", "EDITOR", "VISUAL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
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
