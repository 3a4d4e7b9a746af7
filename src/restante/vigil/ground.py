"""What every act on a monitor stands on: who asks, and whether the session that is watched for is still there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.address import Home, parse_address
from restante.domain.errors import Forbidden, RestanteError
from restante.domain.monitoring import NONE, RULES, Proof, Word, ordinal
from restante.domain.outlook import Hearing, Mode, Outlook, hearing_of, mode_of
from restante.domain.registry import Identity, Presence
from restante.services import disarming, holding, identifying

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.domain.monitor import Monitor
    from restante.domain.monitoring import Answer, Ordinal, Rules, Step
    from restante.domain.registry import Session
    from restante.ports import Clock
    from restante.vigil.parts import VigilParts


class Ground:
    """Who asks about monitors, and what is known around them; see ``Vigil``.

    Args:
        parts: What it is made of.
        identify: Tells who asks; asked when it is first needed.
        rules: The measures of the machine.
    """

    def __init__(self, parts: VigilParts, identify: Callable[[], Identity] = Identity, rules: Rules = RULES) -> None:
        self._parts = parts
        self._identify = identify
        self._identity: Identity | None = None
        self._rules = rules

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
    def command(self) -> str:
        """How an agent calls this installation."""
        return self._parts.command

    # -- helpers -------------------------------------------------------------------------------------------

    def _now(self, now: datetime | None) -> datetime:
        return now or self._parts.clock.now()

    def _generation(self, role: str, session: Session) -> int:
        """Return the generation under which a session holds a role, which it takes if nobody does.

        Raises:
            NothingThere: The role has not joined.
            RoleHeld: Another session holds it, or a person asks and the session does not.
        """
        parts, owner = self._parts, self.identity.owner
        member = parts.teams.member(role, owner)
        if member is None:
            raise holding.unknown_role(role, parts.teams.members("", owner))
        if self.identity.session:
            now = parts.clock.now()
            holding.check_free(member, session, parts.sessions, parts.processes, now)
            return holding.take(role, session, parts.teams, parts.sessions, parts.processes, now).generation
        if member.lease is None or member.lease.session != session.id:
            raise holding.held_by(member, owner, parts.sessions)
        return member.lease.generation

    def _gone(self, mailbox: str, owner: str, session: Session) -> Ordinal | None:
        """Return which arming watches the mailbox for a session that is gone; ``None`` for none."""
        former = self._parts.monitors.monitor(mailbox, owner)
        is_gone = former is not None and former.session != session.id and self._is_lost(former)
        return ordinal(former) if former and is_gone else None

    def _proof(self, mailbox: str, token: str) -> Proof | None:
        """Return who asks; ``None`` where nobody armed the mailbox."""
        parse_address(mailbox)
        monitor = self._parts.monitors.monitor(mailbox, self.identity.owner)
        if monitor is None:
            return None
        is_itself = self.identity.session == monitor.session
        if is_itself or not self.identity.session:
            self._check_proven(token)
        over = ordinal(monitor) if self._is_lost(monitor, is_itself=is_itself) else None
        return Proof(token, self.identity.session, over)

    def _check_proven(self, token: str = "") -> None:
        """Refuse whoever only claims to be a session, or dropped that claim. An arming's token proves enough.

        Raises:
            Forbidden: Nothing proves who asks, or another process is that session.
        """
        identity = self.identity
        if token:
            return
        if identity.session:
            holding.proven_session(identity, self._parts.sessions, self._parts.is_ours)
        elif not identity.verified:
            raise Forbidden(
                "nothing proved who asks, so that nothing is changed about who is woken",
                remedy="run it in the session that is woken, or yourself at a terminal",
            )

    def _is_lost(self, monitor: Monitor, *, is_itself: bool = False) -> bool:
        """Tell whether the session of a monitor is gone, or holds the role no longer under which it armed.

        Args:
            monitor: Which.
            is_itself: Whether it is this session that asks, so that it is heard of.
        """
        parts = self._parts
        # By the clock, whatever time a check was told to go by: leases and sessions are other people's, too.
        now = parts.clock.now()
        session = parts.sessions.session(monitor.session, monitor.owner)
        if session is None:
            return True
        if parse_address(monitor.mailbox).home is not Home.ROLE:
            return not is_itself and self._is_gone(session, now)
        member = parts.teams.member(monitor.mailbox, monitor.owner)
        if member is None or member.lease is None or member.lease.session != monitor.session:
            return True
        if is_itself:
            lease = holding.renew(member, session, parts.teams, parts.sessions, parts.processes, now)
            return lease is None or lease.generation != monitor.generation
        standing = holding.standing_of(member, monitor.owner, parts.sessions, parts.processes, now)
        is_held = standing is not None and not standing.may_be_taken
        return not is_held or member.lease.generation != monitor.generation or self._is_gone(session, now)

    def _is_gone(self, session: Session, now: datetime) -> bool:
        presence = identifying.presence_of(session, self._parts.processes, now, self._parts.settings.session_ttl)
        return presence in (Presence.GONE, Presence.DETACHED)

    def _told(self, mailbox: str, token: str, step: Callable[[Monitor | None, Proof], Step]) -> Answer:
        proof = self._proof(mailbox, token)
        return NONE if proof is None else self._change(mailbox, lambda kept: step(kept, proof))

    def _change(self, mailbox: str, step: Callable[[Monitor | None], Step]) -> Answer:
        answer = self._parts.monitors.change(mailbox, self.identity.owner, lambda kept, _: step(kept))
        return self._attuned(mailbox, answer)

    def _attuned(self, mailbox: str, answer: Answer) -> Answer:
        if answer.word in (Word.INACTIVE, Word.EXPIRED):
            disarming.attune(mailbox, self.identity.owner, self._parts.monitors, self._parts.doorbells)
        return answer

    def _effect(self, monitor: Monitor, now: datetime) -> tuple[Hearing, Mode, str]:
        processes = self._parts.processes
        presence = processes.presence(monitor.receiver) if monitor.receiver else Presence.UNKNOWN
        hearing = hearing_of(monitor, presence, now)
        return (hearing, *mode_of(monitor, hearing, now, is_lost=self._is_lost(monitor)))

    def _outlook(self, monitor: Monitor, now: datetime) -> Outlook:
        parts = self._parts
        sight, trouble = None, ""
        try:
            sight = parts.all_sights.look(monitor.mailbox, monitor.owner, whole=True)
        except RestanteError as error:
            trouble = error.message
        hearing, mode, reason = self._effect(monitor, now)
        return Outlook(monitor.mailbox, monitor, sight, trouble, hearing, mode, reason)
