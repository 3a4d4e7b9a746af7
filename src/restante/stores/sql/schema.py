"""Which form a SQLite database has, and the way from an older one to ours.

``PRAGMA application_id`` says whose a file is, ``PRAGMA user_version`` which form it has.
"""

from __future__ import annotations

import os
import sqlite3
from functools import cache
from typing import TYPE_CHECKING

from restante.domain.errors import Unreadable
from restante.stores.sql.statements import HERE, read_sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The letters "Rest".
APPLICATION_ID = 0x52657374
SCHEMA_VERSION = 3


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """Return the version of a database's form; 0 for an empty one.

    Raises:
        Unreadable: It belongs to another program, or to a newer Restante.
        sqlite3.Error: It cannot be read.
    """
    # Another process may be making the file: all it writes comes at once, so what is found before the application's
    # id is read was there with it. In the other order a file of ours could look like somebody else's.
    something = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() or _pragma(
        connection, "user_version"
    )
    application = _pragma(connection, "application_id")
    version = _pragma(connection, "user_version")
    if application != APPLICATION_ID:
        if application or something:
            raise Unreadable(
                f"{path} is a SQLite database of another program",
                remedy="name another file, or move this one away; it was left as it is",
            )
        return 0
    if version > SCHEMA_VERSION:
        raise Unreadable(
            f"{path} has schema version {version}, from a newer Restante; this one knows version {SCHEMA_VERSION}",
            remedy="upgrade Restante, or name another file; this one was left as it is",
        )
    return version


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def bring_up_to_date(connection: sqlite3.Connection, path: str) -> None:
    """Give a database our form, in one transaction, whoever else does the same at this moment.

    Raises:
        Unreadable: It belongs to another program, or to a newer Restante.
        sqlite3.Error: It cannot be written.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(connection, path)
        if version == 0:
            _run(connection, read_sql("schema.sql"))
            _stamp(connection, SCHEMA_VERSION)
        else:
            migrate(connection, version, migrations())
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def migrate(connection: sqlite3.Connection, version: int, steps: Iterable[tuple[int, str]]) -> None:
    """Run the steps beyond a version, in order, within the caller's transaction.

    Args:
        connection: The database.
        version: The form it has.
        steps: The version that each step leads to, and its SQL.
    """
    for number, script in steps:
        if number > version:
            _run(connection, script)
            _stamp(connection, number)


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Return the version that each migration leads to, and its SQL, in order."""
    names = sorted(name for name in os.listdir(os.path.join(HERE, "migrations")) if name.endswith(".sql"))
    return tuple((int(name.split("_")[0]), read_sql("migrations", name)) for name in names)


def _run(connection: sqlite3.Connection, script: str) -> None:
    # executescript() would commit first, and a form that is half made must never be seen.
    for statement in _split(script):
        connection.execute(statement)


def _split(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _stamp(connection: sqlite3.Connection, version: int) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
