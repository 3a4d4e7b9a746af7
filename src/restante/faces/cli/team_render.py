"""How teams, roles and posts to them look in a terminal and to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.registry import Presence, brief
from restante.domain.team import Standing, expires
from restante.domain.text import age, iso, one_line, visible
from restante.faces.cli.output import paint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from restante.domain.team import Copy, Seat, Tally

_HEAD = ("ROLE", "HELD BY", "SINCE", "HEARD OF", "PENDING", "UNSEEN")
_LONGEST_NAME = 40


def team_table(seats: Sequence[Seat], own: str, now: datetime) -> str:
    """Return a line for each role; those that the caller holds have a star."""
    lines: list[tuple[str, ...]] = [_HEAD]
    for seat in seats:
        lease, counts = seat.member.lease, seat.counts
        is_own = lease is not None and lease.session == own and bool(own)
        lines.append(
            (
                ("* " if is_own else "") + seat.member.role,
                holder_words(seat),
                age(lease.taken, now) if lease else "-",
                age(lease.heartbeat, now) if lease else "-",
                str(counts.pending),
                str(counts.unseen),
            )
        )
    widths = [max(len(line[place]) for line in lines) for place in range(len(_HEAD))]
    return "".join(_line(cells, widths) + "\n" for cells in lines)


def _line(cells: tuple[str, ...], widths: Sequence[int]) -> str:
    padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)]
    if cells[1].startswith("nobody"):
        padded[1] = paint(padded[1], "yellow")
    return "  ".join(padded).rstrip()


def holder_words(seat: Seat) -> str:
    """Return who holds a role, or that nobody does and who did last."""
    lease = seat.member.lease
    if lease is None:
        return "nobody"
    who = _named(lease.session, seat.name)
    if seat.standing is Standing.DEAD:
        return f"nobody ({who} ended)"
    if seat.standing is Standing.EXPIRED:
        return f"nobody ({who} was silent for too long)"
    return f"{who}{'' if seat.presence is Presence.ALIVE else '?'}"


def _named(session: str, name: str) -> str:
    short = visible(brief(session))
    shown = one_line(name, _LONGEST_NAME)
    return f"{shown} ({short})" if shown else short


def held_words(seat: Seat) -> str:
    """Return until when the caller holds a role, and what waits in it."""
    lease = seat.member.lease
    until = f", until {iso(expires(lease))} if nothing is heard of you" if lease else ""
    return f"generation {seat.member.generation}{until}"


def tally_line(role: str, tally: Tally) -> str:
    """Return how far the mail of a role got."""
    return (
        f"{role}: {tally.queued} queued, {tally.noticed} noticed, {tally.seen} seen, {tally.acknowledged} acknowledged"
    )


def of_seat(seat: Seat) -> dict[str, Any]:
    """Return a role as JSON."""
    from restante.faces.cli.jsonable import of_counts, of_time

    member, lease = seat.member, seat.member.lease
    return {
        "role": member.role,
        "joined_at": iso(member.joined),
        "worktree": member.worktree,
        "vendor": member.vendor,
        "generation": member.generation,
        "held": seat.is_held,
        "standing": seat.standing.value if seat.standing else None,
        "session": lease.session if lease else None,
        "name": seat.name,
        "presence": seat.presence.value if lease else None,
        "taken_at": of_time(lease.taken) if lease else None,
        "heard_of_at": of_time(lease.heartbeat) if lease else None,
        "expires_at": of_time(expires(lease)) if lease else None,
        "counts": of_counts(seat.counts),
    }


def of_copy(copy: Copy) -> dict[str, Any]:
    """Return what became of the post to one role as JSON."""
    from restante.faces.cli.jsonable import of_counts, of_message

    return {
        "role": copy.role,
        "message": of_message(copy.posted.message) if copy.posted else None,
        "duplicate": copy.posted is not None and copy.posted.duplicate,
        "holder": copy.holder.id if copy.holder else None,
        "counts": of_counts(copy.counts),
        "problem": copy.problem.message if copy.problem else None,
    }
