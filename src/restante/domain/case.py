"""What an office answers: a message that was sent, one with all that was said of it, the mailbox as a whole."""

from typing import NamedTuple

from restante.domain.mailbox import Counts, Entry, Fault, Posted
from restante.domain.message import Reply
from restante.domain.receipt import Receipt
from restante.domain.repeat import Repeat


class Sent(NamedTuple):
    """The answer to ``Office.send``."""

    posted: Posted
    repeat: Repeat | None = None


class Case(NamedTuple):
    """All there is to know of one message."""

    entry: Entry
    receipts: tuple[Receipt, ...]
    replies: tuple[Reply, ...]


class Timeline(NamedTuple):
    """A part of a mailbox, the newest messages first.

    Attributes:
        cases: The messages.
        older: Number before which there are older ones; 0 for none.
        names: What the sessions are called that wrote them, by their addresses.
    """

    cases: tuple[Case, ...]
    older: int
    names: dict[str, str] = {}  # noqa: RUF012  never changed


class Snapshot(NamedTuple):
    """A mailbox as a whole."""

    address: str
    counts: Counts
    cases: tuple[Case, ...]
    unattached_replies: tuple[Reply, ...]
    repeats: tuple[Repeat, ...]
    faults: tuple[Fault, ...]
    cursor: str
