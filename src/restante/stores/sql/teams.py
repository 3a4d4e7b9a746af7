"""Teams, roles and leases in a database: who holds a role is decided within one writing transaction."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere, RoleHeld
from restante.domain.registry import Process
from restante.domain.team import Lease, Member, expires, standing
from restante.stores.sql.rows import to_ms, to_time
from restante.stores.sql.sessions import check_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.domain.registry import Presence
    from restante.stores.sql.rows import Row
    from restante.stores.sql.transaction import Database, Transaction

_MILLISECOND = timedelta(milliseconds=1)


class SqlTeams:
    """``ports.teams.Teams`` in a database. May be shared between threads if its database may.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def join(self, role: str, owner: str, now: datetime, *, worktree: str, vendor: str) -> Member:
        """Make a role a member of its team; joining again changes nothing but where it works, as far as that is said.

        Raises:
            BadText: Something that was given is not text.
        """
        check_words(role, owner, worktree, vendor)
        with self._database.writing(create=True) as run:
            assert run is not None
            before = _member(run, role, owner)
            if before is None:
                given = {"worktree": worktree, "vendor": vendor, "now": to_ms(now)}
                run.do("join_team", owner=owner, role=role, **given)
            else:
                place = worktree or before.worktree, vendor or before.vendor
                if place != (before.worktree, before.vendor):
                    run.do("move_member", owner=owner, role=role, worktree=place[0], vendor=place[1])
            member = _member(run, role, owner)
            assert member is not None
            return member

    def leave(self, role: str, owner: str, now: datetime) -> Member | None:
        """Take a role out of its team, whoever holds it, and return it as it was; leaving again returns ``None``."""
        check_words(role, owner)
        with self._database.writing() as run:
            before = _member(run, role, owner) if run else None
            if run and before:
                run.do("leave_team", owner=owner, role=role, now=to_ms(now))
            return before

    def member(self, role: str, owner: str) -> Member | None:
        """Return a role that has joined and not left."""
        check_words(role, owner)
        with self._database.reading() as run:
            return _member(run, role, owner) if run else None

    def members(self, team: str, owner: str) -> list[Member]:
        """Return the roles of a team, sorted; with an empty team, those of all teams."""
        check_words(team, owner)
        with self._database.reading() as run:
            if run is None:
                return []
            if not team:
                return [_read(row) for row in run.all("members", owner=owner)]
            # '0' follows '/', so nothing but the roles of this team lies between.
            return [_read(row) for row in run.all("members_of_team", owner=owner, low=f"{team}/", high=f"{team}0")]

    def held_by(self, session: str, owner: str) -> list[Member]:
        """Return the roles whose lease names this session, sorted."""
        check_words(session, owner)
        with self._database.reading() as run:
            return [_read(row) for row in run.all("members_held", session=session, owner=owner)] if run else []

    def leases(self) -> list[tuple[str, Member]]:
        """Return the roles of all owners that have a lease, each with its owner, sorted."""
        with self._database.reading() as run:
            found = [(row[0], _read(row[1:])) for row in run.all("leases")] if run else []
        return sorted(found, key=lambda one: (one[0], one[1].role))

    def take(
        self,
        role: str,
        owner: str,
        now: datetime,
        *,
        session: str,
        process: Process | None,
        time_to_live: timedelta,
        presence: Callable[[Process | None], Presence],
    ) -> Lease:
        """Let a session hold a role; see ``ports.teams.Teams.take``.

        Raises:
            NothingThere: The role has not joined.
            RoleHeld: Another session holds it; nothing was changed.
            BadText: Something that was given is not text.
        """
        check_words(role, owner, session, *(process or ()))
        with self._database.writing() as run:
            member = _member(run, role, owner) if run else None
            if run is None or member is None:
                raise NothingThere(f"no role {role}", remedy=f"restante join {role}")
            lease = member.lease
            is_mine = lease is not None and lease.session == session
            if lease and not is_mine and not standing(lease, presence(lease.process), now).may_be_taken:
                raise _held_by_another(role, lease)
            taken = lease.taken if lease and is_mine else now
            host, pid, started = process or (is_mine and lease and lease.process) or (None, None, None)
            run.do(
                "take_role",
                owner=owner,
                role=role,
                generation=member.generation + (not is_mine),
                session=session,
                host=host,
                pid=pid,
                started=started,
                taken_ms=to_ms(taken),
                now=to_ms(now),
                ttl_ms=time_to_live // _MILLISECOND,
            )
            held = _member(run, role, owner)
            assert held is not None
            assert held.lease is not None
            return held.lease

    def beat(self, role: str, owner: str, now: datetime, *, session: str, generation: int | None = None) -> Lease:
        """Record that the holder was heard of; that alone does not wait for the disk.

        Raises:
            RoleHeld: The session does not hold the role, or no longer under this generation.
        """
        check_words(role, owner, session)
        with self._database.lightly(), self._database.writing() as run:
            lease = check_lease(run, role, owner, session, generation)
            assert run is not None
            run.do("beat_role", owner=owner, role=role, now=to_ms(now))
            return lease._replace(heartbeat=to_time(to_ms(now)))

    def release(self, role: str, owner: str, now: datetime, *, session: str, generation: int | None = None) -> bool:  # noqa: ARG002  when it was is kept by nobody
        """Let go of a role and tell whether the session held it, under this generation; else nothing is changed."""
        check_words(role, owner, session)
        with self._database.writing() as run:
            member = _member(run, role, owner) if run else None
            if run is None or not _is_holder(member, session, generation):
                return False
            run.do("release_role", owner=owner, role=role)
            return True


def check_lease(run: Transaction | None, role: str, owner: str, session: str, generation: int | None = None) -> Lease:
    """Return the lease of a role, when a session holds it.

    Args:
        run: The transaction in which it must hold it; ``None`` where there is no database.
        role: The role.
        owner: Whose.
        session: The session.
        generation: Under which generation; ``None`` for whichever it is.

    Raises:
        RoleHeld: It does not.
    """
    member = _member(run, role, owner) if run else None
    if member and member.lease and _is_holder(member, session, generation):
        return member.lease
    if member and member.lease and member.lease.session != session:
        raise _held_by_another(role, member.lease)
    if member and member.lease:
        raise RoleHeld(
            f"{role} was taken anew since (generation {member.lease.generation}, not {generation})",
            remedy="ask again what you hold",
            details=({"role": role, "generation": member.lease.generation},),
        )
    raise RoleHeld(f"session {session!r} does not hold {role}", remedy=f"restante act-as {role}")


def _is_holder(member: Member | None, session: str, generation: int | None) -> bool:
    lease = member.lease if member else None
    return lease is not None and lease.session == session and generation in (None, lease.generation)


def _held_by_another(role: str, lease: Lease) -> RoleHeld:
    return RoleHeld(
        f"{role} is held by session {lease.session}, last heard of at {lease.heartbeat:%Y-%m-%d %H:%M:%S} UTC",
        remedy=f"let it drop the role, or wait until {expires(lease):%Y-%m-%d %H:%M} UTC",
        details=({"role": role, "session": lease.session, "generation": lease.generation},),
    )


def _member(run: Transaction, role: str, owner: str) -> Member | None:
    row = run.one("member", owner=owner, role=role)
    return _read(row) if row else None


def _read(row: Row) -> Member:
    """Return a row of the columns ``{member}`` of queries.sql."""
    (role, joined, worktree, vendor, generation, session, host, pid, started, taken, beat, ttl) = row
    lease = Lease(
        generation=generation,
        session=session,
        process=None if host is None else Process(host, pid, started),
        taken=to_time(taken or 0),
        heartbeat=to_time(beat or 0),
        time_to_live=timedelta(milliseconds=ttl),
    )
    return Member(role, to_time(joined), worktree, vendor, generation, lease if session else None)
