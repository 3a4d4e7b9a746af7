"""Who holds which role of which team, for one caller."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from restante.domain.errors import Forbidden
from restante.domain.team import Seat, Standing, parse_role, parse_team
from restante.services import disarming, holding, identifying

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from restante.config import Settings
    from restante.domain.registry import Identity, Process, Session
    from restante.domain.team import Lease, Member
    from restante.ports import Clock, Ids, Scanner, Watcher
    from restante.ports.monitoring import Doorbells, Monitors, Sights, Subscriptions
    from restante.ports.sessions import Processes, SessionBell, Sessions
    from restante.ports.teams import RoleBoxes, Teams


class RosterParts(Protocol):
    """What a roster is made of."""

    @property
    def settings(self) -> Settings:
        """The values in force."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""

    @property
    def ids(self) -> Ids:
        """Where ids come from."""

    @property
    def teams(self) -> Teams:
        """Who holds which role."""

    @property
    def role_boxes(self) -> RoleBoxes:
        """Where the mail of roles is."""

    @property
    def sights(self) -> Sights:
        """The numbers of mailboxes."""

    @property
    def sessions(self) -> Sessions:
        """The register of sessions."""

    @property
    def processes(self) -> Processes:
        """Which processes live here."""

    @property
    def bell(self) -> SessionBell:
        """The sign for the hooks of worktrees."""

    @property
    def doorbells(self) -> Doorbells:
        """The signs for whoever monitors a mailbox."""

    @property
    def monitors(self) -> Monitors | None:
        """Who is woken for which mailbox; ``None`` where nothing was ever armed."""

    @property
    def scanners(self) -> Sequence[Scanner]:
        """What screens a text beside our own rules."""

    @property
    def watcher(self) -> Watcher:
        """What hints at changes."""

    @property
    def subscriptions(self) -> Subscriptions:
        """Who wants to be woken once."""

    @property
    def has_roles(self) -> bool:
        """Whether there may be roles at all."""

    def roles_together(self) -> AbstractContextManager[None]:
        """Make what this thread keeps of roles, their mail and monitors in the block durable at once, or not at all."""

    def way_to_wake(self, vendor: str) -> str:
        """Return the name of the usual way to wake sessions of an agent program."""

    def is_ours(self, process: Process) -> bool:
        """Tell whether the caller may run below a process: false only where that is proven not to be so."""


class Seats:
    """Keeps who holds the roles of teams, for one caller; see ``Roster`` for their mail.

    Args:
        parts: What it is made of.
        identify: Tells who asks; asked when it is first needed.
    """

    def __init__(self, parts: RosterParts, identify: Callable[[], Identity]) -> None:
        self._parts = parts
        self._identify = identify
        self._identity: Identity | None = None
        # Ids of an agent program's own tasks that watched the role which was just let go of; they have to be removed.
        self.freed: tuple[str, ...] = ()

    @property
    def identity(self) -> Identity:
        """Who asks."""
        if self._identity is None:
            self._identity = self._identify()
        return self._identity

    @property
    def clock(self) -> Clock:
        """Where time comes from."""
        return self._parts.clock

    @property
    def settings(self) -> Settings:
        """The values in force."""
        return self._parts.settings

    # -- teams and roles -----------------------------------------------------------------------------------

    def join(self, role: str, *, worktree: str = "") -> Seat:
        """Make a role a member of its team; a session also takes it, both or nothing. Joining again changes nothing.

        Args:
            role: ``TEAM/ROLE``.
            worktree: Where the caller works.

        Raises:
            BadAddress: It names no role.
            RoleHeld: Another session holds it.
            Refused: There are as many roles as may be.
            Forbidden: Nothing proves who asks.
        """
        parts, role = self._parts, parse_role(role)
        session = self.session() if self.identity.session else None
        if not self.identity.verified:
            raise Forbidden(f"nothing proved who makes {role} a role", remedy="run it in a session, or at a terminal")
        now = parts.clock.now()
        member = holding.join(
            role, self.identity, session, parts.teams, parts.sessions, parts.processes, now, worktree=worktree
        )
        return self._announced(self._seat(member), session)

    def leave(self, role: str) -> bool:
        """Take a role out of its team and tell whether it was in it; its mail stays. Leaving again changes nothing.

        Raises:
            RoleHeld: Another session holds it.
            Forbidden: Another process is the session that holds it, or nothing proves who asks.
        """
        parts, role = self._parts, parse_role(role)
        member = parts.teams.member(role, self.identity.owner)
        if member is None:
            return False
        now = parts.clock.now()
        holding.may_leave(member, self.identity, parts.sessions, parts.processes, parts.is_ours, now)
        if not self.identity.verified:
            raise Forbidden(
                f"nothing proved who takes {role} out of its team", remedy="run it in a session, or at a terminal"
            )
        has_left = parts.teams.leave(role, self.identity.owner, now) is not None
        if has_left and parts.monitors:
            self.freed = disarming.role_left(role, self.identity.owner, parts.monitors, parts.doorbells)
        return has_left

    def act_as(self, role: str) -> Seat:
        """Let the calling session hold a role that has joined: free, its own, or one whose holder is over.

        Raises:
            NothingThere: No such role has joined; near names are told.
            RoleHeld: Another session holds it.
            Forbidden: The caller is no session, or not proven to be it.
        """
        parts, role = self._parts, parse_role(role)
        session = self.session()
        member = self._member(role)
        now = parts.clock.now()
        holding.check_free(member, session, parts.sessions, parts.processes, now)
        holding.take(role, session, parts.teams, parts.sessions, parts.processes, now)
        return self._announced(self.seat(role), session)

    def drop(self, role: str) -> str:
        """Let go of a role, and return the id of the session that held it until now; empty for nobody.

        A session lets go of its own; a person takes it from whoever holds it. Dropping again changes nothing.

        Raises:
            NothingThere: No such role has joined.
            RoleHeld: Another session holds it.
            Forbidden: Another process is the session that holds it.
        """
        parts, role = self._parts, parse_role(role)
        member = self._member(role)
        now = parts.clock.now()
        holding.may_leave(member, self.identity, parts.sessions, parts.processes, parts.is_ours, now)
        was = member.lease.session if member.lease else ""
        is_person = self.identity.verified and not self.identity.session
        whose = "" if is_person else self.identity.session or "~"
        if not holding.let_go(member, self.identity.owner, parts.teams, now, session=whose):
            return ""
        if parts.monitors:
            self.freed = disarming.role_dropped(role, self.identity.owner, was, parts.monitors, parts.doorbells)
        return was

    def seats(self, team: str = "") -> list[Seat]:
        """Return the roles of a team, or of all teams, with who holds them and what waits.

        Raises:
            NothingThere: There is no such team; near names are told.
        """
        teams, owner = self._parts.teams, self.identity.owner
        name = parse_team(team) if team else ""
        members = teams.members(name, owner)
        if name and not members:
            raise holding.unknown_team(name, teams.members("", owner))
        return [self._seat(member) for member in members]

    def seat(self, role: str) -> Seat:
        """Return one role.

        Raises:
            NothingThere: No such role has joined; near names are told.
        """
        return self._seat(self._member(parse_role(role)))

    def session(self) -> Session:
        """Return the session that asks, proven.

        Raises:
            Forbidden: No session asks, nothing proves it, or another process is that session.
        """
        return holding.proven_session(self.identity, self._parts.sessions, self._parts.is_ours)

    def mine(self) -> list[str]:
        """Return the addresses of the roles that the calling session holds; never an error about who asks."""
        return [member.role for member in self._held()]

    def holder(self, role: str) -> Session | None:
        """Return the session that holds a role now; ``None`` where nobody does, or it has not joined."""
        member = self._parts.teams.member(parse_role(role), self.identity.owner)
        return self._holder(member) if member else None

    def check_holder(self, role: str) -> Lease:
        """Return the calling session's lease of a role, renewed.

        Raises:
            NothingThere: No such role has joined.
            RoleHeld: It does not hold it.
            Forbidden: No session asks, or nothing proves it.
        """
        parts = self._parts
        session = self.session()
        member = self._member(parse_role(role))
        lease = holding.renew(member, session, parts.teams, parts.sessions, parts.processes, parts.clock.now())
        if lease is None:
            raise holding.held_by(self._member(member.role), session.owner, parts.sessions)
        return lease

    # -- helpers -------------------------------------------------------------------------------------------

    def _held(self) -> list[Member]:
        if not self.identity.session:
            return []
        with suppress(Forbidden):
            session = self.session()
            return self._parts.teams.held_by(session.id, session.owner)
        return []

    def _member(self, role: str) -> Member:
        teams, owner = self._parts.teams, self.identity.owner
        found = teams.member(role, owner)
        if found is None:
            raise holding.unknown_role(role, teams.members("", owner))
        return found

    def _holder(self, member: Member) -> Session | None:
        """Return the session that holds a role now."""
        parts, owner = self._parts, self.identity.owner
        now = parts.clock.now()
        here = holding.standing_of(member, owner, parts.sessions, parts.processes, now)
        lease = member.lease
        return parts.sessions.session(lease.session, owner) if lease and here is Standing.HELD else None

    def _seat(self, member: Member) -> Seat:
        parts, owner = self._parts, self.identity.owner
        now = parts.clock.now()
        counts = parts.role_boxes.box(member.role, owner).counts()
        here = holding.standing_of(member, owner, parts.sessions, parts.processes, now)
        found = parts.sessions.session(member.lease.session, owner) if member.lease else None
        if found is None:
            return Seat(member, here, counts=counts)
        presence = identifying.presence_of(found, parts.processes, now, parts.settings.session_ttl)
        return Seat(member, here, presence, found.name, counts)

    def _announced(self, seat: Seat, session: Session | None) -> Seat:
        """Let the next checkpoint of a session show what waited for the role that it took."""
        if session and seat.counts.pending:
            self._ring(seat.member.role, session)
        return seat

    def _ring(self, role: str, holder: Session | None) -> None:
        if holder:
            self._parts.bell.ring(holder)
        self._parts.doorbells.ring(role)
