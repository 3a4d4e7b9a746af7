"""Telling what happened since a cursor.

A cursor is ``s1.<tag>.<change>.<ms>.<number>``: the mailbox's tag, the last change of the log that was told,
and how far expiries were told. Time makes an expiry, and who only reads writes none into the log, so it is
told from the messages themselves; a writer logs it later. A cursor promises that everything up to its place
in the log was told, and every expiry of a message posted up to there that comes before (ms, number).
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import UsageError
from restante.domain.mailbox import Change, ChangeKind, Changes
from restante.stores.sql.rows import Letter, read_receipt, read_reply, readable, to_ms, to_time

if TYPE_CHECKING:
    from restante.stores.sql.ledger import Ledger
    from restante.stores.sql.rows import Row

_FORM = re.compile(r"s1\.(0|[0-9a-f]{8})\.([0-9]{1,18})\.(-?[0-9]{1,16})\.([0-9]{1,18})")
_NO_TAG = "0"
_BEFORE_ALL_TIME = (-(10**15), 0)


class Place(NamedTuple):
    """What a cursor says.

    Attributes:
        tag: Of which mailbox; ``0`` for one that did not exist yet.
        change: The last change of the log that was told.
        told: Expiries before this (milliseconds, number) were told.
    """

    tag: str
    change: int
    told: tuple[int, int]

    def covers(self, expires: int, number: int, posted: int) -> bool:
        """Whether the expiry of a message was told."""
        return posted <= self.change and (expires, number) < self.told

    def __str__(self) -> str:
        return f"s1.{self.tag}.{self.change}.{self.told[0]}.{self.told[1]}"


def parse_cursor(cursor: str, address: str) -> Place:
    """Read a cursor; the empty one stands for the beginning.

    Raises:
        UsageError: It has not the form of one.
    """
    if not cursor:
        return Place(_NO_TAG, 0, _BEFORE_ALL_TIME)
    match = _FORM.fullmatch(cursor)
    if match is None:
        raise _foreign(cursor, address)
    tag, change, ms, number = match.groups()
    return Place(tag, int(change), (int(ms), int(number)))


def beginning(now_ms: int) -> str:
    """Return the cursor of a mailbox that does not exist yet."""
    return str(Place(_NO_TAG, 0, (now_ms + 1, 0)))


def nothing_yet(place: Place, now_ms: int, address: str) -> Changes:
    """Return the answer of a mailbox that does not exist yet.

    Raises:
        UsageError: The cursor is of one that existed.
    """
    if place.tag != _NO_TAG or place.change:
        raise _foreign(str(place), address)
    return Changes((), beginning(now_ms))


def tip(ledger: Ledger) -> str:
    """Return the cursor after which only what happens from now on is told."""
    return str(Place(ledger.tag, ledger.change, _horizon(ledger, _expiring(ledger))))


def changes_since(ledger: Ledger, place: Place, limit: int) -> Changes:
    """Return at most so many changes after a cursor, and the cursor to go on with.

    Raises:
        UsageError: The cursor is not one of this mailbox's.
    """
    if place.tag not in (ledger.tag, _NO_TAG) or place.change > (0 if place.tag == _NO_TAG else ledger.change):
        raise _foreign(str(place), ledger.address)
    changes: list[Change] = []
    last = place.change
    told = place.told
    while len(changes) < limit:
        rows = ledger.run.all("changes", box=ledger.box, after=last, most=limit - len(changes))
        if not rows:
            return _with_expiries(ledger, place, changes, limit)
        page, first_expiry = _told(ledger, place, rows)
        changes += page
        last = rows[-1][0]
        told = min(told, first_expiry) if first_expiry else told
    return Changes(tuple(changes), str(Place(ledger.tag, last, told)))


def _told(ledger: Ledger, place: Place, rows: list[Row]) -> tuple[list[Change], tuple[int, int] | None]:
    """Return the changes of some rows of the log, and the first expiry among the messages posted there."""
    box, low, high = ledger.box, rows[0][0], rows[-1][0]
    posted = [row[3] for row in rows if row[1] == ChangeKind.POSTED]
    between = {"box": box, "low": min(posted, default=0), "high": max(posted, default=0)}
    read_letter = partial(Letter, mailbox=ledger.address)
    letters = readable(ledger.run.all("messages_between", **between) if posted else [], read_letter)
    messages = {letter.message.number: letter.message for letter in letters}
    receipts = {row[0]: row for row in ledger.run.all("receipts_told", box=box, low=low, high=high)}
    replies = {row[0]: row for row in ledger.run.all("replies_told", box=box, low=low, high=high)}
    changes = []
    for change, kind, at_ms, number, message_id, posted_change in rows:
        if kind == ChangeKind.EXPIRED and posted_change is not None and place.covers(at_ms, number, posted_change):
            continue
        message = messages.get(number) if kind == ChangeKind.POSTED else None
        receipt = next(iter(readable([receipts[change]], read_receipt)), None) if change in receipts else None
        reply = next(iter(readable([replies[change]], read_reply)), None) if change in replies else None
        if not (message or receipt or reply) and kind in (ChangeKind.POSTED, ChangeKind.RECEIPT, ChangeKind.REPLY):
            continue
        changes.append(Change(ChangeKind(kind), to_time(at_ms), message_id, message, receipt, reply))
    expiries = [(to_ms(one.expires), one.number) for one in messages.values() if one.expires]
    return changes, min(expiries, default=None)


def _with_expiries(ledger: Ledger, place: Place, changes: list[Change], limit: int) -> Changes:
    """End an answer that came to the end of the log with what expired since and is not in the log."""
    waiting = _expiring(ledger)
    for number, message_id, expires, posted in waiting:
        if expires > ledger.sight.of(number) or place.covers(expires, number, posted):
            continue
        if len(changes) >= limit:
            return Changes(tuple(changes), str(Place(ledger.tag, ledger.change, (expires, number))))
        changes.append(Change(ChangeKind.EXPIRED, to_time(expires), message_id))
    return Changes(tuple(changes), str(Place(ledger.tag, ledger.change, _horizon(ledger, waiting))))


def _expiring(ledger: Ledger) -> list[Row]:
    return ledger.run.all("expiring", box=ledger.box, latest=ledger.sight.latest)


def _horizon(ledger: Ledger, waiting: list[Row]) -> tuple[int, int]:
    """Return how far all expiries are told when those of now are."""
    ahead = [(expires, number) for number, _, expires, _ in waiting if expires > ledger.sight.of(number)]
    return min(ahead, default=(ledger.sight.latest + 1, 0))


def _foreign(cursor: str, address: str) -> UsageError:
    return UsageError(f"{cursor!r} is not a cursor of {address}", remedy="begin with an empty cursor")
