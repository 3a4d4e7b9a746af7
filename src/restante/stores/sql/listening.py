"""Hearing of what was committed in a PostgreSQL database, by whatever machine: the ``ports.Watcher`` of that home.

A notice is a hint. What was not heard of (a connection was lost, or stood still) is found by looking once everywhere
after listening began again; that a connection stands still is noticed by asking the server on that very connection.
"""

from __future__ import annotations

import json
import os
import select
import time
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from psycopg import sql

from restante.stores.sql.addressing import address_at
from restante.stores.sql.postgres.dialect import unescape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.stores.sql.postgres.connecting import Link
    from restante.stores.sql.postgres.database import PostgresDatabase

# After so many seconds without a word the server is asked for one, and given so many to answer: a connection that
# stands still is noticed after the sum of both.
ASK_SECONDS = 2.0
ANSWER_SECONDS = 2.0
STALE_SECONDS = ASK_SECONDS + ANSWER_SECONDS
_PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0)


class Heard(NamedTuple):
    """What a notice says.

    Attributes:
        kind: ``mail`` or ``session``.
        owner: Whose.
        name: The address of the mailbox, or the id of the session.
    """

    kind: str
    owner: str
    name: str


class PostgresWatcher:
    """Ticks whenever something may have changed in a database: for one thread at a time; ``close`` is for any.

    Between two rounds of ticking it stays connected, and what is committed there is heard of in the next.

    Args:
        database: Which.
    """

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._answered = 0.0
        self._asked: float | None = None
        self._link: Link | None = None
        self._is_closed = False
        self._wake, self._waker = os.pipe()

    @property
    def age(self) -> float:
        """Seconds since the server last answered on the connection that listens."""
        return time.monotonic() - self._answered

    @property
    def is_stale(self) -> bool:
        """Whether notices may be missed at this moment, because that connection is down or stands still."""
        return self.age > STALE_SECONDS

    def ticks(self, timeout: float | None = None) -> Iterator[None]:
        """Yield at the start, whenever something may have changed, and once before the time is over.

        Args:
            timeout: End after so many seconds; ``None`` to go on until closed.
        """
        for _ in self.hearings(timeout):
            yield

    def hearings(self, timeout: float | None = None) -> Iterator[tuple[Heard, ...]]:
        """The same, with what was heard; nothing heard means: look everywhere.

        Args:
            timeout: End after so many seconds; ``None`` to go on until closed.
        """
        end = None if timeout is None else time.monotonic() + timeout
        failures = 0
        while not self._is_over(end):
            self._link = self._link or self._listen()
            # Before the first look of whoever asked the server listens: nothing falls between the two. Where it
            # cannot be listened to, looking again and again is what remains.
            yield ()
            if self._link:
                failures = 0
                yield from self._hear(self._link, end)
            else:
                failures += 1
                self._pause(_PAUSES[min(failures, len(_PAUSES)) - 1], end)
        if self._is_closed:
            self._drop()
        yield ()

    def close(self) -> None:
        """End all ticking, at once; closing twice changes nothing."""
        self._is_closed = True
        os.write(self._waker, b"x")

    def __del__(self) -> None:
        self._drop()
        os.close(self._wake)
        os.close(self._waker)

    def _drop(self) -> None:
        link, self._link, self._asked = self._link, None, None
        if link:
            link.close()

    def _listen(self) -> Link | None:
        """Open a connection that listens; ``None`` when the server cannot be had."""
        try:
            link = self._database.connections.connect(
                silence=ANSWER_SECONDS, application_name="restante listener", connect_timeout="2"
            )
            try:
                link.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._database.schema)))
            except BaseException:
                link.close()
                raise
        except psycopg.Error:
            return None
        link.pgconn.nonblocking = 1
        self._answered = time.monotonic()
        return link

    def _hear(self, link: Link, end: float | None) -> Iterator[tuple[Heard, ...]]:
        """Yield what is heard until the time is over, or the connection is of no use any more and let go."""
        conn = link.pgconn
        poll = select.poll()
        poll.register(conn.socket, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while not self._is_over(end):
            until = self._answered + ASK_SECONDS if self._asked is None else self._asked + ANSWER_SECONDS
            until = until if end is None else min(until, end)
            poll.poll(max(0.0, until - time.monotonic()) * 1000 + 1)
            now = time.monotonic()
            try:
                conn.consume_input()
                if self._asked is not None and _take_answer(link):
                    self._asked, self._answered = None, now
                heard = _notices(link)
                if heard:
                    self._answered = now
                if self._asked is None and now - self._answered >= ASK_SECONDS:
                    conn.send_query(b"SELECT 1")
                    conn.flush()
                    self._asked = now
                elif self._asked is not None and now - self._asked >= ANSWER_SECONDS:
                    self._drop()
                    return
            except psycopg.Error:
                self._drop()
                return
            if heard:
                yield () if None in heard else tuple(one for one in heard if one)

    def _pause(self, seconds: float, end: float | None) -> None:
        left = seconds if end is None else max(0.0, min(seconds, end - time.monotonic()))
        select.select([self._wake], [], [], left)

    def _is_over(self, end: float | None) -> bool:
        return self._is_closed or (end is not None and time.monotonic() >= end)


def _take_answer(link: Link) -> bool:
    """Take the answer to what was asked, if it is there whole."""
    conn = link.pgconn
    while not conn.is_busy():
        result = conn.get_result()
        if result is None:
            return True
    return False


def _notices(link: Link) -> list[Heard | None]:
    """Return the notices that came; ``None`` for one that says nothing of where."""
    found: dict[bytes, Heard | None] = {}
    while notice := link.pgconn.notifies():
        if notice.extra not in found:
            found[notice.extra] = _read(notice.extra)
    return list(found.values())


def _read(notice: bytes) -> Heard | None:
    try:
        kind, owner, name = json.loads(notice)
    except ValueError:
        return None
    owner = unescape(owner)
    return Heard(kind, owner, address_at(unescape(name), owner))
