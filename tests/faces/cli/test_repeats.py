"""``restante repeats`` and ``send --repeat``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


@pytest.fixture
def repeat(restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a repeat that is due every five minutes, set up at 15:30."""
    monkeypatch.setenv("RESTANTE_NOW", "2026-05-20T15:30:00Z")
    return str(restante("send", "Check the gate.", "-p", "high", "--repeat", "5m", "--json").json["repeat"]["id"])


def test_repeats_are_listed_in_words(restante: Callable[..., Answer], repeat: str) -> None:
    assert restante("repeats", "list").out == (
        f"{repeat} active, every 5m, next in 5m, never sent, sent 0: Check the gate.\n"
    )


def test_without_any_the_list_says_so(restante: Callable[..., Answer]) -> None:
    assert restante("repeats", "list").out == "no repeats\n"


def test_one_is_shown_whole(restante: Callable[..., Answer], repeat: str) -> None:
    assert restante("repeats", "show", repeat[-8:]).out.endswith("~~~\nCheck the gate.\n~~~\n")


def test_what_is_due_is_posted_once_and_missed_periods_collapse(
    restante: Callable[..., Answer], repeat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert restante("repeats", "run").out == "nothing is due\n"
    monkeypatch.setenv("RESTANTE_NOW", "2026-05-20T16:02:00Z")
    answer = restante("repeats", "run")
    assert answer.out.count("sent msg_") == 1
    assert answer.out.endswith(f"from {repeat}\n")
    assert restante("repeats", "run").out == "nothing is due\n"
    assert [one["priority"] for one in restante("snapshot").json["messages"]] == ["high", "high"]


def test_a_paused_one_is_not_posted_until_it_is_resumed(
    restante: Callable[..., Answer], repeat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "paused" in restante("repeats", "pause", repeat[-8:]).out
    monkeypatch.setenv("RESTANTE_NOW", "2026-05-20T15:40:00Z")
    assert restante("repeats", "run").out == "nothing is due\n"
    assert "next in 5m" in restante("repeats", "resume", repeat).out
    assert restante("repeats", "run").out == "nothing is due\n"
    monkeypatch.setenv("RESTANTE_NOW", "2026-05-20T15:45:00Z")
    assert restante("repeats", "run").out.startswith("sent ")


def test_a_removed_one_is_gone_and_what_it_posted_stays(restante: Callable[..., Answer], repeat: str) -> None:
    assert restante("repeats", "remove", repeat[-8:]).out == f"removed {repeat}\n"
    assert restante("repeats", "list").out == "no repeats\n"
    assert len(restante("snapshot").json["messages"]) == 1
    assert restante("repeats", "remove", repeat).code == 3


@pytest.mark.parametrize("command", ["show", "pause", "resume", "remove"])
@pytest.mark.parametrize("name", ["nothing-like-it", "auto_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz"])
def test_an_unknown_one_is_called_a_repeat(
    restante: Callable[..., Answer], repeat: str, command: str, name: str
) -> None:
    answer = restante("repeats", command, name)
    assert answer.code == 3
    assert "repeat" in answer.err
    assert "message" not in answer.err
    assert "restante repeats list" in answer.err


def test_one_that_cannot_be_posted_is_named_and_ends_with_1(
    restante: Callable[..., Answer], repeat: str, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = worktree / ".codex-mailbox" / "STATE.json"
    state.write_text(state.read_text().replace("Check the gate.", "rm -rf / --no-preserve-root"))
    monkeypatch.setenv("RESTANTE_NOW", "2026-05-20T15:40:00Z")
    answer = restante("repeats", "run")
    assert (answer.code, answer.out) == (1, "")
    assert f"{repeat} was not sent" in answer.err


def test_a_damaged_book_refuses_a_repeat_before_anything_is_posted(
    restante: Callable[..., Answer], sent: Callable[..., str], worktree: Path
) -> None:
    sent("text")
    (worktree / ".codex-mailbox" / "STATE.json").write_text("{")
    inbox = (worktree / ".codex-mailbox" / "INBOX.md").read_bytes()
    answer = restante("send", "again", "--repeat", "5m")
    assert answer.code == 1
    assert "STATE.json" in answer.err
    assert (worktree / ".codex-mailbox" / "INBOX.md").read_bytes() == inbox
    assert restante("status").code == 0


@pytest.mark.parametrize(("option", "value"), [("--subject", "it"), ("--expires", "1d")])
def test_a_repeat_with_what_it_cannot_keep_is_refused_naming_both(
    restante: Callable[..., Answer], worktree: Path, option: str, value: str
) -> None:
    answer = restante("send", "text", "--repeat", "5m", option, value)
    assert answer.code == 2
    assert "--repeat" in answer.err
    assert f"{option} was given" in answer.err
    assert not (worktree / ".codex-mailbox").exists()


def test_a_session_sets_up_no_repeat_because_its_messages_would_pass_for_a_persons(
    restante: Callable[..., Answer], as_agent: Callable[[], None], worktree: Path
) -> None:
    as_agent()
    assert restante("send", "text", "--repeat", "5m").code == 4
    assert not (worktree / ".codex-mailbox").exists()
