"""Opening a SQLite file so that commits are durable, and so that it can be read where it cannot be written."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import suppress

from restante.domain.errors import StorageFailed
from restante.stores import files
from restante.stores.sql.failures import code_of
from restante.stores.sql.schema import SCHEMA_VERSION, version_of

# Whoever opens next reads the log once, so it is kept short: 1 MB costs less than 1 ms.
_CHECKPOINT_PAGES = 250
# SQLite sleeps 1, 2, 5 and 10 ms within this.
_PATIENCE_MS = 18
# How SQLite says that it cannot share memory beside the file, which WAL needs.
_NO_SHARED_MEMORY = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_CANTOPEN}
_PRAGMAS = (
    "synchronous = FULL",
    "fullfsync = ON",
    "foreign_keys = ON",
    "temp_store = MEMORY",
    f"wal_autocheckpoint = {_CHECKPOINT_PAGES}",
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


def open_file(path: str, how: str, busy_seconds: float) -> sqlite3.Connection:
    """Open a SQLite file that is there.

    Args:
        path: The file.
        how: Parameters of SQLite's URI, https://sqlite.org/uri.html.
        busy_seconds: Most seconds to wait for a lock.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in os.fsencode(path))
    with _OPENING:
        connection = sqlite3.connect(
            f"file:{quoted}?{how}", uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False
        )
    for pragma in _PRAGMAS:
        connection.execute("PRAGMA " + pragma)
    return connection


def open_frozen(path: str, busy_seconds: float) -> sqlite3.Connection | None:
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
    connection = open_file(path, "mode=ro&immutable=1", busy_seconds)
    version = 0
    try:
        version = version_of(connection, path)
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


def begin(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """Begin to write, alone.

    SQLite asks for the lock less and less often the longer it waits, so that a writer who goes on and on would keep
    out all others; here everybody asks every few milliseconds.

    Raises:
        sqlite3.OperationalError: The lock was not free in time, or the file cannot be written.
    """
    import time

    end = time.monotonic() + busy_seconds
    connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(busy_seconds * 1000)}")


def leave_wal(connection: sqlite3.Connection) -> None:
    """Bring a file that was made elsewhere out of WAL, before any memory is shared through it."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA locking_mode = NORMAL")
    connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


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
            keeper = open_file(path, "mode=ro", 0)
            keeper.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    close(connection)
    close(keeper)


def close(connection: sqlite3.Connection | None) -> None:
    """Close a connection; an error in doing so means nothing any more."""
    if connection:
        with suppress(sqlite3.Error):
            connection.close()


def _ask_for(connection: sqlite3.Connection, mode: str, seconds: float) -> str:
    """Ask for a journal mode and return SQLite's answer; SQLite does not wait for locks here by itself."""
    import time

    end = time.monotonic() + seconds
    while True:
        try:
            return str(connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()[0])
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
