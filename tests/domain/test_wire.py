"""What goes over the wire comes back as it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from restante.domain import wire
from restante.domain.lifecycle import Standing, Status
from restante.domain.mailbox import Counts, Entry, Posted
from restante.domain.message import Draft, Message, Priority, Scope, Sender
from restante.domain.overview import Cleared, Fate, Handed, Persistence, Reading, Row, Trace, Watched
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Identity, Latch, Presence, Process, Session, TurnSource

NOW = datetime(2026, 5, 20, 15, 30, 0, 123_000, tzinfo=UTC)
SESSION = Session(
    id="0123456789abcdef",
    owner="ada",
    vendor="codex",
    name="builder",
    worktree="/w",
    parent="fedcba9876543210",
    process=Process("host", 12, "34567"),
    created=NOW,
    heartbeat=NOW + timedelta(seconds=1),
    detached=NOW + timedelta(seconds=2),
    latch=Latch(7, NOW, TurnSource.HOOK),
    blocked="permission",
    open_todos=2,
    total_todos=3,
    event=41,
)
MESSAGE = Message(
    id="msg_20260520T153000_01hzzzzzzzzzzzzzzzzzzzzzzz",
    number=3,
    mailbox=SESSION.address,
    created=NOW,
    body="line\nwith \x00 and \x1b[31m",
    sender=Sender("session:fedcba9876543210", True),
    priority=Priority.HIGH,
    scope=Scope.QUESTION,
    subject="about",
    type="note",
    conversation="c1",
    parent="msg_x",
    expires=NOW + timedelta(hours=12),
    client_id="k1",
)
ENTRY = Entry(MESSAGE, Standing(Status.SEEN, noticed_at=NOW, seen_at=NOW + timedelta(minutes=1)))
COUNTS = Counts(total=4, unseen=2, pending=3, high_water=9, oldest_unseen=NOW)
ROW = Row(
    SESSION._replace(parked_since=NOW, parked_until=NOW + timedelta(seconds=9)),
    Presence.ALIVE,
    COUNTS,
    is_parked=True,
    waits_for=("b", "c"),
)


def over(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize(
    ("value", "there", "back"),
    [
        (SESSION, wire.of_session, wire.session_from),
        (SESSION._replace(process=None, latch=Latch(), detached=None), wire.of_session, wire.session_from),
        (ROW, wire.of_row, wire.row_from),
        (Row(SESSION, Presence.UNKNOWN), wire.of_row, wire.row_from),
        (Row(SESSION, Presence.UNKNOWN, is_counted=False), wire.of_row, wire.row_from),
        (MESSAGE, wire.of_message, wire.message_from),
        (MESSAGE._replace(sender=Sender("human", True)), wire.of_message, wire.message_from),
        (MESSAGE._replace(sender=Sender("user", False)), wire.of_message, wire.message_from),
        (Handed(Posted(MESSAGE, duplicate=True), SESSION, COUNTS, Presence.GONE), wire.of_handed, wire.handed_from),
        (Reading((ENTRY,), COUNTS, True, 2, True, 1.25), wire.of_reading, wire.reading_from),
        (Cleared(2, COUNTS), wire.of_cleared, wire.cleared_from),
        (Trace("m", "s", NOW, Fate.UNSEEN), wire.of_trace, wire.trace_from),
        (
            Trace("m", "s", NOW, Fate.ACKNOWLEDGED, NOW, Decision.ACCEPTED, Action.APPLIED),
            wire.of_trace,
            wire.trace_from,
        ),
        (Watched((ROW,), ("x",), "w1.a.1.b.2", True), wire.of_watched, wire.watched_from),
        (Persistence(True, True, True), wire.of_persistence, wire.persistence_from),
        (Identity("ada", "s", True), wire.of_identity, wire.identity_from),
        (Identity(claimed="nobody"), wire.of_identity, wire.identity_from),
    ],
)
def test_a_value_comes_back_as_it_was(value: Any, there: Any, back: Any) -> None:
    assert back(over(there(value))) == value


def test_s38_nothing_about_mail_is_in_the_state_of_a_session() -> None:
    full = wire.of_state(ROW)
    empty = wire.of_state(ROW._replace(session=SESSION, counts=Counts(), is_parked=False, waits_for=()))
    assert full == empty


def test_s36_the_summary_has_numbers_and_times_only() -> None:
    assert wire.of_summary([ROW]) == {
        "sessions": {
            SESSION.id: {
                "pending": 3,
                "unseen": 2,
                "oldestUnseenAt": 1779291000123,
                "parked": True,
                "parkedSince": 1779291000123,
            }
        }
    }


@pytest.mark.parametrize(
    ("sender", "kind", "name", "label"),
    [
        (Sender("session:abc", True), "session", "abc", "abc"),
        (Sender("session:abc", False), "session", "abc", "abc (unverified)"),
        (Sender("human", True), "user", None, "human"),
        (Sender("user", False), "user", None, "user (unverified)"),
    ],
)
def test_a_sender_that_was_not_proven_is_labelled(sender: Sender, kind: str, name: str | None, label: str) -> None:
    value = wire.of_message(MESSAGE._replace(sender=sender))
    assert (value["fromKind"], value["from"], value["fromLabel"]) == (kind, name, label)


def test_a_draft_says_only_what_differs_from_the_usual() -> None:
    assert wire.of_draft(Draft("hello")) == {"text": "hello"}
    assert wire.of_draft(Draft("x", priority=Priority.LOW, client_id="k", expires=NOW), allow_warnings=True) == {
        "text": "x",
        "priority": "low",
        "clientMessageId": "k",
        "expiresAt": 1779291000123,
        "allowWarnings": True,
    }


@pytest.mark.parametrize("value", [True, "1", 1.5, 10**18])
def test_a_time_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="no time in milliseconds"):
        wire.time_from(value)
