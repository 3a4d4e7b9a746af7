"""The SQL home in the memory of one process: the same statements and transactions, and nothing on any disk."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from restante.stores.sql.connection import STATEMENTS_KEPT, close
from restante.stores.sql.engine import Engine
from restante.stores.sql.schema import bring_up_to_date
from restante.stores.sql.store import NO_LIMITS, SqlMailbox

if TYPE_CHECKING:
    from restante.domain.limits import Limits
    from restante.ports import Clock, Ids


class MemoryDatabase(Engine):
    """A database that ends with its process, or when it is closed. May be shared between threads.

    Args:
        clock: Where time comes from.
        ids: Where ids come from.
    """

    def __init__(self, *, clock: Clock, ids: Ids) -> None:
        super().__init__("(memory)")
        self._clock = clock
        self._ids = ids

    def mailbox(self, address: str, *, limits: Limits = NO_LIMITS, owner: str = "") -> SqlMailbox:
        """Return the mailbox of an address; nothing is created by it."""
        return SqlMailbox(self, address, clock=self._clock, ids=self._ids, limits=limits, owner=owner)

    def _for_reading(self) -> tuple[sqlite3.Connection | None, tuple[int, ...]]:
        return self._connection, ()

    def _for_writing(self, *, create: bool) -> sqlite3.Connection | None:
        if self._connection is None and create:
            connection = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS_KEPT
            )
            # What sorts must not use a file for it either.
            for pragma in ("foreign_keys = ON", "temp_store = MEMORY"):
                connection.execute("PRAGMA " + pragma)
            bring_up_to_date(connection, self._path)
            self._connection = connection
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        close(connection)


def open_memory(clock: Clock, ids: Ids) -> MemoryDatabase:
    """Return an empty database in memory.

    Args:
        clock: Where time comes from.
        ids: Where ids come from.
    """
    return MemoryDatabase(clock=clock, ids=ids)
