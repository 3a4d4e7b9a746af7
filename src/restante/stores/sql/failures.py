"""What sqlite3 says, in our words."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from restante.domain.errors import BadText, Busy, Damaged, RestanteError, StorageFailed
from restante.stores import files

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_NOT_WRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}

_REMEDIES = {
    sqlite3.SQLITE_FULL: "free some space on that disk",
    sqlite3.SQLITE_IOERR: "see that the disk has room and is well; nothing was half written",
    sqlite3.SQLITE_PROTOCOL: "keep the database on a disk of this machine",
    sqlite3.SQLITE_NOLFS: "keep the database on a filesystem with large files",
}


# What is turned into our errors.
FOREIGN = (sqlite3.Error, OSError, UnicodeEncodeError)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn any error of SQLite or of the system in the block into ours, about the database at a path."""
    try:
        yield
    except FOREIGN as error:
        raise translate(path, error) from error


def translate(path: str, error: Exception) -> RestanteError:
    """Return our error for one of ``FOREIGN``, about the database at a path."""
    if isinstance(error, sqlite3.Error):
        return failure(path, error)
    if isinstance(error, OSError):
        return files.failure(path, error)
    text = error.object if isinstance(error, UnicodeEncodeError) else str(error)
    return BadText(f"{text!r} is not text", remedy="send text that is valid UTF-8")


def code_of(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code for an error; 0 where the sqlite3 module itself complains."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_not_writable(error: sqlite3.Error) -> bool:
    """Tell whether an error means that the file, or the directory with its log, is read-only for us."""
    # The second: a file that may be written in a directory that may not, so that its journal cannot be removed.
    return code_of(error) in _NOT_WRITABLE or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_DELETE


def failure(path: str, error: sqlite3.Error) -> RestanteError:
    """Return our error for one of SQLite's, naming the file and the mend."""
    code = code_of(error)
    if code in _LOCKED:
        return Busy(f"{path} was locked by another process for too long", remedy="try again")
    if code in _DAMAGED:
        return Damaged(
            f"{path}: {error}",
            remedy="it was left as it is: put a backup in its place, or move it away to begin a new one",
        )
    if is_not_writable(error):
        directory = os.path.dirname(path)
        return StorageFailed(
            f"{path} cannot be opened or written here ({error})",
            remedy=f"make {directory} and the database in it writable for you, or work from outside the sandbox",
        )
    return StorageFailed(f"{path}: {error}", remedy=_REMEDIES.get(code, ""))
