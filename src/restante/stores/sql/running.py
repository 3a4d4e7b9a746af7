"""A transaction of SQLite: named statements, savepoints only where something may fail, and what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.stores.sql.statements import STATEMENTS, by_place

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from restante.stores.sql.rows import Row

_BY_PLACE: dict[str, tuple[str, tuple[str, ...]]] = {}


class Run:
    """A transaction of SQLite; see ``transaction.Transaction``."""

    __slots__ = ("_connection", "_is_step", "has_kept", "has_savepoint", "is_sure", "memory")

    def __init__(self, connection: sqlite3.Connection, memory: dict[object, Any], *, is_step: bool = False) -> None:
        self._connection = connection
        self._is_step = is_step
        self.memory = memory
        self.has_kept = False
        self.has_savepoint = False
        self.is_sure = False

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def keep(self) -> None:
        """Say that what is remembered is right; see ``transaction.Transaction``."""
        self.has_kept = True

    def all(self, statement: str, **values: object) -> list[Row]:
        """Run a statement and return its rows."""
        return self._execute(statement, values).fetchall()

    def one(self, statement: str, **values: object) -> Row | None:
        """Run a statement and return its first row."""
        row: Row | None = self._execute(statement, values).fetchone()
        return row

    def do(self, statement: str, **values: object) -> int:
        """Run a statement and return how many rows it changed."""
        if self._is_step:
            self._save()
        return self._execute(statement, values).rowcount

    def raw(self, statement: str, rows: Sequence[dict[str, object]] = ({},)) -> list[Row]:
        """Run SQL that has no name, once for each row of values; return the rows of a single run."""
        if self._is_step:
            self._save()
        if len(rows) == 1:
            return self._connection.execute(statement, rows[0]).fetchall()
        self._connection.executemany(statement, rows)
        return []

    def be_sure(self) -> None:
        """Write without a savepoint from here on; see ``transaction.Transaction``."""
        self.is_sure = self._is_step and not self.has_savepoint
        self._is_step = False

    def _save(self) -> None:
        self._connection.execute("SAVEPOINT step")
        self.has_savepoint = True
        self._is_step = False

    def hold(self, counter: str) -> None:
        """Do nothing: who writes is alone."""

    def _execute(self, statement: str, values: dict[str, Any]) -> sqlite3.Cursor:
        # By place: sqlite3 looks up each name anew, every time.
        known = _BY_PLACE.get(statement)
        if known is None:
            known = _BY_PLACE[statement] = by_place(STATEMENTS[statement])
        return self._connection.execute(known[0], [values[name] for name in known[1]])
