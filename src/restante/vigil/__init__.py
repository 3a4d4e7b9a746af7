"""Monitors: who is woken when mail comes to a mailbox. The public Python API beside ``exchange`` and ``roster``.

    >>> from restante import Draft
    >>> from restante.domain.registry import Arrival, Identity
    >>> from restante.wiring.monitors import open_vigil
    >>> from restante.wiring.sessions import open_exchange
    >>> exchange = open_exchange({"RESTANTE_DATA": "data"}, holds_mail=True)
    >>> exchange.window(Identity()).register(Arrival("session-worker", vendor="codex")).id
    'session-worker'
    >>> vigil = open_vigil({"RESTANTE_DATA": "data"})
    >>> vigil.arm("session:session-worker", session="session-worker").word.value
    'active'
    >>> vigil.stop("session:session-worker").word.value
    'inactive'

A vigil serves one caller: a session, which watches for itself; a person; or the program that hosts receivers, which is
no session. It reads numbers of mailboxes and never a letter of their mail, marks nothing, and starts nothing: it says
when a session has to be woken, once, and keeps what became of it. A mailbox that nobody armed is not looked at.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from restante.domain import monitoring, tending
from restante.domain.address import Home, parse_address
from restante.domain.arming import Arming, check_token
from restante.domain.errors import UsageError
from restante.domain.monitor import Plan
from restante.domain.monitoring import NONE, Proof
from restante.domain.outlook import NO_WAITER, WAITS_ITSELF, Hearing, Mode, Outlook, mode_of
from restante.domain.registry import Identity
from restante.services import arming, disarming
from restante.services import monitoring as looking
from restante.vigil.ground import Ground
from restante.vigil.parts import VigilParts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from restante.domain.monitor import Monitor
    from restante.domain.monitoring import Answer
    from restante.domain.registry import Process

__all__ = ["Vigil", "VigilParts"]


class Vigil(Ground):
    """Keeps monitors, for one caller. Errors are those of ``domain.errors``.

    Args:
        parts: What it is made of.
        identify: Tells who asks; asked when it is first needed.
        rules: The measures of the machine.
    """

    def hosting(self, owner: str = "") -> Vigil:
        """Return the vigil of a program that hosts receivers for an owner."""
        return Vigil(self._parts, lambda: Identity(owner, verified=True), self._rules)

    # -- beginning -----------------------------------------------------------------------------------------

    def arm(
        self,
        mailbox: str,
        *,
        session: str = "",
        plan: Plan = Plan.EVENT,
        adapter: str = "",
        token: str = "",
        time_to_live: timedelta | None = None,
        only_prepares: bool = False,
        now: datetime | None = None,
    ) -> Answer:
        """Watch a mailbox for a session, which then is woken when mail comes. Arming again begins its time anew.

        A role is taken by it where the session does not hold it yet and nobody does.

        Args:
            mailbox: Its address.
            session: Which session is woken; empty for the one that asks.
            plan: What drives it.
            adapter: How it is woken; empty for the usual way of its agent program.
            token: What proves that a check belongs to this arming; empty for one of our own.
            time_to_live: How long it lasts without a sign of life; ``None`` for as long as is usual.
            only_prepares: Leave it exactly as it is where it is armed in the same way.
            now: The time; the clock's if it is not given.

        Raises:
            BadAddress: It is no address.
            UsageError: Such a mailbox cannot be watched, nobody is named to be woken, or the token is none.
            NothingThere: The role has not joined, or the session is not there.
            RoleHeld: Another session holds the role, or the mailbox is watched for another one.
            Forbidden: A session asks for another one, or for a way that only a person chooses; or nothing proves that
                it is what it says.
        """
        parts, owner, now = self._parts, self.identity.owner, self._now(now)
        home = parse_address(mailbox).home
        if home is Home.OACP:
            raise UsageError(f"{mailbox} cannot be watched yet", remedy="watch a role, a session or a worktree")
        self._check_proven()
        found = arming.session_to_wake(session, self.identity, parts.sessions)
        is_person = not self.identity.session
        if home is Home.SESSION and mailbox != found.address:
            raise UsageError(f"{mailbox} is another session's mailbox", remedy=f"watch {found.address}")
        wanted = Arming(
            mailbox,
            owner,
            found.id,
            found.vendor,
            self._generation(mailbox, found) if home is Home.ROLE else 0,
            plan,
            "scheduled" if plan is Plan.SCHEDULED else parts.adapter(found.vendor, adapter, is_person=is_person),
            check_token(token) if token else parts.new_token(),
            is_given=bool(token),
            gone=self._gone(mailbox, owner, found),
            time_to_live=time_to_live,
        )
        answer = arming.keep(wanted, now, parts.monitors, only_prepares=only_prepares)
        disarming.attune(mailbox, owner, parts.monitors, parts.doorbells)
        armed = answer.monitor
        if armed and armed.adapter in WAITS_ITSELF and not parts.doorbells.has_waiter(armed.session):
            kept = self.hindered(mailbox, NO_WAITER, token=armed.token)
            return answer._replace(monitor=kept.monitor or armed)
        return answer

    # -- looking -------------------------------------------------------------------------------------------

    def check(
        self,
        mailbox: str,
        *,
        token: str = "",
        is_forced: bool = False,
        healthy_within: timedelta | None = None,
        retry: timedelta | None = None,
        now: datetime | None = None,
    ) -> Answer:
        """Tell whether the session of a mailbox has to be woken now; of many who ask at once one is told so.

        Args:
            mailbox: Its address.
            token: What proves the arming; empty for the session itself, a person, or a host.
            is_forced: Look although the schedule says not yet.
            healthy_within: Leave it to the receiver if that was heard of so recently.
            retry: After how long a wake that led to nothing is made again; by the rules if it is not given.
            now: The time; the clock's if it is not given.

        Raises:
            Busy: The database is in use.
        """
        parts, owner, now = self._parts, self.identity.owner, self._now(now)
        proof = self._proof(mailbox, token)
        if proof is None:
            return NONE
        decide = partial(
            monitoring.check,
            now=now,
            proof=proof,
            is_forced=is_forced,
            healthy_within=healthy_within,
            retry=retry,
            rules=self._rules,
        )
        answer = looking.check(
            mailbox,
            owner,
            decide,
            proof,
            parts.monitors,
            parts.all_sights,
            now,
            is_seen_within=parse_address(mailbox).home is Home.ROLE,
        )
        return self._attuned(mailbox, answer)

    # -- being told ----------------------------------------------------------------------------------------

    def heartbeat(self, mailbox: str, *, token: str = "", now: datetime | None = None) -> Answer:
        """Keep that the session of a mailbox was heard of; a monitor in error wakes again."""
        now = self._now(now)
        return self._told(mailbox, token, lambda kept, proof: tending.heartbeat(kept, now, proof))

    def beat(self, mailbox: str, receiver: Process | None = None) -> Answer:
        """Keep that a receiver listens for a mailbox. That mends no error and makes nothing last longer."""
        now = self._parts.clock.now()
        return self._change(mailbox, lambda kept: tending.beat(kept, now, receiver))

    def delivered(self, mailbox: str, mark: int, *, token: str = "", now: datetime | None = None) -> Answer:
        """Keep that mail was collected up to a mark that a check told.

        Raises:
            UsageError: No check told it.
        """
        now = self._now(now)
        return self._told(mailbox, token, lambda kept, proof: tending.delivered(kept, now, proof, mark))

    def failed(
        self, mailbox: str, mark: int, reason: str = "", *, token: str = "", now: datetime | None = None
    ) -> Answer:
        """Keep that the wake for a mark failed, and why, in a sentence without a word of mail.

        Raises:
            UsageError: No wake was made for it.
        """
        now, rules = self._now(now), self._rules
        return self._told(mailbox, token, lambda kept, proof: tending.failed(kept, now, proof, mark, reason, rules))

    def confirmed(self, mailbox: str, mark: int, *, token: str) -> Answer:
        """Keep that the wake for a mark reached its session.

        Args:
            mailbox: Its address.
            mark: As the check told it.
            token: That of the monitor that the check answered with: the mailbox may be another session's since.
        """
        return self._change(mailbox, lambda kept: tending.confirmed(kept, mark, token))

    def hindered(self, mailbox: str, reason: str, *, mark: int = 0, token: str = "") -> Answer:
        """Keep why no visible way leads to the session now; with an empty reason, that one may.

        Args:
            mailbox: Its address.
            reason: Why.
            mark: That of the wake which was to be made, so that it counts as none; 0 for no wake.
            token: That of the monitor which this is about: the mailbox may be another session's since.
        """
        return self._change(mailbox, lambda kept: tending.hindered(kept, reason, mark, token))

    def scheduled(self, mailbox: str, interval: int, *, token: str = "", now: datetime | None = None) -> Answer:
        """Keep at which interval, in seconds, the agent program's own task runs from now on.

        Raises:
            UsageError: It is none of those that a check asks for.
        """
        now = self._now(now)
        return self._told(mailbox, token, lambda kept, proof: tending.scheduled(kept, proof, interval))

    def automated(
        self, mailbox: str, automations: Sequence[str], *, token: str = "", now: datetime | None = None
    ) -> Answer:
        """Keep ids of the agent program's own tasks, which are told once, when they have to be removed."""
        now, ids = self._now(now), tuple(automations)
        return self._told(mailbox, token, lambda kept, proof: tending.automated(kept, proof, ids))

    # -- ending --------------------------------------------------------------------------------------------

    def stop(self, mailbox: str, *, token: str = "") -> Answer:
        """Watch a mailbox no longer. Stopping again changes nothing; the ids of tasks to be removed are told once.

        Raises:
            Forbidden: Nothing proves who asks.
        """
        parts = self._parts
        self._proof(mailbox, token)
        proof = Proof(token, self.identity.session)
        return disarming.stop(mailbox, self.identity.owner, proof, parts.monitors, parts.doorbells)

    def reset(self, worktree: str) -> list[Answer]:
        """Watch nothing any more for a worktree: neither its mailbox nor what its sessions armed."""
        self._check_proven()
        parts, owner = self._parts, self.identity.owner
        here = [one.id for one in parts.sessions.all(owner) if one.worktree == worktree]
        return disarming.worktree_reset(worktree, owner, here, parts.monitors, parts.doorbells)

    def role_dropped(self, role: str, session: str) -> tuple[str, ...]:
        """Watch a role no longer for a session that let go of it; return ids of tasks that are to be removed."""
        parts = self._parts
        return disarming.role_dropped(role, self.identity.owner, session, parts.monitors, parts.doorbells)

    def role_left(self, role: str) -> tuple[str, ...]:
        """Watch a role no longer that left its team; return ids of tasks that are to be removed."""
        parts = self._parts
        return disarming.role_left(role, self.identity.owner, parts.monitors, parts.doorbells)

    def session_ended(self, session: str) -> list[Answer]:
        """Watch nothing any more for a session that ended."""
        return disarming.session_ended(session, self._parts.monitors, self._parts.doorbells)

    def sweep(self) -> list[Answer]:
        """End all monitors, of all owners, that are past their time or whose session or lease is lost; return those."""
        parts, now = self._parts, self._parts.clock.now()
        return disarming.swept(now, self._is_lost, parts.monitors, parts.doorbells)

    def attune(self, mailbox: str) -> None:
        """Let a mailbox have a bell exactly if a receiver's monitor stands: whoever armed it may have been killed."""
        disarming.attune(mailbox, self.identity.owner, self._parts.monitors, self._parts.doorbells)

    # -- seeing --------------------------------------------------------------------------------------------

    def effect(self, monitor: Monitor, *, now: datetime | None = None) -> tuple[Mode, str]:
        """Return what really happens when mail comes, and why that is only a look in the next turn; see ``Mode``."""
        return self._effect(monitor, self._now(now))[1:]

    def outlook(self, mailbox: str, *, now: datetime | None = None) -> Outlook:
        """Tell how the monitor of a mailbox stands. One that nobody armed is not looked at."""
        parse_address(mailbox)
        monitor = self._parts.monitors.monitor(mailbox, self.identity.owner)
        if monitor is None:
            mode, reason = mode_of(None, Hearing.NONE, self._now(now))
            return Outlook(mailbox, None, None, "", Hearing.NONE, mode, reason)
        return self._outlook(monitor, self._now(now))

    def outlooks(self, *, now: datetime | None = None) -> list[Outlook]:
        """Tell how all monitors of the owner stand."""
        now = self._now(now)
        return [self._outlook(one, now) for one in self._parts.monitors.all(self.identity.owner)]

    def standing(self) -> list[Monitor]:
        """Return the monitors of all owners that are neither stopped nor over."""
        return [one for one in self._parts.monitors.all() if monitoring.stands(one)]
