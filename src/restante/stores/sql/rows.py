"""Between rows and domain values. Times are whole milliseconds since 1970 in UTC, bodies are UTF-8 bytes."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from restante.domain.lifecycle import Marks, standing_of
from restante.domain.mailbox import Entry
from restante.domain.message import Message, Priority, Reply, Scope, Sender
from restante.domain.receipt import Action, Decision, Receipt, merge_receipts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Row = tuple[Any, ...]
_Value = TypeVar("_Value")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

ACKNOWLEDGED = "acknowledged"
WITHDRAWN = "withdrawn"
EXPIRED = "expired"


def to_ms(time: datetime) -> int:
    """Return an aware time as milliseconds since 1970; what is finer is cut off."""
    return (time - _EPOCH) // _MILLISECOND


def to_time(ms: int) -> datetime:
    """Return the time that milliseconds since 1970 stand for.

    Raises:
        OverflowError: It is beyond the calendar.
    """
    return _EPOCH + timedelta(milliseconds=ms)


class Letter:
    """A row of messages.

    Args:
        row: The columns ``{message}`` of queries.sql.
        mailbox: The address.

    Attributes:
        message: As it was posted.
        closed: Empty while it is pending, else how it left.
        change: The place of its posting in the log.
        noticed_ms: When a checkpoint first showed it.
        seen_ms: When its addressee first read it.

    Raises:
        ValueError: The row cannot be understood; the text says what is wrong with it.
    """

    __slots__ = ("change", "closed", "message", "noticed_ms", "seen_ms", "withdrawn_ms")

    def __init__(self, row: Row, mailbox: str) -> None:
        (number, id_, self.change, created, expires, self.noticed_ms, self.seen_ms, self.withdrawn_ms) = row[:8]
        (self.closed, priority, scope, type_, sender, verified, client, subject, conversation, parent, body) = row[8:]
        if self.closed not in {"", ACKNOWLEDGED, WITHDRAWN, EXPIRED}:
            raise ValueError(f"closed is {self.closed!r}")
        try:
            self.message = Message(
                id=id_,
                number=number,
                mailbox=mailbox,
                created=to_time(created),
                body=bytes(body).decode(),
                sender=Sender(sender, bool(verified)),
                priority=Priority(priority),
                scope=Scope(scope),
                subject=subject,
                type=type_,
                conversation=conversation,
                parent=parent,
                expires=None if expires is None else to_time(expires),
                client_id=client or "",
            )
        except (TypeError, OverflowError) as error:
            raise ValueError(str(error)) from None

    def entry(self, receipts: Iterable[Receipt], now_ms: int) -> Entry:
        """Return the message with what became of it.

        Args:
            receipts: Its receipts, in the order they were given.
            now_ms: The time to judge expiry by.
        """
        marks = Marks(
            noticed_at=_time(self.noticed_ms),
            seen_at=_time(self.seen_ms),
            withdrawn_at=_time(self.withdrawn_ms),
            is_withdrawn=self.closed == WITHDRAWN,
            is_expired=self.closed == EXPIRED,
        )
        return Entry(self.message, standing_of(self.message, marks, merge_receipts(receipts), to_time(now_ms)))


def read_receipt(row: Row) -> Receipt:
    """Return a row of the columns ``{receipt}`` of queries.sql.

    Raises:
        ValueError: It cannot be understood.
    """
    _, _, id_, message_id, seen_ms, decision, action, summary, notes, reader = row
    try:
        return Receipt(
            id=id_,
            message_id=message_id,
            seen_at=to_time(seen_ms),
            decision=None if decision is None else Decision(decision),
            action=None if action is None else Action(action),
            summary=summary,
            notes=notes,
            by=reader,
        )
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None


def read_reply(row: Row) -> Reply:
    """Return a row of the columns ``{reply}`` of queries.sql.

    Raises:
        ValueError: It cannot be understood.
    """
    _, id_, message_id, created_ms, sender, body = row
    try:
        return Reply(id_, message_id, to_time(created_ms), bytes(body).decode(), Sender(sender))
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None


def readable(rows: Iterable[Row], read: Callable[[Row], _Value]) -> list[_Value]:
    """Return what rows stand for; one that cannot be understood is passed over, and told by ``Mailbox.faults``."""
    values: list[_Value] = []
    for row in rows:
        with suppress(ValueError):
            values.append(read(row))
    return values


def _time(ms: int | None) -> datetime | None:
    return None if ms is None else to_time(ms)
