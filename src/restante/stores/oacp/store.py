"""The mailbox of an agent in an OACP tree.

The tree holds the messages, in the format's own files; the book beside it holds what the format has no place for. What
other programs did to the tree is found by looking: whoever only looks works with what was found, and whoever writes
keeps it first.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from restante.domain.errors import Conflict, MailboxDeleted, NoSuchMessage
from restante.domain.lifecycle import Event, Status, step
from restante.domain.limits import Limits, check_head, check_room, check_text
from restante.domain.mailbox import Archived, Counts, Entry, Fault, Mark, Posted
from restante.domain.message import Reply, Sender
from restante.domain.receipt import Receipt
from restante.domain.text import iso
from restante.stores.oacp.archive import end_moves
from restante.stores.oacp.book import apply, receipt_line
from restante.stores.oacp.bookfile import BookFile
from restante.stores.oacp.delivering import deliver, mend
from restante.stores.oacp.drafting import letter_of, line_of
from restante.stores.oacp.following import Teller, parse_cursor
from restante.stores.oacp.layout import ARCHIVE, INBOX, PROJECTS
from restante.stores.oacp.posting import prepare
from restante.stores.oacp.room import Library, Room, message_of
from restante.stores.oacp.settling import move_out, obstacle_of, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from restante.domain.lifecycle import Standing
    from restante.domain.mailbox import Acknowledgement, Changes
    from restante.domain.message import Draft, Message
    from restante.ports import Clock, Ids
    from restante.stores.oacp.book import Book, Case, Line
    from restante.stores.oacp.index import Examine
    from restante.stores.oacp.layout import Tree
    from restante.stores.oacp.posting import Letter

# So often a look begins anew because others wrote meanwhile; then it keeps them waiting for once.
_MOST_SURVEYS = 8
# A cursor names what is not in the book yet; more than so much is put into the book instead.
_MOST_NAMED = 100
_NO_LIMITS = Limits()


class OacpMailbox:
    """A ``ports.Mailbox`` and ``ports.Archive`` in an OACP tree.

    What the format cannot hold is ``Refused`` before anything is written: an empty body, one of more than 20,000
    characters, a subject of more than 200, a sender that is no agent of the project (but ``human``), a type that is
    neither *guidance* nor one of the twelve, a conversation that is none of the format's. A message's conversation is
    the format's: that of its parent, or a fresh one.

    Args:
        tree: The tree.
        project: The project.
        agent: Whose mailbox.
        clock: Where time comes from.
        ids: Where the ids of receipts and replies come from.
        limits: What it takes.
        sign: Returns a message's bytes with a signature behind them.
        examine: A look at a message's bytes before anything else reads them.
    """

    def __init__(
        self,
        tree: Tree,
        project: str,
        agent: str,
        *,
        clock: Clock,
        ids: Ids,
        limits: Limits = _NO_LIMITS,
        sign: Callable[[bytes], bytes] | None = None,
        examine: Examine | None = None,
    ) -> None:
        tree.open_agent(project, agent, INBOX).close()
        self._tree = tree
        self._project = project
        self._agent = agent
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._sign = sign
        self._address = f"oacp:{project}/{agent}"
        self._file = BookFile(tree, project, agent, self._address)
        self._library = Library(self._address, examine)
        # What this object found expired stays so, however the clock is set.
        self._expired: set[str] = set()

    @property
    def address(self) -> str:
        """The address as text."""
        return self._address

    def post(self, draft: Draft) -> Posted:
        """Store a message; see ``ports.Mailbox.post``."""
        size = check_text(draft.body, self._limits)
        check_head(draft, self._limits)
        with self._writing() as (room, book, now):
            if draft.client_id and (earlier := self._posted_as(room, draft)):
                if earlier.body != draft.body:
                    raise Conflict(
                        f"client id {draft.client_id!r} was used for another text ({earlier.id})",
                        remedy="use a new client id for a new text",
                    )
                return Posted(earlier, duplicate=True)
            letter = self._letter(room, draft)
            self._check_room(book, draft.sender.name, size, now)
            prepared = prepare(self._tree, self._project, letter, now=now, sign=self._sign)
            line = line_of(draft, prepared, self._file.book.number + 1, now)
            noted: list[Line] = []

            def note() -> None:
                self._file.append([line])
                noted.append(line)

            try:
                deliver(self._tree, prepared, commit=note, mailbox=self._agent)
            except BaseException:
                if noted:
                    self._file.append([{"kind": "undone", "at": iso(now), "id": line["id"]}])
                raise
            return Posted(message_of(self._file.book.cases[line["id"]], dict(prepared.fields), verified=False))

    def entries(self, *, pending_only: bool = False, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return messages with their standing; see ``ports.Mailbox.entries``."""
        found: list[Entry] = []
        with self._looking() as (room, cases, now, _):
            for case in cases.values():
                if limit is not None and len(found) >= limit:
                    break
                if case.head.number <= after or case.is_archived or case.is_gone:
                    continue
                standing = case.standing(now)
                if standing.is_pending or not pending_only:
                    message = room.message(case)
                    if not isinstance(message, str):
                        found.append(Entry(message, standing))
        return found

    def entry(self, message_id: str) -> Entry:
        """Return one message with its standing; see ``ports.Mailbox.entry``."""
        with self._looking() as (room, cases, now, _):
            case = cases.get(message_id) or self._file.whole().cases.get(message_id)
            if case is None:
                raise NoSuchMessage(f"no message {message_id!r} in {self._address}")
            if case.is_archived or message_id not in self._file.book.cases:
                case = self._file.whole().cases.get(message_id, case)
            message = room.message(case)
            if isinstance(message, str):
                raise MailboxDeleted(f"message {message_id} in {self._address} cannot be read: {message}")
            return Entry(message, case.standing(now))

    def ids(self) -> list[str]:
        """Return the ids of all messages, archived ones too."""
        with self._looking() as (_, cases, _, _):
            return list({**self._file.whole().cases, **cases})

    def mark(self, message_ids: Sequence[str], mark: Mark, reader: str) -> None:
        """Record that messages were noticed or seen; see ``ports.Mailbox.mark``."""
        if not message_ids:
            return
        with self._writing() as (_, book, now):
            cases = {**self._file.whole().cases, **book.cases} if book.shelved else book.cases
            new = [
                one
                for one in dict.fromkeys(message_ids)
                if one in cases
                and (cases[one].marks.noticed_at if mark is Mark.NOTICED else cases[one].marks.seen_at) is None
            ]
            if new:
                line = {"kind": mark.value, "at": iso(now), "ids": new, "by": reader}
                self._file.append([line], durable=mark is Mark.SEEN)

    def acknowledge(self, words: Sequence[Acknowledgement], reader: str) -> list[Receipt]:
        """Store the addressee's word, all or none; see ``ports.Mailbox.acknowledge``."""
        for text in (text for word in words for text in (word.summary, word.notes)):
            check_text(text, self._limits, what="receipt")
        if not words:
            return []
        with self._writing() as (room, _, now):
            cases = {word.message_id: self._case(word.message_id) for word in words}
            for word in words:
                status = cases[word.message_id].standing(now).status
                step(status, Event.ACKNOWLEDGE, message_id=word.message_id)
            newest = {one: case.receipts[-1] if case.receipts else None for one, case in cases.items()}
            given: list[Receipt] = []
            new: list[Receipt] = []
            for word in words:
                receipt = self._receipt(word, newest[word.message_id], reader, now)
                if receipt is not newest[word.message_id]:
                    new.append(receipt)
                newest[word.message_id] = receipt
                given.append(receipt)
            if new:
                self._file.append(
                    [{"kind": "receipts", "at": iso(now), "receipts": [receipt_line(one) for one in new]}]
                )
            for one in cases:
                settle(room, self._case(one), now)
            return given

    def reply(self, to: str, body: str, reader: str) -> Reply:
        """Store the addressee's words; see ``ports.Mailbox.reply``."""
        check_text(body, self._limits, what="reply")
        with self._writing() as (_, _, now):
            if to:
                self._case(to)
            reply = Reply(self._ids.new("reply", now), to, now, body, Sender(reader or "agent"))
            line = {"kind": "reply", "at": iso(now), "id": reply.id, "to": to, "by": reply.sender.name, "body": body}
            self._file.append([line])
            return reply

    def withdraw(self, message_id: str) -> Standing:
        """Take a message back; see ``ports.Mailbox.withdraw``."""
        with self._writing() as (room, _, now):
            case = self._case(message_id)
            step(case.standing(now).status, Event.WITHDRAW, message_id=message_id)
            if not case.marks.is_withdrawn:
                self._file.append([{"kind": "withdrawn", "at": iso(now), "ids": [message_id]}])
                settle(room, self._case(message_id), now)
            return self._case(message_id).standing(now)

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return the receipts of one message, in the order they were given."""
        with self._looking() as (_, cases, _, _):
            case = self._file.whole().cases.get(message_id) if self._file.book.shelved else None
            case = case if case and message_id not in self._file.book.cases else cases.get(message_id)
            return list(case.receipts) if case else []

    def replies(self, message_id: str | None = None) -> list[Reply]:
        """Return replies in the order they were given; with an id, only those to that message."""
        self._file.look()
        return [reply for reply in self._file.whole().replies if message_id is None or reply.to == message_id]

    def counts(self) -> Counts:
        """Return the numbers, as of now."""
        with self._looking() as (_, cases, now, _):
            held = [case for case in cases.values() if not (case.is_archived or case.is_gone)]
            standings = [case.standing(now) for case in held]
            unseen = [case.head for case, one in zip(held, standings, strict=True) if one.status is Status.UNSEEN]
            return Counts(
                total=len(held),
                unseen=len(unseen),
                pending=sum(one.is_pending for one in standings),
                # Every message was once the newest unseen one, and the mark never falls.
                high_water=max([self._file.book.number, *(case.head.number for case in held)]),
                oldest_unseen=min((head.created for head in unseen), default=None),
                archived=self._file.book.archived,
            )

    def changes_since(self, cursor: str, limit: int = 1000) -> Changes:
        """Return what happened since a cursor; see ``ports.Mailbox.changes_since``.

        What was found by looking is told before it is in the book; the cursor names it, so that it is told once. More
        than a hundred such things are put into the book first.
        """
        with self._looking(most_news=_MOST_NAMED) as (room, cases, _, news):
            book = self._file.book
            place = parse_cursor(book, cursor)
            if place.number < book.shelved:
                # What is on the shelf is read only for who asks for what happened before it went there.
                book = self._file.whole()
            return Teller(self._file.book, news, room, {**book.cases, **cases}).page(place, limit, book)

    def tip(self) -> str:
        """Return the cursor after which only what happens from now on is told."""
        with self._looking(most_news=_MOST_NAMED) as (room, cases, _, news):
            return Teller(self._file.book, news, room, cases).tip()

    def faults(self) -> list[Fault]:
        """Return what could not be read, and what an answer could not move to the archive."""
        with self._looking() as (room, cases, now, _):
            _, faults = room.news(self._file.book, now, self._expired)
            for case in cases.values():
                if case.is_archived or case.is_gone:
                    continue
                message = room.message(case)
                if isinstance(message, str):
                    faults.append(Fault(case.file, 0, message))
                elif reason := obstacle_of(room, case, now):
                    faults.append(Fault(case.file, 0, f"it was answered, and stays in the inbox: {reason}"))
            return [*self._file.faults, *faults]

    def archive(self) -> Archived:
        """Move what is no longer pending aside; see ``ports.Archive.archive``.

        The files of expired messages go to the inbox's archive too; one that cannot be moved stays, with its record.
        """
        with self._writing() as (room, book, now):
            held = [case for case in book.cases.values() if not case.is_archived]
            done = [case for case in held if case.is_gone or not case.standing(now).is_pending]
            moved = [case for case in done if move_out(room, case)]
            self._file.shelve([case.head.id for case in moved], iso(now))
            into = self._tree.path(PROJECTS, self._project, "agents", self._agent, INBOX, ARCHIVE)
            return Archived(len(moved), len([case for case in held if not case.is_gone]) - len(moved), into)

    @contextmanager
    def _looking(self, most_news: int | None = None) -> Iterator[tuple[Room, dict[str, Case], datetime, list[Line]]]:
        """Open the mailbox for a look: what was found and is not in the book happens in a copy of its cases."""
        with Room(self._tree, self._project, self._agent, self._library) as room:
            news, now = self._survey(room)
            if most_news is not None and len(news) > most_news:
                with self._writing() as (_, _, now):
                    news = []
            cases = dict(self._file.book.cases)
            for line in news:
                apply(self._file.book, cases, line)
            self._remember(news)
            yield room, cases, now, news

    def _survey(self, room: Room) -> tuple[list[Line], datetime]:
        """Compare the tree with the book, both of one moment: writers change the book first, and then the tree."""
        for _ in range(_MOST_SURVEYS):
            before = self._file.look().last
            room.scan()
            now = self._clock.now()
            news, _ = room.news(self._file.book, now, self._expired)
            if not news or self._file.look().last == before:
                return news, now
        with self._file.locked():
            book = self._file.look()
            room.scan()
            now = self._clock.now()
            return room.news(book, now, self._expired)[0], now

    @contextmanager
    def _writing(self) -> Iterator[tuple[Room, Book, datetime]]:
        """Open the mailbox for a change, alone; what was found by looking is in the book before it happens."""
        self._file.make()
        with self._file.locked():
            book = self._file.look()
            mend(self._tree, self._project, self._agent, promised=book.files.__contains__)
            with Room(self._tree, self._project, self._agent, self._library) as room:
                room.scan()
                end_moves(room.inbox, room.moved)
                now = self._clock.now()
                news, _ = room.news(book, now, self._expired)
                self._file.append(news)
                self._remember(news)
                for case in [one for one in book.cases.values() if one.file in room.files and not one.is_open()]:
                    settle(room, case, now)
                yield room, self._file.book, now

    def _remember(self, news: list[Line]) -> None:
        for line in news:
            if line["kind"] == "expired":
                self._expired.update(line["ids"])

    def _case(self, message_id: str) -> Case:
        book = self._file.book
        case = book.cases.get(message_id)
        if (case is None or case.is_archived) and book.shelved:
            case = self._file.whole().cases.get(message_id)
        if case is None or case.is_gone:
            raise NoSuchMessage(f"no message {message_id!r} in {self._address}")
        return case

    def _posted_as(self, room: Room, draft: Draft) -> Message | None:
        key = draft.client_id, draft.sender.name
        book = self._file.book
        if key not in book.clients and book.shelved:
            book = self._file.whole()
        if key not in book.clients:
            return None
        case = book.cases[book.clients[key]]
        message = room.message(case)
        # Its text was removed by another program: that it was posted still holds.
        return case.head._replace(body=draft.body) if isinstance(message, str) else message

    def _letter(self, room: Room, draft: Draft) -> Letter:
        conversation = draft.conversation
        if not conversation and draft.parent:
            conversation = self._conversation(room, draft.parent)
        return letter_of(draft, self._address, self._agent, conversation)

    def _conversation(self, room: Room, parent: str) -> str:
        try:
            message = room.message(self._case(parent))
        except NoSuchMessage:
            return ""
        return "" if isinstance(message, str) else message.conversation

    def _check_room(self, book: Book, sender: str, size: int, now: datetime) -> None:
        pending = [case for case in book.cases.values() if not case.is_gone and case.standing(now).is_pending]
        mine = [case.size for case in pending if case.head.sender.name == sender]
        check_room(
            self._limits,
            size,
            address=self._address,
            held=(len(pending), sum(case.size for case in pending)),
            sender=sender,
            of_sender=(len(mine), sum(mine)),
        )

    def _receipt(self, word: Acknowledgement, newest: Receipt | None, reader: str, now: datetime) -> Receipt:
        said = (word.decision, word.action, word.summary, word.notes)
        if newest and (newest.decision, newest.action, newest.summary, newest.notes) == said:
            return newest
        # Receipts are merged by time, so a clock that was set back must not make a later word the older one.
        at = max(now, newest.seen_at) if newest and newest.seen_at else now
        at = at.replace(microsecond=at.microsecond // 1000 * 1000)
        return Receipt(self._ids.new("receipt", at), word.message_id, at, *said, reader)
