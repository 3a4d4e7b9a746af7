"""A worktree, and the command line run in this process."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from restante.faces.cli import dispatch
from restante.faces.cli.exits import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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
