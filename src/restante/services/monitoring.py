"""Looking whether a monitored mailbox has to wake its session, without reading a letter of its mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import Busy, StorageFailed
from restante.domain.monitor import Sight
from restante.domain.monitoring import NONE, Answer, Word, unlooked
from restante.domain.tending import collected

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.domain.mailbox import Counts
    from restante.domain.monitor import Monitor
    from restante.domain.monitoring import Proof, Step
    from restante.ports import Clock
    from restante.ports.monitoring import Monitors, Sights

# Each time somebody else decided meanwhile; then they wake, and need no help.
_ATTEMPTS = 5


def check(
    mailbox: str,
    owner: str,
    decide: Callable[[Monitor | None, Sight], Step],
    proof: Proof,
    monitors: Monitors,
    sights: Sights,
    now: datetime,
    *,
    is_seen_within: bool,
) -> Answer:
    """Look at a mailbox and decide in one step, so that of many who look at once one wakes.

    A mailbox that nobody armed is not looked at, nor is one whose monitor would say the same whatever is in it.

    Args:
        mailbox: Its address.
        owner: Whose.
        decide: The step; see ``domain.monitoring.check``.
        proof: Who asks.
        monitors: Where monitors are kept.
        sights: Where numbers come from.
        now: The time.
        is_seen_within: Whether the step is given the mailbox's numbers with what is kept, of one moment.

    Raises:
        Busy: Others decide about this mailbox all the time, or its database is in use.
    """
    for _ in range(_ATTEMPTS):
        before = monitors.monitor(mailbox, owner)
        if before is None:
            return NONE
        if is_seen_within or decide(before, Sight())[1].word not in (Word.IDLE, Word.EXPIRED):
            return monitors.change(mailbox, owner, decide)
        try:
            sight, reason = sights.look(mailbox, owner), ""
        except StorageFailed as error:
            sight, reason = Sight(), error.message
        step = _if_unchanged(before, sight, reason, decide, proof, now)
        if (answer := monitors.change(mailbox, owner, step)) is not None:
            return answer
    raise Busy(f"others decide about {mailbox} all the time", remedy="try again")


def _if_unchanged(
    before: Monitor,
    sight: Sight,
    reason: str,
    decide: Callable[[Monitor | None, Sight], Step],
    proof: Proof,
    now: datetime,
) -> Callable[[Monitor | None, Sight], tuple[Monitor | None, Answer | None]]:
    """Return the step that decides by a look from before, unless a later look has decided something since."""

    def step(monitor: Monitor | None, _: Sight) -> tuple[Monitor | None, Answer | None]:
        if monitor is None or _decided(monitor) != _decided(before):
            return monitor, None
        if reason:
            return unlooked(monitor, sight, now, proof, reason)
        return decide(monitor, sight)

    return step


def _decided(monitor: Monitor) -> Monitor:
    return monitor._replace(heartbeat=None, receiver=None, last_checked=None, interval=0, automations=())


def note_collected(
    mailbox: str, owner: str, session: str, counts: Callable[[], Counts], monitors: Monitors, clock: Clock
) -> None:
    """Keep that a session read its mail, so that it is not woken for that. Never raises; a look where nobody armed.

    Args:
        mailbox: Its address.
        owner: Whose.
        session: Which session.
        counts: Returns the numbers of the mailbox after the reading.
        monitors: Where monitors are kept.
        clock: Where time comes from.
    """
    try:
        if monitors.monitor(mailbox, owner) is not None:
            numbers = counts()
            left = numbers.high_water if numbers.unseen else 0
            monitors.change(mailbox, owner, lambda kept, _: collected(kept, clock.now(), session, left))
    except (StorageFailed, Busy):
        # Reading must not fail by it: the next check sees that nothing is unseen.
        return
