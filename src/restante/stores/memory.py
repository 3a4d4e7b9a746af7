"""The twin: a mailbox that lives in one process. Read it as the specification of the others.

Shipped for users' tests; nothing of it survives the process.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from restante.domain.errors import Conflict, NoSuchMessage, UsageError
from restante.domain.lifecycle import Event, Marks, Standing, Status, standing_of, step
from restante.domain.limits import Limits, check_head, check_room, check_text
from restante.domain.mailbox import Archived, Change, ChangeKind, Changes, Counts, Entry, Mark, Posted
from restante.domain.message import Message, Reply, Sender
from restante.domain.receipt import Receipt, merge_receipts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from restante.domain.mailbox import Acknowledgement, Fault
    from restante.domain.message import Draft
    from restante.ports import Clock, Ids

_NO_LIMITS = Limits()


@dataclass(slots=True)
class _Record:
    """A message and everything that was recorded of it."""

    message: Message
    marks: Marks = field(default_factory=Marks)
    receipts: list[Receipt] = field(default_factory=list)
    archived: bool = False

    def standing(self, now: datetime) -> Standing:
        return standing_of(self.message, self.marks, merge_receipts(self.receipts), now)


class MemoryMailbox:
    """A ``ports.Mailbox`` and ``ports.Archive`` in memory; may be shared between threads.

    Args:
        address: The address as text.
        clock: Where time comes from.
        ids: Where ids come from.
        limits: What the mailbox takes.
    """

    def __init__(self, address: str, clock: Clock, ids: Ids, limits: Limits = _NO_LIMITS) -> None:
        self._address = address
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._records: dict[str, _Record] = {}
        self._replies: list[Reply] = []
        self._log: list[Change] = []
        self._lock = threading.RLock()

    @property
    def address(self) -> str:
        """The address as text."""
        return self._address

    def post(self, draft: Draft) -> Posted:
        """Store a message; see ``ports.Mailbox.post``."""
        size = check_text(draft.body, self._limits)
        check_head(draft, self._limits)
        with self._lock:
            now = self._now()
            if draft.client_id and (earlier := self._posted_as(draft)):
                if earlier.body != draft.body:
                    raise Conflict(
                        f"client id {draft.client_id!r} was used for another text ({earlier.id})",
                        remedy="use a new client id for a new text",
                    )
                return Posted(earlier, duplicate=True)
            self._check_room(draft.sender, size, now)
            message = Message(
                id=self._ids.new("msg", now),
                number=len(self._records) + 1,
                mailbox=self._address,
                created=now,
                **{name: getattr(draft, name) for name in draft._fields},
            )
            self._records[message.id] = _Record(message)
            self._tell(ChangeKind.POSTED, now, message.id, message=message)
            return Posted(message)

    def entries(self, *, pending_only: bool = False, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return messages with their standing; see ``ports.Mailbox.entries``."""
        with self._lock:
            now = self._now()
            found = [
                Entry(record.message, record.standing(now))
                for record in self._records.values()
                if record.message.number > after and not record.archived
            ]
        return [entry for entry in found if entry.standing.is_pending or not pending_only][:limit]

    def entry(self, message_id: str) -> Entry:
        """Return one message with its standing; see ``ports.Mailbox.entry``."""
        with self._lock:
            now = self._now()
            record = self._record(message_id)
            return Entry(record.message, record.standing(now))

    def ids(self) -> list[str]:
        """Return the ids of all messages, archived ones too."""
        with self._lock:
            return list(self._records)

    def mark(self, message_ids: Sequence[str], mark: Mark, reader: str) -> None:  # noqa: ARG002 - the port's signature
        """Record that messages were noticed or seen; see ``ports.Mailbox.mark``."""
        with self._lock:
            now = self._now()
            for record in (self._records[one] for one in message_ids if one in self._records):
                if mark is Mark.NOTICED and record.marks.noticed_at is None:
                    record.marks = record.marks._replace(noticed_at=now)
                    self._tell(ChangeKind.NOTICED, now, record.message.id)
                elif mark is Mark.SEEN and record.marks.seen_at is None:
                    record.marks = record.marks._replace(seen_at=now)
                    self._tell(ChangeKind.SEEN, now, record.message.id)

    def acknowledge(self, words: Sequence[Acknowledgement], reader: str) -> list[Receipt]:
        """Store the addressee's word, all or none; see ``ports.Mailbox.acknowledge``."""
        for text in (text for word in words for text in (word.summary, word.notes)):
            check_text(text, self._limits, what="receipt")
        with self._lock:
            now = self._now()
            for word in words:
                step(self._record(word.message_id).standing(now).status, Event.ACKNOWLEDGE, message_id=word.message_id)
            return [self._acknowledge(word, reader, now) for word in words]

    def _acknowledge(self, word: Acknowledgement, reader: str, now: datetime) -> Receipt:
        given = self._record(word.message_id).receipts
        newest = given[-1] if given else None
        if newest and (newest.decision, newest.action, newest.summary, newest.notes) == (
            word.decision,
            word.action,
            word.summary,
            word.notes,
        ):
            return newest
        # Receipts are merged by time, so a clock that was set back must not make a later word the older one.
        at = max(now, newest.seen_at) if newest and newest.seen_at else now
        receipt = Receipt(
            id=self._ids.new("receipt", at),
            message_id=word.message_id,
            seen_at=at,
            decision=word.decision,
            action=word.action,
            summary=word.summary,
            notes=word.notes,
            by=reader,
        )
        given.append(receipt)
        self._tell(ChangeKind.RECEIPT, at, word.message_id, receipt=receipt)
        return receipt

    def reply(self, to: str, body: str, reader: str) -> Reply:
        """Store the addressee's words; see ``ports.Mailbox.reply``."""
        check_text(body, self._limits, what="reply")
        with self._lock:
            now = self._now()
            if to:
                self._record(to)
            reply = Reply(self._ids.new("reply", now), to, now, body, Sender(reader or "agent"))
            self._replies.append(reply)
            self._tell(ChangeKind.REPLY, now, to, reply=reply)
            return reply

    def withdraw(self, message_id: str) -> Standing:
        """Take a message back; see ``ports.Mailbox.withdraw``."""
        with self._lock:
            now = self._now()
            record = self._record(message_id)
            step(record.standing(now).status, Event.WITHDRAW, message_id=message_id)
            if not record.marks.is_withdrawn:
                record.marks = record.marks._replace(is_withdrawn=True, withdrawn_at=now)
                self._tell(ChangeKind.WITHDRAWN, now, message_id)
            return record.standing(now)

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return the receipts of one message, in the order they were given."""
        with self._lock:
            record = self._records.get(message_id)
            return list(record.receipts) if record else []

    def replies(self, message_id: str | None = None) -> list[Reply]:
        """Return replies in the order they were given; with an id, only those to that message."""
        with self._lock:
            return [reply for reply in self._replies if message_id is None or reply.to == message_id]

    def counts(self) -> Counts:
        """Return the numbers, as of now."""
        entries = self.entries()
        unseen = [entry.message for entry in entries if entry.standing.status is Status.UNSEEN]
        return Counts(
            total=len(entries),
            unseen=len(unseen),
            pending=sum(entry.standing.is_pending for entry in entries),
            # Every message was once the newest unseen one, and the mark never falls.
            high_water=len(self._records),
            oldest_unseen=min((message.created for message in unseen), default=None),
            archived=sum(record.archived for record in self._records.values()),
        )

    def changes_since(self, cursor: str, limit: int = 1000) -> Changes:
        """Return what happened since a cursor; see ``ports.Mailbox.changes_since``."""
        with self._lock:
            self._now()
            begin = self._place(cursor)
            told = tuple(self._log[begin : begin + limit])
            return Changes(told, f"{begin + len(told)}@{self._address}")

    def tip(self) -> str:
        """Return the cursor after which only what happens from now on is told."""
        with self._lock:
            self._now()
            return f"{len(self._log)}@{self._address}"

    def faults(self) -> list[Fault]:
        """Return what could not be read: nothing, here."""
        return []

    def archive(self) -> Archived:
        """Move what is no longer pending aside; see ``ports.Archive.archive``."""
        with self._lock:
            now = self._now()
            held = [record for record in self._records.values() if not record.archived]
            done = [record for record in held if not record.standing(now).is_pending]
            for record in done:
                record.archived = True
            return Archived(moved=len(done), kept=len(held) - len(done), into="memory")

    def _now(self) -> datetime:
        """Return the time, after every expiry until then was recorded: what expired once stays expired."""
        now = self._clock.now()
        for record in self._records.values():
            if not record.marks.is_expired and record.standing(now).status is Status.EXPIRED:
                record.marks = record.marks._replace(is_expired=True)
                self._tell(ChangeKind.EXPIRED, record.message.expires, record.message.id)
        return now

    def _posted_as(self, draft: Draft) -> Message | None:
        mine = (draft.client_id, draft.sender.name)
        messages = (record.message for record in self._records.values())
        return next((message for message in messages if (message.client_id, message.sender.name) == mine), None)

    def _check_room(self, sender: Sender, size: int, now: datetime) -> None:
        pending = [record.message for record in self._records.values() if record.standing(now).is_pending]
        check_room(
            self._limits,
            size,
            address=self._address,
            held=_weigh(pending),
            sender=sender.name,
            of_sender=_weigh([message for message in pending if message.sender.name == sender.name]),
        )

    def _record(self, message_id: str) -> _Record:
        if message_id not in self._records:
            raise NoSuchMessage(f"no message {message_id!r} in {self._address}")
        return self._records[message_id]

    def _place(self, cursor: str) -> int:
        place, at, address = cursor.partition("@")
        if not cursor:
            return 0
        if not (at and address == self._address and place.isascii() and place.isdigit()) or int(place) > len(self._log):
            raise UsageError(f"{cursor!r} is not a cursor of {self._address}", remedy="begin with an empty cursor")
        return int(place)

    def _tell(
        self,
        kind: ChangeKind,
        at: datetime | None,
        message_id: str,
        *,
        message: Message | None = None,
        receipt: Receipt | None = None,
        reply: Reply | None = None,
    ) -> None:
        self._log.append(Change(kind, at, message_id, message, receipt, reply))


def _weigh(messages: list[Message]) -> tuple[int, int]:
    """Return how many messages there are, and the bytes of their bodies."""
    return len(messages), sum(len(message.body.encode()) for message in messages)
