"""Teams: named roles with a mailbox each, and the lease by which one session at a time holds a role."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.address import Home, parse_address
from restante.domain.errors import BadAddress
from restante.domain.mailbox import Counts
from restante.domain.monitor import Sight
from restante.domain.registry import Presence, Process, Session

if TYPE_CHECKING:
    from restante.domain.errors import RestanteError
    from restante.domain.mailbox import Entry, Posted

# How long a holder that is not heard of keeps a role. A session that works without mail is heard of by nobody.
LEASE = timedelta(hours=12)
EVERYBODY = "*"


class Lease(NamedTuple):
    """That a session holds a role.

    Attributes:
        generation: Counts the holders of the role so far; an act of an older generation is refused.
        session: Id of the session that holds it.
        process: Its process, where that is known.
        taken: When it took the role.
        heartbeat: When it was last heard of.
        time_to_live: How long after the last heartbeat it still holds it.
    """

    generation: int
    session: str
    process: Process | None
    taken: datetime
    heartbeat: datetime
    time_to_live: timedelta


class Member(NamedTuple):
    """A role of a team.

    Attributes:
        role: Its address: ``team/role``.
        joined: When it joined.
        worktree: Where whoever joined it worked; empty for nowhere.
        vendor: The agent program that joined it; empty for a person.
        generation: How many holders it has had.
        lease: Who holds it; ``None`` for nobody. It may be over: see ``standing``.
    """

    role: str
    joined: datetime
    worktree: str
    vendor: str
    generation: int
    lease: Lease | None = None


class Standing(StrEnum):
    """What can be said of a lease now."""

    HELD = "held"
    DEAD = "dead"
    EXPIRED = "expired"

    @property
    def may_be_taken(self) -> bool:
        """Whether another session may take the role."""
        return self is not Standing.HELD


class Seat(NamedTuple):
    """A role as it stands now.

    Attributes:
        member: The role.
        standing: What can be said of its lease; ``None`` where nobody holds it.
        presence: What is proven of the session that the lease names.
        name: What that session is called; empty for nothing.
        counts: The numbers of its mailbox.
    """

    member: Member
    standing: Standing | None = None
    presence: Presence = Presence.UNKNOWN
    name: str = ""
    counts: Counts = Counts()

    @property
    def is_held(self) -> bool:
        """Whether a session holds it now."""
        return self.standing is Standing.HELD


class RoleReading(NamedTuple):
    """The answer to a read of a role's mailbox.

    Attributes:
        role: Whose.
        entries: Pending messages, the oldest first.
        counts: The mailbox's numbers before any of these was marked seen.
        generation: Under which lease it was read; 0 for a look, by which nothing will be marked.
        left_out: How many pending messages were not told, because of a limit.
    """

    role: str
    entries: "tuple[Entry, ...]"
    counts: Counts
    generation: int = 0
    left_out: int = 0

    @property
    def is_peek(self) -> bool:
        """Whether the caller does not hold the role."""
        return self.generation == 0


class Copy(NamedTuple):
    """What became of a post to one role.

    Attributes:
        role: Which.
        posted: The message as stored; ``None`` where it was refused.
        holder: The session that holds the role; ``None`` for nobody: then it waits.
        counts: The numbers of the mailbox after it.
        problem: Why it was refused.
    """

    role: str
    posted: "Posted | None"
    holder: Session | None = None
    counts: Counts = Counts()
    problem: "RestanteError | None" = None


class Tally(NamedTuple):
    """How far the mail of a mailbox got.

    Attributes:
        queued: Nothing made it known yet.
        noticed: A checkpoint or a wake made it known, and nobody knows whether it was read.
        seen: Its addressee read it and has not answered.
        acknowledged: Its addressee answered.
    """

    queued: int = 0
    noticed: int = 0
    seen: int = 0
    acknowledged: int = 0


def standing(lease: Lease, presence: Presence, now: datetime) -> Standing:
    """Tell whether a lease still holds.

    Args:
        lease: The lease.
        presence: What is proven of the holder's process.
        now: The time. A heartbeat that lies in the future, because the clock was set back, proves nothing either way:
            the lease holds, until the holder is proven dead, is heard of again, or the time has come round.
    """
    if presence is Presence.GONE:
        return Standing.DEAD
    return Standing.EXPIRED if now - lease.heartbeat >= lease.time_to_live else Standing.HELD


def expires(lease: Lease) -> datetime:
    """Return when a lease is over, if its holder is not heard of before."""
    return lease.heartbeat + lease.time_to_live


def tally(sight: Sight) -> Tally:
    """Return how far the mail of a mailbox got, from a whole look at its numbers."""
    return Tally(sight.unseen - sight.noticed, sight.noticed, sight.pending - sight.unseen, sight.acknowledged)


def parse_role(text: str) -> str:
    """Return the address of a role.

    Raises:
        BadAddress: It is none.
    """
    try:
        address = parse_address(text)
    except BadAddress:
        address = None
    if address is None or address.home is not Home.ROLE:
        raise BadAddress(
            f"{text!r} names no role",
            remedy="write TEAM/ROLE; both are ASCII letters, digits, '.', '_' and '-', at most 64, "
            "and begin with a letter or digit",
        )
    return address.name


def parse_team(text: str) -> str:
    """Return the name of a team, written as ``TEAM``, ``TEAM/`` or ``TEAM/*``.

    Raises:
        BadAddress: It is none.
    """
    name = text.removesuffix(EVERYBODY) if text.endswith(f"/{EVERYBODY}") else text
    try:
        return team_of(parse_role(f"{name.removesuffix('/')}/role"))
    except BadAddress:
        raise BadAddress(
            f"{text!r} names no team",
            remedy="a team's name is ASCII letters, digits, '.', '_' and '-', at most 64, "
            "and begins with a letter or digit",
        ) from None


def is_for_everybody(text: str) -> bool:
    """Tell whether a reference means all roles of a team: ``TEAM/`` or ``TEAM/*``."""
    return text.endswith(("/", f"/{EVERYBODY}"))


def team_of(role: str) -> str:
    """Return the team of a role's address."""
    return role.partition("/")[0]
