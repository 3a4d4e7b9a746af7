"""The SQL home in one SQLite file: durable, shared by processes and threads, readable where it cannot be written.

Every write is one ``BEGIN IMMEDIATE`` transaction and is told as done after its commit reached the disk
(``synchronous=FULL``). Nothing is created by reading. A database has one connection and one lock: threads
take turns, as writers to one file must anyway. After a fork the child opens its own connection.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from typing import TYPE_CHECKING

from restante.domain.errors import Unreadable
from restante.stores.sql.connection import (
    choose_journal,
    close,
    close_soon,
    fingerprint,
    guarded,
    make_file,
    meet,
    open_file,
    open_frozen,
)
from restante.stores.sql.engine import BUSY_SECONDS, Engine
from restante.stores.sql.failures import is_not_writable, translated
from restante.stores.sql.mounts import fs_type as fs_type_of
from restante.stores.sql.mounts import is_shared
from restante.stores.sql.notebook import SqlNotebook, make_directories
from restante.stores.sql.schema import SCHEMA_VERSION, bring_up_to_date, version_of
from restante.stores.sql.store import NO_LIMITS, SqlMailbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.limits import Limits
    from restante.ports import Clock, Ids


class SqliteDatabase(Engine):
    """One SQLite file with any number of mailboxes. May be shared between threads; close it when done.

    Args:
        path: The file; it and its directory are made by the first write.
        clock: Where time comes from.
        ids: Where ids come from.
        busy_seconds: Most seconds to wait for a lock.
        fs_type: Tells on what kind of filesystem a path is.
        stays: Whether the process lives on, and commits often: then less of its time goes into a short log.
    """

    def __init__(
        self,
        path: str,
        *,
        clock: Clock,
        ids: Ids,
        busy_seconds: float = BUSY_SECONDS,
        fs_type: Callable[[str], str] = fs_type_of,
        stays: bool = False,
    ) -> None:
        super().__init__(os.path.realpath(path), busy_seconds)
        self._clock = clock
        self._ids = ids
        self._fs_type = fs_type
        self._stays = stays
        self._identity = (0, 0)
        self._is_prepared = False
        self._shared: bool | None = None

    def mailbox(self, address: str, *, limits: Limits = NO_LIMITS, owner: str = "") -> SqliteMailbox:
        """Return the mailbox of an address; nothing is created by it."""
        return SqliteMailbox(self, address, clock=self._clock, ids=self._ids, limits=limits, owner=owner)

    def notebook(self, address: str, *, owner: str = "") -> SqlNotebook:
        """Return what checkpoints showed of the mailbox of an address."""
        locks = self._path + "-pages"
        return SqlNotebook(self, address, clock=self._clock, locks=locks, wait=self._busy_seconds, owner=owner)

    @property
    def journal_mode(self) -> str:
        """How SQLite makes commits durable here: ``wal``, or ``truncate`` where machines may share the filesystem."""
        with self._held(), translated(self._path):
            connection, frozen = self._for_reading()
            if connection is None or frozen:
                close(connection)
                return "truncate" if self._is_shared() else "wal"
            return str(connection.execute("PRAGMA journal_mode").fetchone()[0])

    def _for_reading(self) -> tuple[sqlite3.Connection | None, tuple[int, ...]]:
        """Return a connection, ``None`` for no database, and for one opened as frozen the file's fingerprint."""
        if self._look() is None:
            return None, ()
        if self._connection is None:
            try:
                with guarded(self._path, self._busy_seconds):
                    if self._look() is None:
                        return None, ()
                    self._connect()
            except sqlite3.Error as error:
                if not is_not_writable(error):
                    raise
                before = fingerprint(self._path)
                return open_frozen(self._path), before
        return self._connection, ()

    def _for_writing(self, *, create: bool) -> sqlite3.Connection | None:
        if self._look() and self._connection and self._is_prepared:
            return self._connection
        if create:
            make_directories(os.path.dirname(self._path))
        with guarded(self._path, self._busy_seconds):
            if self._look() is None:
                if not create:
                    return None
                make_file(self._path)
            return self._prepared()

    def _prepared(self) -> sqlite3.Connection | None:
        """Return a connection to write with, after the file was given our form."""
        if self._connection is None:
            self._connect(even_empty=True)
        connection = self._connection
        if connection and not self._is_prepared:
            try:
                if self._insist(lambda: version_of(connection, self._path)) < SCHEMA_VERSION:
                    self._insist(lambda: bring_up_to_date(connection, self._path))
                choose_journal(connection, self._path, self._busy_seconds, is_shared=self._is_shared())
            except BaseException:
                self._drop()
                raise
            self._is_prepared = True
        return connection

    def _look(self) -> os.stat_result | None:
        """Return what is at the path; a connection to something else that was there before is let go."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            self._drop()
            return None
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(f"{self._path} is not a regular file", remedy="move it out of the way")
        if self._connection and (found.st_dev, found.st_ino) != self._identity:
            self._drop()
        return found

    def _connect(self, *, even_empty: bool = False) -> None:
        """Open the file; one that holds nothing yet stays unopened unless asked for."""
        # Looked up before: should the file be replaced meanwhile, the next look opens the new one.
        identity = _identity(self._path)
        connection = open_file(self._path, "mode=rw")
        try:
            version = self._insist(lambda: meet(connection, self._path, is_shared=self._is_shared(), stays=self._stays))
            if 0 < version < SCHEMA_VERSION:
                self._insist(lambda: bring_up_to_date(connection, self._path))
        except BaseException:
            connection.close()
            raise
        if not version and not even_empty:
            connection.close()
            return
        self._connection, self._identity, self._is_prepared = connection, identity, False

    def _is_shared(self) -> bool:
        if self._shared is None:
            self._shared = is_shared(self._fs_type(self._path))
        return self._shared

    def _is_ours(self) -> bool:
        return self._identity == _identity(self._path)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            with guarded(self._path, self._busy_seconds):
                if self._stays:
                    # Who comes after finds a short log.
                    close(connection)
                else:
                    close_soon(connection, self._path, is_there=self._is_ours())


class SqliteMailbox(SqlMailbox):
    """A ``ports.Mailbox`` in a SQLite file. May be shared between threads; close it when done.

    Args:
        database: The file.
        address: The mailbox.
        clock: Where time comes from.
        ids: Where ids come from.
        limits: What it takes.
        owner: Whose it is.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        address: str,
        *,
        clock: Clock,
        ids: Ids,
        limits: Limits = NO_LIMITS,
        owner: str = "",
    ) -> None:
        super().__init__(database, address, clock=clock, ids=ids, limits=limits, owner=owner)
        self.database = database

    @property
    def notebook(self) -> SqlNotebook:
        """What checkpoints showed of this mailbox, per session."""
        return self.database.notebook(self.address, owner=self._owner)

    def close(self) -> None:
        """Let go of the file, for all mailboxes of the same database object."""
        self.database.close()


def open_sqlite(
    path: str, *, address: str, clock: Clock, ids: Ids, limits: Limits = NO_LIMITS, busy_seconds: float = BUSY_SECONDS
) -> SqliteMailbox:
    """Return a mailbox in a SQLite file. A missing file is an empty mailbox; the first write makes it.

    Args:
        path: The file.
        address: The mailbox.
        clock: Where time comes from.
        ids: Where ids come from.
        limits: What it takes.
        busy_seconds: Most seconds to wait for a lock.
    """
    return SqliteDatabase(path, clock=clock, ids=ids, busy_seconds=busy_seconds).mailbox(address, limits=limits)


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino
