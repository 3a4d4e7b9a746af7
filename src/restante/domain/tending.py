"""What a monitor is told while it stands, as pure steps: signs of life, what became of wakes, what was collected.

See ``domain.monitoring``.
"""

from datetime import datetime, timedelta

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
    gate,
    mended,
    rested,
    stands,
    steadied,
)
from restante.domain.registry import Process

# Writing down each time that a session was heard of would cost a commit for every look into its mailbox.
_HEARD_OF = timedelta(seconds=60)


def heartbeat(monitor: Monitor | None, now: datetime, proof: Proof) -> Step:
    """Keep that the session was heard of: a receiver's monitor lasts anew, and one in error wakes again."""
    if gated := gate(monitor, proof, now):
        return gated
    assert monitor
    monitor = steadied(monitor, now)
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
    if gated := gate(monitor, proof):
        return gated
    assert monitor
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


def collected(monitor: Monitor | None, now: datetime, session: str, left: int) -> Step:
    """Keep that the session read its mail, whatever wakes there were.

    Args:
        monitor: What is kept.
        now: The time.
        session: Which session.
        left: The high-water mark of what it has not read; 0 for nothing.
    """
    if monitor is None or monitor.session != session or not stands(monitor) or now > monitor.expires:
        return monitor, NONE
    monitor = steadied(monitor, now)
    if left and left >= monitor.pending:
        # It read older ones, or there was nothing to collect: at least it lives.
        return _heard_of(monitor, now)
    if monitor.state is MonitorState.ACTIVE and not monitor.offered:
        return _heard_of(monitor, now)
    read = _collected(monitor, now, monitor.pending if left else max(monitor.pending, monitor.last_seen))
    return read, Answer(Word.DELIVERED, read, 0, read.last_delivered)


def _heard_of(monitor: Monitor, now: datetime) -> Step:
    if now + monitor.time_to_live - monitor.expires > _HEARD_OF:
        monitor = lasting(monitor, now)
    return monitor, Answer(Word(monitor.state), monitor)


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
    if gated := gate(monitor, proof):
        return gated
    assert monitor
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


def hindered(monitor: Monitor | None, reason: str, mark: int = 0, token: str = "") -> Step:
    """Keep why no visible way leads to the session now. A wake that was not made for that counts as none.

    Args:
        monitor: What is kept.
        reason: Why; empty for that one may.
        mark: Of the wake that was to be made; 0 where it is only looked at.
        token: That of the monitor which was looked at, or which the wake was for; empty for whichever stands.
    """
    if monitor is None or not stands(monitor) or token not in ("", monitor.token):
        return monitor, NONE
    if reason and mark and mark == monitor.pending:
        monitor = _unmade(monitor)
    told = monitor._replace(hindrance=reason)
    return told, Answer(Word(told.state), told)


def _unmade(monitor: Monitor) -> Monitor:
    """Return a monitor whose last wake was not made. One that was made before for the same mark is still owed."""
    monitor = monitor._replace(pending_at=None, tries=monitor.tries - 1, backlog=max(0, monitor.backlog - 1))
    return monitor if monitor.tries > 0 else monitor._replace(pending=0, tries=0, offered=monitor.offered[:-1])


def scheduled(monitor: Monitor | None, proof: Proof, interval: int) -> Step:
    """Keep at which interval the task runs from now on.

    Raises:
        UsageError: It is none of those that a check asks for.
    """
    if interval not in INTERVALS:
        known = ", ".join(map(str, INTERVALS))
        raise UsageError(f"{interval} is no interval of the schedule", remedy=f"one of: {known} (seconds)")
    if gated := gate(monitor, proof):
        return gated
    assert monitor
    told = monitor._replace(interval=interval)
    return told, Answer(Word.SCHEDULED, told)


def automated(monitor: Monitor | None, proof: Proof, automations: tuple[str, ...]) -> Step:
    """Keep which tasks of the agent program belong to a monitor, beside those known; each is told once, at its end."""
    if gated := gate(monitor, proof):
        return gated
    assert monitor
    known = monitor._replace(automations=tuple(dict.fromkeys((*monitor.automations, *automations))))
    return known, Answer(Word(known.state), known)
