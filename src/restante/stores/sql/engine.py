"""What a file and a database in memory have in common: one connection, one lock, transactions, groups of them."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from restante.domain.errors import Busy, StorageFailed
from restante.stores.sql.connection import fingerprint, insist
from restante.stores.sql.failures import FOREIGN, failure, translate, translated
from restante.stores.sql.running import Later, Run
from restante.stores.sql.schema import SCHEMA_VERSION, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from restante.domain.errors import RestanteError

BUSY_SECONDS = 10.0

_Answer = TypeVar("_Answer")

# Connections of the parent process: closing one of them in a child could end what the parent is at.
_OF_PARENT: list[sqlite3.Connection] = []

_MOST_REMEMBERED = 20_000


class _Forks:
    """Which process this is, counted from the first: else the system is asked a dozen times for each post."""

    so_far = 0

    @classmethod
    def count(cls) -> None:
        """Take note of having been forked."""
        cls.so_far += 1


os.register_at_fork(after_in_child=_Forks.count)


class _Locks:
    """How often this process locked a database for writing: what a group read before that may not be true under it."""

    taken = 0


class Engine:
    """A ``transaction.Database`` on one SQLite connection. May be shared between threads, which take turns.

    Args:
        path: What errors name.
        busy_seconds: Most seconds to wait for a lock.
    """

    def __init__(self, path: str, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._forks = _Forks.so_far
        self._connection: sqlite3.Connection | None = None
        # The thread whose steps are one transaction, whether that began, and what undid all of it.
        self._leader = 0
        self._has_begun = False
        self._undone: RestanteError | None = None
        # What its steps put off.
        self._later = Later(self._undo_group)
        # Whether the group may be lost with the machine's power.
        self._is_light = False
        # Whether the group reads one state, and how many locks had been taken when that began.
        self._is_looking = False
        self._looked_at = 0
        # What was read and is true as long as nobody writes; and SQLite's word for whether anybody else did.
        self._memory: dict[object, Any] = {}
        self._remembered_of: tuple[sqlite3.Connection | None, int] = (None, 0)

    @property
    def path(self) -> str:
        """The file, with symbolic links resolved; a name in brackets where there is none."""
        return self._path

    def reading(self) -> _Reading:
        """Read one consistent state; see ``transaction.Database.reading``."""
        return _Reading(self)

    def writing(self, *, create: bool = False) -> _Writing:
        """Write, alone and durably; see ``transaction.Database.writing``."""
        return _Writing(self, create=create)

    @contextmanager
    def lightly(self) -> Iterator[None]:
        """Commit without waiting for the disk; see ``transaction.Database.lightly``."""
        if self._is_leading():
            yield
            return
        with self.together():
            self._is_light = True
            yield

    def recall(self, key: object) -> Any:  # noqa: ANN401
        """Return what the group would find in memory; see ``transaction.Database.recall``."""
        if (self._has_begun or (self._is_looking and self._looked_at == _Locks.taken)) and self._is_leading():
            return self._memory.get(key)
        return None

    @contextmanager
    def together(self, *, at_once: bool = False) -> Iterator[None]:
        """Make what this thread writes in the block durable at once; see ``transaction.Database.together``."""
        if self._is_leading():
            yield
            return
        patience = self._busy_seconds
        with self._held():
            self._leader = get_ident()
            try:
                self._busy_seconds = 0.0 if at_once else patience
                yield
                self._busy_seconds = patience
                if self._has_begun or self._undone:
                    with translated(self._path):
                        connection = self._of_group()
                        self._later.write(connection)
                        self._insist(partial(connection.execute, "COMMIT"))
            except BaseException:
                self._forget()
                raise
            finally:
                self._leader, self._has_begun, self._undone, self._is_looking = 0, False, None, False
                self._later.forget()
                self._busy_seconds = patience
                self._roll_back()
                if self._is_light:
                    self._is_light = False
                    self._wait_for_disk(True)

    def write_now(self) -> None:
        """Do now what the group put off; see ``transaction.Database.write_now``."""
        if self._has_begun and self._is_leading():
            with translated(self._path):
                self._later.write(self._of_group())

    def close(self) -> None:
        """Let go of the database; closing twice changes nothing, and what is asked for next opens it again."""
        with self._held():
            self._leave_look()
            self._drop()

    def _for_reading(self) -> tuple[sqlite3.Connection | None, tuple[int, ...]]:
        """Return a connection, ``None`` for no database, and for one opened as frozen the file's fingerprint."""
        raise NotImplementedError

    def _for_writing(self, *, create: bool) -> sqlite3.Connection | None:
        """Return a connection to a database of our form; ``None`` for none."""
        raise NotImplementedError

    def _is_ours(self) -> bool:
        """Tell, with the lock on the database held, whether it is still the one that is asked for."""
        return True

    def _drop(self) -> None:
        """Let go of the connection."""
        raise NotImplementedError

    def begin_reading(self) -> tuple[Run | None, tuple[int, ...]]:
        """Begin what ``end_reading`` ends; a frozen database also has a fingerprint."""
        if self._is_leading():
            if self._has_begun or self._undone:
                return Run(self._of_group(), self._memory, self._later), ()
            if self._is_looking and self._looked_at == _Locks.taken:
                return Run(self._of_group(), self._memory), ()
            self._leave_look()
        else:
            self._take()
        try:
            connection, frozen = self._for_reading()
            if connection is None:
                return None, ()
            self._looked_at = _Locks.taken
            try:
                connection.execute("BEGIN")
                self._insist(partial(self._check_version, connection, is_ours=not frozen))
            except BaseException:
                if frozen:
                    connection.close()
                raise
        except BaseException:
            self._roll_back()
            if not self._is_leading():
                self._lock.release()
            raise
        # A group goes on with the state it saw first, until it or anybody else here locked a database: what is read
        # under a lock must be what is true under it.
        self._is_looking = self._is_leading() and not frozen
        return Run(connection, {} if frozen else self._memory), frozen

    def end_reading(self, run: Run | None, frozen: tuple[int, ...]) -> None:
        """End a look, unless it is one that the thread's group goes on with."""
        try:
            if run is not None and frozen:
                run.close()
            elif not self._is_leading():
                self._roll_back()
        finally:
            if not self._is_leading():
                self._lock.release()

    def _leave_look(self) -> None:
        if self._is_looking:
            self._is_looking = False
            self._roll_back()

    def _begin(self, *, create: bool) -> sqlite3.Connection | None:
        """Begin to write and return the connection; ``None`` where there is no database."""
        self._leave_look()
        while True:
            connection = self._for_writing(create=create)
            if connection is None:
                return None
            if self._is_light:
                self._wait_for_disk(False)
            try:
                self._insist(partial(connection.execute, "BEGIN IMMEDIATE"))
            except sqlite3.DatabaseError:
                # A deleted file may meet the journal of the one that took its name, and be called damaged for it.
                if self._is_ours():
                    raise
                self._drop()
                continue
            _Locks.taken += 1
            if self._is_ours():
                self._check_version(connection)
                return connection
            # Deleted or replaced between looking and locking: what is written there would be lost with it.
            self._drop()

    def _wait_for_disk(self, is_wanted: bool) -> None:
        """Let commits wait for the disk, or not; without a log that goes on a file could come to harm by the latter."""
        try:
            if self._connection and self._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                self._connection.execute(f"PRAGMA synchronous = {'FULL' if is_wanted else 'NORMAL'}")
        except sqlite3.Error:
            self._drop()
            raise

    def _of_group(self) -> sqlite3.Connection:
        """Return the connection of a group that began."""
        if self._undone:
            raise self._undone
        assert self._connection is not None
        return self._connection

    def begin_writing(self, *, create: bool) -> Run | None:
        """Begin what ``_Writing`` ends: a transaction, or a step of the thread's group."""
        if self._is_leading():
            return self._begin_step(create=create)
        self._take()
        try:
            connection = self._begin(create=create)
        except BaseException:
            self._roll_back()
            self._lock.release()
            raise
        return None if connection is None else Run(connection, self._memory)

    def end_writing(self, error: BaseException | None, run: Run | None) -> None:
        """End a transaction or a step.

        Args:
            error: Why it is to be undone; ``None`` for keeping it.
            run: The transaction; ``None`` where there is no database.
        """
        if error is not None or (run is not None and not run.has_kept):
            self._forget()
        if self._is_leading():
            if run is not None:
                self._end_step(run, error)
            return
        try:
            if error is None and run is not None and (connection := self._connection):
                self._insist(partial(connection.execute, "COMMIT"))
        except BaseException:
            self._forget()
            raise
        finally:
            self._roll_back()
            self._lock.release()

    def _begin_step(self, *, create: bool) -> Run | None:
        if self._has_begun or self._undone:
            connection = self._of_group()
        else:
            try:
                begun = self._begin(create=create)
            except BaseException:
                self._roll_back()
                raise
            if begun is None:
                return None
            connection, self._has_begun = begun, True
        return Run(connection, self._memory, self._later, is_step=True)

    def _end_step(self, run: Run, error: BaseException | None) -> None:
        connection = self._of_group()
        if not run.has_savepoint:
            # What wrote without one was sure that it could not fail.
            if error is not None and (run.is_sure or not connection.in_transaction):
                self._undo_group(error)
        elif error is None:
            try:
                connection.execute("RELEASE step")
            except sqlite3.Error as failed:
                self._undo_step(connection, failed)
                raise
        else:
            self._undo_step(connection, error)

    def _undo_step(self, connection: sqlite3.Connection, cause: BaseException) -> None:
        """Undo a step; where SQLite undid the whole group, as on a full disk, the rest of the group must not go on."""
        reason = cause
        if connection.in_transaction:
            try:
                connection.execute("ROLLBACK TO step")
                connection.execute("RELEASE step")
            except sqlite3.Error as error:
                reason = error
            else:
                return
        self._undo_group(reason)

    def _undo_group(self, reason: BaseException) -> None:
        self._undone = (
            failure(self._path, reason)
            if isinstance(reason, sqlite3.Error)
            else StorageFailed(f"{self._path}: a step could not be undone ({reason})", remedy="try again")
        )

    def _check_version(self, connection: sqlite3.Connection, *, is_ours: bool = True) -> None:
        """See to it that a transaction that just began finds our form, and nothing remembered that is not so any more.

        Args:
            connection: The database.
            is_ours: Whether it is the connection that is kept.
        """
        if is_ours:
            state = connection, connection.execute("PRAGMA data_version").fetchone()[0]
            if state == self._remembered_of and len(self._memory) < _MOST_REMEMBERED:
                return
            self._forget()
            self._remembered_of = state
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
                version_of(connection, self._path)
        except BaseException:
            self._remembered_of = (None, 0)
            raise

    def _forget(self) -> None:
        self._memory.clear()

    def _insist(self, act: Callable[[], _Answer]) -> _Answer:
        return insist(act, self._busy_seconds)

    def _is_leading(self) -> bool:
        """Whether the calling thread is within ``together``."""
        return self._leader == get_ident() and self._forks == _Forks.so_far

    @contextmanager
    def _held(self) -> Iterator[None]:
        if self._is_leading():
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._lock.release()

    def _take(self) -> None:
        """Take the connection for this thread."""
        if self._forks != _Forks.so_far:
            if self._connection:
                _OF_PARENT.append(self._connection)
            self._connection, self._lock, self._forks = None, threading.Lock(), _Forks.so_far
            self._leader, self._has_begun, self._undone, self._is_looking = 0, False, None, False
            self._later.forget()
            self._remembered_of = (None, 0)
        if not self._lock.acquire(timeout=self._busy_seconds):
            raise Busy(f"{self._path} was in use by another thread for too long", remedy="try again")

    def _roll_back(self) -> None:
        """End what was not committed; a connection that cannot even do that is let go."""
        if self._connection and self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._drop()


class _Reading:
    """A block of ``reading``. Not a generator, as ``_Writing``."""

    __slots__ = ("_engine", "_frozen", "_run")

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._run: Run | None = None
        self._frozen: tuple[int, ...] = ()

    def __enter__(self) -> Run | None:
        try:
            self._run, self._frozen = self._engine.begin_reading()
        except FOREIGN as error:
            raise translate(self._engine.path, error) from error
        return self._run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        path = self._engine.path
        try:
            if error is None and self._frozen and fingerprint(path) != self._frozen:
                raise Busy(f"{path} was written while it was read", remedy="try again")
        except FOREIGN as failed:
            raise translate(path, failed) from failed
        finally:
            self._engine.end_reading(self._run, self._frozen)
        if isinstance(error, FOREIGN):
            raise translate(path, error) from error


class _Writing:
    """A block of ``writing``. Not a generator: a post among many costs little else than this."""

    __slots__ = ("_create", "_engine", "_run")

    def __init__(self, engine: Engine, *, create: bool) -> None:
        self._engine = engine
        self._create = create
        self._run: Run | None = None

    def __enter__(self) -> Run | None:
        try:
            self._run = self._engine.begin_writing(create=self._create)
        except FOREIGN as error:
            raise translate(self._engine.path, error) from error
        return self._run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._engine.end_writing(error, self._run)
        except FOREIGN as failed:
            raise translate(self._engine.path, failed) from failed
        if isinstance(error, FOREIGN):
            raise translate(self._engine.path, error) from error
