"""Teams: named roles with a mailbox each, and the lease by which one session at a time holds a role."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from restante.domain.registry import Presence, Process

# A beat that lies further in the future than this was made by a clock that has been set back since.
CLOCK_SKEW = timedelta(minutes=5)


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


def standing(lease: Lease, presence: Presence, now: datetime) -> Standing:
    """Tell whether a lease still holds.

    Args:
        lease: The lease.
        presence: What is proven of the holder's process.
        now: The time. A heartbeat that lies in the future proves nothing either way: the lease holds, until the holder
            is proven dead or is heard of again.
    """
    if presence is Presence.GONE:
        return Standing.DEAD
    since = now - lease.heartbeat
    return Standing.EXPIRED if since >= lease.time_to_live and since > -CLOCK_SKEW else Standing.HELD


def expires(lease: Lease) -> datetime:
    """Return when a lease is over, if its holder is not heard of before."""
    return lease.heartbeat + lease.time_to_live
