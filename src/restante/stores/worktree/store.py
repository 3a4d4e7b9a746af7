"""The worktree's mailbox: ``ports.Mailbox`` over ``.codex-mailbox/``.

Who writes what: posting and taking back write INBOX.md, acknowledging writes RECEIPTS.md, replying OUTBOX.md, marking
the marks; each under the lock of that file only, so an agent never needs more than its mailbox to be writable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.lifecycle import Status
from restante.domain.limits import Limits
from restante.domain.mailbox import Counts
from restante.stores.worktree.blocks import reply_of
from restante.stores.worktree.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.lifecycle import Standing
    from restante.domain.mailbox import Acknowledgement, Archived, Changes, Entry, Fault, Mark, Posted
    from restante.domain.message import Draft, Reply
    from restante.domain.receipt import Receipt
    from restante.ports import Clock, Ids
    from restante.stores.worktree.layout import Layout
    from restante.stores.worktree.locate import Worktree

_NO_LIMITS = Limits()


class WorktreeMailbox:
    """The mailbox of one worktree. Not to be shared between threads; any number of processes may have one.

    Args:
        worktree: The worktree.
        clock: Where time comes from.
        ids: Where ids come from.
        limits: What the mailbox takes.

    Attributes:
        desk: Its inside, for the parts of this home.
    """

    def __init__(self, worktree: Worktree, clock: Clock, ids: Ids, limits: Limits = _NO_LIMITS) -> None:
        self.desk = Desk(worktree, clock, ids, limits)

    @property
    def address(self) -> str:
        """The address as text."""
        return self.desk.address

    @property
    def layout(self) -> Layout:
        """Where its files are."""
        return self.desk.layout

    def post(self, draft: Draft) -> Posted:
        """Store a message; see ``ports.Mailbox.post``."""
        from restante.stores.worktree import posting

        return posting.post(self.desk, draft)

    def withdraw(self, message_id: str) -> Standing:
        """Take a message back; see ``ports.Mailbox.withdraw``."""
        from restante.stores.worktree import posting

        return posting.withdraw(self.desk, message_id)

    def archive(self) -> Archived:
        """Move what is no longer pending aside; see ``ports.Archive.archive``."""
        from restante.stores.worktree.archive import WorktreeArchive

        return WorktreeArchive(self).archive()

    def mark(self, message_ids: Sequence[str], mark: Mark, reader: str) -> None:
        """Record that messages were noticed or seen; see ``ports.Mailbox.mark``."""
        from restante.stores.worktree import answering

        answering.mark(self.desk, message_ids, mark, reader)

    def acknowledge(self, words: Sequence[Acknowledgement], reader: str) -> list[Receipt]:
        """Store the addressee's word, all or none; see ``ports.Mailbox.acknowledge``."""
        from restante.stores.worktree import answering

        return answering.acknowledge(self.desk, words, reader)

    def reply(self, to: str, body: str, reader: str) -> Reply:
        """Store the addressee's words; see ``ports.Mailbox.reply``."""
        from restante.stores.worktree import answering

        return answering.reply(self.desk, to, body, reader)

    def entries(self, *, pending_only: bool = False, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return messages with their standing; see ``ports.Mailbox.entries``."""
        self.desk.look(everything=not pending_only)
        now = self.desk.clock.now()
        found = self.desk.book.pending(now) if pending_only else self.desk.book.entries(now)
        return [entry for entry in found if entry.message.number > after][:limit]

    def entry(self, message_id: str) -> Entry:
        """Return one message with its standing; see ``ports.Mailbox.entry``."""
        return self.desk.judge(self.desk.known(message_id), self.desk.clock.now())

    def ids(self) -> list[str]:
        """Return the ids of all messages; see ``ports.Mailbox.ids``."""
        self.desk.look(everything=True)
        return list(self.desk.shelf.letters() | dict.fromkeys(self.desk.book.slots))

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return the receipts of one message, in the order they were given."""
        self.desk.look(everything=True)
        return list(self.desk.book.said(message_id).receipts) if self.desk.find(message_id) else []

    def reader_of(self, message_id: str, mark: Mark) -> str:
        """Return by whom a message was first noticed or seen, as ``codex:<id>``; empty where nobody wrote it down."""
        if self.desk.find(message_id) is None:
            return ""
        lines = self.desk.book.said(message_id).marks.get(mark)
        return lines[0].reader if lines else ""

    def replies(self, message_id: str | None = None) -> list[Reply]:
        """Return replies in the order they were given; with an id, only those to that message."""
        ledger = self.desk.ledger
        ledger.replies.refresh()
        found = (reply_of(block) for block in ledger.replies.items if ledger.is_whole(ledger.replies, block))
        return [reply for reply in found if message_id is None or reply.to == message_id]

    def counts(self) -> Counts:
        """Return the numbers, as of now."""
        self.desk.look()
        book = self.desk.book
        pending = book.pending(self.desk.clock.now())
        unseen = [entry.message for entry in pending if entry.standing.status is Status.UNSEEN]
        return Counts(
            total=book.total,
            unseen=len(unseen),
            pending=len(pending),
            # Every message was once the newest unseen one, and the mark never falls.
            high_water=book.last,
            oldest_unseen=min((message.created for message in unseen), default=None),
            archived=sum(last - first + 1 for first, last in book.archived.ranges),
        )

    def changes_since(self, cursor: str, limit: int = 1000) -> Changes:
        """Return what happened since a cursor; see ``ports.Mailbox.changes_since``."""
        from restante.stores.worktree.changes import Cursor, Teller

        begin = Cursor.parse(cursor, self.address)
        self.desk.look(everything=True)
        return Teller(self.desk).page(begin, limit)

    def tip(self) -> str:
        """Return the cursor after which only what happens from now on is told."""
        from restante.stores.worktree.changes import Teller

        self.desk.look(everything=True)
        return Teller(self.desk).tip().text(self.address)

    def faults(self) -> list[Fault]:
        """Return what could not be read."""
        self.desk.look(everything=True)
        return self.desk.ledger.faults()
