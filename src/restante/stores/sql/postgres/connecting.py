"""Connections to PostgreSQL: how they are opened, kept, and given up when the server falls silent."""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from restante.domain.errors import BadConfig, Busy
from restante.stores.sql.postgres.dialect import adapt
from restante.stores.sql.postgres.failures import AGAIN, failure
from restante.stores.sql.rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, Self, TypeVar

    from psycopg.abc import PQGen

    _Value = TypeVar("_Value")

# Longest that a statement waits for a lock, and a person for a server that says nothing, in seconds.
LOCK_SECONDS = 4
SILENCE_SECONDS = 6.0
# The same for what waits for nothing: the first word on a connection that lay there.
GREETING_SECONDS = 3.0
# Whoever holds locks and says nothing for so long is taken for dead by the server.
_IDLE_SECONDS = 20
_POOL_SLICE = 0.05

# What the URL does not say: to look for the server that takes writes among several, to notice one that is gone.
_DEFAULTS = {
    "target_session_attrs": "read-write",
    "connect_timeout": "3",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "application_name": "restante",
}
_SETTINGS = (
    "SELECT set_config('search_path', %(schema)s, false), set_config('lock_timeout', %(lock)s, false),"
    " set_config('idle_in_transaction_session_timeout', %(idle)s, false),"
    # A commit that does not wait for the disk is none; what waits for more, or for standbys, is the operator's choice.
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'"
    " ELSE current_setting('synchronous_commit') END, false)"
)

# Our errors tell what went wrong; without a handler of somebody's the pool would print it too.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

# Connections of the parent process: closing one of them in a child would end what the parent is at.
_OF_PARENT: list[object] = []


def conninfo_of(url: str) -> str:
    """Return what libpq is told, with our defaults where the URL says nothing.

    Raises:
        BadConfig: It is no URL of a PostgreSQL database.
    """
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        given = {}
    if not given or not url.startswith(("postgresql://", "postgres://")):
        # The URL may hold a password, and libpq's own words repeat it.
        raise BadConfig(("the database's URL is not of the form postgresql://USER@HOST:PORT/DATABASE",))
    return make_conninfo("", **(_DEFAULTS | given | {"client_encoding": "UTF8"}))


def name_of(conninfo: str) -> str:
    """Return how messages name a database: never with a password."""
    parts = conninfo_to_dict(conninfo)
    hosts = str(parts.get("host") or parts.get("hostaddr") or "local").split(",")
    ports = str(parts.get("port") or "5432").split(",")
    if len(ports) < len(hosts):
        ports *= len(hosts)
    places = ", ".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=False))
    return f"PostgreSQL database {parts.get('dbname') or parts.get('user') or ''!r} at {places}"


class Link(psycopg.Connection[Row]):
    """A connection that gives up when the server says nothing for too long: it counts from the last byte.

    TCP alone does not notice a server, or something between, that takes bytes and never answers.
    """

    warning = ""
    silence = SILENCE_SECONDS
    pool: ConnectionPool[Link] | None = None

    @classmethod
    def connect(  # type: ignore[override]
        cls,
        conninfo: str,
        *,
        schema: str,
        on_failure: Callable[[psycopg.Error], None],
        silence: float,
    ) -> Self:
        """Connect, and set what every connection of ours has.

        Args:
            conninfo: What libpq is told.
            schema: Where the tables are.
            on_failure: Is told why it failed, beside the error that is raised.
            silence: After how many seconds without an answer it gives up.
        """
        try:
            link = super().connect(conninfo, autocommit=True)
            link.silence = silence
            try:
                adapt(link)
                link.add_notice_handler(link._note)
                limits = {"lock": f"{LOCK_SECONDS}s", "idle": f"{_IDLE_SECONDS}s"}
                link.execute(_SETTINGS, {"schema": schema, **limits})
            except BaseException:
                link.close()
                raise
        except psycopg.Error as error:
            on_failure(error)
            raise
        return link

    def wait(self, gen: PQGen[_Value], *others: float | None, **more: float | None) -> _Value:
        """Wait for the server's answer; see ``psycopg.Connection.wait``."""
        return super().wait(_unless_silent(gen, self), *others, **more)  # type: ignore[arg-type]

    def _note(self, notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self.warning = notice.message_primary or "a warning"


def _ignore(_error: psycopg.Error) -> None:
    """Leave it to who gets the error raised."""


def _unless_silent(gen: PQGen[_Value], link: Link) -> Generator[Any, Any, _Value]:
    """Pass on what psycopg waits for, until nothing came for too long."""
    heard = time.monotonic()
    try:
        state = next(gen)
        while True:
            ready = yield state
            now = time.monotonic()
            if ready:
                heard = now
            elif now - heard > link.silence:
                # Its answer could come later and be taken for another's: the connection is of no use any more.
                link.pgconn.finish()
                raise psycopg.OperationalError(f"no answer for {link.silence:g} s")
            state = gen.send(ready)
    except StopIteration as end:
        value: _Value = end.value
        return value


class Connections:
    """The connections of one process to one database, made when needed. May be shared between threads.

    Args:
        url: Which database.
        schema: Where in it the tables are.
        most: How many there may be.
        patience: Most seconds to wait for one that others use.
        silence: After how many seconds without an answer one gives up.
    """

    def __init__(self, url: str, schema: str, *, most: int, patience: float, silence: float) -> None:
        self.conninfo = conninfo_of(url)
        self.name = name_of(self.conninfo)
        self.most = most
        self._schema = schema
        self._patience = patience
        self._silence = silence
        self._failure: psycopg.Error | None = None
        self._pool: ConnectionPool[Link] | None = None
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def take(self) -> Link:
        """Return a connection for the caller alone, who gives it back; it may have died since it was last used.

        Raises:
            RestanteError: None can be had; the error says why.
        """
        end = time.monotonic() + self._patience
        while True:
            self._failure = None
            pool = self._open()
            try:
                # The pool tries in the background, and tells a waiter nothing: the error is looked for here.
                link = pool.getconn(timeout=_POOL_SLICE)
            except PoolClosed:
                continue
            except PoolTimeout:
                if self._failure:
                    raise failure(self.name, self._failure) from None
                if time.monotonic() > end:
                    raise Busy(f"{self.name}: all {self.most} connections are in use", remedy=AGAIN) from None
            else:
                link.pool = pool
                return link

    def give(self, link: Link) -> None:
        """Take a connection back; one that is broken is thrown away."""
        pool, link.pool = link.pool, None
        if self._pid == os.getpid() and pool:
            pool.putconn(link)

    def connect(self, *, silence: float, **more: str) -> Link:
        """Return a connection of its own, which the caller closes.

        Args:
            silence: After how many seconds without an answer it gives up.
            **more: What libpq is told beside.

        Raises:
            psycopg.Error: It cannot be had.
        """
        conninfo = make_conninfo(self.conninfo, **more)
        return Link.connect(conninfo, schema=self._schema, on_failure=_ignore, silence=silence)

    def renew(self) -> None:
        """Close all that are not in use without waiting for anything: they are taken for dead."""
        self.close(wait=0.0)

    def close(self, *, wait: float = 5.0) -> None:
        """Close all that are not in use; what is asked for next opens new ones.

        Args:
            wait: Most seconds to wait for what is being opened at this moment.
        """
        self._leave_to_parent()
        with self._lock:
            pool, self._pool = self._pool, None
        if pool:
            pool.close(wait)

    def _open(self) -> ConnectionPool[Link]:
        self._leave_to_parent()
        with self._lock:
            if not self._pool:
                self._pool = ConnectionPool(
                    self.conninfo,
                    connection_class=Link,
                    kwargs={"schema": self._schema, "on_failure": self._note, "silence": self._silence},
                    min_size=0,
                    max_size=self.most,
                    open=True,
                    num_workers=1,
                    # Whoever asks again makes it try again at once; the pool's own pauses would grow to minutes.
                    reconnect_timeout=0,
                )
            return self._pool

    def _leave_to_parent(self) -> None:
        """In a child process, begin anew: what is open belongs to the parent."""
        if self._pid != os.getpid():
            if self._pool:
                _OF_PARENT.append(self._pool)
            self._pool, self._lock, self._pid = None, threading.Lock(), os.getpid()

    def _note(self, error: psycopg.Error) -> None:
        self._failure = error
