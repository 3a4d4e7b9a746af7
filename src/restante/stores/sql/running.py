"""A transaction of SQLite: named statements, savepoints only where something may fail, and what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.stores.sql.statements import STATEMENTS, by_place

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from restante.stores.sql.rows import Row

_BY_PLACE: dict[str, tuple[str, tuple[str, ...]]] = {}


class Later:
    """What the steps of a group put off, so that each statement is prepared once for all of them.

    Args:
        undo: Told what failed; from then on the group is undone.
    """

    __slots__ = ("_rows", "_undo")

    def __init__(self, undo: Callable[[BaseException], None]) -> None:
        self._undo = undo
        # By statement, in the order in which each was first put off, then by key.
        self._rows: dict[str, dict[object, list[object]]] = {}

    def add(self, statement: str, key: object, values: dict[str, object]) -> None:
        """Put a statement off."""
        rows = self._rows.get(statement)
        if rows is None:
            rows = self._rows[statement] = {}
        rows[len(rows) if key is None else key] = [values[name] for name in _placed(statement)[1]]

    def write(self, connection: sqlite3.Connection) -> None:
        """Do what was put off.

        Raises:
            sqlite3.Error: It failed, and the group is undone.
        """
        if not self._rows:
            return
        rows, self._rows = self._rows, {}
        try:
            for statement, many in rows.items():
                connection.executemany(_placed(statement)[0], many.values())
        except BaseException as error:
            self._undo(error)
            raise

    def forget(self) -> None:
        """Do nothing of it."""
        self._rows = {}


class Run:
    """A transaction of SQLite; see ``transaction.Transaction``."""

    __slots__ = ("_connection", "_is_step", "_later", "has_kept", "has_savepoint", "is_sure", "memory")

    def __init__(
        self,
        connection: sqlite3.Connection,
        memory: dict[object, Any],
        later: Later | None = None,
        *,
        is_step: bool = False,
    ) -> None:
        self._connection = connection
        self._later = later
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
        if self._later:
            self._later.write(self._connection)
        if len(rows) == 1:
            return self._connection.execute(statement, rows[0]).fetchall()
        self._connection.executemany(statement, rows)
        return []

    def be_sure(self) -> None:
        """Write without a savepoint from here on; see ``transaction.Transaction``."""
        self.is_sure = self._is_step and not self.has_savepoint
        self._is_step = False

    def later(self, statement: str, key: object = None, **values: object) -> None:
        """Run a statement some time before the next one; see ``transaction.Transaction``."""
        if self.is_sure and self._later:
            self._later.add(statement, key, values)
        else:
            self.do(statement, **values)

    def _save(self) -> None:
        if self._later:
            self._later.write(self._connection)
        self._connection.execute("SAVEPOINT step")
        self.has_savepoint = True
        self._is_step = False

    def hold(self, counter: str) -> None:
        """Do nothing: who writes is alone."""

    def _execute(self, statement: str, values: dict[str, Any]) -> sqlite3.Cursor:
        if self._later:
            self._later.write(self._connection)
        text, names = _placed(statement)
        return self._connection.execute(text, [values[name] for name in names])


def _placed(statement: str) -> tuple[str, tuple[str, ...]]:
    # By place: sqlite3 looks up each name anew, every time.
    known = _BY_PLACE.get(statement)
    if known is None:
        known = _BY_PLACE[statement] = by_place(STATEMENTS[statement])
    return known
