"""What happened since a cursor.

The cursor says how far each file was told: the number of the last message, how many receipts, replies and marks; and
which of the told messages were pending then. A message that was and is not any more has ended, however the clock was
set meanwhile and wherever the message was moved. Each page tells posts first, then marks, words and endings.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Change, ChangeKind, Changes, Mark
from restante.stores.worktree.blocks import reply_of
from restante.stores.worktree.numbers import Numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from restante.stores.worktree.blocks import Letter
    from restante.stores.worktree.desk import Desk

_FORM = re.compile(
    r"w1\.([0-9a-f]{8})\.([0-9a-f]{8})\.(\d{1,12})\.(\d{1,12})\.(\d{1,12})\.(\d{1,12})\.([0-9_-]*)", re.ASCII
)
_KINDS = {Mark.NOTICED: ChangeKind.NOTICED, Mark.SEEN: ChangeKind.SEEN}


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a mailbox was told.

    Attributes:
        told: Number of the last message.
        witness: A check of that message's id: another one there means that the mailbox was made anew.
        marks: How many lines.
        receipts: How many.
        replies: How many.
        waiting: Numbers of the told messages that were pending.
    """

    told: int = 0
    witness: str = "00000000"
    marks: int = 0
    receipts: int = 0
    replies: int = 0
    waiting: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str, address: str) -> Cursor:
        """Read a cursor.

        Raises:
            UsageError: It is none, or another mailbox's.
        """
        if not text:
            return cls()
        match = _FORM.fullmatch(text)
        waiting = Numbers.parse(match[7], "_") if match else None
        if match is None or waiting is None or match[1] != _check(address) or waiting.newest > int(match[3]):
            raise UsageError(f"{text!r} is not a cursor of {address}", remedy="begin with an empty cursor")
        told, marks, receipts, replies = (int(match[place]) for place in (3, 4, 5, 6))
        return cls(told, match[2], marks, receipts, replies, tuple(waiting))

    def text(self, address: str) -> str:
        """Write the cursor."""
        waiting = Numbers.of(self.waiting).text("_")
        counts = f"{self.told}.{self.marks}.{self.receipts}.{self.replies}"
        return f"w1.{_check(address)}.{self.witness}.{counts}.{waiting}"


class Teller:
    """Tells changes from what the files say.

    Args:
        desk: The mailbox; everything must have been read.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._ledger = desk.ledger
        self._book = desk.book
        self._now = desk.clock.now()
        self._letters = {slot.number: self._book.letter(slot) for slot in self._book.slots.values()}
        self._moved: dict[int, Letter] | None = None

    def tip(self) -> Cursor:
        """Return the cursor behind everything."""
        ledger = self._ledger
        replies = ledger.replies.items
        pending = self._book.pending(self._now)
        return Cursor(
            told=self._book.last,
            witness=self._witness(self._book.last),
            marks=len(ledger.marks.items),
            receipts=len(ledger.receipts.items),
            # One that is not whole is told when it is.
            replies=len(replies) - sum(not ledger.is_whole(ledger.replies, block) for block in replies[-1:]),
            waiting=tuple(entry.message.number for entry in pending),
        )

    def page(self, cursor: Cursor, limit: int) -> Changes:
        """Return at most ``limit`` changes behind a cursor, and the cursor behind those."""
        cursor = self._checked(cursor)
        told: list[tuple[float, Change]] = []
        posted, cursor = self._posts(cursor, limit)
        told += _timed(posted)
        for take in (self._marks, self._receipts, self._replies, self._endings):
            changes, cursor = take(cursor, limit - len(told))
            told += _timed(changes)
        told.sort(key=lambda one: one[0])
        return Changes(tuple(change for _, change in told), cursor.text(self._desk.address))

    def _checked(self, cursor: Cursor) -> Cursor:
        """Return the cursor, or one that begins anew what was made anew since."""
        ledger = self._ledger
        known = self._letters.get(cursor.told)
        if cursor.told > self._book.last or (known and self._witness(cursor.told) != cursor.witness):
            return Cursor()
        return replace(
            cursor,
            marks=cursor.marks if cursor.marks <= len(ledger.marks.items) else 0,
            receipts=cursor.receipts if cursor.receipts <= len(ledger.receipts.items) else 0,
            replies=cursor.replies if cursor.replies <= len(ledger.replies.items) else 0,
        )

    def _witness(self, number: int) -> str:
        letter = self._letters.get(number)
        return _check(letter.message.id) if letter else "00000000"

    def _letter(self, number: int) -> Letter | None:
        if number in self._letters or number not in self._book.archived:
            return self._letters.get(number)
        if self._moved is None:
            self._moved = {one.message.number: one for one in self._desk.shelf.letters().values()}
        return self._moved.get(number)

    def _posts(self, cursor: Cursor, limit: int) -> tuple[list[Change], Cursor]:
        found: list[Change] = []
        told, waiting = cursor.told, list(cursor.waiting)
        for number in range(cursor.told + 1, self._book.last + 1):
            if len(found) >= limit:
                break
            told = number
            letter = self._letter(number)
            if letter:
                message = letter.message
                found.append(Change(ChangeKind.POSTED, message.created, message.id, message=message))
                waiting.append(number)
        if told == cursor.told:
            return found, cursor
        return found, replace(cursor, told=told, witness=self._witness(told), waiting=tuple(waiting))

    def _marks(self, cursor: Cursor, limit: int) -> tuple[list[Change], Cursor]:
        lines = self._ledger.marks.items
        first = {(line.message_id, line.mark): line for line in reversed(lines)}
        found: list[Change] = []
        place = cursor.marks
        while place < len(lines) and len(found) < limit:
            line = lines[place]
            if first[line.message_id, line.mark] is line:
                found.append(Change(_KINDS[line.mark], line.at, line.message_id))
            place += 1
        return found, replace(cursor, marks=place)

    def _receipts(self, cursor: Cursor, limit: int) -> tuple[list[Change], Cursor]:
        new = self._ledger.spoken[cursor.receipts : cursor.receipts + max(limit, 0)]
        found = [Change(ChangeKind.RECEIPT, one.seen_at, one.message_id, receipt=one) for one in new]
        return found, replace(cursor, receipts=cursor.receipts + len(new))

    def _replies(self, cursor: Cursor, limit: int) -> tuple[list[Change], Cursor]:
        stream = self._ledger.replies
        blocks = stream.items
        found: list[Change] = []
        place = cursor.replies
        # One that is not whole may still grow if it is the last.
        while place < len(blocks) and len(found) < limit:
            is_whole = self._ledger.is_whole(stream, blocks[place])
            if not is_whole and place + 1 == len(blocks):
                break
            if is_whole:
                reply = reply_of(blocks[place])
                found.append(Change(ChangeKind.REPLY, reply.created, reply.to, reply=reply))
            place += 1
        return found, replace(cursor, replies=place)

    def _endings(self, cursor: Cursor, limit: int) -> tuple[list[Change], Cursor]:
        found: list[Change] = []
        still: list[int] = []
        for number in cursor.waiting:
            letter = self._letter(number)
            ending = letter and self._ending(letter)
            if ending is True or (ending and len(found) >= limit):
                still.append(number)
            elif ending:
                found.append(ending)
        return found, replace(cursor, waiting=tuple(still))

    def _ending(self, letter: Letter) -> Change | bool:
        """Return how a message ended other than by its addressee's word; ``True`` while it is pending."""
        message = letter.message
        standing = self._desk.judge(letter, self._now).standing
        if standing.status is Status.WITHDRAWN:
            return Change(ChangeKind.WITHDRAWN, standing.withdrawn_at, message.id)
        if standing.is_pending:
            return True
        answers = [one.seen_at for one in self._book.said(message.id).receipts if not one.is_bare and one.seen_at]
        came_late = message.expires is not None and min(answers, default=message.expires) >= message.expires
        return Change(ChangeKind.EXPIRED, message.expires, message.id) if came_late else False


def _timed(changes: Iterable[Change]) -> Iterator[tuple[float, Change]]:
    """Give each change of one file a time to sort by that keeps the file's order."""
    latest = float("-inf")
    for change in changes:
        latest = max(latest, change.at.timestamp()) if change.at else latest
        yield latest, change


def _check(text: str) -> str:
    return f"{zlib.crc32(text.encode(errors='surrogateescape')):08x}"
