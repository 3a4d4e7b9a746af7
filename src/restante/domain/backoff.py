"""How often a scheduled task looks: less and less the longer nothing came, and no more after a day.

The stages and the words of the answers are those of agmsg's scheduled monitor, whose tasks can so be used with ours.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from restante.domain.monitor import Monitor

LASTS = timedelta(hours=24)
# A task that fires a moment early would otherwise lose a whole interval.
EARLY = timedelta(seconds=5)


class Stage(NamedTuple):
    """A stretch of a cycle.

    Attributes:
        name: What it is called.
        ends: How long after the cycle's beginning the next one begins.
        interval: Seconds between two checks.
    """

    name: str
    ends: timedelta
    interval: int


STAGES = (
    Stage("fast", timedelta(minutes=30), 120),
    Stage("medium", timedelta(hours=4), 900),
    Stage("slow", LASTS, 3600),
)
INTERVALS = tuple(stage.interval for stage in STAGES)


class Schedule(NamedTuple):
    """How a monitor's task should be scheduled now.

    Attributes:
        stage: The name of the stage.
        elapsed: Whole seconds since the cycle began.
        interval: Seconds between two checks in this stage.
        rule: The same as an iCalendar recurrence rule.
        has_changed: Whether the task was last told another interval.
        next_due: When the next check is due.
        expires: When it is over if nothing comes.
    """

    stage: str
    elapsed: int
    interval: int
    rule: str
    has_changed: bool
    next_due: datetime
    expires: datetime


def schedule(monitor: Monitor, now: datetime) -> Schedule:
    """Return how a monitor's task should be scheduled now."""
    stage = _stage(monitor, now)
    return Schedule(
        stage.name,
        max(0, int((now - monitor.cycle_started).total_seconds())),
        stage.interval,
        rule_of(stage.interval),
        stage.interval != monitor.interval,
        _due(monitor, stage),
        monitor.expires,
    )


def is_due(monitor: Monitor, now: datetime) -> bool:
    """Tell whether a check makes sense now. A clock that was set back makes it due."""
    due = _due(monitor, _stage(monitor, now))
    return monitor.last_checked is None or now < monitor.last_checked or now >= due - EARLY


def rule_of(interval: int) -> str:
    """Return an interval in seconds as an iCalendar recurrence rule (RFC 5545)."""
    if interval % 3600 == 0:
        return f"FREQ=HOURLY;INTERVAL={interval // 3600}"
    if interval % 60 == 0:
        return f"FREQ=MINUTELY;INTERVAL={interval // 60}"
    return f"FREQ=SECONDLY;INTERVAL={interval}"


def _stage(monitor: Monitor, now: datetime) -> Stage:
    elapsed = now - monitor.cycle_started
    return next((stage for stage in STAGES if elapsed < stage.ends), STAGES[-1])


def _due(monitor: Monitor, stage: Stage) -> datetime:
    # New mail makes the cycle fast again before the task was told so: what comes as often as it should is due.
    interval = min(stage.interval, monitor.interval or stage.interval)
    return (monitor.last_checked or monitor.armed) + timedelta(seconds=interval)
