"""One transaction on one mailbox: its counters, the time it judges by, and what is written along with every change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Damaged, NoSuchMessage, NoSuchSession
from restante.domain.mailbox import ChangeKind, Counts
from restante.stores.sql.addressing import place_of
from restante.stores.sql.counting import bump_later
from restante.stores.sql.rows import EXPIRED, Letter, read_receipt, readable, to_ms, to_time

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.mailbox import Entry
    from restante.domain.message import Message
    from restante.domain.receipt import Receipt
    from restante.stores.sql.rows import Row
    from restante.stores.sql.transaction import Transaction

MOST = 2**63 - 1

_MOST_SHARES = 256


class Sight(NamedTuple):
    """What a reader knows of time: nothing that it found expired may revive when the clock is set back.

    Attributes:
        latest: The latest time it ever judged by, in milliseconds since 1970.
        known: Messages up to this number were there then.
        now: The time now. New mail is judged by it alone, and so has its whole time to live.
    """

    latest: int
    known: int
    now: int

    def of(self, number: int) -> int:
        """Return the time to judge the message of a number by."""
        return self.latest if number <= self.known else self.now


def look(earlier: Sight | None, now: int, newest: int) -> Sight:
    """Return what a reader knows of time, after what it knew before.

    Args:
        earlier: What it knew before.
        now: The time, in milliseconds since 1970.
        newest: Number of the newest message.
    """
    if earlier is None or now >= earlier.latest:
        return Sight(now, newest, now)
    return Sight(earlier.latest, earlier.known, now)


class Known:
    """What was read of a mailbox and holds until anybody writes to it; a post is added to it as it comes.

    Args:
        row: The statement ``box``.

    Attributes:
        row: The same, as of now.
        counts: The statement ``counts``, where nothing pending has expired.
        room: How many are pending then, and their bytes.
        shares: The same of single senders.
    """

    __slots__ = ("counts", "room", "row", "shares")

    def __init__(self, row: Row) -> None:
        self.row = row
        self.counts: Row | None = None
        self.room: tuple[int, int] | None = None
        self.shares: dict[str, tuple[int, int]] = {}

    def told(self, sight: Sight) -> Counts | None:
        """Return the numbers of the mailbox; ``None`` where they are not known, or something expired since."""
        _, _, number, _, total, first = self.row
        if self.counts is None or (first is not None and first <= sight.latest):
            return None
        pending, unseen, oldest = self.counts
        # Every message was once the newest unseen one, and the mark never falls.
        return Counts(total, unseen, pending, number, None if oldest is None else to_time(oldest))

    def add(self, sender: str, size: int, created: int, expires: int | None) -> None:
        """Take in a message that was posted; times in milliseconds since 1970."""
        if self.counts:
            pending, unseen, oldest = self.counts
            self.counts = pending + 1, unseen + 1, created if oldest is None else min(oldest, created)
        if self.room:
            self.room = self.room[0] + 1, self.room[1] + size
        if share := self.shares.get(sender):
            self.shares[sender] = share[0] + 1, share[1] + size
        if expires is not None:
            first = self.row[5]
            self.row = (*self.row[:5], expires if first is None else min(first, expires))


class Ledger:
    """A mailbox within a transaction.

    Args:
        run: The transaction.
        address: The mailbox.
        known: What was read of it.
        now: The time.
        earlier: What the reader knew of time before.
        owner: Whose it is.
    """

    def __init__(
        self,
        run: Transaction,
        address: str,
        known: Known,
        now: datetime,
        earlier: Sight | None = None,
        *,
        owner: str = "",
    ) -> None:
        row = known.row
        self.known = known
        self.run = run
        self.address = address
        self.now = now
        self.owner = owner
        self.box: int = row[0]
        self.tag: str = row[1]
        self.number: int = row[2]
        self.change: int = row[3]
        self.total: int = row[4]
        self._next_expiry: int | None = row[5]
        self._before = row[2:5]
        self._posted: list[tuple[str, int, int, int | None]] = []
        self._has_only_posted = True
        self.expired = 0
        self.sight = look(earlier, to_ms(now), self.number)

    def row(self, message_id: str) -> Row | None:
        """Return the row of one message, if there is one."""
        # Every id is ASCII; what is not might be no text at all, which a database refuses.
        return self.run.one("message", box=self.box, id=message_id) if message_id.isascii() else None

    def letter(self, message_id: str) -> Letter:
        """Return one message.

        Raises:
            NoSuchMessage: It is unknown.
            Damaged: It is there and cannot be understood.
        """
        row = self.row(message_id)
        if row is None:
            raise NoSuchMessage(f"no message {message_id!r} in {self.address}")
        try:
            return Letter(row, self.address)
        except ValueError as error:
            raise Damaged(f"message {message_id} in {self.address}: {error}") from None

    def entry(self, letter: Letter) -> Entry:
        """Return a message with its standing."""
        number = letter.message.number
        return letter.entry(self.receipts(number), self.sight.of(number))

    def receipts(self, number: int) -> list[Receipt]:
        """Return the receipts of one message."""
        rows = self.run.all("receipts_between", box=self.box, low=number, high=number)
        return readable(rows, read_receipt)

    def tell(self, kind: ChangeKind, at_ms: int, number: int | None, message_id: str) -> int:
        """Write a change into the log and return its place there."""
        self.change += 1
        self._has_only_posted &= kind is ChangeKind.POSTED
        self.run.later(
            "add_change",
            box=self.box,
            change=self.change,
            kind=kind.value,
            at_ms=at_ms,
            number=number,
            message_id=message_id,
        )
        return self.change

    def posted(self, message: Message, size: int, expires_ms: int | None) -> None:
        """Take note of a message that is stored."""
        self.number = message.number
        self.total += 1
        self._posted.append((message.sender.name, size, self.sight.now, expires_ms))

    def held(self, sender: str) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return how many messages are pending and their bytes: all of them, and those of a sender."""
        known = self.known
        share = known.shares.get(sender)
        if known.room and share and self._is_current:
            return known.room, share
        sight = self.sight
        row = self.run.one("room", box=self.box, sender=sender, now=sight.now, latest=sight.latest, known=sight.known)
        assert row is not None
        if self._is_current:
            known.room = row[0], row[1]
            if len(known.shares) >= _MOST_SHARES:
                known.shares.clear()
            known.shares[sender] = row[2], row[3]
        return (row[0], row[1]), (row[2], row[3])

    def counts(self) -> Row:
        """Return how many messages are pending, how many of them unseen, and when the oldest of those was posted."""
        if not self._is_current:
            return _of_pending(self, "counts")[0]
        if self.known.counts is None:
            self.known.counts = _of_pending(self, "counts")[0]
        return self.known.counts

    @property
    def _is_current(self) -> bool:
        """Whether nothing that is not closed has expired, so that numbers hold whatever time it is."""
        return self._next_expiry is None or self._next_expiry > self.sight.latest

    def sweep(self) -> None:
        """Close what has expired, so that nobody has to look at it again and no clock can revive it."""
        if self._next_expiry is None or self._next_expiry > self.sight.latest:
            return
        for number, message_id, expires, _ in self.run.all("expiring", box=self.box, latest=self.sight.latest):
            if expires <= self.sight.of(number):
                self.close(number, EXPIRED)
                self.expired += 1
                self.tell(ChangeKind.EXPIRED, expires, number, message_id)

    def close(self, number: int, how: str, *, withdrawn_ms: int | None = None) -> None:
        """Record how a message left pending."""
        self.run.do("close_message", box=self.box, number=number, how=how, withdrawn_ms=withdrawn_ms)

    def settle(self) -> None:
        """Keep the counters, and number what happened among the owner's mailboxes."""
        state = self.number, self.change, self.total
        if state != self._before:
            counter = mail_counter(self.owner)
            # Who is alone in knowing of a change may be told of it by the same number as of the next one.
            bump_later(self.run, counter)
            self.run.later(
                "settle_box",
                self.box,
                box=self.box,
                number=self.number,
                change=self.change,
                total=self.total,
                counter=counter,
            )
            if self._has_only_posted and len(self._posted) == self.total - self._before[2]:
                self.known.row = (self.box, self.tag, *state, self._next_expiry)
                for posted in self._posted:
                    self.known.add(*posted)
            else:
                self.run.memory.pop(key_of(self.address, self.owner), None)
        self.run.keep()


def count(ledger: Ledger) -> Counts:
    """Return the numbers of a mailbox."""
    pending, unseen, oldest = ledger.counts()
    # Every message was once the newest unseen one, and the mark never falls.
    return Counts(ledger.total, unseen, pending, ledger.number, None if oldest is None else to_time(oldest))


def senders_of(ledger: Ledger) -> list[str]:
    """Return who has pending mail in a mailbox."""
    return [row[0] for row in _of_pending(ledger, "debts_of_box")]


def _of_pending(ledger: Ledger, statement: str) -> list[Row]:
    sight = ledger.sight
    return ledger.run.all(statement, box=ledger.box, now=sight.now, latest=sight.latest, known=sight.known)


def mail_counter(owner: str) -> str:
    """Return the name of the counter of an owner's mailboxes."""
    return f"mail:{owner}"


def open_ledger(
    run: Transaction | None,
    address: str,
    now: datetime,
    earlier: Sight | None,
    *,
    owner: str = "",
    create: bool = False,
) -> Ledger | None:
    """Open a mailbox in a transaction; ``None`` where there is none.

    Args:
        run: The transaction; ``None`` where there is no database.
        address: The mailbox.
        now: The time.
        earlier: What the reader knew of time before.
        owner: Whose it is; a mailbox of somebody else is none.
        create: Whether to begin the mailbox.

    Raises:
        NoSuchSession: It was to begin, and is somebody else's.
    """
    if run is None:
        return None
    key = key_of(address, owner)
    known: Known | None = run.memory.get(key)
    if known:
        return Ledger(run, address, known, now, earlier, owner=owner)
    place = place_of(address, owner)
    row = run.one("box", address=place, owner=owner)
    if row is None and create:
        # The tag tells the cursors of a deleted and newly made database from those of this one.
        run.do("add_box", address=place, tag=os.urandom(4).hex(), owner=owner)
        row = run.one("box", address=place, owner=owner)
        if row is None:
            raise NoSuchSession(f"no mailbox {address}")
    if row is None:
        return None
    known = run.memory[key] = Known(row)
    return Ledger(run, address, known, now, earlier, owner=owner)


def key_of(address: str, owner: str) -> tuple[str, str, str]:
    """Return under what a mailbox is remembered."""
    return "box", address, owner
