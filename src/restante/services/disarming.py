"""How the watching of a mailbox ends: one function for each way. Each may be called again, and touches nothing else.

Where it ends, the bell goes first and is put back where a monitor stands after all, so that a race leaves a bell that
nobody needs at worst, and no monitor that hears nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.arming import deactivate, disarm, expire
from restante.domain.errors import Damaged
from restante.domain.monitor import Plan
from restante.domain.monitoring import Proof, Word, ordinal, stands, steadied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from restante.domain.monitor import Monitor
    from restante.domain.monitoring import Answer, Ordinal, Step
    from restante.ports.monitoring import Doorbells, Monitors

# What this adapter wakes waits in the session, under the session's id.
_WAITS_ITSELF = "claude-rewake"


def attune(mailbox: str, owner: str, monitors: Monitors, doorbells: Doorbells) -> None:
    """Let a mailbox have a bell exactly if a receiver's monitor stands."""
    if not _expects(mailbox, owner, monitors, doorbells):
        doorbells.forget(mailbox)
        # Whoever armed it meanwhile may have put up the bell that was just taken away.
        _expects(mailbox, owner, monitors, doorbells)


def _expects(mailbox: str, owner: str, monitors: Monitors, doorbells: Doorbells) -> bool:
    monitor = monitors.monitor(mailbox, owner)
    if not _is_heard(monitor):
        monitor = _of_another(mailbox, owner, monitors)
    if monitor is None:
        return False
    doorbells.expect(mailbox, monitor.session if monitor.adapter == _WAITS_ITSELF else "")
    return True


def _is_heard(monitor: Monitor | None) -> bool:
    return monitor is not None and stands(monitor) and monitor.plan is Plan.EVENT


def _of_another(mailbox: str, owner: str, monitors: Monitors) -> Monitor | None:
    """Return the monitor of another owner who needs the bell: it goes by the address, which both may have."""
    others = (one for one in monitors.all() if one.mailbox == mailbox and one.owner != owner)
    return next(filter(_is_heard, others), None)


def stop(mailbox: str, owner: str, proof: Proof, monitors: Monitors, doorbells: Doorbells) -> Answer:
    """Watch a mailbox no longer because its session, or a person, says so: ``mode off``, ``mode turn``, ``stop``."""
    return _end(mailbox, owner, lambda monitor: disarm(monitor, proof), monitors, doorbells)


def role_dropped(role: str, owner: str, session: str, monitors: Monitors, doorbells: Doorbells) -> tuple[str, ...]:
    """Watch a role no longer for a session that let go of it; return ids of tasks that are to be removed."""
    return stop(role, owner, Proof(session=session), monitors, doorbells).automations


def role_left(role: str, owner: str, monitors: Monitors, doorbells: Doorbells) -> tuple[str, ...]:
    """Watch a role no longer that left its team; return ids of tasks that are to be removed."""
    return stop(role, owner, Proof(), monitors, doorbells).automations


def worktree_reset(
    worktree: str, owner: str, sessions: Iterable[str], monitors: Monitors, doorbells: Doorbells
) -> list[Answer]:
    """Watch nothing any more for a worktree: neither its own mailbox nor what its sessions armed.

    Args:
        worktree: Its top level.
        owner: Whose monitors.
        sessions: Ids of the sessions that work there.
        monitors: Where monitors are kept.
        doorbells: Their bells.
    """
    here = set(sessions)
    found = [one for one in monitors.all(owner) if one.mailbox == f"worktree:{worktree}" or one.session in here]
    return [stop(one.mailbox, owner, Proof(), monitors, doorbells) for one in found]


def session_ended(session: str, monitors: Monitors, doorbells: Doorbells) -> list[Answer]:
    """Watch nothing any more for a session that ended. It can be told nothing now: ids of tasks are kept for later."""
    return [
        _end(one.mailbox, one.owner, lambda kept: deactivate(kept, session), monitors, doorbells)
        for one in monitors.of_session(session)
    ]


def swept(now: datetime, is_lost: Callable[[Monitor], bool], monitors: Monitors, doorbells: Doorbells) -> list[Answer]:
    """End all monitors that are past their time, or whose session or lease is lost; return those that it ended.

    Args:
        now: The time.
        is_lost: Tells whether the session of a monitor is gone, or holds the role no longer.
        monitors: Where monitors are kept.
        doorbells: Their bells.
    """
    over = []
    for one in monitors.all():
        if not stands(one):
            continue
        lost = is_lost(one)
        if not lost and now <= steadied(one, now).expires:
            continue
        looked_at = ordinal(one)

        def step(kept: Monitor | None, looked_at: Ordinal = looked_at, *, lost: bool = lost) -> Step:
            # Armed anew since: that one was not looked at.
            is_it = kept is not None and ordinal(kept) == looked_at
            return expire(kept, now, is_lost=lost and is_it)

        answer = _end(one.mailbox, one.owner, step, monitors, doorbells)
        if answer.word is Word.EXPIRED:
            over.append(answer)
    return over


def _end(
    mailbox: str, owner: str, step: Callable[[Monitor | None], Step], monitors: Monitors, doorbells: Doorbells
) -> Answer:
    if _ends(mailbox, owner, step, monitors):
        doorbells.forget(mailbox)
    try:
        return monitors.change(mailbox, owner, lambda monitor, _: step(monitor))
    finally:
        attune(mailbox, owner, monitors, doorbells)


def _ends(mailbox: str, owner: str, step: Callable[[Monitor | None], Step], monitors: Monitors) -> bool:
    """Tell whether nobody needs the bell after a step, as far as is known now.

    Taking it away ends a session's waiter, which nobody may bring about whose word ends nothing.
    """
    try:
        kept = monitors.monitor(mailbox, owner)
    except Damaged:
        kept = None
    return not _is_heard(step(kept)[0]) and _of_another(mailbox, owner, monitors) is None
