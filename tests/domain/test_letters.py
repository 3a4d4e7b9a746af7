"""A mailbox as people look at it, and the order in which sessions are shown."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from restante.domain.case import Case, Timeline
from restante.domain.errors import UsageError
from restante.domain.letters import threads_of
from restante.domain.lifecycle import Show, Standing, Status
from restante.domain.mailbox import Counts, Entry
from restante.domain.message import Message, Priority, Reply, Sender
from restante.domain.overview import Row
from restante.domain.receipt import Action, Decision, Receipt
from restante.domain.registry import Latch, Presence, Session
from restante.domain.urgency import most_urgent_first
from restante.domain.wire_letters import of_timeline, timeline_from
from restante.domain.writing import Writing

NOW = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
SENDER = Sender("session:0199aaaa-0000-7000-8000-00000000000a", verified=True)


def case(number: int, *, conversation: str = "", **standing: object) -> Case:
    message = Message(f"msg_{number}", number, "session:x", NOW, "text", SENDER, conversation=conversation)
    fields = {"status": Status.UNSEEN, **standing}
    return Case(Entry(message, Standing(**fields)), (), ())  # type: ignore[arg-type]


ANSWERED = Case(
    Entry(
        Message("msg_1", 1, "session:x", NOW, "text", SENDER, conversation="c", subject="s"),
        Standing(
            Status.APPLIED,
            noticed_at=NOW,
            seen_at=NOW,
            acknowledged_at=NOW,
            decision=Decision.ACCEPTED,
            action=Action.APPLIED,
            summary="done",
        ),
    ),
    (
        Receipt("rec_1", "msg_1", NOW, Decision.ACCEPTED, None, "yes", "notes", "codex"),
        Receipt("rec_2", "msg_1", None, None, Action.APPLIED, "done"),
    ),
    (Reply("rep_1", "msg_1", NOW, "as you wish", Sender("agent", False)),),
)


def row(
    name: str,
    *,
    ended: bool = True,
    unseen: int = 0,
    waits: int = 0,
    blocked: str = "",
    presence: Presence = Presence.ALIVE,
) -> Row:
    session = Session(
        id=name,
        owner="",
        name=name,
        vendor="codex",
        worktree="",
        parent="",
        process=None,
        created=NOW,
        heartbeat=NOW,
        latch=Latch(1, NOW if ended else None),
        blocked=blocked,
    )
    oldest = NOW - timedelta(hours=waits) if unseen else None
    return Row(session, presence, Counts(unseen, unseen, unseen, oldest_unseen=oldest))


def test_who_idles_with_unseen_mail_comes_first_whose_waits_longest_then_a_dialog() -> None:
    rows = [
        row("gone", presence=Presence.GONE),
        row("done"),
        row("busy", ended=False),
        row("lately", unseen=1, waits=1),
        row("long", unseen=1, waits=5),
        row("asked", blocked="permission"),
    ]
    assert [one.session.name for one in most_urgent_first(rows)] == ["long", "lately", "asked", "done", "busy", "gone"]
    assert [one.session.name for one in most_urgent_first(rows, "IDLE codex unread")] == ["long", "lately"]


def test_threads_stand_where_their_newest_message_does_and_steps_are_in_order() -> None:
    cases = [case(4, conversation="b"), case(3), case(2, conversation="b"), ANSWERED]
    threads = threads_of(cases, {SENDER.name: "builder"})
    assert [[one.case.entry.message.number for one in thread.letters] for thread in threads] == [[4, 2], [3], [1]]
    letter = threads[-1].letters[0]
    assert [step.name for step in letter.steps] == ["queued", "noticed", "seen", "decision", "action"]
    assert letter.sender.startswith("builder (session:")
    expired = threads_of([case(1, status=Status.EXPIRED, expired_at=NOW)], {})[0].letters[0]
    assert [step.name for step in expired.steps] == ["queued", "expired"]


def test_each_status_is_shown_where_it_belongs() -> None:
    assert all(Show.ALL.fits(status) for status in Status)
    assert {status for status in Status if Show.UNSEEN.fits(status)} == {Status.UNSEEN}
    assert {status for status in Status if Show.PENDING.fits(status)} == {Status.UNSEEN, Status.SEEN}
    assert Show.ANSWERED.fits(Status.APPLIED)
    assert not Show.ANSWERED.fits(Status.EXPIRED)


def test_a_part_of_a_mailbox_comes_back_over_the_wire_as_it_was() -> None:
    withdrawn = case(2, status=Status.WITHDRAWN, withdrawn_at=NOW)
    there = Timeline((withdrawn, ANSWERED), 1, {SENDER.name: "builder"})
    assert timeline_from(json.loads(json.dumps(of_timeline(there)))) == there


def test_a_form_becomes_a_draft_or_says_what_is_wrong() -> None:
    draft = Writing("session:x", "text", "high", "", " subject ", expires="90m", repeat="30m").draft(NOW)
    assert (draft.priority, draft.subject, draft.expires) == (Priority.HIGH, "subject", NOW + timedelta(minutes=90))
    assert Writing(repeat="30m").interval_ms == 30 * 60 * 1000
    assert Writing().interval_ms is None
    with pytest.raises(UsageError, match="priority or scope"):
        Writing(priority="very").draft(NOW)
    with pytest.raises(UsageError, match="can be repeated"):
        Writing(repeat="30m").check_once()
