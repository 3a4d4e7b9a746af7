"""``status``, ``watch``, ``withdraw``, ``archive``: what the sender sees."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from restante.domain.checkpoint import Checkpoint, Moment
from restante.domain.session import Caller
from restante.wiring import open_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .conftest import Answer

RESTANTE = [sys.executable, "-I", "-m", "restante"]
ACCEPTED = ("--decision", "accepted", "--action", "applied", "-m", "done")


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the clock of all commands to a time of day."""
    return lambda time: monkeypatch.setenv("RESTANTE_NOW", f"2026-05-20T{time}Z")


def _notice(worktree: Path) -> None:
    """Let a checkpoint show what waits."""
    caller = Caller("codex", "thread-1")
    office = open_checkpoint(str(worktree), caller, os.environ)
    assert office
    assert office.checkpoint(Checkpoint(Moment.AFTER_TOOL, caller))


def test_status_shows_what_was_noticed_and_what_the_agent_said_last(
    restante: Callable[..., Answer], sent: Callable[..., str], worktree: Path, at: Callable[[str], None]
) -> None:
    at("15:30:00")
    first = sent("Leave auth alone.")
    _notice(worktree)
    at("15:30:40")
    lines = restante("status").out.splitlines()
    assert "Leave auth alone." in lines[0]
    assert lines[1].strip() == "noticed 40 s ago"
    restante("reply", first, "Which part?")
    restante("reply", first, "All of it,\x1b[2J\nor only login?")
    restante("ack", first, "--decision", "needs_confirmation", "-m", "asked back")
    at("15:32:40")
    lines = restante("status").out.splitlines()
    assert [line.strip() for line in lines[1:]] == [
        "asked back",
        "reply 2 min ago: All of it,\\x1b[2J or only login?",
        "0 pending (0 unseen) of 1",
    ]


def test_an_archived_message_is_counted_and_found_by_a_part_of_its_id(
    restante: Callable[..., Answer], sent: Callable[..., str]
) -> None:
    first = sent("one")
    sent("two")
    restante("ack", first, *ACCEPTED)
    assert restante("archive").out.startswith("moved 1 into ")
    assert restante("archive").out == "nothing to move; 1 stay\n"
    assert restante("status").out.endswith("1 pending (1 unseen) of 1, 1 archived\n")
    answer = restante("status", first[-8:])
    assert answer.out.startswith(f"{first}: applied\n"), answer.err
    assert restante("withdraw", first[-8:]).code == 4


def test_status_of_one_message_tells_every_time_and_word(
    restante: Callable[..., Answer], sent: Callable[..., str], at: Callable[[str], None], as_agent: Callable[[], None]
) -> None:
    at("15:30:00")
    message = sent("text", "--expires", "1d")
    as_agent()
    at("15:31:00")
    restante("inbox")
    restante("ack", message, *ACCEPTED, "--notes", "a note")
    out = restante("status", message).out
    for part in ("posted       2026-05-20T15:30", "seen         2026-05-20T15:31", "expires      2026-05-21T15:30"):
        assert part in out
    assert "receipt just now by codex:thread-1: accepted, applied: done\n  notes: a note\n" in out


def test_status_names_the_line_of_what_it_could_not_read(
    restante: Callable[..., Answer], sent: Callable[..., str], worktree: Path
) -> None:
    message = sent("text")
    receipts = worktree / ".codex-mailbox" / "RECEIPTS.md"
    receipts.write_text(f"\n---\n\n## receipt_20260520T153000_{'0' * 26}\n\nmessage_id: {message}\ndecision: maybe\n")
    answer = restante("status")
    assert answer.code == 0
    assert "RECEIPTS.md:" in answer.err


def test_withdrawing_names_the_message_and_warns_when_it_was_shown(
    restante: Callable[..., Answer], sent: Callable[..., str], worktree: Path
) -> None:
    unseen = sent("one")
    answer = restante("withdraw", unseen[-8:])
    assert (answer.out, answer.err) == (f"withdrawn {unseen}\n", "")
    noticed = sent("two")
    _notice(worktree)
    answer = restante("withdraw", noticed)
    assert answer.out == f"withdrawn {noticed}\n"
    assert "send another message if it must stop" in answer.err


def test_an_illegal_step_names_the_message_and_what_is_left_to_do(
    restante: Callable[..., Answer], sent: Callable[..., str]
) -> None:
    taken_back, acknowledged = sent("one"), sent("two")
    restante("withdraw", taken_back)
    restante("ack", acknowledged, *ACCEPTED)
    answer = restante("ack", taken_back, *ACCEPTED)
    assert answer.code == 4
    assert f"{taken_back} is withdrawn" in answer.err
    assert "its sender took it back; nothing to do" in answer.err
    answer = restante("withdraw", acknowledged)
    assert answer.code == 4
    assert f"{acknowledged} was acknowledged: applied" in answer.err
    assert "send a new message instead" in answer.err


def test_a_reply_says_that_the_message_waits_only_while_it_does(
    restante: Callable[..., Answer], sent: Callable[..., str]
) -> None:
    message = sent("text")
    assert "still waits" in restante("reply", message, "why?").out
    restante("ack", message, *ACCEPTED)
    assert "still waits" not in restante("reply", message, "that is why").out


def test_an_empty_reply_is_refused(restante: Callable[..., Answer], sent: Callable[..., str], worktree: Path) -> None:
    assert restante("reply", sent("text"), " \n").code == 2
    assert not (worktree / ".codex-mailbox" / "OUTBOX.md").exists()


def test_a_watch_from_the_start_tells_all_in_lines_and_where_to_go_on(
    restante: Callable[..., Answer], sent: Callable[..., str]
) -> None:
    message = sent("-p", "high", "one\ntwo")
    restante("reply", message, "why?")
    restante("ack", message, *ACCEPTED)
    answer = restante("watch", "--since", "start", "--timeout", "0")
    assert answer.code == 0
    lines = [line.split(" ", 1)[1] for line in answer.out.splitlines()]
    assert sorted(lines) == sorted(
        [
            f"posted    {message} high: one two",
            f"reply     {message} why?",
            f"receipt   {message} accepted, applied: done",
        ]
    )
    assert answer.err.startswith("go on with: restante watch --since ")


def test_a_watch_begins_with_what_happens_from_now_on_and_ends_with_5_if_nothing_does(
    restante: Callable[..., Answer], sent: Callable[..., str]
) -> None:
    sent("before")
    answer = restante("watch", "--timeout", "0")
    assert (answer.code, answer.out) == (5, "")


def test_a_watch_resumes_after_its_cursor_without_a_gap_and_without_repeating(
    restante: Callable[..., Answer], sent: Callable[..., str]
) -> None:
    sent("before")
    end = json.loads(restante("watch", "--json", "--timeout", "0").out)
    assert end["event"] == "end"
    first, second = sent("one"), sent("two")
    lines = restante("watch", "--json", "--since", end["cursor"], "--timeout", "0").out.splitlines()
    events = [json.loads(line) for line in lines]
    assert [(event["event"], event.get("message_id")) for event in events] == [
        ("posted", first),
        ("posted", second),
        ("end", None),
    ]
    assert restante("watch", "--since", events[-1]["cursor"], "--timeout", "0").code == 5


def test_a_reader_that_stops_after_any_line_misses_nothing_when_it_goes_on(
    restante: Callable[..., Answer], sent: Callable[..., str]
) -> None:
    ids = [sent("one"), sent("two"), sent("three")]
    lines = restante("watch", "--json", "--since", "start", "--timeout", "0").out.splitlines()
    for place in range(3):
        cursor = json.loads(lines[place])["cursor"]
        again = restante("watch", "--json", "--since", cursor, "--timeout", "0").out.splitlines()
        assert set(ids[place + 1 :]) <= {json.loads(line).get("message_id") for line in again}


def test_a_cursor_that_is_none_is_refused_with_the_way_to_begin(restante: Callable[..., Answer]) -> None:
    answer = restante("watch", "--since", "foo", "--timeout", "0")
    assert answer.code == 2
    assert "'foo'" in answer.err
    assert "--since start" in answer.err


@pytest.fixture
def watching(worktree: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start ``restante watch`` as a program of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen([*RESTANTE, "watch", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_watch_tells_what_happens_while_it_runs_and_ends_well_when_interrupted(
    sent: Callable[..., str], restante: Callable[..., Answer], watching: Callable[..., subprocess.Popen[str]]
) -> None:
    message = sent("one")
    process = watching("--since", "start", "--json")
    assert process.stdout

    def heard() -> Any:
        assert process.stdout
        return json.loads(process.stdout.readline())

    assert heard()["message_id"] == message
    restante("ack", message, *ACCEPTED)
    event = heard()
    assert (event["event"], event["receipt"]["summary"]) == ("receipt", "done")
    process.send_signal(signal.SIGINT)
    end = heard()
    assert (end["event"], end["cursor"]) == ("end", event["cursor"])
    assert process.wait(30) == 0


def test_a_watch_whose_reader_has_gone_ends_without_a_word(
    sent: Callable[..., str], watching: Callable[..., subprocess.Popen[str]]
) -> None:
    sent("one")
    process = watching("--since", "start")
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdout.close()
    sent("two")
    assert process.wait(30) == 1
    assert process.stderr.read() == ""
