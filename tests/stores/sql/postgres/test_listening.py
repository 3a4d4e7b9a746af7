"""Hearing of what was committed: nothing is missed, and a connection that stands still is noticed."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from queue import Empty, Queue
from typing import TYPE_CHECKING

import pytest
from tests.stores.sql.postgres.relay import Relay

from restante.domain.mailbox import Mark
from restante.domain.registry import Arrival, Latch
from restante.stores.sql.listening import Heard, PostgresWatcher
from restante.stores.sql.postgres import PostgresDatabase, open_postgres
from restante.stores.sql.role_boxes import SqlRoleBoxes
from restante.stores.sql.sessions import SqlSessions
from restante.stores.sql.store import SqlMailbox
from restante.testing import FakeClock, SequentialIds, make_draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres import Server

# Whoever waits for so long hangs.
HANGS = 30


@pytest.fixture
def database(postgres_url: str, clock: FakeClock, ids: SequentialIds) -> Iterator[PostgresDatabase]:
    one = open_postgres(postgres_url, clock=clock, ids=ids)
    yield one
    one.close()


class Ears:
    """Hears in a thread of its own."""

    def __init__(self, watcher: PostgresWatcher) -> None:
        self.watcher = watcher
        self.heard: Queue[tuple[Heard, ...]] = Queue()
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        for heard in self.watcher.hearings():
            self.heard.put(heard)

    def next(self) -> tuple[Heard, ...]:
        return self.heard.get(timeout=HANGS)

    def is_stale(self) -> bool:
        return self.watcher.is_stale

    def until(self, wanted: Heard) -> None:
        while wanted not in self.next():
            pass


@contextmanager
def listening(database: PostgresDatabase) -> Iterator[Ears]:
    ears = Ears(PostgresWatcher(database))
    try:
        assert ears.next() == ()
        yield ears
    finally:
        ears.watcher.close()
        ears.thread.join(HANGS)
        assert not ears.thread.is_alive()


def test_every_committed_change_is_heard_of_with_its_owner_and_place(
    database: PostgresDatabase, clock: FakeClock
) -> None:
    mailbox = SqlMailbox(database, "session:a", clock=clock, ids=SequentialIds(), owner="o\0\1é")
    other = SqlMailbox(database, "session:b", clock=clock, ids=SequentialIds())
    sessions = SqlSessions(database)
    message = mailbox.post(make_draft()).message
    with listening(database) as ears:
        mailbox.post(make_draft())
        assert ears.next() == (Heard("mail", "o\0\1é", "session:a"),)
        mailbox.mark([message.id], Mark.SEEN, "agent")
        assert ears.next() == (Heard("mail", "o\0\1é", "session:a"),)
        with database.together():
            for _ in range(3):
                other.post(make_draft())
            sessions.attach(Arrival("b"), "", clock.now(), is_proven=False)
        assert set(ears.next()) == {Heard("mail", "", "session:b"), Heard("session", "", "b")}
        sessions.latch("b", "", Latch(1), clock.now())
        assert ears.next() == (Heard("session", "", "b"),)
        sessions.beat("b", "", clock.now())
        with pytest.raises(ZeroDivisionError), database.together():
            other.post(make_draft())
            raise ZeroDivisionError
        sessions.delete("b", "", clock.now())
        assert ears.next() == (Heard("session", "", "b"),)
        with pytest.raises(Empty):
            ears.heard.get(timeout=0.2)


def test_mail_to_a_role_is_heard_of_under_the_address_of_the_role(database: PostgresDatabase, clock: FakeClock) -> None:
    """Whatever owner it is of: where two have a role of one name, the database tells them apart and nobody else."""
    boxes = SqlRoleBoxes(database, clock, SequentialIds())
    for owner in ("", "ann", "o\0@é"):
        boxes.post("team/alice", owner, make_draft())
    with listening(database) as ears:
        for owner in ("", "ann", "o\0@é"):
            boxes.post("team/alice", owner, make_draft())
            assert ears.next() == (Heard("mail", owner, "team/alice"),)


def test_a_name_that_no_notice_holds_is_heard_as_look_everywhere(database: PostgresDatabase, clock: FakeClock) -> None:
    mailbox = SqlMailbox(database, "session:a", clock=clock, ids=SequentialIds(), owner="x" * 8_000)
    mailbox.post(make_draft())
    with listening(database) as ears:
        mailbox.post(make_draft())
        assert ears.next() == ()


def test_what_is_committed_after_the_first_tick_is_never_missed(database: PostgresDatabase) -> None:
    mailbox = database.mailbox("session:a")
    mailbox.post(make_draft())
    for _ in range(5):
        watcher = PostgresWatcher(database)
        for number, _ in enumerate(watcher.ticks()):
            if number:
                watcher.close()
                break
            mailbox.post(make_draft())


def test_ticking_ends_in_time_with_a_last_tick(database: PostgresDatabase) -> None:
    database.make()
    assert list(PostgresWatcher(database).ticks(0.2)) == [None, None]
    assert list(PostgresWatcher(database).ticks(0)) == [None]


def test_between_two_rounds_it_goes_on_hearing_on_one_connection(
    database: PostgresDatabase, postgres_server: Server
) -> None:
    mailbox = database.mailbox("session:a")
    mailbox.post(make_draft())
    watcher = PostgresWatcher(database)
    listeners = "SELECT pid FROM pg_stat_activity WHERE application_name = 'restante listener'"
    assert list(watcher.hearings(0.1)) == [(), ()]
    before = postgres_server.run(listeners)
    mailbox.post(make_draft())
    assert list(watcher.hearings(0.1)) == [(), (Heard("mail", "", "session:a"),), ()]
    assert postgres_server.run(listeners) == before
    watcher.close()
    assert list(watcher.ticks()) == [None]


def test_a_database_that_nobody_wrote_to_yet_can_be_listened_to(database: PostgresDatabase) -> None:
    with listening(database) as ears:
        database.mailbox("session:a").post(make_draft())
        ears.until(Heard("mail", "", "session:a"))


def test_where_nothing_can_be_heard_it_ticks_now_and_then_and_costs_little(
    clock: FakeClock, ids: SequentialIds
) -> None:
    database = open_postgres("postgresql://nobody@127.0.0.1:1/none", clock=clock, ids=ids)
    watcher = PostgresWatcher(database)
    before = time.thread_time()
    assert 3 <= len(list(watcher.ticks(1.5))) <= 6
    assert time.thread_time() - before < 0.3
    assert watcher.is_stale


def test_bl25_a_lost_connection_is_replaced_and_followed_by_one_look_everywhere(
    database: PostgresDatabase, postgres_server: Server
) -> None:
    mailbox = database.mailbox("session:a")
    mailbox.post(make_draft())
    with listening(database) as ears:
        assert not ears.watcher.is_stale
        postgres_server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'restante listener'"
        )
        assert ears.next() == ()
        mailbox.post(make_draft())
        assert ears.next() == (Heard("mail", "", "session:a"),)


@pytest.mark.slow
def test_bl25_a_listener_in_a_black_hole_is_stale_and_then_looks_everywhere(
    database: PostgresDatabase, postgres_server: Server, postgres_url: str, clock: FakeClock, ids: SequentialIds
) -> None:
    mailbox = database.mailbox("session:a")
    mailbox.post(make_draft())
    with Relay(postgres_server.port) as relay:
        url = f"postgresql://restante@127.0.0.1:{relay.port}/{postgres_url.rpartition('/')[2]}"
        through = open_postgres(url, clock=clock, ids=ids)
        with listening(through) as ears:
            relay.swallow(new_ones_too=True)
            mailbox.post(make_draft())
            deadline = time.monotonic() + HANGS
            while not ears.is_stale():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert ears.next() == ()
            relay.pass_on()
            while ears.is_stale():
                assert ears.next() == ()
            mailbox.post(make_draft())
            ears.until(Heard("mail", "", "session:a"))
            relay.swallow(new_ones_too=True)
        # Leaving the block closed it, although the socket never answers.
        through.close()
