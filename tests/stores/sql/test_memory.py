"""What is remembered of a database is never older than what others wrote, nor of what was undone."""

from __future__ import annotations

import sqlite3
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import MailboxFull, RestanteError
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.registry import Arrival
from restante.stores.sql.sessions import SqlSessions
from restante.testing import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.sql.sqlite import SqliteDatabase
    from restante.testing import FakeClock, SequentialIds

    Open = Callable[..., SqliteDatabase]

_ROOM = Limits(pending_messages=3)


def test_numbers_follow_what_another_process_posts_and_acknowledges(open_database: Open) -> None:
    mailbox, other = (open_database().mailbox("session:one", limits=_ROOM) for _ in range(2))
    first = mailbox.post(make_draft()).message
    assert mailbox.counts().unseen == 1
    other.post(make_draft())
    assert mailbox.counts().unseen == 2
    third = mailbox.post(make_draft()).message
    assert third.number == 3
    other.mark([first.id], Mark.SEEN, "reader")
    other.acknowledge([Acknowledgement(first.id)], "reader")
    assert (mailbox.counts().pending, mailbox.counts().unseen) == (3, 2)
    with pytest.raises(MailboxFull):
        mailbox.post(make_draft())
    other.withdraw(third.id)
    assert mailbox.counts() == other.counts()
    assert mailbox.post(make_draft()).message.number == 4


def test_room_and_numbers_follow_the_clock(open_database: Open, clock: FakeClock) -> None:
    mailbox = open_database().mailbox("session:one", limits=_ROOM)
    for minutes in (1, 2, 3):
        mailbox.post(make_draft(expires=clock.now() + timedelta(minutes=minutes)))
    assert mailbox.counts().pending == 3
    clock.advance(60)
    assert mailbox.counts().pending == 2
    mailbox.post(make_draft())
    assert mailbox.counts().pending == 3
    clock.advance(120)
    assert mailbox.counts().pending == 1


def test_a_step_that_fails_leaves_no_trace_in_the_numbers(open_database: Open) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one", limits=_ROOM)
    with database.together():
        for _ in range(3):
            mailbox.post(make_draft())
        with pytest.raises(MailboxFull):
            mailbox.post(make_draft())
        assert mailbox.counts().pending == 3
    assert mailbox.counts() == open_database().mailbox("session:one").counts()


def test_a_group_that_is_undone_leaves_no_trace_in_the_numbers(open_database: Open) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one")
    mailbox.post(make_draft())
    with pytest.raises(ZeroDivisionError), database.together():
        mailbox.post(make_draft())
        assert mailbox.counts().pending == 2
        raise ZeroDivisionError
    assert mailbox.counts().pending == 1
    assert mailbox.post(make_draft()).message.number == 2


def test_a_post_that_fails_after_its_checks_undoes_its_group(open_database: Open, ids: SequentialIds) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one")
    taken = mailbox.post(make_draft()).message.id
    with pytest.raises(RestanteError), database.together():
        mailbox.post(make_draft())
        ids.new = lambda kind, at: taken  # type: ignore[method-assign]
        mailbox.post(make_draft())
        # It is written with the next thing that is asked.
        with pytest.raises(RestanteError):
            mailbox.entries()
    assert mailbox.counts().pending == 1
    assert open_database().mailbox("session:one").ids() == [taken]


def test_that_nobody_decided_something_is_remembered_until_somebody_does(open_database: Open) -> None:
    database = open_database()
    register, elsewhere = SqlSessions(database), SqlSessions(open_database())
    register.set_setting("one", "x")
    told: list[str] = []
    with database.together():
        assert register.setting("two") is None
        assert database._connection
        database._connection.set_trace_callback(told.append)
        assert register.setting("two") is None
    assert not any(one.startswith("SELECT") for one in told)
    elsewhere.set_setting("two", "y")
    assert register.setting("two") == "y"


def test_a_group_reads_one_state_until_it_takes_a_lock(open_database: Open, path: str, clock: FakeClock) -> None:
    mail = open_database()
    register = SqlSessions(open_database(path + "-register"))
    register.attach(Arrival("session-one"), "", clock.now(), is_proven=True)
    with register.together(), mail.together():
        assert register.session("session-one", "")
        with sqlite3.connect(path + "-register") as other:
            other.execute("DELETE FROM sessions")
        other.close()
        assert register.session("session-one", "")
        # Whoever deletes a session deletes its mail after it, and waits for this lock: now the truth must be told.
        mail.mailbox("session:session-one").post(make_draft())
        assert register.session("session-one", "") is None


def test_sessions_follow_what_others_write(open_database: Open, clock: FakeClock) -> None:
    register, other = (SqlSessions(open_database()) for _ in range(2))
    digest = "0" * 64
    register.attach(Arrival("session-one", secret_digest=digest), "", clock.now(), is_proven=True)
    register.set_setting("persistence", "on")
    assert register.proven_by(digest)
    assert register.setting("persistence") == "on"
    assert [one.id for one in register.all("")] == ["session-one"]
    other.attach(Arrival("session-one", secret_digest="1" * 64), "", clock.now(), is_proven=True)
    other.attach(Arrival("session-two"), "", clock.now(), is_proven=True)
    other.set_setting("persistence", "off")
    assert register.proven_by(digest) is None
    assert register.proven_by("1" * 64)
    assert register.setting("persistence") == "off"
    assert [one.id for one in register.all("")] == ["session-one", "session-two"]
    other.delete("session-one", "", clock.now())
    assert register.session("session-one", "") is None
    assert register.proven_by("1" * 64) is None


def test_a_hint_is_seen_by_others_and_the_next_commit_waits_for_the_disk_again(
    open_database: Open, clock: FakeClock
) -> None:
    database = open_database()
    register, other = SqlSessions(database), SqlSessions(open_database())
    register.attach(Arrival("session-one"), "", clock.now(), is_proven=True)
    assert database._connection
    told: list[str] = []
    database._connection.set_trace_callback(told.append)
    with register.lightly():
        register.park("session-one", "", clock.now(), clock.now())
    register.beat("session-one", "", clock.now())
    database._connection.set_trace_callback(None)
    found = other.session("session-one", "")
    assert found
    assert found.parked_until == clock.now()
    order = [one.split("=")[-1].strip() for one in told if one.startswith(("PRAGMA synchronous", "COMMIT"))]
    assert order == ["NORMAL", "COMMIT", "FULL", "COMMIT"]


def test_a_group_that_waits_for_nobody_says_so(open_database: Open) -> None:
    mailbox = open_database().mailbox("session:one")
    mailbox.post(make_draft())
    database = open_database()
    impatient = database.mailbox("session:one")
    has_lock, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with open_database().writing():
            has_lock.set()
            may_end.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    has_lock.wait(10)
    try:
        with database.together(at_once=True):
            assert impatient.counts().pending == 1
            with pytest.raises(RestanteError, match="locked"):
                impatient.post(make_draft())
    finally:
        may_end.set()
        thread.join()
    assert impatient.post(make_draft()).message.number == 2


def test_a_group_may_be_left_in_another_thread(open_database: Open) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one")
    group = database.together(at_once=True)
    group.__enter__()
    mailbox.post(make_draft())
    thread = threading.Thread(target=group.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    assert open_database().mailbox("session:one").counts().pending == 1
    assert mailbox.post(make_draft()).message.number == 2
