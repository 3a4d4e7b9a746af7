"""Which messages INBOX.md holds and what was said of each, as values: no file is opened here."""

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.lifecycle import PENDING, Marks, Standing, Status, standing_of
from restante.domain.mailbox import Entry, Mark
from restante.domain.receipt import merge_receipts
from restante.stores.worktree.blocks import message_of
from restante.stores.worktree.numbers import Numbers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from restante.domain.message import Message
    from restante.domain.receipt import Receipt
    from restante.stores.worktree.blocks import Letter
    from restante.stores.worktree.grammar import Block
    from restante.stores.worktree.marks import MarkLine


_UNTOUCHED = Standing(Status.UNSEEN)
_MARKS = (Mark.NOTICED, Mark.SEEN)


class Slot:
    """One message of INBOX.md.

    Attributes:
        block: Its text.
        number: Its number.
        letter: What it says; read when it is first asked for.
    """

    __slots__ = ("block", "letter", "number")

    def __init__(self, block: "Block", number: int) -> None:
        self.block = block
        self.number = number
        self.letter: Letter | None = None


class Said:
    """What was recorded of one message beside its text, in the order it was given.

    Attributes:
        receipts: What its addressee said.
        blocks: Where each receipt stands.
        marks: Where it was noticed and seen.
    """

    __slots__ = ("blocks", "marks", "receipts")

    def __init__(self) -> None:
        self.receipts: list[Receipt] = []
        self.blocks: list[Block] = []
        self.marks: dict[Mark, list[MarkLine]] = {}


class Picks(NamedTuple):
    """What the index says of the part of INBOX.md that is not read again.

    Attributes:
        numbers: Of the messages that were picked from it.
        last: The number of its last message.
        total: How many messages it holds.
        newest: The greatest id in it.
        archived: The numbers of archived messages.
    """

    numbers: list[int]
    last: int
    total: int
    newest: str
    archived: Numbers


class Book:
    """The messages of a mailbox with what was said of them.

    Args:
        address: The mailbox's address, for the messages.

    Attributes:
        slots: The messages by id, in the order of the file; after ``begin_with`` only those that may be pending and
            those behind them.
        archived: The numbers of archived messages.
        total: How many messages INBOX.md holds.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        # Once found expired, a message stays so for this process, whatever its clock does.
        self._expired: set[str] = set()
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._said: dict[str, Said] = {}
        self.clear_messages(Numbers())

    def clear_messages(self, archived: Numbers) -> None:
        """Forget the messages, not what was said of them."""
        self.slots: dict[str, Slot] = {}
        self.archived = archived
        self.total = self._last = 0
        self._open: dict[str, None] = {}
        self._expiring: set[str] = set()
        self._entries: dict[str, Entry] = {}
        self._newest_left_out = ""
        # For each message, the greatest id up to it.
        self._newest: list[str] = []

    @property
    def last(self) -> int:
        """The greatest number given so far."""
        return max(self._last, self.archived.newest)

    # -- taking over ----------------------------------------------------------------------------------------------

    def begin_with(self, blocks: "list[Block]", picks: Picks) -> None:
        """Begin with messages that the index picked."""
        self.clear_messages(picks.archived)
        self._last, self.total, self._newest_left_out = picks.last, picks.total, picks.newest
        for block, number in zip(blocks, picks.numbers, strict=True):
            self.slots[block.id] = Slot(block, number)
            self._newest.append(picks.newest)
            self._reconsider(block.id)

    def is_doubtful(self, block: "Block") -> bool:
        """Tell whether a block may be a second one of a message that was left out."""
        return bool(self._newest_left_out) and block.id.lower() <= self._newest_left_out

    def place(self, block: "Block", believed: "datetime") -> None:
        """Take over the next message of INBOX.md.

        Args:
            block: Its text.
            believed: The latest time that a stamp can prove to have come.
        """
        self._last = self.archived.next_free(self._last)
        self.total += 1
        slot = self.slots[block.id] = Slot(block, self._last)
        self._newest.append(max(block.id.lower(), self._newest[-1] if self._newest else ""))
        # A later message that we stamped proves that an earlier one's time has come, whatever the clock says now.
        if self._expiring and "body_bytes" in block.fields and self.message(slot).created <= believed:
            for other in list(self._expiring):
                expires = self.message(self.slots[other]).expires
                if expires and expires <= self.message(slot).created:
                    self._expire(other)
        self._reconsider(block.id)

    def unplace(self, message_id: str) -> None:
        """Take back the last message of INBOX.md: it is read again."""
        gone = self.slots.pop(message_id)
        self._newest.pop()
        self._close(message_id)
        self.total -= 1
        self._last = self._number_before(gone.number)

    def _number_before(self, number: int) -> int:
        number -= 1
        while number in self.archived:
            number -= 1
        return number

    def hear(self, receipt: "Receipt", block: "Block") -> None:
        """Take over the next receipt."""
        said = self._of(receipt.message_id)
        said.receipts.append(receipt)
        said.blocks.append(block)
        self._reconsider(receipt.message_id)

    def unhear(self, receipt: "Receipt") -> None:
        """Take back the last receipt: it is read again."""
        said = self._of(receipt.message_id)
        said.receipts.pop()
        said.blocks.pop()
        self._reconsider(receipt.message_id)

    def notice(self, line: "MarkLine") -> None:
        """Take over the next mark."""
        self._of(line.message_id).marks.setdefault(line.mark, []).append(line)
        self._reconsider(line.message_id)

    def unnotice(self, line: "MarkLine") -> None:
        """Take back the last mark: it is read again."""
        self._of(line.message_id).marks[line.mark].pop()
        self._reconsider(line.message_id)

    def _of(self, message_id: str) -> Said:
        return self._said.setdefault(message_id, Said())

    def _reconsider(self, message_id: str) -> None:
        """Decide anew whether a message may be pending."""
        slot = self.slots.get(message_id)
        if slot is None:
            return
        self._entries.pop(message_id, None)
        if self._is_done(slot) or message_id in self._expired:
            self._close(message_id)
        else:
            self._open[message_id] = None
            if "expires_at" in slot.block.fields:
                self._expiring.add(message_id)

    def _is_done(self, slot: Slot) -> bool:
        said = self._said.get(slot.block.id)
        return slot.block.fields.get("status") == "cancelled" or (
            said is not None and any(not receipt.is_bare for receipt in said.receipts)
        )

    def _close(self, message_id: str) -> None:
        self._open.pop(message_id, None)
        self._expiring.discard(message_id)
        self._entries.pop(message_id, None)

    def _expire(self, message_id: str) -> None:
        self._expired.add(message_id)
        self._close(message_id)

    # -- asking ---------------------------------------------------------------------------------------------------

    def said(self, message_id: str) -> Said:
        """Return what was recorded of a message, nothing where there is nothing."""
        return self._said.get(message_id) or Said()

    def letter(self, slot: Slot) -> "Letter":
        """Return the message of a slot, and whether it was taken back."""
        if slot.letter is None:
            slot.letter = message_of(slot.block, number=slot.number, mailbox=self._address)
        return slot.letter

    def message(self, slot: Slot) -> "Message":
        """Return the message of a slot."""
        return self.letter(slot).message

    def entry(self, slot: Slot, now: "datetime") -> Entry:
        """Return a message with its standing."""
        known = self._entries.get(slot.block.id)
        if known is None:
            known = self.judge(self.letter(slot), now)
            if known.standing.status is Status.EXPIRED:
                self._expire(slot.block.id)
            elif known.message.expires is not None and known.standing.is_pending:
                return known
            self._entries[slot.block.id] = known
        return known

    def judge(self, letter: "Letter", now: "datetime", *, archived: bool = False) -> Entry:
        """Return any letter with its standing; one that was archived without an answer had expired."""
        message = letter.message
        if message.id not in self._said and not letter.is_withdrawn and message.expires is None:
            return Entry(message, _UNTOUCHED)
        said = self.said(message.id)
        # The first mark of a kind counts.
        noticed, seen = (lines[0].at if (lines := said.marks.get(mark)) else None for mark in _MARKS)
        is_expired = message.id in self._expired or (archived and message.expires is not None)
        marks = Marks(noticed, seen, letter.withdrawn_at, letter.is_withdrawn, is_expired)
        return Entry(message, standing_of(message, marks, merge_receipts(said.receipts), now))

    def entries(self, now: "datetime") -> "Iterator[Entry]":
        """Yield every message with its standing, in order of number."""
        for slot in list(self.slots.values()):
            yield self.entry(slot, now)

    def pending(self, now: "datetime") -> list[Entry]:
        """Return the pending messages in order of number."""
        known = self._entries.get
        slots = sorted((self.slots[message_id] for message_id in self._open), key=attrgetter("number"))
        found = [known(slot.block.id) or self.entry(slot, now) for slot in slots]
        return [one for one in found if one.standing.status in PENDING]

    def picks(self, resume: int, sure: "datetime") -> tuple[list[Slot], list[str], Picks]:
        """Return what the index keeps of the messages before an offset.

        Args:
            resume: The offset.
            sure: The latest time that has come beyond doubt; what expired later than that has done so by this
                process's clock only, and may be pending by another's.

        Returns:
            Those that may be pending; the ids that things said of are kept for, those behind the offset too; the sums.
        """
        behind: list[Slot] = []
        for slot in reversed(self.slots.values()):
            if slot.block.start < resume:
                break
            behind.append(slot)
        maybe = [*(self.slots[one] for one in self._open), *self.doubtfully_expired(sure)]
        kept = [slot for slot in maybe if slot.block.start < resume]
        kept.sort(key=lambda slot: slot.number)
        before = len(self.slots) - len(behind)
        newest = self._newest[before - 1] if before else ""
        picks = Picks(
            numbers=[slot.number for slot in kept],
            last=self._number_before(behind[-1].number) if behind else self._last,
            total=self.total - len(behind),
            newest=max(newest, self._newest_left_out),
            archived=self.archived,
        )
        return kept, [slot.block.id for slot in (*kept, *behind)], picks

    def doubtfully_expired(self, sure: "datetime") -> list[Slot]:
        """Return what expired by this process's clock, and may be pending by another's.

        Args:
            sure: A time that has come beyond doubt.
        """
        if not self._expired:
            return []
        expired = (slot for one, slot in self.slots.items() if one in self._expired)
        return [slot for slot in expired if self._may_be_pending(slot, sure)]

    def _may_be_pending(self, slot: Slot, sure: "datetime") -> bool:
        expires = self.message(slot).expires
        return expires is not None and expires > sure and not self._is_done(slot)

    @property
    def open_count(self) -> int:
        """How many messages may be pending."""
        return len(self._open)
