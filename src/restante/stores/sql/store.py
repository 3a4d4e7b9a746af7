"""The mailbox contract in SQL. It knows named statements and transactions, and no database program."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from restante.domain.errors import BadAddress, Conflict, MailboxDeleted, NoSuchMessage
from restante.domain.lifecycle import Event, step
from restante.domain.limits import Limits, check_head, check_room, check_text
from restante.domain.mailbox import ChangeKind, Counts, Entry, Fault, Mark, Posted
from restante.domain.message import Message, Reply, Sender
from restante.domain.receipt import Receipt
from restante.stores.sql import following
from restante.stores.sql.ledger import MOST, count, key_of, look, mail_counter, open_ledger
from restante.stores.sql.rows import ACKNOWLEDGED, WITHDRAWN, Letter, read_receipt, read_reply, readable, to_ms, to_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from restante.domain.lifecycle import Standing
    from restante.domain.mailbox import Acknowledgement, Changes
    from restante.domain.message import Draft
    from restante.ports import Clock, Ids
    from restante.stores.sql.ledger import Known, Ledger, Sight
    from restante.stores.sql.rows import Row
    from restante.stores.sql.transaction import Database, Transaction

NO_LIMITS = Limits()


class SqlMailbox:
    """A ``ports.Mailbox`` in a database. May be shared between threads if its database may.

    Args:
        database: Where it is kept.
        address: Its name there.
        clock: Where time comes from.
        ids: Where ids come from.
        limits: What it takes.
        owner: Whose it is; a mailbox of the same address that is somebody else's is none.

    Raises:
        BadAddress: The address is not text.
    """

    def __init__(
        self,
        database: Database,
        address: str,
        *,
        clock: Clock,
        ids: Ids,
        limits: Limits = NO_LIMITS,
        owner: str = "",
    ) -> None:
        if any("\ud800" <= letter <= "\udfff" for letter in address + owner):
            raise BadAddress(f"{address!r} is not text", remedy="use an address that is valid UTF-8")
        self._database = database
        self._address = address
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._owner = owner
        self._sight: Sight | None = None
        self._expired = 0

    @property
    def address(self) -> str:
        """The address as text."""
        return self._address

    def post(self, draft: Draft) -> Posted:
        """Store a message; see ``ports.Mailbox.post``."""
        size = check_text(draft.body, self._limits)
        check_head(draft, self._limits)
        # As in _writing, without a generator's cost: nothing else is asked for so often.
        with self._database.writing(create=True) as run:
            ledger = self._open(run, create=True)
            assert ledger is not None
            posted = self._post(ledger, draft, size)
            ledger.settle()
        self._noted(ledger)
        return posted

    def entries(self, *, pending_only: bool = False, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return messages with their standing; see ``ports.Mailbox.entries``."""
        most = MOST if limit is None else max(0, min(limit, MOST))
        with self._reading() as ledger:
            if ledger is None:
                return []
            sight, box = ledger.sight, ledger.box
            after = max(-1, min(after, MOST))
            if pending_only:
                rows = ledger.run.all(
                    "pending", box=box, after=after, most=most, now=sight.now, latest=sight.latest, known=sight.known
                )
            else:
                rows = ledger.run.all("messages", box=box, after=after, most=most)
            if not rows:
                return []
            receipts: dict[int, list[Receipt]] = {}
            which = "receipts_of_pending" if pending_only else "receipts_between"
            for row in ledger.run.all(which, box=box, low=rows[0][0], high=rows[-1][0]):
                receipts.setdefault(row[1], []).extend(readable([row], read_receipt))
        letters = readable(rows, partial(Letter, mailbox=self._address))
        return [one.entry(receipts.get(one.message.number, ()), sight.of(one.message.number)) for one in letters]

    def entry(self, message_id: str) -> Entry:
        """Return one message with its standing; see ``ports.Mailbox.entry``."""
        with self._reading() as ledger:
            if ledger is None:
                raise NoSuchMessage(f"no message {message_id!r} in {self._address}")
            if row := self._deleted(ledger, message_id):
                raise MailboxDeleted(
                    f"{message_id} was in {self._address}, which was deleted at {to_time(row[0]):%Y-%m-%d %H:%M} UTC",
                    remedy="send it again",
                )
            return ledger.entry(ledger.letter(message_id))

    def ids(self) -> list[str]:
        """Return the ids of all messages; see ``ports.Mailbox.ids``."""
        with self._reading() as ledger:
            return [row[0] for row in ledger.run.all("ids", box=ledger.box)] if ledger else []

    def mark(self, message_ids: Sequence[str], mark: Mark, reader: str) -> None:
        """Record that messages were noticed or seen; see ``ports.Mailbox.mark``."""
        check_text(reader, self._limits, what="reader")
        statement, kind = {
            Mark.NOTICED: ("mark_noticed", ChangeKind.NOTICED),
            Mark.SEEN: ("mark_seen", ChangeKind.SEEN),
        }[mark]
        with self._reading() as ledger:
            # Whoever looks again and again must not wait for the disk, nor fail where it is read-only.
            unmarked = [one for one in message_ids if ledger and _lacks(ledger.row(one), mark)]
        if not unmarked:
            return
        with self._writing() as ledger:
            if ledger is None:
                return
            at = to_ms(ledger.now)
            for message_id in unmarked:
                row = ledger.row(message_id)
                if row and ledger.run.do(statement, box=ledger.box, number=row[0], at_ms=at, reader=reader):
                    ledger.tell(kind, at, row[0], message_id)

    def acknowledge(self, words: Sequence[Acknowledgement], reader: str) -> list[Receipt]:
        """Store the addressee's word, all or none; see ``ports.Mailbox.acknowledge``."""
        for text in (reader, *(text for word in words for text in (word.summary, word.notes))):
            check_text(text, self._limits, what="receipt")
        if not words:
            return []
        with self._writing() as ledger:
            if ledger is None:
                raise NoSuchMessage(f"no message {words[0].message_id!r} in {self._address}")
            return [self._acknowledge(ledger, word, reader) for word in words]

    def reply(self, to: str, body: str, reader: str) -> Reply:
        """Store the addressee's words; see ``ports.Mailbox.reply``."""
        check_text(body, self._limits, what="reply")
        check_text(reader, self._limits, what="reader")
        with self._writing(create=not to) as ledger:
            if ledger is None:
                raise NoSuchMessage(f"no message {to!r} in {self._address}")
            number = ledger.letter(to).message.number if to else None
            now = to_ms(ledger.now)
            reply = Reply(self._ids.new("reply", ledger.now), to, to_time(now), body, Sender(reader or "agent"))
            ledger.run.do(
                "add_reply",
                box=ledger.box,
                change=ledger.tell(ChangeKind.REPLY, now, number, to),
                number=number,
                id=reply.id,
                message_id=to,
                created_ms=now,
                sender=reply.sender.name,
                body=body.encode(),
            )
        return reply

    def withdraw(self, message_id: str) -> Standing:
        """Take a message back; see ``ports.Mailbox.withdraw``."""
        with self._writing() as ledger:
            if ledger is None:
                raise NoSuchMessage(f"no message {message_id!r} in {self._address}")
            letter = ledger.letter(message_id)
            step(ledger.entry(letter).standing.status, Event.WITHDRAW, message_id=message_id)
            if letter.closed != WITHDRAWN:
                at = to_ms(ledger.now)
                ledger.close(letter.message.number, WITHDRAWN, withdrawn_ms=at)
                ledger.tell(ChangeKind.WITHDRAWN, at, letter.message.number, message_id)
            return ledger.entry(ledger.letter(message_id)).standing

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return the receipts of one message, in the order they were given."""
        with self._reading() as ledger:
            row = ledger.row(message_id) if ledger else None
            return ledger.receipts(row[0]) if ledger and row else []

    def replies(self, message_id: str | None = None) -> list[Reply]:
        """Return replies in the order they were given; with an id, only those to that message."""
        with self._reading() as ledger:
            if ledger is None:
                return []
            if message_id is None:
                return readable(ledger.run.all("replies", box=ledger.box), read_reply)
            if not message_id.isascii():
                return []
            return readable(ledger.run.all("replies_to", box=ledger.box, message_id=message_id), read_reply)

    def counts(self) -> Counts:
        """Return the numbers, as of now."""
        known: Known | None = self._database.recall(key_of(self._address, self._owner))
        if known is not None:
            # Most are asked for right after a post, by whom it was from.
            sight = look(self._sight, to_ms(self._clock.now()), known.row[2])
            if (counts := known.told(sight)) is not None:
                self._sight = sight
                return counts
        with self._reading() as ledger:
            return count(ledger) if ledger else Counts()

    def changes_since(self, cursor: str, limit: int = 1000) -> Changes:
        """Return what happened since a cursor; see ``ports.Mailbox.changes_since``."""
        place = following.parse_cursor(cursor, self._address)
        with self._reading() as ledger:
            if ledger is None:
                return following.nothing_yet(place, to_ms(self._clock.now()), self._address)
            return following.changes_since(ledger, place, limit)

    def tip(self) -> str:
        """Return the cursor after which only what happens from now on is told."""
        with self._reading() as ledger:
            return following.tip(ledger) if ledger else following.beginning(to_ms(self._clock.now()))

    def faults(self) -> list[Fault]:
        """Return what could not be read: rows that something else wrote or changed."""
        found: list[Fault] = []
        with self._reading() as ledger:
            if ledger is None:
                return found
            every = {"box": ledger.box, "low": 0, "high": MOST}
            for statement, source, read in (
                ("messages_between", "messages", partial(Letter, mailbox=self._address)),
                ("receipts_between", "receipts", read_receipt),
                ("replies_told", "replies", read_reply),
            ):
                for row in ledger.run.all(statement, **every):
                    try:
                        read(row)
                    except ValueError as error:
                        found.append(Fault(f"{source} {row[0]}", 0, str(error)))
        return found

    def delete(self) -> None:
        """Delete the mailbox with everything in it; deleting again changes nothing.

        The ids stay as a trace: ``entry`` raises ``MailboxDeleted`` for them. Numbers go on where they were.
        """
        with self._writing() as ledger:
            if ledger is None or not ledger.total:
                return
            ledger.run.do("keep_ids", box=ledger.box, now=to_ms(ledger.now))
            for what in ("shown", "changes", "receipts", "replies", "signals", "messages"):
                ledger.run.do(f"delete_{what}", box=ledger.box)
            ledger.total = 0

    @property
    def sight(self) -> Sight | None:
        """What is known of time here; ``None`` before the first look."""
        return self._sight

    @property
    def expired(self) -> int:
        """How many messages were found expired through this object."""
        return self._expired

    def remember(self, sight: Sight) -> None:
        """Take over what another look at this mailbox knew of time."""
        if self._sight is None or sight.latest >= self._sight.latest:
            self._sight = sight

    def sweep(self) -> None:
        """Record what has expired. Every writer does; this is for who does not want to wait for one."""
        with self._writing():
            pass

    @contextmanager
    def _reading(self) -> Iterator[Ledger | None]:
        with self._database.reading() as run:
            ledger = open_ledger(run, self._address, self._clock.now(), self._sight, owner=self._owner)
            yield ledger
        if ledger:
            self._sight = ledger.sight

    @contextmanager
    def _writing(self, *, create: bool = False) -> Iterator[Ledger | None]:
        with self._database.writing(create=create) as run:
            ledger = self._open(run, create=create)
            yield ledger
            if ledger:
                ledger.settle()
        if ledger:
            self._noted(ledger)

    def _open(self, run: Transaction | None, *, create: bool) -> Ledger | None:
        """Open the mailbox to write to it, with what expired closed."""
        if run:
            run.hold(mail_counter(self._owner))
        ledger = open_ledger(run, self._address, self._clock.now(), self._sight, owner=self._owner, create=create)
        if ledger:
            ledger.sweep()
        return ledger

    def _noted(self, ledger: Ledger) -> None:
        self._sight = ledger.sight
        self._expired += ledger.expired

    def _post(self, ledger: Ledger, draft: Draft, size: int) -> Posted:
        if draft.client_id and (earlier := self._posted_as(ledger, draft)):
            if earlier.body != draft.body:
                raise Conflict(
                    f"client id {draft.client_id!r} was used for another text ({earlier.id})",
                    remedy="use a new client id for a new text",
                )
            return Posted(earlier, duplicate=True)
        self._check_room(ledger, draft.sender.name, size)
        message = self._message(ledger, draft)
        ledger.run.be_sure()
        expires = None if message.expires is None else to_ms(message.expires)
        ledger.posted(message, size, expires)
        change = ledger.tell(ChangeKind.POSTED, ledger.sight.now, message.number, message.id)
        _add(ledger, message, size, change, expires)
        return Posted(message)

    def _deleted(self, ledger: Ledger, message_id: str) -> Row | None:
        # Every id is ASCII; what is not might be no text at all, which a database refuses.
        if not message_id.isascii():
            return None
        return ledger.run.one("was_deleted", box=ledger.box, id=message_id, owner=self._owner)

    def _posted_as(self, ledger: Ledger, draft: Draft) -> Message | None:
        name, sender = draft.client_id, draft.sender.name
        row = ledger.run.one("message_of_client", box=ledger.box, client_id=name, sender=sender)
        return ledger.letter(row[1]).message if row else None

    def _check_room(self, ledger: Ledger, sender: str, size: int) -> None:
        if self._limits.pending_messages is None and self._limits.pending_bytes is None:
            return
        held, share = ledger.held(sender)
        check_room(self._limits, size, address=self._address, held=held, sender=sender, of_sender=share)

    def _message(self, ledger: Ledger, draft: Draft) -> Message:
        return Message(
            id=self._ids.new("msg", ledger.now),
            number=ledger.number + 1,
            mailbox=self._address,
            created=to_time(ledger.sight.now),
            body=draft.body,
            sender=draft.sender,
            priority=draft.priority,
            scope=draft.scope,
            subject=draft.subject,
            type=draft.type,
            conversation=draft.conversation,
            parent=draft.parent,
            expires=None if draft.expires is None else to_time(to_ms(draft.expires)),
            client_id=draft.client_id,
        )

    def _acknowledge(self, ledger: Ledger, word: Acknowledgement, reader: str) -> Receipt:
        letter = ledger.letter(word.message_id)
        number = letter.message.number
        step(ledger.entry(letter).standing.status, Event.ACKNOWLEDGE, message_id=word.message_id)
        row = ledger.run.one("newest_receipt", box=ledger.box, number=number)
        newest = next(iter(readable([row], read_receipt)), None) if row else None
        said = (word.decision, word.action, word.summary, word.notes)
        if newest and (newest.decision, newest.action, newest.summary, newest.notes) == said:
            return newest
        # Receipts are merged by time, so a clock that was set back must not make a later word the older one.
        at = max(to_ms(ledger.now), row[4] if row else 0)
        receipt = Receipt(self._ids.new("receipt", to_time(at)), word.message_id, to_time(at), *said, by=reader)
        ledger.run.do(
            "add_receipt",
            box=ledger.box,
            change=ledger.tell(ChangeKind.RECEIPT, at, number, word.message_id),
            number=number,
            id=receipt.id,
            message_id=word.message_id,
            seen_ms=at,
            decision=word.decision and word.decision.value,
            action=word.action and word.action.value,
            summary=word.summary,
            notes=word.notes,
            reader=reader,
        )
        ledger.run.do("mark_heard", box=ledger.box, number=number)
        if not receipt.is_bare and letter.closed != ACKNOWLEDGED:
            ledger.close(number, ACKNOWLEDGED)
        return receipt


def _lacks(row: Row | None, mark: Mark) -> bool:
    return row is not None and row[5 if mark is Mark.NOTICED else 6] is None


def _add(ledger: Ledger, message: Message, size: int, change: int, expires_ms: int | None) -> None:
    ledger.run.later(
        "add_message",
        box=ledger.box,
        number=message.number,
        id=message.id,
        change=change,
        created_ms=ledger.sight.now,
        expires_ms=expires_ms,
        priority=message.priority.value,
        scope=message.scope.value,
        type=message.type,
        sender=message.sender.name,
        sender_verified=int(message.sender.verified),
        client_id=message.client_id or None,
        subject=message.subject,
        conversation=message.conversation,
        parent=message.parent,
        body_bytes=size,
        body=message.body.encode(),
        owner=ledger.owner,
    )
