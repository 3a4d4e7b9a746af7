"""How a monitor stands, for people and programs: its numbers, whether its receiver is heard of, what really wakes."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from restante.domain.monitor import Monitor, MonitorState, Plan, Sight
from restante.domain.monitoring import steadied
from restante.domain.registry import Presence

# The adapter of a program whose sessions nothing wakes.
NO_WAY = "none"
# Receivers are looked after twice a minute.
SILENCE = timedelta(seconds=90)
# What these adapters wake waits by itself, in the session, without anybody in between.
WAITS_ITSELF = ("claude-rewake",)
# Why nothing wakes there yet: hooks are written only where something is armed, and begin a waiter at the next stop.
NO_WAITER = (
    "no waiter of the session was heard of yet: it begins with the session's next stop where its hooks are installed, "
    "by restante install --agent claude"
)


class Mode(StrEnum):
    """How mail reaches a session: it is woken, or it looks when it is in a turn anyway."""

    TURN = "turn"
    MONITOR = "monitor"


class Hearing(StrEnum):
    """Whether anybody listens for a monitor's bell."""

    ALIVE = "alive"
    STALE = "stale"
    GONE = "gone"
    NONE = "none"


class Outlook(NamedTuple):
    """How the monitor of a mailbox stands.

    Attributes:
        mailbox: The address.
        monitor: The monitor; ``None`` where it was never armed, or was stopped.
        sight: The numbers of the mailbox; ``None`` where they were not looked at.
        trouble: Why they could not be.
        hearing: Whether its receiver is heard of.
        mode: What really happens when mail comes.
        reason: Why that is ``turn``; empty for ``monitor``.
    """

    mailbox: str
    monitor: Monitor | None
    sight: Sight | None
    trouble: str
    hearing: Hearing
    mode: Mode
    reason: str


def hearing_of(monitor: Monitor, presence: Presence, now: datetime) -> Hearing:
    """Tell whether anybody listens for a monitor's bell.

    Args:
        monitor: The monitor.
        presence: What is proven of its receiver's process. That it lives proves nothing: it may be stopped, or deaf.
        now: The time.
    """
    if monitor.heartbeat is None:
        return Hearing.NONE
    if presence is Presence.GONE:
        return Hearing.GONE
    return Hearing.STALE if now - min(monitor.heartbeat, now) > SILENCE else Hearing.ALIVE


def mode_of(monitor: Monitor | None, hearing: Hearing, now: datetime, *, is_lost: bool = False) -> tuple[Mode, str]:
    """Return what really happens when mail comes, and why that is only a look in the next turn.

    Args:
        monitor: The monitor.
        hearing: Whether its receiver is heard of.
        now: The time.
        is_lost: Whether its session, or its hold on the role, is gone.
    """
    reason = _reason(monitor, hearing, now, is_lost=is_lost)
    return (Mode.TURN, reason) if reason else (Mode.MONITOR, "")


def _reason(monitor: Monitor | None, hearing: Hearing, now: datetime, *, is_lost: bool) -> str:
    if monitor is None:
        return "nobody armed it"
    if monitor.state is MonitorState.INACTIVE:
        return "it was stopped"
    if monitor.state is MonitorState.EXPIRED or now > steadied(monitor, now).expires:
        return "its time is over"
    if is_lost:
        return "its session is gone, or no longer holds the role"
    if monitor.state is MonitorState.ERROR:
        return monitor.last_error or "it is in error"
    if monitor.adapter == NO_WAY:
        return f"there is no visible way to wake a session of {monitor.vendor or 'an unknown agent program'}"
    if monitor.hindrance:
        return monitor.hindrance
    if monitor.plan is Plan.SCHEDULED or hearing is Hearing.ALIVE:
        return ""
    if hearing is Hearing.NONE and monitor.adapter in WAITS_ITSELF:
        return ""
    words = {Hearing.NONE: "no receiver listens", Hearing.GONE: "its receiver ended"}
    return words.get(hearing, "its receiver was not heard of for too long") + "; one is: restante monitor run"
