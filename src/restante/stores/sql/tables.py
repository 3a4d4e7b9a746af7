"""The tables as they are moved between databases: their rows in one order, and what they come to.

Everything here works on any database that ``schema.sql`` made, and on rows that cannot be understood too.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante.stores.sql.statements import read_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from restante.stores.sql.rows import Row

_PAGE = 1_000


class Mover(Protocol):
    """A transaction that runs SQL without a name."""

    def raw(self, statement: str, rows: Sequence[dict[str, object]] = ({},)) -> list[Row]:
        """Run it once for each row of values; return the rows of a single run."""


class Movable(Protocol):
    """A database whose transactions do."""

    def reading(self) -> AbstractContextManager[Mover | None]:
        """See ``transaction.Database.reading``."""

    def writing(self, *, create: bool = False) -> AbstractContextManager[Mover | None]:
        """See ``transaction.Database.writing``."""


class Table(NamedTuple):
    """A table.

    Attributes:
        name: Its name.
        key: The columns that tell its rows apart, within a mailbox where it belongs to one.
        columns: All columns that are moved; the key comes first.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def is_numbered(self) -> bool:
        """Whether its key is a number, which every database sorts alike."""
        return self.key[0] in {"number", "change"}

    def key_of(self, row: Row) -> Row:
        """Return the key of one of its rows."""
        return row[: len(self.key)]

    def select(self, condition: str = "") -> str:
        """Return the statement that reads its rows."""
        return self._fill("SELECT {columns} FROM {table} {condition}", condition)

    def insert(self, *more: str) -> str:
        """Return the statement that writes one row, with further columns before its own."""
        whole = self._replace(columns=(*more, *self.columns))
        return whole._fill("INSERT INTO {table} ({columns}) VALUES ({values})")

    def delete(self, condition: str = "") -> str:
        """Return the statement that deletes its rows."""
        return self._fill("DELETE FROM {table} {condition}", condition)

    def values(self, row: Row) -> dict[str, object]:
        """Return a row as the values of ``insert``."""
        return dict(zip(self.columns, row, strict=True))

    def _fill(self, template: str, condition: str = "") -> str:
        parts = {
            "{table}": self.name,
            "{columns}": ", ".join(self.columns),
            "{values}": ", ".join(":" + column for column in self.columns),
            "{condition}": condition,
        }
        for part, text in parts.items():
            template = template.replace(part, text)
        return template


class Total(NamedTuple):
    """What a mailbox comes to.

    Attributes:
        rows: How many rows belong to it.
        messages: How many of them are messages.
        digest: SHA-256 (hex) over all of them and its counters, the same in every database.
    """

    rows: int
    messages: int
    digest: str


def _read_tables(script: str) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table that a script makes."""
    found = re.findall(r"^CREATE TABLE ([a-z]+) \((.*?)^\)", script, re.MULTILINE | re.DOTALL)
    return {name: tuple(re.findall(r"^    ([a-z_]+) [A-Z]", body, re.MULTILINE)) for name, body in found}


COLUMNS = _read_tables(read_sql("schema.sql"))


def _table(name: str, *key: str) -> Table:
    return Table(name, key, (*key, *(column for column in COLUMNS[name] if column not in key)))


def _part(name: str, *key: str) -> Table:
    """Return a table whose rows belong to a mailbox, without the column that says to which."""
    table = _table(name, *key)
    return table._replace(columns=tuple(column for column in table.columns if column != "mailbox"))


# A mailbox's place is another in every database: it is found by its address.
MAILBOXES = _table("mailboxes", "address")._replace(
    columns=("address", *(column for column in COLUMNS["mailboxes"] if column not in {"address", "id"}))
)
COUNTERS = _table("counters", "name")
SETTINGS = _table("settings", "name")
# In the order in which they must be written.
OF_MAILBOX = (
    _part("messages", "number"),
    _part("changes", "change"),
    _part("receipts", "change"),
    _part("replies", "change"),
    _part("signals", "number"),
    _part("shown", "session", "message_id"),
    _part("deleted", "id"),
)
OF_SITE = (_table("sessions", "id"), _table("ended", "owner", "id"), _table("accounts", "name"), SETTINGS)
OF_TEAMS = (_table("members", "owner", "role"), _table("monitors", "owner", "mailbox"), _table("subscriptions", "id"))


def pages(run: Mover, table: Table, box: int) -> Iterator[list[Row]]:
    """Yield the rows of a mailbox in a table, in the same order for every database."""
    if not table.is_numbered:
        # Texts are sorted here: not every database has the same order of them.
        rows = run.raw(table.select("WHERE mailbox = :box"), [{"box": box}])
        if rows:
            yield sorted(rows, key=table.key_of)
        return
    (key,) = table.key
    page = table.select(f"WHERE mailbox = :box AND {key} > :after ORDER BY {key} LIMIT :most")
    after = -1
    while rows := run.raw(page, [{"box": box, "after": after, "most": _PAGE}]):
        yield rows
        after = rows[-1][0]


def total_of(run: Mover, row: Row, box: int) -> Total:
    """Return what a mailbox comes to.

    Args:
        run: A transaction of its database.
        row: Its row of ``MAILBOXES``.
        box: Its place in that database.
    """
    digest = hashlib.sha256(encoded(row))
    rows = messages = 0
    for table in OF_MAILBOX:
        for page in pages(run, table, box):
            rows += len(page)
            messages += len(page) if table.name == "messages" else 0
            for one in page:
                digest.update(encoded(one))
        digest.update(b"\n")
    return Total(rows, messages, digest.hexdigest())


def encoded(row: Row) -> bytes:
    """Return a row as bytes: each value with its kind and length, so that no two rows are written alike."""
    parts = []
    for value in row:
        if value is None:
            parts.append(b"n")
        elif isinstance(value, (bytes, memoryview)):
            parts.append(b"b%d:%b" % (len(value), bytes(value)))
        else:
            kind, data = b"i" if isinstance(value, int) else b"s", str(value).encode()
            parts.append(b"%b%d:%b" % (kind, len(data), data))
    return b"".join(parts) + b";"
