"""Subscriptions in a database: each is taken away once, by whoever may act on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from restante.domain.monitor import Subscription
from restante.stores.sql.rows import to_ms, to_time
from restante.stores.sql.sessions import check_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from restante.domain.monitor import Signal
    from restante.stores.sql.rows import Row
    from restante.stores.sql.transaction import Database, Transaction


class SqlSubscriptions:
    """``ports.monitoring.Subscriptions`` in a database. May be shared between threads if its database may.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, subscription: Subscription) -> None:
        """Keep one.

        Raises:
            BadText: One of its words is not text.
        """
        check_words(*subscription, *subscription.states)
        row = subscription._asdict()
        row["states"] = json.dumps(subscription.states)
        row["report_only"], row["reports_expiry"] = int(subscription.report_only), int(subscription.reports_expiry)
        row["created_ms"], row["expires_ms"] = to_ms(row.pop("created")), to_ms(row.pop("expires"))
        with self._database.writing(create=True) as run:
            assert run is not None
            run.do("add_subscription", **row)

    def all(self, owner: str) -> list[Subscription]:
        """Return an owner's, in the order they were made."""
        check_words(owner)
        with self._database.reading() as run:
            return [_read(row) for row in run.all("subscriptions", owner=owner)] if run else []

    def take_matching(self, mailbox: str, owner: str, signals: Sequence[Signal]) -> list[Subscription]:
        """Take away those that one of the signals ends, and return them; see ``ports.monitoring.Subscriptions``.

        Where none is nothing is written.
        """
        check_words(mailbox, owner, *(word for signal in signals for word in signal))
        with self._database.reading() as run:
            if run is None or not _matching(run, mailbox, owner, signals):
                return []
        with self._database.writing() as run:
            return [one for one in _matching(run, mailbox, owner, signals) if _drop(run, one)] if run else []

    def take_expired(self, now: datetime) -> list[Subscription]:
        """Take away those that are over, of all owners, and return them; where none is nothing is written."""
        with self._database.reading() as run:
            over = _expired(run, now) if run else []
        if not over:
            return []
        with self._database.writing() as run:
            return [one for one in over if _drop(run, one)] if run else []

    def remove(self, subscription_id: str, owner: str) -> bool:
        """Take one away and tell whether there was one."""
        check_words(subscription_id, owner)
        with self._database.writing() as run:
            return bool(run and run.do("drop_subscription", id=subscription_id, owner=owner))


def _matching(run: Transaction, mailbox: str, owner: str, signals: Sequence[Signal]) -> list[Subscription]:
    found: dict[str, Subscription] = {}
    for action, correlation, state in dict.fromkeys(signals):
        key = {"owner": owner, "mailbox": mailbox, "action": action, "correlation": correlation}
        for one in map(_read, run.all("subscriptions_to", **key)):
            if state in one.states:
                found[one.id] = one
    return list(found.values())


def _expired(run: Transaction, now: datetime) -> list[Subscription]:
    return [_read(row) for row in run.all("subscriptions_expired", now=to_ms(now))]


def _drop(run: Transaction, subscription: Subscription) -> bool:
    """Take one away; what another was faster to take is not there any more."""
    return bool(run.do("drop_subscription", id=subscription.id, owner=subscription.owner))


def _read(row: Row) -> Subscription:
    """Return a row of the columns ``{subscription}`` of queries.sql."""
    id_, mailbox, owner, action, correlation, states, session, report_only, created, expires, reports_expiry = row
    return Subscription(
        id=id_,
        mailbox=mailbox,
        owner=owner,
        action=action,
        correlation=correlation,
        states=tuple(json.loads(states)),
        session=session,
        report_only=bool(report_only),
        created=to_time(created),
        expires=to_time(expires),
        reports_expiry=bool(reports_expiry),
    )
