"""What a mailbox answers: entries, numbers, changes; and what an addressee says."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from restante.domain.lifecycle import Standing
from restante.domain.message import Message, Reply
from restante.domain.receipt import Action, Decision, Receipt


class Entry(NamedTuple):
    """A message and what became of it."""

    message: Message
    standing: Standing


class Posted(NamedTuple):
    """The answer to a post.

    Attributes:
        message: As stored.
        duplicate: Whether it had been posted before under the same client id; nothing was stored again.
    """

    message: Message
    duplicate: bool = False


class Counts(NamedTuple):
    """Numbers of a mailbox, without a letter of its mail.

    Attributes:
        total: Messages the mailbox holds.
        unseen: Pending and never read.
        pending: Unseen and seen.
        high_water: Number of the newest unseen message; when none is unseen, of the newest message. Never falls.
        oldest_unseen: When the oldest unseen message was created.
        archived: Messages that were moved aside, on top of ``total``.
    """

    total: int = 0
    unseen: int = 0
    pending: int = 0
    high_water: int = 0
    oldest_unseen: datetime | None = None
    archived: int = 0


class Mark(StrEnum):
    """What may be recorded of a message beside its receipts."""

    NOTICED = "noticed"
    SEEN = "seen"


class Acknowledgement(NamedTuple):
    """What an addressee wants to say of one message; becomes a ``Receipt``."""

    message_id: str
    decision: Decision | None = None
    action: Action | None = None
    summary: str = ""
    notes: str = ""


class ChangeKind(StrEnum):
    """What can be told of a mailbox."""

    POSTED = "posted"
    NOTICED = "noticed"
    SEEN = "seen"
    RECEIPT = "receipt"
    REPLY = "reply"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class Change(NamedTuple):
    """One thing that happened in a mailbox.

    Attributes:
        kind: What happened.
        at: When (UTC); ``None`` where a hand-written record does not say.
        message_id: Which message; empty for a reply to none.
        message: For ``POSTED``.
        receipt: For ``RECEIPT``.
        reply: For ``REPLY``.
    """

    kind: ChangeKind
    at: datetime | None
    message_id: str
    message: Message | None = None
    receipt: Receipt | None = None
    reply: Reply | None = None


class Changes(NamedTuple):
    """Changes since a cursor, and the cursor to ask with next. Every answer carries one, an empty answer too."""

    changes: tuple[Change, ...]
    cursor: str


class Fault(NamedTuple):
    """Something in a mailbox that could not be read for what it is; it was left as it is.

    Attributes:
        source: Name of the file or record.
        line: Line it begins at, from 1; 0 where lines mean nothing.
        reason: What is wrong with it, in a few words.
    """

    source: str
    line: int
    reason: str


class Archived(NamedTuple):
    """What archiving moved."""

    moved: int
    kept: int
    into: str
