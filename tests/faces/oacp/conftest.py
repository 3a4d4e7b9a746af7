"""An OACP home, and the verbs of OACP run in this process."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from restante.faces.oacp import dispatch
from restante.faces.oacp.ends import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Told(NamedTuple):
    """What a verb did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The answer as JSON."""
        return json.loads(self.out)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, which the environment names; the current directory is elsewhere."""
    place = tmp_path / "oacp"
    place.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("OACP_HOME", str(place))
    for name in (
        *("OACP_AGENT", "AGENT_NAME", "OACP_RUNTIME", "OACP_RUNTIME_MODEL", "OACP_RUNTIME_EFFORT", "RESTANTE_NOW"),
        *("CODEX_CI", "CODEX_SHELL", "CODEX_THREAD_ID", "CLAUDECODE", "CLAUDE_CODE", "CLAUDE_CODE_SESSION_ID"),
        *("GEMINI_CLI", "GEMINI_AGENT"),
    ):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture
def oacp(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Told]:
    """Run a verb and return what it did."""

    def call(*words: object, given: str = "") -> Told:
        capsys.readouterr()
        stream = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)
        code = run(dispatch, [str(word) for word in words])
        captured = capsys.readouterr()
        return Told(code, captured.out, captured.err)

    return call


@pytest.fixture
def demo(oacp: Callable[..., Told], home: Path) -> Path:
    """A project ``demo`` with alice and codex; its directory."""
    assert oacp("init", "demo", "--agents", "alice,codex").code == 0
    return home / "projects" / "demo"
