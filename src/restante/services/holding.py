"""Who holds a role: joining and leaving a team, taking a role and letting go of it, and what is refused to others.

A role is held by one session at a time, by a lease. It is over when its holder is proven dead, has not been heard of
for too long, or said that it ended. Whoever is taken for the holder must prove to be that session; a claim is not
enough, and whatever is doubtful is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import Busy, Forbidden, NothingThere, Refused, RoleHeld, StorageFailed
from restante.domain.registry import Presence
from restante.domain.team import LEASE, Standing, standing, team_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from restante.domain.registry import Identity, Process, Session
    from restante.domain.team import Lease, Member
    from restante.ports.sessions import Processes, Sessions
    from restante.ports.teams import Teams

# Of one owner. All are looked through where one is named that is not there, while everybody else waits.
MOST_ROLES = 1000
# A beat that is younger than this is not renewed: each would cost a write.
_HEARD_OF_SECONDS = 60


def standing_of(member: Member, owner: str, sessions: Sessions, processes: Processes, now: datetime) -> Standing | None:
    """Return what can be said of a role's lease; ``None`` where nobody holds the role.

    Args:
        member: The role.
        owner: Whose it is.
        sessions: The register: a session that it does not know, or that ended, holds nothing.
        processes: Which processes live here.
        now: The time.
    """
    lease = member.lease
    if lease is None:
        return None
    if _has_ended(lease, owner, sessions):
        return Standing.DEAD
    return standing(lease, _presence(processes)(lease.process), now)


def join(
    role: str,
    identity: Identity,
    session: Session | None,
    teams: Teams,
    sessions: Sessions,
    processes: Processes,
    now: datetime,
    *,
    worktree: str,
) -> Member:
    """Make a role a member of its team; a session also takes it: both or nothing.

    Raises:
        RoleHeld: Another session holds it.
        Refused: There are as many roles as may be.
    """
    before = teams.member(role, identity.owner)
    if session and before:
        check_free(before, session, sessions, processes, now)
    if before is None and len(teams.members("", identity.owner)) >= MOST_ROLES:
        raise Refused(
            f"there are {MOST_ROLES} roles, as many as may be", remedy="restante leave TEAM/ROLE takes one out"
        )
    vendor = session.vendor if session else ""
    member = teams.join(role, identity.owner, now, worktree=worktree, vendor=vendor)
    if session is None:
        return member
    take(role, session, teams, sessions, processes, now)
    return teams.member(role, identity.owner) or member


def take(role: str, session: Session, teams: Teams, sessions: Sessions, processes: Processes, now: datetime) -> Lease:
    """Let a session hold a role, or renew that it does.

    Raises:
        NothingThere: The role has not joined.
        RoleHeld: Another session holds it; nothing was changed.
    """
    member = teams.member(role, session.owner)
    if (
        member
        and member.lease
        and member.lease.session != session.id
        and _has_ended(member.lease, session.owner, sessions)
    ):
        # Under this generation only: whoever took it meanwhile keeps it.
        lease = member.lease
        teams.release(role, session.owner, now, session=lease.session, generation=lease.generation)
    return teams.take(
        role,
        session.owner,
        now,
        session=session.id,
        process=session.process,
        time_to_live=LEASE,
        presence=_presence(processes),
    )


def renew(
    member: Member, session: Session, teams: Teams, sessions: Sessions, processes: Processes, now: datetime
) -> Lease | None:
    """Record that the holder of a role was heard of, where that is worth a write; return the lease as it is then.

    Returns:
        ``None`` where the session holds the role no longer.
    """
    lease = member.lease
    if lease is None or lease.session != session.id:
        return None
    is_over = standing(lease, _presence(processes)(lease.process), now).may_be_taken
    try:
        if is_over or lease.process != session.process:
            # It came back, perhaps as another process, before anybody else took the role.
            return take(member.role, session, teams, sessions, processes, now)
        if not 0 <= (now - lease.heartbeat).total_seconds() < _HEARD_OF_SECONDS:
            return teams.beat(member.role, session.owner, now, session=session.id, generation=lease.generation)
    except RoleHeld:
        return None
    except (StorageFailed, Busy):
        # Where nothing can be written, as in a sandbox, it can still be read.
        return lease
    return lease


def check_free(member: Member, session: Session, sessions: Sessions, processes: Processes, now: datetime) -> None:
    """Refuse a role that another session holds.

    Raises:
        RoleHeld: One does.
    """
    if member.lease and member.lease.session != session.id:
        here = standing_of(member, session.owner, sessions, processes, now)
        if here is Standing.HELD:
            raise held_by(member, session.owner, sessions)


def may_leave(
    member: Member,
    identity: Identity,
    sessions: Sessions,
    processes: Processes,
    is_ours: Callable[[Process], bool],
    now: datetime,
) -> None:
    """Refuse to let anybody but its holder, or a proven person, take a held role out of its team or its holder's hands.

    Raises:
        RoleHeld: Another session holds it.
        Forbidden: Another process is the session that holds it.
    """
    is_person = identity.verified and not identity.session
    if is_person or standing_of(member, identity.owner, sessions, processes, now) is not Standing.HELD:
        return
    is_mine = member.lease is not None and member.lease.session == identity.session and identity.verified
    if not is_mine:
        raise held_by(member, identity.owner, sessions)
    # Else a session could let go of another one's role by its id, and take it.
    proven_session(identity, sessions, is_ours)


def held_by(member: Member, owner: str, sessions: Sessions) -> RoleHeld:
    """Return the error that says who holds a role, or that nobody does."""
    lease = member.lease
    if lease is None:
        return RoleHeld(f"nobody holds {member.role}; its mail waits", remedy=f"take it: restante act-as {member.role}")
    found = sessions.session(lease.session, owner)
    name = f"{found.name} ({lease.session})" if found and found.name else lease.session
    return RoleHeld(
        f"{member.role} is held by session {name}, last heard of at {lease.heartbeat:%Y-%m-%d %H:%M:%S} UTC",
        remedy=f"write to it: restante post {member.role} TEXT; or let it drop the role: restante drop {member.role}",
        details=({"role": member.role, "session": lease.session, "generation": lease.generation},),
    )


def proven_session(identity: Identity, sessions: Sessions, is_ours: Callable[[Process], bool]) -> Session:
    """Return the session that asks, which must be proven: holding a role needs more than a claim.

    Args:
        identity: Who asks.
        sessions: The register.
        is_ours: Tells whether the caller may run below a process: false only where it is proven not to.

    Raises:
        Forbidden: Nobody's session asks, or nothing proves it, or another process is that session.
    """
    if not identity.session:
        raise Forbidden(
            "only a session holds a role"
            + (f"; {identity.claimed!r} is none that lives" if identity.claimed else ", and you are none"),
            remedy="run it in the agent's session; to write to a role: restante post TEAM/ROLE TEXT",
        )
    found = sessions.session(identity.session, identity.owner)
    if found is None or not identity.verified:
        raise Forbidden(
            f"nothing proved that this is session {identity.session}",
            remedy="register it: restante session start",
        )
    if found.process and not is_ours(found.process):
        raise Forbidden(
            f"session {found.title} is process {found.process.pid}, and another process of it asks: "
            "one of two that go by the same id holds its roles",
            remedy="go on in that one, or end it",
        )
    return found


def unknown_role(role: str, members: Iterable[Member]) -> NothingThere:
    """Return the error for a role that has not joined, with what may have been meant."""
    from difflib import get_close_matches

    known = [member.role for member in members]
    folded = {one.casefold(): one for one in known}
    near = [folded[one] for one in get_close_matches(role.casefold(), folded, n=3)]
    same_team = [one for one in known if team_of(one) == team_of(role)][:5]
    names = near or same_team
    return NothingThere(
        f"no role {role}" + (f"; there is {', '.join(names)}" if names else ""),
        remedy=f"restante join {role} makes it one; restante team lists them",
    )


def unknown_team(team: str, members: Iterable[Member]) -> NothingThere:
    """Return the error for a team without roles, with what may have been meant."""
    from difflib import get_close_matches

    known = sorted({team_of(member.role) for member in members})
    folded = {one.casefold(): one for one in known}
    near = [folded[one] for one in get_close_matches(team.casefold(), folded, n=3)] or known[:5]
    return NothingThere(
        f"no team {team}" + (f"; there is {', '.join(near)}" if near else ""),
        remedy="restante team lists them; a team begins with its first role: restante join TEAM/ROLE",
    )


def _has_ended(lease: Lease, owner: str, sessions: Sessions) -> bool:
    """Tell whether the holder said that it ended, or was deleted. That it only fell silent proves nothing."""
    found = sessions.session(lease.session, owner)
    return found is None or found.detached is not None


def _presence(processes: Processes) -> Callable[[Process | None], Presence]:
    return lambda process: processes.presence(process) if process else Presence.UNKNOWN


def let_go(member: Member, owner: str, teams: Teams, now: datetime, *, session: str = "") -> bool:
    """Let go of a role under the generation that was looked at, and tell whether it was held.

    Args:
        member: The role as it was looked at.
        owner: Whose it is.
        teams: Where it is kept.
        now: The time.
        session: Only if this session holds it; empty for whoever does.
    """
    lease = member.lease
    if lease is None or session not in ("", lease.session):
        return False
    return teams.release(member.role, owner, now, session=lease.session, generation=lease.generation)
