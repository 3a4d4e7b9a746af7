"""What we remember of a mailbox beside its tree: numbers, times, marks, receipts, replies, withdrawals, client ids.

``projects/<project>/state/restante/<agent>/book`` is text: a head, and then one JSON object in each line, only ever
added to, until archiving moves the lines of ended messages into ``shelf``. Every line has a number that grows by the
changes in it, so that both files together, in any order and with lines twice, give one history.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from restante.domain.lifecycle import Marks, standing_of
from restante.domain.mailbox import Change, ChangeKind
from restante.domain.message import Message, Reply, Sender
from restante.domain.receipt import Action, Decision, MergedReceipts, Receipt, merge_receipts
from restante.domain.text import iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from restante.domain.lifecycle import Standing

    Line = dict[str, Any]

HEAD = "restante book 1"
_NO_RECEIPTS = MergedReceipts()
_MARKS = {"noticed": ChangeKind.NOTICED, "seen": ChangeKind.SEEN}
_ENDINGS = {"withdrawn": ChangeKind.WITHDRAWN, "expired": ChangeKind.EXPIRED}


class Case:
    """A message's record: everything but its text.

    Attributes:
        head: The message, with an empty body.
        file: Its file's name.
        sha256: The digest of its file.
        size: Bytes of its body.
        marks: What was recorded beside the receipts.
        receipts: In the order they were given.
        is_gone: Whether its file was removed by another program.
        is_archived: Whether it was moved to the shelf.
    """

    __slots__ = ("file", "head", "is_archived", "is_gone", "marks", "merged", "own", "receipts", "sha256", "size")

    def __init__(self, line: Line, address: str) -> None:
        own = line.get("own") or {}
        self.own: Line = own
        self.file: str = line["file"]
        self.sha256: str = line["sha256"]
        self.size: int = line["bytes"]
        self.head = Message(
            id=line["id"],
            number=line["number"],
            mailbox=address,
            created=time_of(line["created"]),
            body="",
            sender=Sender(line["from"]),
            expires=time_of(line["expires"]) if line.get("expires") else None,
            client_id=own.get("client", ""),
        )
        self.marks = Marks()
        self.receipts: list[Receipt] = []
        self.merged = _NO_RECEIPTS
        self.is_gone = False
        self.is_archived = False

    def copy(self) -> Case:
        """Return a case that can be changed alone."""
        twin = Case.__new__(Case)
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.receipts = [*self.receipts]
        return twin

    def standing(self, now: datetime) -> Standing:
        """Return what became of the message."""
        return standing_of(self.head, self.marks, self.merged, now)

    def is_open(self) -> bool:
        """Whether nothing has ended it yet, but perhaps the time."""
        return not (self.is_gone or self.marks.is_withdrawn or self.marks.is_expired or self.merged.is_acknowledged)


class Book:
    """The history, as far as it was read.

    Attributes:
        cases: By id, in order of number.
        files: Ids by file name.
        clients: Ids by client id and sender.
        lines: In order.
        replies: In order.
        last: Number of the last change.
        number: Number of the last message.
    """

    def __init__(self, address: str, head: Line | None = None) -> None:
        head = head or {}
        self.address = address
        self.tag: str = head.get("tag", "")
        self.shelved: int = head.get("shelved", 0)
        self.archived: int = head.get("archived", 0)
        self.last: int = head.get("last", 0)
        self.number: int = head.get("number", 0)
        self.cases: dict[str, Case] = {}
        self.files: dict[str, str] = {}
        self.clients: dict[tuple[str, str], str] = {}
        self.lines: list[Line] = []
        self.replies: list[Reply] = []

    def add(self, line: Line) -> None:
        """Take in a line; one that was taken in before is passed over.

        Raises:
            KeyError, TypeError, ValueError: It is none of ours.
        """
        number = int(line["n"])
        if self.lines and number <= self.lines[-1]["n"]:
            return
        apply(self, self.cases, line)
        self.lines.append(line)
        self.last = max(self.last, number + breadth(line) - 1)

    def changes(self, lines: Iterable[Line], messages: dict[str, Message]) -> Iterator[tuple[int, str, Change]]:
        """Yield each change of lines with its number and its name."""
        for line in lines:
            yield from ((line["n"] + place, name, one) for place, (name, one) in enumerate(told(line, messages)))


def apply(book: Book, cases: dict[str, Case], line: Line) -> None:
    """Let a line happen, in a book or in a copy of its cases.

    Raises:
        KeyError, TypeError, ValueError: It is none of ours.
    """
    kind = line["kind"]
    own = cases is book.cases
    if kind == "posted":
        case = Case(line, book.address)
        cases[case.head.id] = case
        if own:
            book.number = max(book.number, case.head.number)
            book.files[case.file] = case.head.id
            if case.head.client_id:
                book.clients[case.head.client_id, case.head.sender.name] = case.head.id
    elif kind == "reply":
        if own:
            book.replies.append(reply_of(line))
    elif kind == "receipts":
        for words in line["receipts"]:
            if changed := _case(cases, words["message"], own=own):
                changed.receipts.append(receipt_of(words))
                changed.merged = merge_receipts(changed.receipts)
    elif kind == "undone":
        _undo(book, cases, line["id"], own=own)
    else:
        for one in line["ids"]:
            if changed := _case(cases, one, own=own):
                _mark(changed, kind, time_of(line["at"]))


def _case(cases: dict[str, Case], message_id: str, *, own: bool) -> Case | None:
    case = cases.get(message_id)
    if case is not None and not own:
        case = cases[message_id] = case.copy()
    return case


def _undo(book: Book, cases: dict[str, Case], message_id: str, *, own: bool) -> None:
    case = cases.pop(message_id, None)
    if case and own:
        book.files.pop(case.file, None)
        book.clients.pop((case.head.client_id, case.head.sender.name), None)


def _mark(case: Case, kind: str, at: datetime) -> None:
    marks = case.marks
    if kind == "noticed":
        case.marks = marks._replace(noticed_at=marks.noticed_at or at)
    elif kind == "seen":
        case.marks = marks._replace(seen_at=marks.seen_at or at)
    elif kind == "withdrawn" and not marks.is_withdrawn:
        case.marks = marks._replace(is_withdrawn=True, withdrawn_at=at)
    elif kind == "expired":
        case.marks = marks._replace(is_expired=True)
    elif kind == "gone":
        case.is_gone = True
    elif kind == "archived":
        case.is_archived = True


def breadth(line: Line) -> int:
    """Return how many changes a line may tell, at least 1."""
    return max(1, len(line.get("receipts") or line.get("ids") or ()))


def about(line: Line) -> list[str]:
    """Return the ids of the messages that a line speaks of."""
    if line["kind"] == "receipts":
        return [words["message"] for words in line["receipts"]]
    if line["kind"] == "reply":
        return [line["to"]] if line["to"] else []
    return list(line["ids"]) if "ids" in line else [line["id"]]


def told(line: Line, messages: dict[str, Message]) -> Iterator[tuple[str, Change]]:
    """Yield the changes that a line tells, each with a name that stays; one of a message that is gone says nothing."""
    kind, at = line["kind"], time_of(line["at"])
    if kind == "posted":
        if line["id"] in messages:
            yield f"posted {line['id']}", Change(ChangeKind.POSTED, at, line["id"], messages[line["id"]])
    elif kind == "reply":
        reply = reply_of(line)
        yield f"reply {reply.id}", Change(ChangeKind.REPLY, at, reply.to, reply=reply)
    elif kind == "receipts":
        for words in line["receipts"]:
            receipt = receipt_of(words)
            change = Change(ChangeKind.RECEIPT, receipt.seen_at, receipt.message_id, receipt=receipt)
            yield f"receipt {receipt.id}", change
    elif kind in _MARKS:
        for one in line["ids"]:
            yield f"{kind} {one}", Change(_MARKS[kind], at, one)
    elif kind in _ENDINGS:
        for place, one in enumerate(line["ids"]):
            when = time_of(line["when"][place]) if "when" in line else at
            yield f"{kind} {one}", Change(_ENDINGS[kind], when, one)


def receipt_line(receipt: Receipt) -> Line:
    """Return a receipt as it is kept."""
    return {
        "id": receipt.id,
        "message": receipt.message_id,
        "at": iso(receipt.seen_at) if receipt.seen_at else None,
        "decision": receipt.decision,
        "action": receipt.action,
        "summary": receipt.summary,
        "notes": receipt.notes,
        "by": receipt.by,
    }


def receipt_of(words: Line) -> Receipt:
    """Return the receipt of a line; raises as ``apply``."""
    return Receipt(
        id=words["id"],
        message_id=words["message"],
        seen_at=time_of(words["at"]) if words["at"] else None,
        decision=Decision(words["decision"]) if words["decision"] else None,
        action=Action(words["action"]) if words["action"] else None,
        summary=words["summary"],
        notes=words["notes"],
        by=words["by"],
    )


def reply_of(line: Line) -> Reply:
    """Return the reply of a line; raises as ``apply``."""
    return Reply(line["id"], line["to"], time_of(line["at"]), line["body"], Sender(line["by"]))


def time_of(text: str) -> datetime:
    """Return an instant.

    Raises:
        ValueError, TypeError: It is none.
    """
    return datetime.fromisoformat(text).astimezone(UTC)


def dump(line: Line) -> bytes:
    """Return a line as bytes, with its end."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
