"""When a monitor wakes its session, as a pure step: what is kept and what is to be seen go in, what to keep comes out.

Each step is one transaction of a ``Monitors``; see ``ports.monitoring``. One machine serves both plans: receivers that
are rung, and scheduled tasks that look. ``arming`` is how a monitor begins and ends, ``tending`` what it is told
meanwhile. What they hold to:

* One wake for a mark. It is made again only after a while, only while the mark is still unseen, and ``Rules.wakes``
  times in all; then the monitor is in error, which anybody can see, until something is heard of its session.
* A burst makes one more wake, not one for each message.
* A mark that is lower than one that a wake was made for is old: it wakes nobody, whatever sequence mail is read in.
* What was delivered is believed only of a mark that was shown to whoever says so.
* Who was replaced changes nothing any more: an arming's token and the lease's generation fence it.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from restante.domain.backoff import is_due
from restante.domain.monitor import Monitor, MonitorState, Plan, Sight


class Word(StrEnum):
    """What an act on a monitor comes to."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    EXPIRED = "expired"
    ERROR = "error"
    HEALTHY = "healthy"
    IDLE = "idle"
    WAITING = "waiting"
    NOT_DUE = "not_due"
    WAKE = "wake"
    DELIVERED = "delivered"
    PREPARED = "prepared"
    ALREADY_PREPARED = "already_prepared"
    SCHEDULED = "scheduled"


class Rules(NamedTuple):
    """The measures of the machine.

    Attributes:
        settle: How long after a first wake newer mail is gathered before it makes another one.
        spacing: The same after further wakes that nobody followed.
        retry: After how long a wake that led to nothing is made again, with receivers.
        scheduled_retry: The same with a scheduled task.
        wakes: How many wakes one mark gets at most.
        backlog: How many wakes a receiver makes at most without any mail being collected.
        failures: How many wakes may fail in a row.
    """

    settle: timedelta = timedelta(seconds=10)
    spacing: timedelta = timedelta(seconds=90)
    retry: timedelta = timedelta(seconds=90)
    scheduled_retry: timedelta = timedelta(seconds=300)
    wakes: int = 3
    backlog: int = 6
    failures: int = 3


RULES = Rules()


# Which arming of a mailbox: its token and, as a session that arms again keeps that, the lease's generation.
Ordinal = tuple[str, int]


class Proof(NamedTuple):
    """Who acts on a monitor.

    Attributes:
        token: The token of the arming that it belongs to; empty where none was shown.
        session: The session that acts; empty for a person, or for the program that hosts receivers.
        over: Which arming was found to be over, because the session that is watched for is gone, or holds the role no
            longer under the generation that it was armed under; ``None`` where it was not. A later one was not looked
            at: it may have taken the place of that one meanwhile.
    """

    token: str = ""
    session: str = ""
    over: Ordinal | None = None


class Answer(NamedTuple):
    """What a step comes to.

    Attributes:
        word: In a word.
        monitor: As it is from then on; ``None`` where there is none, or none of the caller's.
        unseen: How many messages are unseen.
        mark: The high-water mark that it is about.
        is_new: Whether no check had seen this mark before.
        retry_in: After how long looking again can lead to a wake.
        automations: Ids of the agent program's own tasks that have to be removed now. They are told once.
    """

    word: Word
    monitor: Monitor | None = None
    unseen: int = 0
    mark: int = 0
    is_new: bool = False
    retry_in: timedelta = timedelta()
    automations: tuple[str, ...] = ()


Step = tuple[Monitor | None, Answer]
# What whoever has no monitor, or no longer has, is told.
NONE = Answer(Word.INACTIVE)


def ordinal(monitor: Monitor) -> Ordinal:
    """Return which arming a monitor is of."""
    return monitor.token, monitor.generation


def belongs(monitor: Monitor, proof: Proof) -> bool:
    """Tell whether a caller may act on a monitor: no token but its own is shown, and no other session acts.

    A token alone proves little: a task that was copied into another thread carries the same.
    """
    return proof.token in ("", monitor.token) and proof.session in ("", monitor.session)


def stands(monitor: Monitor | None) -> bool:
    """Tell whether a monitor is neither stopped nor over."""
    return monitor is not None and monitor.state in (MonitorState.ACTIVE, MonitorState.ERROR)


def ended(monitor: Monitor, state: MonitorState) -> Monitor:
    """Return a monitor that wakes nobody any more; what was delivered stays known, and tasks that are to be removed."""
    return rested(monitor, 0)._replace(state=state, receiver=None, heartbeat=None)


def rested(monitor: Monitor, mark: int) -> Monitor:
    """Return a monitor whose mail was collected up to a mark, so that nothing is owed to its session."""
    return monitor._replace(
        last_delivered=max(monitor.last_delivered, mark), pending=0, pending_at=None, tries=0, backlog=0, offered=()
    )


def mended(monitor: Monitor) -> Monitor:
    """Return a monitor that stands as one that is not in error any more, with all its tries."""
    return monitor._replace(state=MonitorState.ACTIVE, failures=0, last_error="", tries=0, backlog=0)


def steadied(monitor: Monitor, now: datetime) -> Monitor:
    """Return a monitor without times that lie in the future: they are from a clock that was set back since."""
    return monitor._replace(
        cycle_started=min(monitor.cycle_started, now),
        expires=min(monitor.expires, now + monitor.time_to_live),
        last_checked=monitor.last_checked and min(monitor.last_checked, now),
        heartbeat=monitor.heartbeat and min(monitor.heartbeat, now),
        pending_at=monitor.pending_at and min(monitor.pending_at, now),
    )


def gate(monitor: Monitor | None, proof: Proof, now: datetime | None = None) -> Step | None:
    """Return the step that lets nobody act on a monitor that is not the caller's, or that is over; else ``None``.

    Args:
        monitor: What is kept.
        proof: Who acts.
        now: The time, for an act that is too late when its time is over; ``None`` for what only reports.
    """
    if monitor is None or not belongs(monitor, proof):
        return monitor, NONE
    if not stands(monitor):
        return monitor, Answer(Word(monitor.state), monitor)
    if proof.over == ordinal(monitor) or (now is not None and now > steadied(monitor, now).expires):
        return expired(monitor)
    return None


def expired(monitor: Monitor) -> Step:
    """End a monitor whose time is over."""
    over = ended(monitor, MonitorState.EXPIRED)
    return over, Answer(Word.EXPIRED, over)


def check(
    monitor: Monitor | None,
    sight: Sight,
    now: datetime,
    proof: Proof,
    *,
    is_forced: bool = False,
    healthy_within: timedelta | None = None,
    retry: timedelta | None = None,
    rules: Rules = RULES,
) -> Step:
    """Decide whether the session has to be woken now, and keep that it was.

    Args:
        monitor: What is kept.
        sight: What is to be seen of the mailbox.
        now: The time.
        proof: Who asks.
        is_forced: Look although the schedule says not yet.
        healthy_within: Leave it to the receiver if that was heard of so recently.
        retry: After how long a wake that led to nothing is made again; by the rules if it is not given.
        rules: The measures.
    """
    if gated := gate(monitor, proof, now):
        return gated
    assert monitor
    if monitor.plan is Plan.SCHEDULED and not is_forced and not is_due(monitor, now):
        return monitor, Answer(Word.NOT_DUE, monitor)
    monitor = steadied(monitor, now)
    if healthy_within is not None and monitor.heartbeat and now - monitor.heartbeat < healthy_within:
        return monitor, Answer(Word.HEALTHY, monitor)
    monitor = monitor._replace(last_checked=now)
    if monitor.plan is Plan.SCHEDULED and monitor.state is MonitorState.ACTIVE:
        monitor = monitor._replace(failures=0, last_error="")
    return _looked(monitor, sight, now, retry, rules)


def _looked(monitor: Monitor, sight: Sight, now: datetime, retry: timedelta | None, rules: Rules) -> Step:
    if monitor.is_single and (monitor.offered or not sight.unseen):
        # Read before, or woken for, whether that arrived or not: a second wake was never asked for.
        return None, Answer(Word.INACTIVE, ended(monitor, MonitorState.INACTIVE))
    if not sight.unseen:
        if now == monitor.expires:
            # At the limit itself there is one more look, and this was it.
            return expired(monitor)
        idle = rested(monitor, monitor.pending)
        if monitor.state is MonitorState.ERROR and monitor.failures < rules.failures:
            idle = mended(idle)
        return idle, Answer(Word.IDLE, idle)
    is_new = sight.mark > monitor.last_seen
    is_fresh = sight.mark > max(monitor.last_delivered, *monitor.offered, 0)
    if monitor.state is MonitorState.ERROR:
        # A task that asks is alive, and may be given a mark that it never had; a receiver has to be mended first.
        if not (is_fresh and monitor.plan is Plan.SCHEDULED):
            seen = monitor._replace(last_seen=max(monitor.last_seen, sight.mark))
            return seen, Answer(Word.ERROR, seen, sight.unseen, sight.mark, is_new)
        monitor = mended(monitor)
    monitor = monitor._replace(last_seen=max(monitor.last_seen, sight.mark))
    if is_fresh:
        return _fresh(monitor, sight, now, is_new, rules)
    if sight.mark == monitor.pending or (sight.mark < monitor.pending and monitor.failures):
        return _again(monitor, sight, now, retry, rules)
    if monitor.pending:
        # The newest was read, and older ones are left: whoever was woken for it knows of them.
        monitor = rested(monitor, monitor.pending)
    return monitor, Answer(Word.WAITING, monitor, sight.unseen, sight.mark)


def _fresh(monitor: Monitor, sight: Sight, now: datetime, is_new: bool, rules: Rules) -> Step:
    if monitor.pending_at:
        left = monitor.pending_at + (rules.settle if monitor.backlog <= 1 else rules.spacing) - now
        if left > timedelta():
            return monitor, Answer(Word.WAITING, monitor, sight.unseen, sight.mark, is_new, left)
    if monitor.plan is Plan.EVENT and monitor.backlog >= rules.backlog:
        return _given_up(monitor, sight)
    fresh = monitor._replace(
        pending=sight.mark,
        pending_at=now,
        offered=(*monitor.offered, sight.mark),
        tries=1,
        backlog=monitor.backlog + 1,
        cycle_started=now,
        expires=now + monitor.time_to_live if monitor.plan is Plan.SCHEDULED else monitor.expires,
    )
    return fresh, Answer(Word.WAKE, fresh, sight.unseen, sight.mark, True)


def _again(monitor: Monitor, sight: Sight, now: datetime, retry: timedelta | None, rules: Rules) -> Step:
    if retry is None:
        retry = rules.retry if monitor.plan is Plan.EVENT else rules.scheduled_retry
    # Without a time, the last wake could not be made.
    left = monitor.pending_at + retry - now if monitor.pending_at else timedelta()
    if left > timedelta():
        return monitor, Answer(Word.WAITING, monitor, sight.unseen, sight.mark, False, left)
    if monitor.tries >= rules.wakes or (monitor.plan is Plan.EVENT and monitor.backlog >= rules.backlog):
        return _given_up(monitor, sight)
    again = monitor._replace(pending_at=now, tries=monitor.tries + 1, backlog=monitor.backlog + 1)
    return again, Answer(Word.WAKE, again, sight.unseen, monitor.pending)


def _given_up(monitor: Monitor, sight: Sight) -> Step:
    from restante.domain.text import counted

    times = max(monitor.tries, monitor.backlog)
    error = monitor.last_error or f"woken {counted(times, 'time')}, and no mail was collected"
    stuck = monitor._replace(state=MonitorState.ERROR, last_error=error)
    return stuck, Answer(Word.ERROR, stuck, sight.unseen, sight.mark)


def unlooked(monitor: Monitor | None, sight: Sight, now: datetime, proof: Proof, reason: str) -> Step:
    """Keep that a check could not look into the mailbox; the next one may, so that this alone is no state of error."""
    if gated := gate(monitor, proof, now):
        return gated
    assert monitor
    blind = steadied(monitor, now)._replace(last_checked=now, last_error=reason)
    if blind.plan is Plan.SCHEDULED:
        blind = blind._replace(failures=blind.failures + 1)
    return blind, Answer(Word.ERROR, blind, sight.unseen, sight.mark)
