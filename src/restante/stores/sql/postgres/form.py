"""Which form a schema of PostgreSQL has, and the way from an older one to ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import StorageFailed, Unreadable
from restante.stores.sql.postgres.dialect import definitions
from restante.stores.sql.schema import SCHEMA_VERSION, migrations
from restante.stores.sql.statements import read_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.stores.sql.postgres.connecting import Link

# Held while the form is made or changed, so that of several servers that start at once one does it.
_LOCK = 0x52657374616E7465
VERSION = "SELECT version FROM restante_form"


def check(version: int, where: str) -> None:
    """Refuse a form that this Restante does not know.

    Raises:
        Unreadable: It is from a newer one.
    """
    if version > SCHEMA_VERSION:
        raise Unreadable(
            f"{where} has schema version {version}, from a newer Restante; this one knows version {SCHEMA_VERSION}",
            remedy="upgrade Restante here too; the database was left as it is",
        )


def bring_up_to_date(link: Link, schema: str, where: str) -> None:
    """Give a schema our form, in one transaction, whoever else does the same at this moment.

    Raises:
        Unreadable: It holds something else, or is from a newer Restante.
        StorageFailed: The database cannot hold every text.
        psycopg.Error: It cannot be written.
    """
    quoted = '"' + schema.replace('"', '""') + '"'
    with link.transaction():
        link.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        encoding = link.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StorageFailed(
                f"{where} is kept in {encoding}, which cannot hold every text",
                remedy="create a database with ENCODING 'UTF8' (and TEMPLATE template0)",
            )
        # Asked for first: to create what is there already takes a right that the user may not have.
        if not link.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone():
            link.execute(f"CREATE SCHEMA {quoted}")
        version = _version(link, schema)
        if version is None:
            if link.execute("SELECT 1 FROM pg_tables WHERE schemaname = %s LIMIT 1", (schema,)).fetchone():
                raise Unreadable(
                    f"{where}: the schema {schema} belongs to another program",
                    remedy="name another database; this one was left as it is",
                )
            script = definitions(read_sql("schema.sql")) + read_sql("postgres", "extra.sql")
            link.execute(script)
            link.execute("INSERT INTO restante_form (version) VALUES (%s)", (SCHEMA_VERSION,))
        else:
            check(version, where)
            migrate(link, version, migrations())


def migrate(link: Link, version: int, steps: Sequence[tuple[int, str]]) -> None:
    """Run the steps beyond a version, in order, within the caller's transaction.

    Args:
        link: The database.
        version: The form it has.
        steps: The version that each step leads to, and its SQL as SQLite has it.
    """
    for number, script in steps:
        if number > version:
            link.execute(definitions(script))
            link.execute("UPDATE restante_form SET version = %s", (number,))


def _version(link: Link, schema: str) -> int | None:
    if not link.execute(
        "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'restante_form'", (schema,)
    ).fetchone():
        return None
    row = link.execute(VERSION).fetchone()
    return int(row[0]) if row else None
