"""Being woken once: subscriptions of one caller, and what becomes of them when somebody posts or comes by."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, StorageFailed
from restante.domain.ids import is_well_formed, resolve
from restante.domain.team import parse_role
from restante.roster.seats import Seats
from restante.services import disarming, subscribing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from restante.domain.mailbox import Posted
    from restante.domain.message import Draft
    from restante.domain.monitor import Signal, Subscription
    from restante.domain.team import Member


class Awaiting(Seats):
    """Keeps who wants to be woken once; see ``Roster``."""

    def subscribe(
        self,
        role: str,
        action: str,
        correlation: str,
        states: Sequence[str],
        *,
        expires: datetime,
        report_only: bool = False,
        reports_expiry: bool = False,
    ) -> Subscription:
        """Have a role's holder woken once, by the first message about a run of an action that says one of some states.

        A session subscribes for itself, to a role that it holds; a person for whoever holds the role then.

        Args:
            role: To which role the message will be posted.
            action: Which action.
            correlation: Which run of it.
            states: What ends the waiting.
            expires: When it is over.
            report_only: Whoever is woken only reports: marks and answers nothing.
            reports_expiry: Report, once, when it is over and nothing came.

        Raises:
            NothingThere: No such role has joined.
            RoleHeld: The calling session does not hold it.
            UsageError: A word is none, or its time is over already.
        """
        parts, identity = self._parts, self.identity
        member = self._member(parse_role(role))
        session = self.check_holder(member.role).session if identity.session else ""
        self.notice_expiries()
        return subscribing.subscribe(
            member.role,
            identity.owner,
            action,
            correlation,
            states,
            session=session,
            expires=expires,
            report_only=report_only,
            reports_expiry=reports_expiry,
            subscriptions=parts.subscriptions,
            ids=parts.ids,
            now=parts.clock.now(),
        )

    def subscriptions(self) -> list[Subscription]:
        """Return the owner's subscriptions that nothing ended yet, in the order they were made."""
        self.notice_expiries()
        return self._parts.subscriptions.all(self.identity.owner)

    def unsubscribe(self, subscription: str) -> Subscription | None:
        """Wait for it no longer; doing so again changes nothing and returns ``None``.

        Args:
            subscription: Its id, or a part that only it has.

        Raises:
            NothingThere: A part of an id fits none, or several.
            RoleHeld: Another session made it.
        """
        owner = self.identity.owner
        known = {one.id: one for one in self.subscriptions()}
        whole = subscription
        if not is_well_formed(subscription, "sub"):
            whole = resolve(subscription, known, what="subscription", remedy="restante subscriptions")
        found = known.get(whole)
        if found is None:
            return None
        if self.identity.session and found.session != self.identity.session:
            self.check_holder(found.mailbox)
        return found if self._parts.subscriptions.remove(whole, owner) else None

    def notice_expiries(self) -> int:
        """Take away the subscriptions that are over and report those that are to be; whoever comes by does this.

        Nothing waits for the time: it costs one look where there are roles at all.
        """
        parts = self._parts
        if not parts.has_roles:
            return 0
        with parts.roles_together():
            over = subscribing.expire(parts.subscriptions, parts.role_boxes, parts.clock.now())
        for role, owner in {(one.mailbox, one.owner) for one in over if one.reports_expiry}:
            member = parts.teams.member(role, owner)
            lease = member.lease if member else None
            self._ring(role, parts.sessions.session(lease.session, owner) if lease else None)
        return len(over)

    def _come_by(self) -> None:
        """Notice what is over beside an act of the caller's own, which must not fail by it: the next one notices it."""
        with suppress(StorageFailed, Busy):
            self.notice_expiries()

    def _post(self, member: Member, draft: Draft, signal: Signal | None) -> Posted:
        """Post to a role; what waits for such a message is taken away, and its wake is due, in the same step."""
        parts, owner = self._parts, self.identity.owner
        self._come_by()
        if signal is None or not parts.monitors:
            return parts.role_boxes.post(member.role, owner, draft, signal)
        now = parts.clock.now()
        with parts.roles_together():
            posted = parts.role_boxes.post(member.role, owner, draft, signal)
            holder = self._holder(member)
            taken = not posted.duplicate and subscribing.settle(
                member.role,
                owner,
                signal,
                (member.lease, holder) if member.lease and holder else None,
                parts.way_to_wake,
                parts.subscriptions,
                parts.monitors,
                now,
            )
        if taken:
            disarming.attune(member.role, owner, parts.monitors, parts.doorbells)
        return posted
