# ruff: noqa: TC001  (the types of fields are asked for when the program runs)
"""The shapes of what is answered about teams and roles; ``domain.wire_roles`` makes the values."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from restante.domain.registry import Presence
from restante.domain.team import Standing
from restante.faces.http.answers import Count, Counts, Error, Message, Process, Session, Time

Automations = Annotated[
    list[str], Meta(description="tasks of the agent program that watched it, told once: to be removed")
]


class Lease(Struct, rename="camel"):
    """That a session holds a role."""

    generation: Annotated[int, Meta(ge=1, description="counts the holders; an act of an older one is refused")]
    session: str
    process: Process | None
    taken_at: Time
    heard_of_at: Time
    ttl_ms: Annotated[int, Meta(ge=0, description="how long after it was last heard of it still holds")]


class Seat(Struct, rename="camel"):
    """A role of a team as it stands now."""

    role: str
    joined_at: Time
    working_dir: str
    mode: str
    generation: Count
    lease: Annotated[Lease, Meta(description="whom the role was last given to; see standing")] | None
    standing: Annotated[Standing, Meta(description="what can be said of the lease")] | None
    presence: Presence
    name: Annotated[str, Meta(description="what the session of the lease is called")]
    counts: Counts


class Seats(Struct):
    """Roles, by their addresses."""

    roles: list[Seat]


class Left(Struct):
    """Whether the role was in its team."""

    left: bool
    automations: Automations


class Dropped(Struct):
    """The session that held the role until now; null for nobody."""

    released: str | None
    automations: Automations


class Copy(Struct):
    """What became of a post to one role."""

    role: str
    message: Annotated[Message, Meta(description="null where it was refused")] | None
    duplicate: bool
    holder: Annotated[Session, Meta(description="null for nobody: the message waits")] | None
    counts: Counts
    problem: Error | None


class Copies(Struct):
    """What became of a post to a role, or to all roles of a team."""

    copies: list[Copy]


class RoleReading(Struct, rename="camel"):
    """Pending mail of a role, the oldest first."""

    role: str
    generation: Annotated[int, Meta(ge=0, description="of the lease it was read under; 0 for a look")]
    messages: list[Message]
    counts: Counts
    left_out: Count


class RoleReadings(Struct):
    """The pending mail of all roles that the caller holds."""

    readings: list[RoleReading]


class Places(Struct):
    """In which of the caller's roles messages are, by their ids."""

    places: dict[str, str]


class Tally(Struct):
    """How far the mail of a role got."""

    queued: Count
    noticed: Count
    seen: Count
    acknowledged: Count


class History(Struct):
    """The newest messages of a role or a team, the oldest of them first, and how many are older."""

    messages: list[Message]
    older: Count
