"""What a monitor is told while it stands, as pure steps: signs of life, what became of wakes, what was collected.

See ``domain.monitoring``.
"""

from datetime import datetime

from restante.domain.backoff import INTERVALS
from restante.domain.errors import UsageError
from restante.domain.monitor import Monitor, MonitorState, Plan
from restante.domain.monitoring import (
    NONE,
    RULES,
    Answer,
    Proof,
    Rules,
    Step,
    Word,
    belongs,
    expired,
    mended,
    rested,
    stands,
    steadied,
)
from restante.domain.registry import Process


def heartbeat(monitor: Monitor | None, now: datetime, proof: Proof) -> Step:
    """Keep that the session was heard of: a receiver's monitor lasts anew, and one in error wakes again."""
    if monitor is None or not belongs(monitor, proof):
        return monitor, NONE
    monitor = steadied(monitor, now)
    if not stands(monitor):
        return monitor, Answer(Word(monitor.state), monitor)
    if proof.is_over or now > monitor.expires:
        return expired(monitor)
    if monitor.state is MonitorState.ERROR:
        monitor = mended(monitor)
    alive = lasting(monitor._replace(heartbeat=now, hindrance=""), now)
    return alive, Answer(Word.ACTIVE, alive)


def lasting(monitor: Monitor, now: datetime) -> Monitor:
    """Return a monitor whose session was heard of; only new mail makes a scheduled one last longer."""
    return monitor._replace(expires=now + monitor.time_to_live) if monitor.plan is Plan.EVENT else monitor


def beat(monitor: Monitor | None, now: datetime, receiver: Process | None) -> Step:
    """Keep that the receiver listens. Says nothing of the session: it neither mends an error nor puts off the end."""
    if monitor is None or not stands(monitor):
        return monitor, NONE
    alive = monitor._replace(heartbeat=now, receiver=receiver)
    return alive, Answer(Word(alive.state), alive)


def delivered(monitor: Monitor | None, now: datetime, proof: Proof, mark: int) -> Step:
    """Keep that mail was collected up to a mark that was told by a check.

    Raises:
        UsageError: No check told this mark.
    """
    if monitor is None or not belongs(monitor, proof):
        return monitor, NONE
    if not stands(monitor):
        return monitor, Answer(Word(monitor.state), monitor)
    if mark < 1 or mark not in (monitor.last_seen, monitor.last_delivered, *monitor.offered):
        raise UsageError(
            f"{mark} is no mark that a check told", remedy="give the max_id of the wake: restante monitor status"
        )
    kept = steadied(monitor, now)
    told = (
        _collected(kept, now, mark)
        if mark >= kept.pending
        else kept._replace(last_delivered=max(kept.last_delivered, mark))
    )
    return told, Answer(Word.DELIVERED, told, 0, mark)


def collected(monitor: Monitor | None, now: datetime, proof: Proof, mark: int) -> Step:
    """Keep that the session read its mail up to a mark, whatever wakes there were."""
    if monitor is None or not stands(monitor) or not belongs(monitor, proof):
        return monitor, NONE
    monitor = steadied(monitor, now)
    if mark < monitor.pending:
        monitor = lasting(monitor, now)
        return monitor, Answer(Word(monitor.state), monitor)
    read = _collected(monitor, now, mark)
    return read, Answer(Word.DELIVERED, read, 0, mark)


def _collected(monitor: Monitor, now: datetime, mark: int) -> Monitor:
    done = rested(monitor, mark)._replace(collected=now, last_seen=max(monitor.last_seen, mark))
    return lasting(mended(done), now)


def confirmed(monitor: Monitor | None, mark: int, token: str) -> Step:
    """Keep that the wake for a mark reached its session."""
    if monitor is None or monitor.token != token or mark not in monitor.offered:
        return monitor, NONE
    woken = monitor._replace(last_woken=max(monitor.last_woken, mark), failures=0, last_error="", hindrance="")
    return woken, Answer(Word(woken.state), woken, 0, mark)


def failed(
    monitor: Monitor | None, now: datetime, proof: Proof, mark: int, reason: str = "", rules: Rules = RULES
) -> Step:
    """Keep that the wake for a mark failed; after some in a row no more are made until the session is heard of.

    Raises:
        UsageError: No wake was made for this mark.
    """
    if monitor is None or not belongs(monitor, proof):
        return monitor, NONE
    if not stands(monitor):
        return monitor, Answer(Word(monitor.state), monitor)
    if mark not in monitor.offered:
        raise UsageError(
            f"no wake was made for mark {mark}", remedy="give the max_id of the wake: restante monitor status"
        )
    if mark < monitor.pending:
        # A later wake is on its way already, and tells as much.
        return monitor, Answer(Word(monitor.state), monitor, 0, mark)
    failures = monitor.failures + 1
    state = MonitorState.ERROR if failures >= rules.failures else monitor.state
    error = reason or "the wake failed"
    bad = steadied(monitor, now)._replace(failures=failures, state=state, last_error=error)
    return bad, Answer(Word(state), bad, 0, mark)


def hindered(monitor: Monitor | None, reason: str) -> Step:
    """Keep why no visible way leads to the session now. A wake that was not made for that counts as none."""
    if monitor is None or not stands(monitor):
        return monitor, NONE
    if reason and monitor.pending:
        offered = monitor.offered[:-1] if monitor.tries <= 1 else monitor.offered
        monitor = monitor._replace(
            pending=0,
            pending_at=None,
            tries=0,
            backlog=max(0, monitor.backlog - 1),
            offered=offered,
        )
    told = monitor._replace(hindrance=reason)
    return told, Answer(Word(told.state), told)


def scheduled(monitor: Monitor | None, proof: Proof, interval: int) -> Step:
    """Keep at which interval the task runs from now on.

    Raises:
        UsageError: It is none of those that a check asks for.
    """
    if interval not in INTERVALS:
        known = ", ".join(map(str, INTERVALS))
        raise UsageError(f"{interval} is no interval of the schedule", remedy=f"one of: {known} (seconds)")
    if monitor is None or not belongs(monitor, proof):
        return monitor, NONE
    if not stands(monitor):
        return monitor, Answer(Word(monitor.state), monitor)
    told = monitor._replace(interval=interval)
    return told, Answer(Word.SCHEDULED, told)
