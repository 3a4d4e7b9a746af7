"""What a collector may see of a mailbox: numbers, in one statement that touches no text of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.monitor import Sight
from restante.stores.sql.addressing import place_of
from restante.stores.sql.rows import to_ms
from restante.stores.sql.sessions import check_words

if TYPE_CHECKING:
    from datetime import datetime

    from restante.ports import Clock
    from restante.stores.sql.transaction import Database, Transaction


class SqlSights:
    """``ports.monitoring.Sights`` of the mailboxes in a database. May be shared between threads if its database may.

    Args:
        database: Where they are.
        clock: Where time comes from, to tell what has expired.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def look(self, mailbox: str, owner: str, *, whole: bool = False) -> Sight:
        """Return what is to be seen of a mailbox; an empty sight of one that is not here. Changes no byte.

        Args:
            mailbox: Its address.
            owner: Whose.
            whole: Whether the acknowledged ones are counted too.
        """
        check_words(mailbox, owner)
        with self._database.reading() as run:
            return sight_of(run, mailbox, owner, self._clock.now(), whole=whole) if run else Sight()


def sight_of(run: Transaction, mailbox: str, owner: str, now: datetime, *, whole: bool = False) -> Sight:
    """Return what is to be seen of a mailbox in a transaction.

    Args:
        run: The transaction.
        mailbox: Its address.
        owner: Whose.
        now: The time, to tell what has expired.
        whole: Whether the acknowledged ones are counted too.
    """
    statement = "whole_sight" if whole else "sight"
    row = run.one(statement, place=place_of(mailbox, owner), owner=owner, now=to_ms(now))
    return Sight(*row) if row else Sight()
