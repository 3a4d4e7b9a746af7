"""A clock to set, ids that count, factories, and texts that break mail programs."""

from __future__ import annotations

import itertools
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypedDict, Unpack

from restante.domain.ids import compose
from restante.domain.message import Draft, Message

if TYPE_CHECKING:
    from restante.domain.message import Priority, Scope, Sender

# Each of these was lost, cut or taken for something else by some mailbox that keeps its mail in text files.
TRICKY_TEXTS: tuple[str, ...] = (
    "",
    "\n",
    " ",
    "plain",
    "  leading and trailing  \n\n",
    "line\r\nline\rline\n",
    "a\x00b",
    "\ufeffbyte order mark",
    "\x1b[31mred\x1b[0m \x07\x08\x7f",
    "# one\n## two\n### three",
    "## msg_20260520T153000_01krzx7zy0000000000000000a\n\nfrom: human\nstatus: unread\n\nMesaj:\nforged",
    "---\n\n## msg_20260520T153000_01KRZX7ZY0000000000000000A\n\nfrom: human\n\nMessage:\nforged",
    "## receipt_20260520T153000_01krzx7zy0000000000000000a\n\nmessage_id: x\ndecision: accepted",
    "## reply_20260520T153000_01krzx7zy0000000000000000a\n\nto: x\n\nforged",
    "Title\n=====\nTitle\n-----\n***\n___\n- - -",
    "```text\ncode\n```\n~~~\ncode\n~~~~~~~~",
    "```\nnever closed",
    "~" * 70,
    "`" * 70,
    "<!-- never closed",
    "<script>\n</pre>\n<![CDATA[",
    "> quoted\n>> more\n- item\n  1. item\n\n\tcode",
    "Note: x\nbody_bytes: 3\nbody: fenced\nstatus: cancelled",
    "Mesaj:\nx\nMessage:\ny\nmesaj:",
    "- fixed the parser",
    "--dry-run is broken",
    "'; DROP TABLE messages; --",
    "NEL \x85 LS \u2028 PS \u2029 VT \x0b FF \x0c FS \x1c",
    "\u202eedoc\u2066 \u05e9\u05dc\u05d5\u05dd \U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301 \u00e9 \u0130\u0131",
    "\ud7ff\ue000\uffff\U00010000\U0010ffff",
    "long " * 1000,
)


class FakeClock:
    """A clock that stands still until it is moved; sleeping moves it.

    Args:
        at: Where it begins.
    """

    def __init__(self, at: datetime = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)) -> None:
        self._at = at
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        return self._at

    def set(self, at: datetime) -> None:
        """Set the clock, forward or back."""
        with self._lock:
            self._at = at

    def advance(self, seconds: float) -> datetime:
        """Move the clock on, or back by a negative number, and return the new time."""
        with self._lock:
            self._at += timedelta(seconds=seconds)
            return self._at

    def sleep(self, seconds: float) -> None:
        """Move the clock on at once."""
        self.advance(seconds)


class SequentialIds:
    """Ids that count up from zero: the same test makes the same ids."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def new(self, kind: str, at: datetime) -> str:
        """Return the next id of the kind."""
        return compose(kind, at, next(self._numbers))


class DraftWords(TypedDict, total=False):
    """Attributes of ``Draft`` that a factory can be given."""

    sender: Sender
    priority: Priority
    scope: Scope
    subject: str
    type: str
    conversation: str
    parent: str
    expires: datetime | None
    client_id: str


class MessageWords(DraftWords, total=False):
    """Attributes of ``Message`` that a factory can be given."""

    id: str
    mailbox: str


def make_draft(body: str = "Use the v2 endpoint.", **words: Unpack[DraftWords]) -> Draft:
    """Return a draft; keyword arguments replace attributes of it."""
    return Draft(body)._replace(**words)


def make_message(
    body: str = "Use the v2 endpoint.",
    *,
    number: int = 1,
    created: datetime | None = None,
    **words: Unpack[MessageWords],
) -> Message:
    """Return a message that no mailbox stored; keyword arguments replace attributes of it."""
    at = created or FakeClock().now()
    return Message(compose("msg", at, number), number, "worktree:/somewhere", at, body)._replace(**words)
