"""The files of a mailbox, read into a ``Book``.

A look at what is pending begins from ``index`` and costs what is pending and new; everything else reads all.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from restante.domain.mailbox import Fault
from restante.stores.files import read_file
from restante.stores.worktree.blocks import receipt_of
from restante.stores.worktree.book import Book
from restante.stores.worktree.fields import size_of
from restante.stores.worktree.grammar import Kind, scan, why_withheld
from restante.stores.worktree.layout import INBOX, MARKS, OUTBOX, RECEIPTS
from restante.stores.worktree.marks import scan_marks
from restante.stores.worktree.numbers import archived_numbers
from restante.stores.worktree.record import SETTLING_SECONDS, is_our_append, unsettled_size
from restante.stores.worktree.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.receipt import Receipt
    from restante.stores.worktree.book import Picks
    from restante.stores.worktree.grammar import Block, Scan
    from restante.stores.worktree.layout import Layout
    from restante.stores.worktree.marks import MarkLine

# How far the clocks of two programs may be apart before one of them is wrong rather than the other set back.
_MOST_APART = timedelta(days=1)
# Some filesystems keep whole seconds, and the system's time of a write lags a little behind its clock.
_COARSE = timedelta(seconds=2)

# What stands for a second block with the id of an earlier one.
_DOUBLE = "double"


class _Stale(Exception):
    """What was picked by the index does not stand for the whole any more."""


class Ledger:
    """What the files say.

    Args:
        layout: The mailbox's files.
        address: Its address, for the messages.
        now: Returns the time.

    Attributes:
        book: The messages, and what was said of them.
        inbox: INBOX.md, block by block.
        receipts: RECEIPTS.md.
        replies: OUTBOX.md.
        marks: What was noticed and seen.
        spoken: For each block of RECEIPTS.md that is held, its receipt.
        placed: For each block of INBOX.md that is held, the id of its message; something else where it is none.
        unfinished: The last block of INBOX.md, when it is not all there or its writer may still be at it.
    """

    def __init__(self, layout: Layout, address: str, now: Callable[[], datetime]) -> None:
        self._layout = layout
        self._now = now
        self._head = b""
        self._is_ended = False
        self.book = Book(address)
        self.inbox = self._stream(INBOX, Kind.MESSAGE)
        self.receipts = self._stream(RECEIPTS, Kind.RECEIPT)
        self.replies = self._stream(OUTBOX, Kind.REPLY)
        self.marks: Stream[MarkLine] = Stream(lambda: layout.own(MARKS), layout.resolved, scan_marks)
        self._clear()

    def _stream(self, name: str, kind: Kind) -> Stream[Block]:
        def read(data: bytes, offset: int, line: int) -> Scan:
            found = scan(data, source=name, kind=kind, offset=offset, line=line)
            if kind is Kind.MESSAGE and offset == 0:
                self._head = data[: found.blocks[0].start] if found.blocks else data
            return found

        layout = self._layout
        return Stream(
            lambda: layout.joined(name),
            layout.resolved,
            read,
            lambda inode: unsettled_size(layout, name, inode),
            lambda before, after: is_our_append(layout, name, before, after),
        )

    def _clear(self) -> None:
        self.book.clear()
        self.spoken: list[Receipt] = []
        self.placed: list[str] = []
        self.unfinished: Block | None = None
        self._marked: list[MarkLine] = []

    @property
    def is_settled(self) -> bool:
        """Whether no message can come to light in INBOX.md without a change of it, only because time passes."""
        anchor = self.inbox.anchor
        return self.unfinished is None and (anchor is None or anchor.size >= anchor.file_size)

    @property
    def is_sparse(self) -> bool:
        """Whether messages that are not pending were left out."""
        return self.inbox.is_sparse

    @property
    def next_number(self) -> int:
        """The number that the next message gets; those count that were appended here and not read since."""
        return self.book.archived.next_free(self.book.last) + self.inbox.own_count

    def read_all(self) -> None:
        """Bring everything up to date."""
        if self.inbox.is_sparse or self.receipts.is_sparse or self.marks.is_sparse:
            self.start_over()
        self.read_new()
        self.replies.refresh()

    def read_new(self) -> None:
        """Bring up to date what is held; nothing is added that was left out."""
        try:
            self._refresh()
        except _Stale:
            self.start_over()
            self._refresh()

    def begin_with(self, picks: Picks) -> None:
        """Begin from what the index picked; the streams hold the picked things already, and all that came after."""
        self._clear()
        self._hear(0)
        self._notice(0)
        count = len(picks.numbers)
        self.placed = [block.id for block in self.inbox.items[:count]]
        self.book.begin_with(self.inbox.items[:count], picks)
        try:
            self._place(count)
        except _Stale:
            self.start_over()
            self._refresh()

    def start_over(self) -> None:
        """Forget everything; the next look reads all."""
        for stream in (self.inbox, self.receipts, self.marks):
            stream.reset()
        self._clear()

    def _refresh(self) -> None:
        # In this order: whatever speaks of a message was written after it, so the message is found as well.
        for stream, take in (
            (self.receipts, self._hear),
            (self.marks, self._notice),
            (self.inbox, self._place),
        ):
            was_sparse = stream.is_sparse
            first = stream.refresh()
            if was_sparse and not stream.is_sparse:
                raise _Stale
            if first is not None:
                take(first)
        if self.unfinished and self.is_whole(self.inbox, self.unfinished):
            self._place(len(self.inbox.items) - 1)

    def _hear(self, first: int) -> None:
        """Take over receipts from a place on."""
        while len(self.spoken) > first:
            self.book.unhear(self.spoken.pop())
        for block in self.receipts.items[first:]:
            self.spoken.append(receipt_of(block))
            self.book.hear(self.spoken[-1], block)

    def _notice(self, first: int) -> None:
        """Take over marks from a place on."""
        while len(self._marked) > first:
            self.book.unnotice(self._marked.pop())
        for line in self.marks.items[first:]:
            self._marked.append(line)
            self.book.notice(line)

    def _place(self, first: int) -> None:
        """Take over messages from a place on."""
        if first == 0 and not self.is_sparse:
            self.placed.clear()
            self.book.clear_messages(archived_numbers(self._head))
        while len(self.placed) > first:
            gone = self.placed.pop()
            if gone and gone != _DOUBLE:
                self.book.unplace(gone)
        self.unfinished = None
        items = self.inbox.items
        believed = min(self._written(), self._now() + _MOST_APART)
        for place in range(first, len(items)):
            self.placed.append(self._place_one(items[place], believed))
        if items and not self.placed[-1]:
            self.unfinished = items[-1]

    def _written(self) -> datetime:
        """Return when INBOX.md was written by the system's clock, which no program's stamp can be ahead of."""
        try:
            mtime = self.inbox.anchor.mtime_ns / 1e9 if self.inbox.anchor else 0
            return datetime.fromtimestamp(mtime, UTC) + _COARSE
        except (ValueError, OverflowError, OSError):
            return self._now()

    def sure_time(self) -> datetime:
        """Return the latest time that has come by this process's clock and by the system's, too."""
        return min(self._written() - _COARSE, self._now())

    def _place_one(self, block: Block, believed: datetime) -> str:
        if not block.complete and not self.is_whole(self.inbox, block):
            return ""
        if block.id in self.book.slots:
            return _DOUBLE
        if self.book.is_doubtful(block) and self._is_named_before(block):
            raise _Stale
        self.book.place(block, believed)
        return block.id

    def _is_named_before(self, block: Block) -> bool:
        """Tell whether an id occurs in what was left out of INBOX.md; reading that is cheap, understanding is not."""
        before = read_file(self._layout.shared(INBOX), most=block.start) or b""
        return block.id.encode() in before

    def is_whole(self, stream: Stream[Block], block: Block) -> bool:
        """Tell whether a block is all there: one without a last line end is when nobody has written for a while."""
        return block.complete or (block.open_ended and (self._is_ended or _has_rested(stream)))

    def end_unfinished(self) -> None:
        """Take what stands at the end of INBOX.md for whole, if it can be: a new block is written behind it."""
        if self.unfinished and self.unfinished.open_ended:
            self._is_ended = True
            self._place(len(self.inbox.items) - 1)
            self._is_ended = False

    def withheld(self, message_id: str) -> Fault | None:
        """Return why a message that stands in INBOX.md is given to nobody; ``None`` where it does not stand there."""
        for block, name in zip(self.inbox.items, self.placed, strict=True):
            if block.id == message_id and not name:
                return Fault(INBOX, block.line, self._why(block))
        return None

    @staticmethod
    def _why(block: Block) -> str:
        if block.open_ended:
            return (
                f"{block.id} does not end with a line end yet; it counts {SETTLING_SECONDS:g} s after the last change"
            )
        return why_withheld(block.id, size_of(block.fields), len(block.body.encode()))

    def faults(self) -> list[Fault]:
        """Return what could not be read, file by file."""
        found = [*self.inbox.faults]
        for block, name in zip(self.inbox.items, self.placed, strict=True):
            if name == _DOUBLE:
                found.append(Fault(INBOX, block.line, f"a second block with the id {block.id}; the first one counts"))
        cut = self.unfinished
        if cut:
            if _has_rested(self.inbox):
                found.append(Fault(INBOX, cut.line, self._why(cut)))
            else:
                # A writer of this moment will have finished the next time somebody looks.
                found = [fault for fault in found if fault.line < cut.line]
        return [*found, *self.receipts.faults, *self.replies.faults, *self.marks.faults]


def _has_rested(stream: Stream[Block]) -> bool:
    """Tell whether a file was changed so long ago that nobody can be in the middle of it."""
    anchor = stream.anchor
    return anchor is not None and abs(time.time() - anchor.mtime_ns / 1e9) > SETTLING_SECONDS
