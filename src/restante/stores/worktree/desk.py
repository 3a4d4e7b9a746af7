"""What both sides of a worktree's mailbox work with: its files, what they say, time, ids and limits."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Damaged, MailboxDeleted, NoSuchMessage, StorageFailed
from restante.stores.files import read_file, replace
from restante.stores.worktree.index import Index
from restante.stores.worktree.layout import INBOX, Layout
from restante.stores.worktree.ledger import Ledger
from restante.stores.worktree.shelf import Shelf

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.limits import Limits
    from restante.domain.mailbox import Entry
    from restante.ports import Clock, Ids
    from restante.stores.worktree.blocks import Letter
    from restante.stores.worktree.book import Book
    from restante.stores.worktree.locate import Worktree
    from restante.stores.worktree.lock import Held


class Desk:
    """The inside of a mailbox.

    Attributes:
        layout: Where its files are.
        ledger: What they say; up to date after ``look``.
        shelf: Its archive.
        clock: Where time comes from.
        ids: Where ids come from.
        limits: What the mailbox takes.
    """

    def __init__(self, worktree: Worktree, clock: Clock, ids: Ids, limits: Limits) -> None:
        self.layout = Layout(worktree)
        self.ledger = Ledger(self.layout, worktree.address, self.now)
        self.shelf = Shelf(self.layout, worktree.address)
        self.clock = clock
        self.ids = ids
        self.limits = limits
        self._index = Index(self.layout, self.ledger)
        self._is_open = False

    @property
    def address(self) -> str:
        """The mailbox's address."""
        return self.layout.worktree.address

    @property
    def book(self) -> Book:
        """The messages, and what was said of them."""
        return self.ledger.book

    def now(self) -> datetime:
        """Return the time as the files keep it, in milliseconds."""
        return to_ms(self.clock.now())

    def look(self, *, everything: bool = False) -> None:
        """Bring the ledger up to date.

        Args:
            everything: Not only what may be pending.
        """
        self.layout.check()
        if everything:
            self._is_open = True
            self.ledger.read_all()
        elif self._is_open:
            self.ledger.read_new()
        else:
            self._is_open = True
            self._index.open()

    def look_to_post(self) -> int:
        """Read what was added to INBOX.md by others, and return the number that the next message gets.

        What was posted here was known before it was written; it is read when somebody asks for it.
        """
        if not (self._is_open and self.ledger.inbox.is_known()):
            self.look()
        self.ledger.end_unfinished()
        return self.ledger.next_number

    def find(self, message_id: str) -> Letter | None:
        """Return a message of INBOX.md or of the archive."""
        self.look()
        if message_id not in self.book.slots and self.ledger.is_sparse:
            self.look(everything=True)
        slot = self.book.slots.get(message_id)
        if slot:
            return self.book.letter(slot)
        return self.shelf.find(message_id) if message_id else None

    def known(self, message_id: str) -> Letter:
        """Return a message.

        Raises:
            NoSuchMessage: The mailbox never had it, as far as is known.
            MailboxDeleted: It was posted here once.
            Damaged: It stands in INBOX.md and is not all there, or not yet.
        """
        letter = self.find(message_id)
        if letter:
            return letter
        self.look(everything=True)
        if fault := self.ledger.withheld(message_id):
            raise Damaged(
                f"{fault.source}, line {fault.line}: {fault.reason}",
                remedy=f"look at {self.layout.shared(INBOX)} from line {fault.line} on",
            )
        trace = self.layout.trace
        if trace and message_id and f"\n{message_id} ".encode(errors="replace") in b"\n" + (read_file(trace) or b""):
            what = "INBOX.md does not hold it any more" if self.ledger.inbox.anchor else "the mailbox was deleted since"
            raise MailboxDeleted(f"{message_id} was posted here, and {what}", remedy="post it again if it matters")
        raise NoSuchMessage(f"no message {message_id!r} in {self.address}", remedy="restante snapshot lists the ids")

    def judge(self, letter: Letter, now: datetime) -> Entry:
        """Return a message with its standing, wherever it is."""
        slot = self.book.slots.get(letter.message.id)
        return self.book.entry(slot, now) if slot else self.book.judge(letter, now, archived=True)

    def rewrite(self, held: Held, before: bytes, after: bytes) -> None:
        """Put other content in INBOX.md's place, if it still is what was read.

        Raises:
            StorageFailed: It cannot be written, or somebody changed it without asking for the lock.
        """
        anchor = self.ledger.inbox.anchor
        status = os.lstat(held.path)
        if anchor is None or not anchor.fits(status) or len(before) != status.st_size or not held.is_ours():
            raise StorageFailed(f"{held.path} was changed by another program meanwhile", remedy="try again")
        replace(held.path, after)
        self.ring()
        self.look(everything=True)
        self.save_index()

    def save_index(self) -> None:
        """Leave the next process what it needs to look at pending mail only; for those who write anyway."""
        if self._index.is_wanted:
            self.look()
            if self.layout.is_made:
                self._index.save()

    def ring(self) -> None:
        """Ring the bell. The guard rings by INBOX.md's time anyway; this is for clocks that are too coarse."""
        quiet = self.layout.own("quiet")
        if os.access(quiet, os.F_OK):
            with suppress(OSError):
                os.unlink(quiet)


def to_ms(at: datetime) -> datetime:
    """Return a time without what is finer than a millisecond."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
