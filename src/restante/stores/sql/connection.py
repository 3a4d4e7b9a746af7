"""Opening a SQLite file so that commits are durable, and so that it can be read where it cannot be written."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from restante.domain.errors import Busy, StorageFailed
from restante.stores import files
from restante.stores.sql.failures import code_of
from restante.stores.sql.schema import SCHEMA_VERSION, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Answer = TypeVar("_Answer")

# Pages of a new file. A post changes little on each of the ten pages it touches, and a commit writes them whole.
_PAGE_BYTES = 1024
# Whoever opens next reads the log once, so it is kept short: 1 MB costs less than 1 ms.
_LOG_BYTES = 1_000_000
# Carrying a log over costs two waits for the disk and writes each page again: who stays does it for many commits.
_LONG_LOG_BYTES = 8_000_000
# As many prepared statements are kept: more than there are.
STATEMENTS_KEPT = 256
# SQLite sleeps 1, 2, 5 and 10 ms within this time; insist() begins anew then.
_PATIENCE = 0.018
# How SQLite says that it cannot share memory beside the file, which WAL needs.
_NO_SHARED_MEMORY = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_CANTOPEN}
_PRAGMAS = (
    "synchronous = FULL",
    "fullfsync = ON",
    "foreign_keys = ON",
    "temp_store = MEMORY",
    "cache_spill = OFF",
)
_PLAIN = b"/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

# Closing any descriptor of a file drops all of this process's locks on it: none may be open while it is made.
_OPENING = threading.Lock()
os.register_at_fork(before=_OPENING.acquire, after_in_parent=_OPENING.release, after_in_child=_OPENING.release)


def make_file(path: str) -> None:
    """Make an empty file with mode 0600, durably; one that is there stays.

    Raises:
        OSError: It cannot be made.
    """
    with _OPENING, suppress(FileExistsError):
        os.close(files.open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        files.sync_directory(os.path.dirname(path))


@contextmanager
def guarded(path: str, wait: float, *, is_alone: bool = False) -> Iterator[None]:
    """Keep a file from being taken out of use while it is opened, and from being opened meanwhile.

    A file in WAL mode is three files, found by name: whoever opened one of them before and one of them after the
    change would lose what he writes. The lock is on the directory, so that nothing is left behind; where there is
    none to be had the caller goes on without.

    Args:
        path: The file.
        wait: Most seconds to wait.
        is_alone: Whether to keep those out who open it.

    Raises:
        Busy: The lock was not free in time.
    """
    import fcntl

    fd = -1
    try:
        with suppress(OSError):
            fd = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            end = time.monotonic() + wait
            while True:
                try:
                    fcntl.flock(fd, (fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise Busy(f"{path} was being opened or taken away for too long", remedy="try again") from None
                time.sleep(0.001)
        yield
    finally:
        if fd >= 0:
            os.close(fd)


def open_file(path: str, how: str) -> sqlite3.Connection:
    """Open a SQLite file that is there, without looking into it yet.

    Args:
        path: The file.
        how: Parameters of SQLite's URI, https://sqlite.org/uri.html.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in os.fsencode(path))
    with _OPENING:
        return sqlite3.connect(
            f"file:{quoted}?{how}",
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=STATEMENTS_KEPT,
        )


def meet(connection: sqlite3.Connection, path: str, *, is_shared: bool = False, stays: bool = False) -> int:
    """Look into a file for the first time, and return the version of its form; 0 when it holds nothing.

    Args:
        connection: The file, just opened.
        path: Where it is.
        is_shared: Whether machines may share the filesystem.
        stays: Whether it stays open for many commits.

    Raises:
        Unreadable: It belongs to another program, or to a newer Restante.
        sqlite3.Error: It cannot be read.
    """
    if is_shared:
        _leave_wal(connection)
    for pragma in _PRAGMAS:
        connection.execute("PRAGMA " + pragma)
    version = version_of(connection, path)
    if not version:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    page = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.execute(f"PRAGMA wal_autocheckpoint = {(_LONG_LOG_BYTES if stays else _LOG_BYTES) // page}")
    return version


def open_frozen(path: str) -> sqlite3.Connection | None:
    """Open a file whose directory cannot be written, as one that nobody changes; ``None`` when it holds nothing.

    Without the right to write, the memory that WAL shares between processes cannot be had. The caller sees to it
    that the file did not change while it was read: ``fingerprint`` before and after.

    Raises:
        StorageFailed: A log beside the file holds commits, which would be overlooked.
        Unreadable: It belongs to another program, or to a newer Restante.
        sqlite3.Error: It cannot be opened.
    """
    for log in (path + "-wal", path + "-journal"):
        if _size(log):
            raise StorageFailed(
                f"{path} cannot be read here: {os.path.dirname(path)} is read-only, "
                f"and what is in {log} was not carried over yet",
                remedy="make that directory writable, or run the command once from where it is writable",
            )
    connection = open_file(path, "mode=ro&immutable=1")
    version = 0
    try:
        version = meet(connection, path)
    finally:
        if version != SCHEMA_VERSION:
            connection.close()
    if 0 < version < SCHEMA_VERSION:
        raise StorageFailed(
            f"{path} has schema version {version} and is read-only; this Restante reads version {SCHEMA_VERSION}",
            remedy="run any command that writes to it once, from where it is writable",
        )
    return connection if version else None


def fingerprint(path: str) -> tuple[int, ...]:
    """Return what changes whenever anybody writes to a SQLite file.

    Raises:
        OSError: It is not there any more.
    """
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns, _size(path + "-wal"), _size(path + "-journal")


def choose_journal(connection: sqlite3.Connection, path: str, busy_seconds: float, *, is_shared: bool) -> None:
    """Use WAL where it can be used, else a rollback journal.

    Args:
        connection: An open file.
        path: The file.
        busy_seconds: Most seconds to wait for a process that begins the database at this moment.
        is_shared: Whether machines may share the filesystem.

    Raises:
        StorageFailed: Neither can be had.
        sqlite3.Error: The file cannot be written.
    """
    if not is_shared:
        try:
            if _ask_for(connection, "WAL", busy_seconds) == "wal":
                return
        except sqlite3.OperationalError as error:
            if code_of(error) not in _NO_SHARED_MEMORY:
                raise
    answer = _ask_for(connection, "TRUNCATE", busy_seconds)
    if answer not in {"truncate", "delete", "persist"}:
        raise StorageFailed(
            f"{path}: commits are not durable in journal mode {answer}",
            remedy="keep the database on a disk of this machine",
        )


def insist(act: Callable[[], _Answer], busy_seconds: float) -> _Answer:
    """Do what needs a lock, again and again until it is free.

    SQLite asks for a lock less and less often the longer it waits, so that a writer who goes on and on would keep
    out all others; here everybody asks every few milliseconds.

    Args:
        act: What to do; it must have changed nothing when the lock was not free.
        busy_seconds: Most seconds to wait.

    Raises:
        sqlite3.OperationalError: The lock was not free in time.
    """
    end = time.monotonic() + busy_seconds
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        # Where SQLite does not wait at all, or gave up at once, this loop must not spin.
        time.sleep(0.001)


def close_soon(connection: sqlite3.Connection, path: str, *, is_there: bool) -> None:
    """Close a connection without the work that SQLite does when the last one of a file closes.

    That work costs two more waits for the disk; the next writers do it for many commits at once. A second connection,
    which may not write, is closed last, so that it is the one to whom the work would fall.

    Args:
        connection: What to close.
        path: Its file.
        is_there: Whether the path still names that file.
    """
    keeper = None
    with suppress(sqlite3.Error):
        if is_there:
            keeper = open_file(path, "mode=ro")
            keeper.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    close(connection)
    close(keeper)


def close(connection: sqlite3.Connection | None) -> None:
    """Close a connection; an error in doing so means nothing any more."""
    if connection:
        with suppress(sqlite3.Error):
            connection.close()


def _leave_wal(connection: sqlite3.Connection) -> None:
    """Bring a file that was made elsewhere out of WAL, before any memory is shared through it."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA locking_mode = NORMAL")
    connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


def _ask_for(connection: sqlite3.Connection, mode: str, busy_seconds: float) -> str:
    """Ask for a journal mode and return SQLite's answer."""
    ask = f"PRAGMA journal_mode = {mode}"
    return str(insist(lambda: connection.execute(ask).fetchone()[0], busy_seconds))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
