"""The register, the boxes and the accounts in SQL: what the contract does not say, and what each question costs."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import BadText
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Sender
from restante.domain.receipt import Decision
from restante.domain.registry import Arrival
from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.in_memory import open_memory
from restante.stores.sql.sessions import SqlAccounts, SqlSessions
from restante.stores.sql.statements import STATEMENTS
from restante.testing import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.sql.engine import Engine
    from restante.stores.sql.sqlite import SqliteDatabase
    from restante.testing import FakeClock, SequentialIds

    Open = Callable[..., SqliteDatabase]

ANN = Sender("session:ann", verified=True)
# What must look into one index or another and never through a table, whatever there is besides.
_ASKED = {
    name: sql
    for name, sql in STATEMENTS.items()
    if name
    in {
        "box",
        "room",
        "counts",
        "pending",
        "expiring",
        "counter",
        "message",
        "message_of_client",
        "counts_of_owner",
        "debts",
        "boxes_changed",
        "boxes_expiring",
        "traces",
        "trace",
        "traces_of_deleted",
        "trace_of_deleted",
        "session",
        "sessions",
        "sessions_named",
        "sessions_changed",
        "sessions_ended",
        "session_proven",
        "setting",
    }
}


def test_accounts_are_kept_as_names_and_hashes(open_database: Open, clock: FakeClock) -> None:
    accounts = SqlAccounts(open_database(), clock)
    assert (accounts.names(), accounts.password_hash("ann"), accounts.remove("ann")) == ([], None, False)
    accounts.add("bob", "$argon2id$b")
    accounts.add("ann", "$argon2id$a")
    accounts.add("ann", "$argon2id$c")
    assert (accounts.names(), accounts.password_hash("ann")) == (["ann", "bob"], "$argon2id$c")
    assert accounts.made() == {"ann": clock.now(), "bob": clock.now()}
    assert (accounts.remove("ann"), accounts.remove("ann"), accounts.names()) == (True, False, ["bob"])
    with pytest.raises(BadText):
        accounts.add("\ud800", "x")
    assert (accounts.password_hash("\ud800"), accounts.remove("\ud800")) == (None, False)


def test_a_secret_is_in_the_file_as_its_digest_alone(open_database: Open, clock: FakeClock, path: str) -> None:
    sessions = SqlSessions(open_database())
    sessions.attach(Arrival("one", secret_digest="0" * 64), "", clock.now(), is_proven=False)
    session = sessions.session("one", "")
    assert "0" * 64 not in repr(session)


def test_what_expired_becomes_an_event_when_it_is_swept(
    open_database: Open, clock: FakeClock, ids: SequentialIds
) -> None:
    boxes = SqlBoxes(open_database(), clock, ids)
    for name in ("a", "b", "c"):
        lives = timedelta(minutes=1 if name != "c" else 9)
        boxes.box(name, "").post(make_draft(expires=clock.now() + lives))
    _, event = boxes.tip("")
    assert boxes.sweep("") == []
    clock.advance(60)
    assert boxes.changed_since(event, "") == []
    assert sorted(boxes.sweep("")) == ["a", "b"]
    assert sorted(boxes.changed_since(event, "")) == ["a", "b"]
    assert boxes.sweep("") == []
    assert boxes.expired == 2
    assert SqlBoxes(open_database("/nowhere/mail.db"), clock, ids).sweep("") == []


def test_many_boxes_are_open_at_once_and_remember_what_they_found_expired(clock: FakeClock, ids: SequentialIds) -> None:
    boxes = SqlBoxes(open_memory(clock, ids), clock, ids)
    boxes.box("a", "").post(make_draft(expires=clock.now() + timedelta(minutes=1)))
    clock.advance(60)
    assert boxes.box("a", "").counts().pending == 0
    clock.advance(-30)
    assert boxes.box("a", "").counts().pending == 0
    assert boxes.counts("", ["a"])["a"].pending == 0


def _plan(database: Engine, sql: str) -> list[str]:
    names = set(re.findall(r":([a-z_]+)", re.sub(r"'[^']*'", "", sql)))
    with database.reading() as run:
        assert run
        return [row[3] for row in run.raw("EXPLAIN QUERY PLAN " + sql, [dict.fromkeys(names, 1)])]


@pytest.mark.parametrize("name", sorted(_ASKED))
def test_every_question_of_daily_use_goes_by_an_index(name: str, clock: FakeClock, ids: SequentialIds) -> None:
    database = open_memory(clock, ids)
    database.mailbox("x").post(make_draft())
    plan = _plan(database, _ASKED[name])
    assert plan
    assert [line for line in plan if line.startswith("SCAN")] == []
    if name in {"room", "counts", "counts_of_owner", "debts"}:
        assert any("COVERING INDEX messages_pending" in line for line in plan), plan
    if name.startswith("trace"):
        assert any("_of_senders (owner=? AND sender=?" in line for line in plan), plan
    if name == "traces":
        assert not any("TEMP B-TREE" in line for line in plan), plan


def _work(database: Engine, act: Callable[[], object]) -> int:
    """Return how many steps SQLite's machine makes for something, in tens."""
    connection = database._connection
    assert connection
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection.set_progress_handler(count, 10)
    act()
    connection.set_progress_handler(None, 0)
    return steps


def _figures(history: int, clock: FakeClock, ids: SequentialIds) -> dict[str, int]:
    """Return what each question costs after so many acknowledged messages, with one pending in each of five boxes."""
    database = open_memory(clock, ids)
    boxes = SqlBoxes(database, clock, ids, Limits(pending_messages=200, pending_bytes=10**6, sender_share=0.5))
    asked = ""
    with database.together():
        for number in range(history):
            box = boxes.box(f"s{number % 5}", "")
            lives = clock.now() + timedelta(hours=1)
            asked = box.post(make_draft(sender=ANN, client_id=f"c{number}", expires=lives)).message.id
            box.acknowledge([Acknowledgement(asked, Decision.ACCEPTED)], "reader")
        for number in range(5):
            boxes.box(f"s{number}", "").post(make_draft(sender=ANN))
    box = boxes.box("s1", "")
    acts: dict[str, Callable[[], object]] = {
        "counts": lambda: boxes.counts(""),
        "debts": lambda: boxes.debts(""),
        "traces": lambda: boxes.traces(ANN.name, "", limit=20),
        "trace": lambda: boxes.traces(ANN.name, "", message_ids=[asked]),
        "post": lambda: box.post(make_draft(sender=ANN, client_id="new")),
        "read": lambda: box.entries(pending_only=True),
        "changed": lambda: boxes.changed_since(boxes.tip("")[1] - 1, ""),
        "sweep": lambda: boxes.sweep(""),
    }
    return {name: _work(database, act) for name, act in acts.items()}


def test_no_cost_grows_with_history(clock: FakeClock, ids: SequentialIds) -> None:
    """Posting, counting, debts and traces after 3,000 acknowledged messages make as many steps as after 30."""
    few, many = _figures(30, clock, ids), _figures(3000, clock, ids)
    assert {name: many[name] <= few[name] * 1.3 + 3 for name in few} == dict.fromkeys(few, True), (few, many)


def _cost_of_traces(others: int, clock: FakeClock, ids: SequentialIds) -> int:
    database = open_memory(clock, ids)
    boxes = SqlBoxes(database, clock, ids)
    with database.together():
        boxes.box("mine", "ann").post(make_draft())
        for _ in range(others):
            boxes.box("theirs", "bob").post(make_draft())
    assert len(boxes.traces("human", "ann")) == 1
    return _work(database, lambda: boxes.traces("human", "ann"))


def test_a_stranger_with_much_history_costs_a_sender_of_the_same_name_nothing(
    clock: FakeClock, ids: SequentialIds
) -> None:
    """A person is called ``human`` by every owner."""
    assert _cost_of_traces(1000, clock, ids) <= _cost_of_traces(10, clock, ids) + 2
