"""An inbox as it lies there now, and what it means for the book: what arrived, was taken, vanished or expired."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from restante.domain.errors import NothingThere, RestanteError
from restante.domain.ids import compose
from restante.domain.mailbox import Fault
from restante.domain.message import Message, Priority, Scope, Sender
from restante.domain.receipt import Decision, Receipt
from restante.domain.text import iso
from restante.stores.oacp.book import Case, receipt_line
from restante.stores.oacp.delivering import SENDING
from restante.stores.oacp.index import pending, stamp_of
from restante.stores.oacp.layout import AGENTS, ARCHIVE, INBOX, OURS, PROJECTS, STATE
from restante.stores.oacp.reading import MOST_BYTES, NotYaml, read_fields
from restante.stores.oacp.validating import validate

if TYPE_CHECKING:
    import os

    from restante.stores.oacp.book import Book, Line
    from restante.stores.oacp.directory import Directory
    from restante.stores.oacp.index import Examine
    from restante.stores.oacp.layout import Tree

_WITHDRAWN = "withdrawn"
PRIORITIES = {"P0": Priority.HIGH, "P1": Priority.HIGH, "P2": Priority.NORMAL, "P3": Priority.LOW}
TAKEN = "archived by another program"


class Library:
    """What was read of message files; each file is read once in each of its states.

    Args:
        address: The mailbox's address.
        examine: A look at the bytes before anything else reads them; ``verified`` is the word for a proven sender.
    """

    def __init__(self, address: str, examine: Examine | None) -> None:
        self._address = address
        self._examine = examine
        self._messages: dict[str, tuple[str, Message | str]] = {}
        self._arrivals: dict[str, tuple[str, Line | str]] = {}

    def message(self, case: Case, directory: Directory, status: os.stat_result) -> Message | str | None:
        """Return a message with its text, or why it has none; ``None`` where its file is not there any more."""
        stamp = stamp_of(status)
        known = self._messages.get(case.head.id)
        if known is None or known[0] != stamp:
            loaded = self._load(case, directory)
            if loaded is None:
                return None
            known = self._messages[case.head.id] = (stamp, loaded)
        return known[1]

    def arrival(self, name: str, directory: Directory, status: os.stat_result) -> Line | str | None:
        """Return what the book will say of a file that it does not know, or why it is no message; ``None`` as above."""
        stamp = stamp_of(status)
        known = self._arrivals.get(name)
        if known is None or known[0] != stamp:
            arrived = self._arrive(name, directory)
            if arrived is None:
                return None
            known = self._arrivals[name] = (stamp, arrived)
        return known[1]

    def keep(self, names: set[str]) -> None:
        """Forget files that are not there any more."""
        for name in self._arrivals.keys() - names:
            del self._arrivals[name]

    def _load(self, case: Case, directory: Directory) -> Message | str | None:
        read = _bytes(directory, case.file)
        if read is None or isinstance(read, str):
            return read
        if hashlib.sha256(read).hexdigest() != case.sha256:
            return "its bytes changed since it arrived"
        word, is_shown = self._examine.judge(read) if self._examine else ("", True)
        if not is_shown:
            return f"held: {word}"
        return message_of(case, read_fields(read), verified=word == "verified")

    def _arrive(self, name: str, directory: Directory) -> Line | str | None:
        raw = _bytes(directory, name)
        if raw is None or isinstance(raw, str):
            return raw
        if self._examine and not (judged := self._examine.judge(raw))[1]:
            return f"held: {judged[0]}"
        try:
            fields = read_fields(raw)
        except NotYaml as error:
            return error.message
        problems = validate(fields, raw)
        return problems[0] if problems else arrival_line(name, raw, fields)


def _bytes(directory: Directory, name: str) -> bytes | str | None:
    try:
        read = directory.read(name, MOST_BYTES + 1)
    except RestanteError as error:
        return error.message
    return None if read is None else read[0]


def arrival_line(name: str, raw: bytes, fields: dict[str, object]) -> Line:
    """Return what the book says of a valid message; its number and time are still to be given."""
    expires = fields.get("expires_at")
    return {
        "kind": "posted",
        "id": fields["id"],
        "file": name,
        "sha256": hashlib.sha256(raw).hexdigest(),
        "bytes": len(str(fields["body"]).encode()),
        "created": fields["created_at_utc"],
        "expires": expires or None,
        "from": fields["from"],
    }


def message_of(case: Case, fields: dict[str, object], *, verified: bool) -> Message:
    """Return a message: what the file says, and what we know beside it."""
    text = {name: value for name, value in fields.items() if isinstance(value, str)}
    own = case.own
    return case.head._replace(
        body=text.get("body", ""),
        sender=Sender(case.head.sender.name, verified=verified),
        priority=PRIORITIES.get(text.get("priority", ""), Priority.NORMAL),
        scope=Scope(own.get("scope", Scope.CURRENT_TASK)),
        subject=own.get("subject", text.get("subject", "")),
        type=own.get("type", text.get("type", "")),
        conversation=text.get("conversation_id", "") if own.get("threaded", True) else "",
        parent=text.get("parent_message_id", ""),
    )


class Room:
    """The directories of one mailbox, open for one use; ``scan`` before anything else. A context.

    Args:
        tree: The tree.
        project: The project.
        agent: The agent.
        library: What was read before.
    """

    def __init__(self, tree: Tree, project: str, agent: str, library: Library) -> None:
        self._tree = tree
        self._project = project
        self._agent = agent
        self._library = library
        self._stack = ExitStack()
        self._others: dict[str, Directory | None] = {}

    def __enter__(self) -> Self:
        self.inbox = self._stack.enter_context(self._tree.open_agent(self._project, self._agent, INBOX))
        self.files: dict[str, os.stat_result] = {}
        self.moved: list[tuple[str, os.stat_result]] = []
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def scan(self) -> None:
        """See what is in the inbox now."""
        found = self.inbox.messages()
        self.files = dict(pending(self.inbox, found))
        self.moved = [one for one in found if one[0] not in self.files]
        self._library.keep(set(self.files))
        self._others = {key: directory for key, directory in self._others.items() if directory}

    def news(self, book: Book, now: datetime, expired: set[str]) -> tuple[list[Line], list[Fault]]:
        """Return the lines that the book lacks, and the faults of files that are no messages.

        Args:
            book: The book.
            now: The time.
            expired: Ids of messages that were found expired before, whatever the clock says now.
        """
        lines, faults = self._arrivals(book, now)
        gone: list[str] = []
        late: list[Case] = []
        for one, case in book.cases.items():
            if not case.is_open():
                continue
            if case.file not in self.files:
                # In the order of its way, so that a file that is on it meanwhile is met: sending, inbox, archive.
                if self._is_underway(case.file) or self.inbox.status(case.file):
                    continue
                if taken := self._taken(case):
                    lines.append(taken)
                else:
                    gone.append(one)
            elif case.head.expires and (one in expired or case.head.expires <= now):
                late.append(case)
        late += [case for case in _cases(book, lines) if case.head.expires and case.head.expires <= now]
        if gone:
            lines.append({"kind": "gone", "at": iso(now), "ids": gone})
        if late:
            when = [iso(case.head.expires) for case in late if case.head.expires]
            lines.append({"kind": "expired", "at": iso(now), "ids": [case.head.id for case in late], "when": when})
        return lines, faults

    def message(self, case: Case) -> Message | str:
        """Return a message with its text, wherever its file is, or why it has none."""
        status = self.files.get(case.file)
        found = None if status is None else self._library.message(case, self.inbox, status)
        if found is not None:
            return found
        # What is promised to be delivered is delivered by the next writer, and can be read already. In the order of a
        # file's way, so that one that is on it meanwhile is met.
        for directory in (self._sending, self.inbox, self._archive, self._withdrawn):
            if directory is not None and (status := directory.status(case.file)) is not None:
                found = self._library.message(case, directory, status)
                if found is not None:
                    return found
        return "its file is gone"

    def make_withdrawn(self) -> Directory:
        """Open the directory of messages that were taken back; raises as ``Directory.make``."""
        with self._tree.open(PROJECTS, self._project, STATE, OURS, self._agent) as ours:
            return ours.make(_WITHDRAWN)

    @property
    def _archive(self) -> Directory | None:
        return self._other(ARCHIVE, PROJECTS, self._project, AGENTS, self._agent, INBOX, ARCHIVE)

    @property
    def _withdrawn(self) -> Directory | None:
        return self._other(_WITHDRAWN, PROJECTS, self._project, STATE, OURS, self._agent, _WITHDRAWN)

    @property
    def _sending(self) -> Directory | None:
        return self._other(SENDING, PROJECTS, self._project, STATE, OURS, self._agent, SENDING)

    def _other(self, key: str, *place: str) -> Directory | None:
        if key not in self._others:
            self._others[key] = None
            with suppress(NothingThere):
                self._others[key] = self._stack.enter_context(self._tree.open(*place))
        return self._others[key]

    def _arrivals(self, book: Book, now: datetime) -> tuple[list[Line], list[Fault]]:
        lines: list[Line] = []
        faults: list[Fault] = []
        seen = set(book.cases)
        unknown = [(status.st_mtime_ns, name, status) for name, status in self.files.items() if name not in book.files]
        for _, name, status in sorted(unknown, key=lambda one: one[:2]):
            found = self._library.arrival(name, self.inbox, status)
            if isinstance(found, dict) and found["id"] in seen:
                found = f"another file of this mailbox is message {found['id']} already"
            if found is None:
                continue
            if isinstance(found, str):
                faults.append(Fault(name, 0, found))
                continue
            seen.add(found["id"])
            lines.append({**found, "number": book.number + len(lines) + 1, "at": iso(now)})
        return lines, faults

    def _taken(self, case: Case) -> Line | None:
        """Return the word of a program that archived a message without telling us."""
        status = self._archive.status(case.file) if self._archive else None
        if status is None:
            return None
        at = datetime.fromtimestamp(status.st_ctime_ns // 1_000_000 / 1000, UTC)
        token = int.from_bytes(hashlib.sha256(case.head.id.encode()).digest()[:10], "big")
        receipt = Receipt(compose("receipt", at, token), case.head.id, at, Decision.ACCEPTED, summary=TAKEN)
        return {"kind": "receipts", "at": iso(at), "receipts": [receipt_line(receipt)]}

    def _is_underway(self, name: str) -> bool:
        return self._sending is not None and self._sending.status(name) is not None


def _cases(book: Book, lines: list[Line]) -> list[Case]:
    return [Case(line, book.address) for line in lines if line["kind"] == "posted"]
