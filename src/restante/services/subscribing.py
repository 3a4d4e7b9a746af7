"""Subscriptions: who wants to be woken once. Nothing is watched for them; whoever posts, or comes by, acts on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.arming import Arming
from restante.domain.awaiting import arm_once, check_states, check_word, expiry_note, matches
from restante.domain.errors import UsageError
from restante.domain.message import Draft, Sender
from restante.domain.monitor import Plan, Subscription

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from restante.domain.monitor import Signal
    from restante.domain.registry import Session
    from restante.domain.team import Lease
    from restante.ports import Ids
    from restante.ports.monitoring import Monitors, Subscriptions
    from restante.ports.teams import RoleBoxes

# As whom an expiry is reported. No caller is called so.
_SYSTEM = Sender("restante", True)


def subscribe(
    role: str,
    owner: str,
    action: str,
    correlation: str,
    states: Sequence[str],
    *,
    session: str,
    expires: datetime,
    report_only: bool,
    reports_expiry: bool,
    subscriptions: Subscriptions,
    ids: Ids,
    now: datetime,
) -> Subscription:
    """Keep that a role wants to be woken once.

    Raises:
        UsageError: A word is none, or its time is over before it begins.
    """
    if expires <= now:
        raise UsageError("the subscription would be over before it begins", remedy="--expires 2h, for example")
    made = Subscription(
        ids.new("sub", now),
        role,
        owner,
        check_word(action, "an action"),
        check_word(correlation, "a run of an action"),
        check_states(tuple(states)),
        session,
        report_only,
        now,
        expires,
        reports_expiry,
    )
    subscriptions.add(made)
    return made


def settle(
    role: str,
    owner: str,
    signal: Signal,
    holder: tuple[Lease, Session] | None,
    way: Callable[[str], str],
    subscriptions: Subscriptions,
    monitors: Monitors,
    now: datetime,
) -> list[Subscription]:
    """Take the subscriptions away that a message ends, and arm the role for a single wake; in the caller's transaction.

    Args:
        role: Whose mailbox the message came to.
        owner: Whose role.
        signal: What the message says.
        holder: Who holds the role now; ``None`` for nobody, who then cannot be woken: the message waits for whoever
            takes the role.
        way: Returns how sessions of an agent program are woken, by its name.
        subscriptions: Where they are kept.
        monitors: Where monitors are.
        now: The time.

    Returns:
        Those that were taken, whether somebody is woken or not.
    """
    # One whose time is over is another's to report: it wakes nobody.
    taken = [one for one in subscriptions.take_matching(role, owner, [signal]) if matches(one, signal, now)]
    if not taken or holder is None:
        return taken
    lease, session = holder
    # Who subscribed and holds the role no longer is not woken for it, and nobody else asked for that.
    meant = [one for one in taken if one.session in ("", lease.session)]
    if meant:
        arming = Arming(
            role,
            owner,
            lease.session,
            session.vendor,
            lease.generation,
            Plan.EVENT,
            way(session.vendor),
            meant[0].id,
        )
        # One wake for all of them; it may answer if one of them may.
        only_reports = all(one.report_only for one in meant)
        monitors.change(role, owner, lambda kept, _: arm_once(kept, now, arming, only_reports=only_reports))
    return taken


def expire(subscriptions: Subscriptions, boxes: RoleBoxes, now: datetime) -> list[Subscription]:
    """Take away what is over, and report it where that was asked for: as a note in the role's own mailbox.

    Returns:
        Those that were taken; each is given to one caller only.
    """
    over = subscriptions.take_expired(now)
    for one in over:
        if one.reports_expiry:
            draft = Draft(expiry_note(one), sender=_SYSTEM, type="note", client_id=one.id)
            boxes.post(one.mailbox, one.owner, draft)
    return over
