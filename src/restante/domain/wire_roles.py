"""The JSON forms of what is told of teams and roles: value to JSON, and back. See ``wire`` for the others."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from restante.domain.envelope import error_from, of_error
from restante.domain.mailbox import Posted
from restante.domain.registry import Presence, Process
from restante.domain.team import Copy, Lease, Member, RoleReading, Seat, Standing, Tally
from restante.domain.wire import (
    JSON,
    counts_from,
    entry_from,
    message_from,
    of_counts,
    of_message,
    of_session,
    of_time,
    session_from,
    time_from,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from restante.domain.mailbox import Entry

_MILLISECOND = timedelta(milliseconds=1)


def of_seat(seat: Seat) -> JSON:
    """Return a role as it stands now."""
    member, lease = seat.member, seat.member.lease
    return {
        "role": member.role,
        "joinedAt": of_time(member.joined),
        "workingDir": member.worktree,
        "mode": member.vendor,
        "generation": member.generation,
        "lease": of_lease(lease) if lease else None,
        "standing": seat.standing.value if seat.standing else None,
        "presence": seat.presence.value,
        "name": seat.name,
        "counts": of_counts(seat.counts),
    }


def of_lease(lease: Lease) -> JSON:
    """Return who holds a role."""
    return {
        "generation": lease.generation,
        "session": lease.session,
        "process": lease.process._asdict() if lease.process else None,
        "takenAt": of_time(lease.taken),
        "heardOfAt": of_time(lease.heartbeat),
        "ttlMs": lease.time_to_live // _MILLISECOND,
    }


def seat_from(value: Mapping[str, Any]) -> Seat:
    """Read a role as it stands."""
    lease = value["lease"]
    member = Member(
        role=value["role"],
        joined=_instant(value["joinedAt"]),
        worktree=value["workingDir"],
        vendor=value["mode"],
        generation=value["generation"],
        lease=_lease_from(lease) if lease else None,
    )
    standing = Standing(value["standing"]) if value["standing"] else None
    return Seat(member, standing, Presence(value["presence"]), value["name"], counts_from(value["counts"]))


def _lease_from(value: Mapping[str, Any]) -> Lease:
    process = value["process"]
    return Lease(
        generation=value["generation"],
        session=value["session"],
        process=Process(process["host"], process["pid"], process["started"]) if process else None,
        taken=_instant(value["takenAt"]),
        heartbeat=_instant(value["heardOfAt"]),
        time_to_live=timedelta(milliseconds=value["ttlMs"]),
    )


def of_copy(copy: Copy) -> JSON:
    """Return what became of a post to one role."""
    return {
        "role": copy.role,
        "message": of_message(copy.posted.message) if copy.posted else None,
        "duplicate": copy.posted is not None and copy.posted.duplicate,
        "holder": of_session(copy.holder) if copy.holder else None,
        "counts": of_counts(copy.counts),
        "problem": of_error(copy.problem) if copy.problem else None,
    }


def copy_from(value: Mapping[str, Any]) -> Copy:
    """Read what became of a post to one role."""
    message, holder, problem = value["message"], value["holder"], value["problem"]
    return Copy(
        value["role"],
        Posted(message_from(message), value["duplicate"] is True) if message else None,
        session_from(holder) if holder else None,
        counts_from(value["counts"]),
        error_from(problem) if problem else None,
    )


def of_role_reading(reading: RoleReading, name_of: Callable[[str], str]) -> JSON:
    """Return the answer to a read of a role's mailbox.

    Args:
        reading: The answer.
        name_of: Tells what the session of a sender is called.
    """
    return {
        "role": reading.role,
        "generation": reading.generation,
        "messages": [of_entry(entry, name_of) for entry in reading.entries],
        "counts": of_counts(reading.counts),
        "leftOut": reading.left_out,
    }


def of_entry(entry: Entry, name_of: Callable[[str], str]) -> JSON:
    """Return a message of a role with what became of it."""
    return of_message(entry.message, entry.standing, name=name_of(entry.message.sender.name))


def role_reading_from(value: Mapping[str, Any]) -> RoleReading:
    """Read the answer to a read of a role's mailbox."""
    return RoleReading(
        role=value["role"],
        entries=tuple(entry_from(one) for one in value["messages"]),
        counts=counts_from(value["counts"]),
        generation=value["generation"],
        left_out=value["leftOut"],
    )


def tally_from(value: Mapping[str, Any]) -> Tally:
    """Read how far the mail of a role got."""
    return Tally(value["queued"], value["noticed"], value["seen"], value["acknowledged"])


def _instant(value: object) -> datetime:
    time = time_from(value)
    if time is None:
        raise TypeError("a time is missing")
    return time
