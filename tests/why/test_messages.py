"""Causes that are the message's own: there is none, it ended, it was answered, it was read or shown."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from .conftest import READER, WRITER

if TYPE_CHECKING:
    from .conftest import Scene


def test_an_id_that_nothing_has_is_answered_and_ends_as_what_is_not_there(scene: Scene) -> None:
    assert scene.cause("msg_20260520T120000_01hzy2v4qd8m8fjq5c9x6k7w1a") == "no-such-message"
    assert scene.by("", "why", "msg_20260520T120000_01hzy2v4qd8m8fjq5c9x6k7w1a").code == 3
    assert scene.by("", "why", "msg").code == 2


def test_where_mail_of_sessions_is_kept_nowhere_that_is_the_answer(pair: Scene) -> None:
    message = pair.post("reader")
    pair.do("persist", "off", "--yes")
    assert pair.cause(message) == "not-kept"
    pair.do("persist", "on")
    assert pair.cause(message) in ("no-such-message", "mailbox-deleted")


def test_a_mailbox_that_was_deleted_with_its_mail(scene: Scene) -> None:
    scene.install()
    message = scene.send()
    scene.by("", "status")
    shutil.rmtree(scene.root / ".codex-mailbox")
    assert scene.cause(message) == "mailbox-deleted"
    assert scene.by("", "why", message).code == 3


def test_a_message_that_went_with_its_session(pair: Scene) -> None:
    message = pair.post("reader")
    pair.do("session", "delete", "reader")
    assert pair.cause(message, by=WRITER) == "mailbox-deleted"


def test_a_block_that_somebody_cut(scene: Scene) -> None:
    message = scene.send("Look at this line, and at that one.")
    inbox = scene.root / ".codex-mailbox" / "INBOX.md"
    inbox.write_text(inbox.read_text().replace("at this line, ", ""))
    assert scene.cause(message) == "damaged"


def test_withdrawn_and_expired(scene: Scene) -> None:
    taken, late = scene.send(), scene.send("Look.", "--expires", "5m")
    scene.do("withdraw", taken)
    assert scene.cause(taken) == "withdrawn"
    scene.later(minutes=6)
    assert scene.cause(late) == "expired"


@pytest.mark.parametrize(
    ("decision", "action", "cause"),
    [
        ("accepted", "applied", "answered"),
        ("accepted", "not_applicable", "answered"),
        ("accepted", "pending", "work-pending"),
        ("accepted", "blocked", "work-blocked"),
        ("rejected", "", "refused"),
        ("deferred", "", "deferred"),
        ("needs_confirmation", "", "needs-confirmation"),
    ],
)
@pytest.mark.parametrize("home", ["worktree", "session"])
def test_what_the_receiver_said_is_the_answer(pair: Scene, home: str, decision: str, action: str, cause: str) -> None:
    message = pair.send() if home == "worktree" else pair.post("reader")
    words = ["--decision", decision, *(["--action", action] if action else []), "-m", "my words"]
    pair.do("ack", message, *words, by=READER)
    told = pair.why(message, by=WRITER if home == "session" else "")
    assert told["cause"] == cause
    # A session is told states, and words only by a reply.
    assert ("my words" in told["sentence"]) == (home == "worktree")


def test_read_and_not_acknowledged_says_since_when_and_by_whom(pair: Scene) -> None:
    here, own = pair.send(), pair.post("reader")
    pair.do("inbox", by=READER)
    told = pair.why(here)
    assert told["cause"] == "seen"
    assert f"by codex:{READER}" in told["sentence"]
    told = pair.why(own, by=WRITER)
    assert (told["cause"], "by reader (0199bbbb-0000)" in told["sentence"]) == ("seen", True)


def test_shown_by_a_checkpoint_and_never_read(pair: Scene) -> None:
    here, own = pair.send(), pair.post("reader")
    shown = pair.hook("SessionStart")
    assert here in shown
    assert own in shown
    assert f"codex:{READER}" in pair.why(here)["sentence"]
    for message, asker in ((here, ""), (own, WRITER)):
        assert pair.cause(message, by=asker) == "noticed"


def test_whoever_waits_for_it_is_just_being_given_it(pair: Scene) -> None:
    words = [sys.executable, "-I", "-m", "restante", "inbox", "--wait", "60", "-C", str(pair.root)]
    with subprocess.Popen(
        words, env={**_environment(pair), "CODEX_THREAD_ID": READER}, stdout=subprocess.DEVNULL
    ) as waiter:
        try:
            _until(lambda: "waiting-inbox" in pair.by("", "ls", "--json").out or "parked" in pair.by("", "ls").out)
            waiter.send_signal(signal.SIGSTOP)
            assert pair.cause(pair.post("reader"), by=WRITER) == "collecting"
            # One that was killed in its wait, long ago, is given nothing.
            stale = pair.post("reader")
            pair.later(seconds=30)
            assert pair.cause(stale, by=WRITER) != "collecting"
        finally:
            waiter.kill()


def test_a_part_of_an_id_is_enough_and_a_part_of_two_is_told(pair: Scene) -> None:
    here, own = pair.send(), pair.post("reader")
    assert pair.why(here[-8:])["message_id"] == here
    assert pair.why(own[-8:], by=WRITER)["message_id"] == own


def test_nobody_is_told_of_answered_mail_of_others(pair: Scene) -> None:
    message = pair.post("reader")
    third = "0199cccc-0000-7000-8000-00000000000c"
    pair.register(third, "third")
    assert pair.cause(message, by=third) != "no-such-message"
    pair.do("ack", message, by=READER)
    assert pair.cause(message, by=third) == "no-such-message"
    for asker in (WRITER, READER, ""):
        assert pair.cause(message, by=asker) == "answered"


def test_the_same_answer_is_in_the_json_of_status(pair: Scene) -> None:
    here, own = pair.send(), pair.post("reader")
    for message, asker in ((here, ""), (own, WRITER)):
        told = pair.why(message, by=asker)
        status = pair.do("status", message, "--json", by=asker).json["why"]
        assert (status["cause"], status["message_id"]) == (told["cause"], told["message_id"])


def test_asking_marks_nothing(pair: Scene) -> None:
    here, own = pair.send(), pair.post("reader")
    for message, asker in ((here, READER), (own, READER)):
        pair.why(message, by=asker)
        told = pair.do("inbox", "--peek", "--json", by=READER).json["messages"]
        assert [one["seen_at"] for one in told if one["id"] == message] == [None]


def _environment(scene: Scene) -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not re.match("CODEX|CLAUDE", name)}


def _until(test: object) -> None:
    assert callable(test)
    deadline = time.monotonic() + 60
    while not test():
        assert time.monotonic() < deadline
        time.sleep(0.1)
