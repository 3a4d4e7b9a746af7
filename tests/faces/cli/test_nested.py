"""A run inside a tool of another session of the same worktree is no addressee of its mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


@pytest.fixture
def nested(worktree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the caller a Codex session that a tool of a Claude Code session started."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "outer")
    monkeypatch.setenv("CODEX_THREAD_ID", "inner")


@pytest.mark.usefixtures("nested")
def test_a_nested_runs_look_marks_nothing_as_seen(restante: Callable[..., Answer], sent: Callable[..., str]) -> None:
    message = sent("text")
    assert "text" in restante("inbox").out
    assert restante("status", message, "--json").json["message"]["status"] == "unseen"


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize("command", [("ack", "--decision", "accepted"), ("reply", "words")])
def test_a_nested_run_cannot_answer_for_the_session_that_the_mail_is_for(
    restante: Callable[..., Answer], sent: Callable[..., str], command: tuple[str, ...]
) -> None:
    message = sent("text")
    answer = restante(command[0], message, *command[1:])
    assert answer.code == 4
    assert "RESTANTE_NESTED=1" in answer.err
    case = restante("status", message, "--json").json["message"]
    assert (case["receipts"], case["replies"]) == ([], [])


@pytest.mark.usefixtures("nested")
def test_a_nested_run_that_is_meant_to_take_part_does(
    restante: Callable[..., Answer], sent: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESTANTE_NESTED", "1")
    message = sent("text")
    restante("inbox")
    assert restante("status", message, "--json").json["message"]["status"] == "seen"
    assert restante("ack", message, "--decision", "accepted").code == 0
