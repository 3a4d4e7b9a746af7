"""What can be told of sessions and their mail without a word of it: rows, reasons, states of what was sent."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from restante.domain.mailbox import Counts, Entry, Posted
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Presence, Session


class Reason(StrEnum):
    """Why a session that is in no turn deserves a look; the first that holds is told."""

    EXITED = "exited"
    BLOCKED = "blocked"
    WAITING_INBOX = "waiting-inbox"
    INBOX_UNREAD = "inbox-unread"
    INBOX_UNACKED = "inbox-unacked"
    OPEN_TODOS = "open-todos"
    DONE = "done"


class RoleMail(NamedTuple):
    """The numbers of a role's mailbox, beside those of the session that holds the role."""

    role: str
    counts: Counts


class Row(NamedTuple):
    """One session in a list.

    Attributes:
        session: The session.
        presence: What is proven of its process.
        counts: The numbers of its mailbox.
        is_parked: Whether it waits for mail itself.
        waits_for: Ids of the sessions that hold unacknowledged mail from it.
        is_counted: Whether the numbers are known; a server of another version may not tell them.
        roles: The mail of the roles that it holds, by their addresses.
    """

    session: Session
    presence: Presence
    counts: Counts = Counts()
    is_parked: bool = False
    waits_for: tuple[str, ...] = ()
    is_counted: bool = True
    roles: tuple[RoleMail, ...] = ()

    @property
    def role_unseen(self) -> int:
        """How much mail of its roles nobody has read."""
        return sum(one.counts.unseen for one in self.roles)

    @property
    def role_pending(self) -> int:
        """How much mail of its roles is not acknowledged."""
        return sum(one.counts.pending for one in self.roles)

    @property
    def oldest_unseen(self) -> datetime | None:
        """When the oldest was created that it has not read, its own or a role's; ``None`` for nothing."""
        every = (self.counts, *(one.counts for one in self.roles))
        return min((one.oldest_unseen for one in every if one.unseen and one.oldest_unseen), default=None)

    @property
    def is_idle(self) -> bool:
        """Whether it is in no turn, as far as its latch tells."""
        return self.session.latch.ended is not None

    @property
    def state(self) -> str:
        """What it is doing, in one word: ``gone``, ``detached``, ``blocked``, ``idle``, ``busy`` or ``new``."""
        if self.presence in (Presence.GONE, Presence.DETACHED):
            return self.presence.value
        if self.session.blocked:
            return "blocked"
        if self.is_idle:
            return "idle"
        # One that was only just started has neither begun nor ended a turn.
        return "busy" if self.session.latch.turn else "new"

    @property
    def reason(self) -> Reason | None:
        """Why it deserves a look; ``None`` while it works."""
        if self.presence in (Presence.GONE, Presence.DETACHED):
            return Reason.EXITED
        # A dialog opens in the middle of a turn, and nothing goes on until it is answered.
        if self.session.blocked:
            return Reason.BLOCKED
        if self.is_parked:
            return Reason.WAITING_INBOX
        if not self.is_idle:
            return None
        if self.counts.unseen or self.role_unseen:
            return Reason.INBOX_UNREAD
        if self.counts.pending or self.role_pending:
            return Reason.INBOX_UNACKED
        return Reason.OPEN_TODOS if self.session.open_todos else Reason.DONE


def mutual_waits(rows: list[Row]) -> list[tuple[str, str]]:
    """Return the pairs of sessions that wait for each other: neither works, each holds mail of the other."""
    resting = {row.session.id: row for row in rows if row.is_parked or row.is_idle}
    return [
        (one, other)
        for one, row in resting.items()
        for other in row.waits_for
        if one < other and other in resting and one in resting[other].waits_for
    ]


class Watched(NamedTuple):
    """What happened to sessions since a cursor.

    Attributes:
        rows: Sessions that changed: a turn ended, mail came or went, one exited. Some may be told twice.
        gone: Ids that were asked for and are not there; also sessions deleted since.
        cursor: What to ask with next. Every answer carries one.
        timed_out: Whether the time ran out before anything happened.
    """

    rows: tuple[Row, ...]
    gone: tuple[str, ...]
    cursor: str
    timed_out: bool = False


class Handed(NamedTuple):
    """The answer to a post to a session.

    Attributes:
        posted: The message, as stored.
        to: The session it was posted to.
        counts: The numbers of its mailbox, after it.
        presence: What is proven of that session: mail to one that is gone is kept until it expires.
        is_left: Whether it is only left for the caller's next checkpoint; then the message has no id yet.
    """

    posted: Posted
    to: Session
    counts: Counts
    presence: Presence = Presence.UNKNOWN
    is_left: bool = False


class Reading(NamedTuple):
    """The answer to a read.

    Attributes:
        entries: Pending messages, the oldest first.
        counts: The mailbox's numbers before any of these was marked seen.
        is_peek: Whether the caller is somebody else than the addressee: then nothing will be marked.
        left_out: How many pending messages were not told, because of a limit.
        timed_out: Whether the time of a wait ran out; unacknowledged mail is told all the same.
        waited: Seconds it waited.
        names: What the sessions that wrote are called, by their addresses; those without a name are left out.
    """

    entries: tuple[Entry, ...]
    counts: Counts
    is_peek: bool
    left_out: int = 0
    timed_out: bool = False
    waited: float = 0.0
    names: Mapping[str, str] = MappingProxyType({})


class Late(NamedTuple):
    """The times of a word that is carried on later than it was said. Another one given between the two counts more.

    Attributes:
        said: When it was said.
        begun: When carrying began; what is carried on together keeps its order.
    """

    said: datetime
    begun: datetime


class Cleared(NamedTuple):
    """The answer to an acknowledgement.

    Attributes:
        removed: How many were pending until now.
        counts: The numbers after it.
        is_left: Whether it is only left for the caller's next checkpoint, because a sandbox lets nothing be written.
    """

    removed: int
    counts: Counts
    is_left: bool = False


class Fate(StrEnum):
    """What became of a message, as its sender may know."""

    UNSEEN = "unseen"
    SEEN = "seen"
    ACKNOWLEDGED = "acknowledged"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    DELETED = "deleted"


class Trace(NamedTuple):
    """What a sender may know of a message it posted: states and times, no text.

    Attributes:
        message_id: The message.
        to: Id of the session it was posted to.
        created: When.
        fate: What became of it.
        at: When that happened; ``None`` while it is unseen.
        decision: The addressee's decision, where one was given.
        action: What became of the work, where that was said.
    """

    message_id: str
    to: str
    created: datetime
    fate: Fate
    at: datetime | None = None
    decision: Decision | None = None
    action: Action | None = None


class Persistence(NamedTuple):
    """Whether the mail of sessions is kept on disk.

    Attributes:
        is_on: Whether it is.
        is_fixed: Whether it cannot be switched, because the home is durable by nature (PostgreSQL).
        has_server: Whether a server holds the mail that is not kept on disk.
    """

    is_on: bool
    is_fixed: bool = False
    has_server: bool = False


class Flow(NamedTuple):
    """What one sender posted to one session since a time.

    Attributes:
        posted: How many messages.
        pending: How many of them still wait for an answer.
    """

    posted: int
    pending: int


class Retention(NamedTuple):
    """How long what concerns an owner's sessions is kept.

    Attributes:
        time_to_live: How long mail to them may wait for an answer, before it expires.
        is_chosen: Whether the owner decided that, and not the configuration.
        remembered: How long a session is known after it ended with nothing pending; its answered mail goes with it.
    """

    time_to_live: timedelta
    is_chosen: bool
    remembered: timedelta


class Upkeep(NamedTuple):
    """What upkeep did.

    Attributes:
        pruned: Ids of deleted sessions whose mail was left over; it is deleted now.
        forgotten: Ids of sessions that ended long ago, with nothing pending.
        set_aside: Where a file of mail is now that could not be read; empty when there was none.
        problem: Why nothing was pruned, in a sentence; empty when all was read.
    """

    pruned: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    problem: str = ""
