"""Moving the mail of sessions from one database to another, as it is: ids, numbers, what was seen, when it expires."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante.domain.errors import Damaged, Refused
from restante.stores.sql.boxes import PREFIX
from restante.stores.sql.counting import next_event
from restante.stores.sql.ledger import mail_counter
from restante.stores.sql.statements import read_sql
from restante.stores.sql.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from restante.stores.sql.rows import Row

# What belongs to a mailbox, in the order it must be written, with the column to read it by.
_PARTS = {
    "messages": "number",
    "changes": "change",
    "receipts": "change",
    "replies": "change",
    "signals": "number",
    "shown": "message_id",
    "deleted": "id",
}
_PAGE = 500


class Mover(Transaction, Protocol):
    """A transaction that also runs SQL without a name."""

    def raw(self, statement: str, rows: Sequence[dict[str, object]] = ({},)) -> list[Row]:
        """Run it once for each row of values; return the rows of a single run."""


class Movable(Protocol):
    """A database whose transactions do; see ``transaction.Database``."""

    def reading(self) -> AbstractContextManager[Mover | None]:
        """Read one consistent state."""

    def writing(self, *, create: bool = False) -> AbstractContextManager[Mover | None]:
        """Write, alone and durably."""


class _Box(NamedTuple):
    """A row of mailboxes."""

    id: int
    address: str
    tag: str
    last_number: int
    last_change: int
    total: int
    owner: str
    event: int

    @property
    def state(self) -> tuple[str, int, int, int]:
        """What is equal in two copies that hold the same."""
        return self.tag, self.last_number, self.last_change, self.total


def move_mail(source: Movable, target: Movable) -> int:
    """Copy the mail of all sessions into a database, in one transaction: all of it is there then, or nothing new.

    The source stays as it is: whoever calls disposes of it afterwards. Doing it again changes nothing, however often
    it was cut short. A mailbox that the target has already, from another time, keeps what it has; what comes is
    numbered on.

    Args:
        source: Where it is; nobody may write there until the source is disposed of.
        target: Where it is to be.

    Returns:
        How many mailboxes there were.

    Raises:
        Damaged: The target does not hold afterwards what the source holds; nothing was changed.
        Refused: A mailbox belongs to somebody else in the target; nothing was changed.
    """
    with source.reading() as old:
        boxes = [box for box in _boxes(old) if box.address.startswith(PREFIX)] if old else []
        if not old or not boxes:
            return 0
        with target.writing(create=True) as new:
            assert new is not None
            for owner in sorted({box.owner for box in boxes}):
                new.hold(mail_counter(owner))
                own = [box for box in boxes if box.owner == owner]
                is_same = _join_counters(old, new, owner)
                for box in own:
                    _move_box(old, new, box, keeps_event=is_same)
    return len(boxes)


def columns_of(table: str) -> tuple[str, ...]:
    """Return the columns of a table of schema.sql, in order.

    Raises:
        KeyError: There is no such table.
    """
    match = re.search(rf"^CREATE TABLE {table} \(\n(.*?)^\)", read_sql("schema.sql"), re.MULTILINE | re.DOTALL)
    if match is None:
        raise KeyError(table)
    return tuple(re.findall(r"^    ([a-z_]+) [A-Z]", match.group(1), re.MULTILINE))


def _boxes(run: Mover, condition: str = "", **values: object) -> list[_Box]:
    columns = ", ".join(_Box._fields)
    return [_Box(*row) for row in run.raw(f"SELECT {columns} FROM mailboxes {condition} ORDER BY id", [values])]  # noqa: S608 - our own names


def _join_counters(old: Mover, new: Mover, owner: str) -> bool:
    """Let an owner's numbers go on in the target where they were; return whether they are the source's own there."""
    name = mail_counter(owner)
    row = old.one("counter", name=name)
    if row is None:
        return False
    tag, last = row
    new.do("add_counter", name=name, tag=tag, last=last)
    there = new.one("counter", name=name)
    if there is None or there[0] != tag:
        return False
    if last > there[1]:
        new.raw("UPDATE counters SET last = :last WHERE name = :name", [{"name": name, "last": last}])
    return True


def _move_box(old: Mover, new: Mover, box: _Box, *, keeps_event: bool) -> None:
    there = next(iter(_boxes(new, "WHERE address = :address", address=box.address)), None)
    if there and there.owner != box.owner and there.total:
        raise Refused(
            f"{box.address} belongs to somebody else in the other database", remedy="delete it in one of them"
        )
    if there and (there.state == box.state or (there.tag == box.tag and there.last_change > box.last_change)):
        return
    if there and there.tag != box.tag and _holds_some(old, new, box, there):
        return
    is_other = there is not None and there.tag != box.tag
    begin = there if there and is_other else _Box(0, box.address, box.tag, 0, 0, 0, box.owner, 0)
    place = there.id if there else _add(new, box)
    if there and not is_other:
        for part in reversed(_PARTS):
            new.raw(f"DELETE FROM {part} WHERE mailbox = :box", [{"box": place}])  # noqa: S608 - our own names
    for part in _PARTS:
        before = _size(new, part, place)
        _copy(old, new, part, box.id, _renumbered(new, part, place, begin, is_other=is_other))
        if _size(new, part, place) - before != _size(old, part, box.id):
            raise Damaged(f"{box.address}: not all {part} arrived", remedy="nothing was changed; try again")
    counters = {
        "box": place,
        "owner": box.owner,
        "tag": begin.tag if begin.last_number or begin.last_change else box.tag,
        "number": begin.last_number + box.last_number,
        "change": begin.last_change + box.last_change,
        "total": begin.total + box.total,
        "event": box.event if keeps_event else next_event(new, mail_counter(box.owner)),
    }
    new.raw(
        "UPDATE mailboxes SET owner = :owner, tag = :tag, last_number = :number, last_change = :change, total = :total,"
        " event = :event WHERE id = :box",
        [counters],
    )


def _add(new: Mover, box: _Box) -> int:
    new.do("add_box", address=box.address, tag=box.tag, owner=box.owner)
    return _boxes(new, "WHERE address = :address", address=box.address)[0].id


def _holds_some(old: Mover, new: Mover, box: _Box, there: _Box) -> bool:
    """Tell whether what a mailbox of the source holds was numbered on in the target by an earlier move."""
    ids = old.raw("SELECT id FROM messages WHERE mailbox = :box ORDER BY number LIMIT 1", [{"box": box.id}])
    ids += old.raw("SELECT id FROM deleted WHERE mailbox = :box ORDER BY id LIMIT 1", [{"box": box.id}])
    return any(
        new.raw(
            "SELECT 1 FROM messages WHERE mailbox = :box AND id = :id"
            " UNION ALL SELECT 1 FROM deleted WHERE mailbox = :box AND id = :id",
            [{"box": there.id, "id": row[0]}],
        )
        for row in ids
    )


def _renumbered(
    new: Mover, part: str, place: int, begin: _Box, *, is_other: bool
) -> Callable[[dict[str, object]], dict[str, object]]:
    """Return what makes a row of the source one of the target."""
    shifts = {
        column: begin.last_number if column == "number" else begin.last_change
        for column in columns_of(part)
        if column in {"number", "change", "posted_change"}
    }

    def change(row: dict[str, object]) -> dict[str, object]:
        row["mailbox"] = place
        for column, shift in shifts.items():
            value = row[column]
            row[column] = value + shift if isinstance(value, int) else value
        if is_other and part == "messages" and row["client_id"] is not None:
            taken = {"box": place, "client_id": row["client_id"], "sender": row["sender"]}
            # One name for two messages: the one that is there keeps it.
            if new.one("message_of_client", **taken):
                row["client_id"] = None
        return row

    return change


def _copy(
    old: Mover, new: Mover, part: str, box: int, change: Callable[[dict[str, object]], dict[str, object]]
) -> None:
    columns = columns_of(part)
    names = ", ".join(columns)
    insert = f"INSERT INTO {part} ({names}) VALUES ({', '.join(':' + one for one in columns)})"  # noqa: S608 - our own names
    if part == "shown":
        page = old.raw(
            "SELECT mailbox, session, message_id, shown_ms, held FROM shown WHERE mailbox = :box", [{"box": box}]
        )
        if page:
            new.raw(insert, [change(dict(zip(columns, row, strict=True))) for row in page])
        return
    key = _PARTS[part]
    place = columns.index(key)
    after: object = "" if part == "deleted" else -1
    select = f"SELECT {names} FROM {part} WHERE mailbox = :box AND {key} > :after ORDER BY {key} LIMIT {_PAGE}"  # noqa: S608 - our own names
    while page := old.raw(select, [{"box": box, "after": after}]):
        new.raw(insert, [change(dict(zip(columns, row, strict=True))) for row in page])
        after = page[-1][place]


def _size(run: Mover, part: str, box: int) -> int:
    return int(run.raw(f"SELECT COUNT(*) FROM {part} WHERE mailbox = :box", [{"box": box}])[0][0])  # noqa: S608 - our own names
