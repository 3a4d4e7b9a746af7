"""Taking a SQLite file out of use: deleting it with all that lies beside it, or setting a damaged one aside."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from contextlib import suppress
from datetime import UTC, datetime

from restante.domain.errors import RestanteError, Unreadable
from restante.stores import files
from restante.stores.sql.connection import close, guarded, insist, meet, open_file
from restante.stores.sql.engine import BUSY_SECONDS
from restante.stores.sql.failures import translated
from restante.stores.sql.schema import SCHEMA_VERSION

_BESIDE = ("-wal", "-shm", "-journal")
_ASIDE = re.compile(r"\.damaged-[0-9TZ.-]+(?:-wal|-shm|-journal)?")


def delete_database(path: str, *, busy_seconds: float = BUSY_SECONDS) -> None:
    """Delete a database file, what lies beside it, and what was set aside of it; all of it may hold mail.

    A write that is under way is waited for, and deleted with the rest; one that comes later finds no file. Whoever
    holds it open notices at the next look. Deleting what is not there changes nothing.

    Args:
        path: The file.
        busy_seconds: Most seconds to wait for a writer.

    Raises:
        Busy: Somebody was at work there for longer than that; nothing was deleted.
        StorageFailed: It cannot be deleted.
    """
    path = os.path.realpath(path)
    directory, name = os.path.split(path)
    if not os.path.isdir(directory):
        return
    with translated(path), guarded(path, busy_seconds, is_alone=True):
        connection = _alone(path, busy_seconds)
        try:
            aside = [one for one in os.listdir(directory) if one.startswith(name) and _ASIDE.fullmatch(one, len(name))]
            names = [*(path + end for end in ("", *_BESIDE)), *(os.path.join(directory, one) for one in aside)]
            gone = [_unlink(one) for one in names]
            if os.path.isdir(path + "-pages"):
                import shutil

                shutil.rmtree(path + "-pages")
                gone.append(True)
            if any(gone):
                files.sync_directory(directory)
        finally:
            # Only now: SQLite sees by the missing name that nothing beside the file is its own any more.
            close(connection)


def set_aside(path: str, *, busy_seconds: float = BUSY_SECONDS) -> str:
    """Give a file that cannot be used as a database of ours another name, with what lies beside it, durably.

    It is looked at once more, alone: should it be sound by now, because another process was faster, it stays.

    Args:
        path: The file.
        busy_seconds: Most seconds to wait for who opens it at this moment.

    Returns:
        Its new name; empty when there was nothing to set aside.

    Raises:
        Busy: As above.
        StorageFailed: It cannot be renamed.
    """
    path = os.path.realpath(path)
    if not os.path.lexists(path):
        return ""
    with translated(path), guarded(path, busy_seconds, is_alone=True):
        if not os.path.lexists(path) or _is_sound(path):
            return ""
        new = _fresh_name(path)
        # The log first: a file of the old name without its log is still damaged, and a log alone would be deleted.
        for end in ("-wal", "-journal", ""):
            with suppress(FileNotFoundError):
                os.rename(path + end, new + end)
        _unlink(path + "-shm")
        files.sync_directory(os.path.dirname(path))
        return new


def _alone(path: str, busy_seconds: float) -> sqlite3.Connection | None:
    """Wait for who is writing and return a connection that keeps all others out; ``None`` where nobody can write.

    Raises:
        sqlite3.OperationalError: A writer did not come to an end in time.
    """
    try:
        is_file = stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return None
    if not is_file:
        raise Unreadable(f"{path} is not a regular file", remedy="move it out of the way")
    connection = open_file(path, "mode=rw")
    try:
        insist(lambda: connection.execute("BEGIN EXCLUSIVE"), busy_seconds)
    except sqlite3.DatabaseError as error:
        close(connection)
        if isinstance(error, sqlite3.OperationalError):
            raise
        # It is no database any more, so that nobody can be writing to it.
        return None
    return connection


def _is_sound(path: str) -> bool:
    """Tell whether a file is a whole database of ours."""
    if not os.path.isfile(path):
        return False
    connection = open_file(path, "mode=rw")
    try:
        version = insist(lambda: meet(connection, path), BUSY_SECONDS)
        said = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.OperationalError:
        raise
    except (sqlite3.DatabaseError, RestanteError):
        return False
    finally:
        close(connection)
    return version <= SCHEMA_VERSION and said == "ok"


def _fresh_name(path: str) -> str:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    tries = (f"{path}.damaged-{moment}Z{'.' + str(number) if number else ''}" for number in range(1000))
    return next(name for name in tries if not os.path.lexists(name))


def _unlink(path: str) -> bool:
    """Remove a file and tell whether it was there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True
