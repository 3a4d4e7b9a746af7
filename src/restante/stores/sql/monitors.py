"""Monitors in a database: one row for each mailbox, changed by one step within one writing transaction."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

from restante.domain.errors import Damaged
from restante.domain.monitor import Monitor, MonitorState, Plan, Sight
from restante.domain.registry import Process
from restante.stores.sql.rows import to_ms, to_time
from restante.stores.sql.sessions import check_words
from restante.stores.sql.sights import sight_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.ports import Clock
    from restante.stores.sql.rows import Row
    from restante.stores.sql.transaction import Database, Transaction

_Answer = TypeVar("_Answer")

_MILLISECOND = timedelta(milliseconds=1)


class SqlMonitors:
    """``ports.monitoring.Monitors`` in a database. May be shared between threads if its database may.

    Args:
        database: Where they are kept, and the mailboxes that a step sees.
        clock: Where time comes from, to tell what has expired.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def monitor(self, mailbox: str, owner: str) -> Monitor | None:
        """Return the monitor of a mailbox, whatever its state.

        Raises:
            Damaged: What is kept of it cannot be understood.
        """
        check_words(mailbox, owner)
        with self._database.reading() as run:
            row = run.one("monitor", owner=owner, mailbox=mailbox) if run else None
        if row is None:
            return None
        found = _read(row)
        if found is None:
            raise Damaged(f"what is kept of the monitor of {mailbox} cannot be understood", remedy="arm it again")
        return found

    def all(self, owner: str | None = None) -> list[Monitor]:
        """Return all monitors of an owner, or of all owners, by their mailbox's address.

        What cannot be understood is passed over, as in ``of_session``.
        """
        with self._database.reading() as run:
            if run is None:
                return []
            rows = run.all("monitors") if owner is None else run.all("monitors_of_owner", owner=owner)
        return [one for row in rows if (one := _read(row))]

    def of_session(self, session: str) -> list[Monitor]:
        """Return the monitors that wake a session, by their mailbox's address."""
        check_words(session)
        with self._database.reading() as run:
            rows = run.all("monitors_of_session", session=session) if run else []
        return [one for row in rows if (one := _read(row))]

    def change(
        self, mailbox: str, owner: str, step: Callable[[Monitor | None, Sight], tuple[Monitor | None, _Answer]]
    ) -> _Answer:
        """Change a monitor in one durable, atomic step; see ``ports.monitoring.Monitors.change``.

        A step that keeps what there is writes nothing. One that cannot be understood is none.

        Raises:
            BadText: What is to be kept is not text.
        """
        check_words(mailbox, owner)
        with self._database.writing() as run:
            if run is not None:
                return _change(run, mailbox, owner, step, self._clock.now())
        after, answer = step(None, Sight())
        if after is None:
            return answer
        with self._database.writing(create=True) as run:
            assert run is not None
            return _change(run, mailbox, owner, step, self._clock.now())


def _change(
    run: Transaction,
    mailbox: str,
    owner: str,
    step: Callable[[Monitor | None, Sight], tuple[Monitor | None, _Answer]],
    now: datetime,
) -> _Answer:
    key = {"owner": owner, "mailbox": mailbox}
    row = run.one("monitor", **key)
    after, answer = step(_read(row) if row else None, sight_of(run, mailbox, owner, now))
    if after is None:
        if row:
            run.do("drop_monitor", **key)
        return answer
    check_words(after.session)
    record = encode(after)
    if row is None or record != row[2]:
        run.do("keep_monitor", **key, session=after.session, state=after.state.value, record=record)
    return answer


def encode(monitor: Monitor) -> str:
    """Return a monitor as JSON in ASCII. Its key is left out; times are milliseconds, as everywhere in the tables."""
    fields = monitor._asdict()
    del fields["mailbox"], fields["owner"]
    return json.dumps({name: _plain(value) for name, value in fields.items()}, separators=(",", ":"))


def decode(mailbox: str, owner: str, record: str) -> Monitor:
    """Return what ``encode`` was given. A field that is not there has its default, an unknown one is passed over.

    Raises:
        ValueError: It cannot be understood.
    """
    try:
        fields = json.loads(record)
        known = {name: _value(kind, fields[name]) for name, kind in _KINDS.items() if name in fields}
        return Monitor(**(known | {"mailbox": mailbox, "owner": owner}))
    except (TypeError, OverflowError, AttributeError) as error:
        raise ValueError(str(error)) from None


def _read(row: Row) -> Monitor | None:
    mailbox, owner, record = row
    try:
        return decode(mailbox, owner, record)
    except ValueError:
        return None


def _kind_of(annotation: object) -> object:
    """Return what a field is where it is anything: asked once for each, since a host reads hundreds of monitors."""
    parts = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    kind = next(part for part in parts if part is not type(None))
    return get_origin(kind) or kind


_KINDS = {name: _kind_of(annotation) for name, annotation in Monitor.__annotations__.items()}

_FROM_PLAIN: dict[object, Callable[[Any], object]] = {
    datetime: to_time,
    timedelta: lambda value: value * _MILLISECOND,
    Process: lambda value: Process(*value),
    Plan: Plan,
    MonitorState: MonitorState,
    tuple: tuple,
}


def _value(kind: object, plain: object) -> Any:  # noqa: ANN401  what the field is
    if plain is None:
        return None
    read = _FROM_PLAIN.get(kind)
    return read(plain) if read else plain


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return to_ms(value)
    if isinstance(value, timedelta):
        return value // _MILLISECOND
    return value
