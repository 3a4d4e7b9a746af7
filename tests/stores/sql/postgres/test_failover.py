"""Servers restarted, or lost for good, under load: clear errors to try again after, nothing lost or doubled."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests import postgres

from restante.domain.errors import Busy, RestanteError
from restante.domain.message import Draft
from restante.stores.sql.listening import PostgresWatcher
from restante.stores.sql.postgres import PostgresDatabase
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(postgres.reason_to_skip()), reason=postgres.reason_to_skip()),
]

CLIENTS = 6
# Whoever comes no further for so long hangs.
HANGS = 90


class Load:
    """Clients that post without end, and try again with the same client id until it is told as stored.

    Args:
        url: The database.
    """

    def __init__(self, url: str) -> None:
        self.stored: list[tuple[str, str]] = []
        self.refused: list[RestanteError] = []
        self.broken: list[BaseException] = []
        self._stop = threading.Event()
        self._databases = [open_one(url) for _ in range(CLIENTS)]
        self._threads = [threading.Thread(target=self._post, args=(name,), daemon=True) for name in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _post(self, name: int) -> None:
        mailbox = self._databases[name].mailbox(f"session:{name % 2}")
        number = 0
        try:
            while not self._stop.is_set():
                body = f"{name}-{number}"
                try:
                    message = mailbox.post(Draft(body, client_id=body)).message
                except Busy as error:
                    self.refused.append(error)
                    time.sleep(0.02)
                    continue
                self.stored.append((message.id, body))
                number += 1
        except BaseException as error:
            self.broken.append(error)

    def wait_for(self, more: int) -> None:
        """Wait until so many more posts were told as stored."""
        wanted, end = len(self.stored) + more, time.monotonic() + HANGS
        while len(self.stored) < wanted:
            assert not self.broken, self.broken
            assert time.monotonic() < end, [str(one) for one in self.refused[-3:]]
            time.sleep(0.01)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(HANGS)
        for database in self._databases:
            database.close()
        assert self.broken == []
        assert all(error.remedy for error in self.refused)

    def check(self, url: str) -> None:
        """Check that what was told as stored is there, once; a last post that nobody was told of may be there too."""
        database = open_one(url)
        found: Counter[str] = Counter()
        ids = set()
        for name in range(2):
            entries = database.mailbox(f"session:{name}").entries()
            found.update(entry.message.body for entry in entries)
            ids |= {entry.message.id for entry in entries}
            assert [entry.message.number for entry in entries] == list(range(1, len(entries) + 1))
        database.close()
        assert {message_id for message_id, _ in self.stored} <= ids
        assert set(found.values()) == {1}
        assert 0 <= len(found) - len(self.stored) <= CLIENTS


def open_one(url: str, *, silence: float = 2.0) -> PostgresDatabase:
    return PostgresDatabase(url, clock=SystemClock(), ids=MonotonicIds(), silence=silence)


@contextmanager
def loaded(url: str) -> Iterator[Load]:
    load = Load(url)
    try:
        yield load
    finally:
        load.stop()


@contextmanager
def pair() -> Iterator[tuple[postgres.Server, postgres.Server]]:
    """Run a primary whose commits wait for its standby."""
    with postgres.running() as primary, postgres.directory() as place:
        standby = postgres.Server(place, postgres.QUICK)
        standby.copy_of(primary, "standby")
        standby.start()
        try:
            primary.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            primary.run("SELECT pg_reload_conf()")
            until(lambda: primary.run("SELECT sync_state FROM pg_stat_replication") == [("sync",)])
            yield primary, standby
        finally:
            standby.stop()


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + HANGS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("how", ["fast", "immediate", "kill"])
def test_a_database_restarted_under_load_loses_and_doubles_nothing(how: str) -> None:
    with postgres.running() as server:
        with loaded(server.url()) as load:
            load.wait_for(30)
            for _ in range(2):
                server.restart(how)
                load.wait_for(60)
        assert load.refused
        load.check(server.url())


def test_a_lost_primary_is_replaced_by_its_standby_and_no_post_that_was_told_is_lost() -> None:
    with pair() as (primary, standby):
        url = primary.url("postgres", standby)
        watched = open_one(url)
        watcher = PostgresWatcher(watched)
        ticks: list[float] = []

        def listen() -> None:
            ticks.extend(time.monotonic() for _ in watcher.ticks())

        waiting = threading.Thread(target=listen, daemon=True)
        with loaded(url) as load:
            load.wait_for(50)
            waiting.start()
            primary.stop("kill")
            lost = time.monotonic()
            standby.run("ALTER SYSTEM SET synchronous_standby_names = ''")
            standby.promote()
            load.wait_for(100)
            # Whoever waits hears of what is posted at the new primary.
            until(lambda: not watcher.is_stale and ticks[-1] > lost)
            before = len(ticks)
            until(lambda: len(ticks) > before)
        watcher.close()
        waiting.join(HANGS)
        watched.close()
        load.check(standby.url())
        # A single address leads to the same place.
        load.check(url)


def test_a_standby_takes_no_writes_and_says_to_try_again() -> None:
    with pair() as (primary, standby):
        here, there = open_one(primary.url()), open_one(standby.url())
        here.mailbox("session:a").post(Draft("one"))
        with pytest.raises(Busy, match=r"read-only|standby"):
            there.mailbox("session:a").post(Draft("two"))
        # The order of the hosts does not matter.
        either = open_one(standby.url("postgres", primary))
        either.mailbox("session:a").post(Draft("three"))
        assert [entry.message.body for entry in here.mailbox("session:a").entries()] == ["one", "three"]
        for one in (here, there, either):
            one.close()


def test_a_commit_that_no_standby_confirmed_is_not_told_as_done() -> None:
    with pair() as (primary, standby):
        database = open_one(primary.url(), silence=1.0)
        mailbox = database.mailbox("session:a")
        mailbox.post(Draft("one"))
        standby.stop("fast")
        with pytest.raises(Busy, match="did not say whether") as unknown:
            mailbox.post(Draft("two", client_id="c2"))
        assert "same client id" in unknown.value.remedy
        standby.start()
        # The first attempt may still hold the lock until its commit is confirmed.
        until(lambda: primary.run("SELECT sync_state FROM pg_stat_replication") == [("sync",)])
        assert mailbox.post(Draft("two", client_id="c2")).duplicate
        assert [entry.message.body for entry in mailbox.entries()] == ["one", "two"]
        database.close()


def test_a_commit_whose_wait_for_the_standby_was_cancelled_is_not_told_as_done() -> None:
    with pair() as (primary, standby):
        database = open_one(primary.url(), silence=HANGS)
        mailbox = database.mailbox("session:a")
        mailbox.post(Draft("one"))
        standby.stop("fast")
        told: list[RestanteError] = []

        def post() -> None:
            try:
                mailbox.post(Draft("two", client_id="c2"))
            except RestanteError as error:
                told.append(error)

        posting = threading.Thread(target=post)
        posting.start()
        waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        until(lambda: primary.run(f"SELECT 1 {waiting}"))
        primary.run(f"SELECT pg_cancel_backend(pid) {waiting}")
        posting.join(HANGS)
        assert [type(one) for one in told] == [Busy]
        assert "less safely" in str(told[0])
        standby.start()
        assert mailbox.post(Draft("two", client_id="c2")).duplicate
        database.close()
