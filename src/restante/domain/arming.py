"""How a monitor begins and ends, as pure steps; see ``domain.monitoring``."""

from datetime import datetime, timedelta
from typing import NamedTuple

from restante.domain.backoff import LASTS, STAGES
from restante.domain.errors import RoleHeld, UsageError
from restante.domain.monitor import Monitor, MonitorState, Plan
from restante.domain.monitoring import (
    Answer,
    Ordinal,
    Proof,
    Step,
    Word,
    belongs,
    ended,
    mended,
    ordinal,
    stands,
    steadied,
)
from restante.domain.registry import Process

EVENT_LASTS = timedelta(hours=12)
# It stands on command lines, in prompts and in every look at the monitor.
_LONGEST_TOKEN = 200


class Arming(NamedTuple):
    """What is to be armed; see ``Monitor``.

    Attributes:
        time_to_live: ``None`` for what the plan takes.
        token: The token to use.
        is_given: Whether the caller named the token; else that of a monitor that stands is kept.
        gone: Which arming's session is proven to be gone; ``None`` for none.
    """

    mailbox: str
    owner: str
    session: str
    vendor: str
    generation: int
    plan: Plan
    adapter: str
    token: str
    is_given: bool = False
    gone: Ordinal | None = None
    time_to_live: timedelta | None = None
    receiver: Process | None = None


def check_token(token: str) -> str:
    """Return a token that a caller chose.

    Raises:
        UsageError: It is too long, or does not fit into a line.
    """
    if len(token) > _LONGEST_TOKEN or not token.isprintable():
        raise UsageError(
            f"{token[:80]!r} is no name for an arming", remedy=f"at most {_LONGEST_TOKEN} letters that can be printed"
        )
    return token


def arm(monitor: Monitor | None, now: datetime, arming: Arming) -> Step:
    """Watch a mailbox for a session. Arming again begins the schedule anew, and keeps marks, token and what is pending.

    Raises:
        RoleHeld: It is watched for another session; nothing is changed.
    """
    former = monitor and steadied(monitor, now)
    is_own = former is not None and former.session == arming.session
    check_free(former, now, arming)
    armed = _made(now, arming)
    if former is None:
        return armed, Answer(Word.ACTIVE, armed)
    if not is_own:
        return armed, Answer(Word.ACTIVE, armed, automations=former.automations)
    armed = armed._replace(
        last_seen=former.last_delivered,
        last_delivered=former.last_delivered,
        last_woken=former.last_woken,
        automations=former.automations,
    )
    if is_standing(former, now):
        armed = armed._replace(
            token=arming.token if arming.is_given else former.token,
            last_seen=former.last_seen,
            pending=former.pending,
            pending_at=former.pending_at,
            offered=former.offered,
            tries=former.tries,
            backlog=former.backlog,
            heartbeat=former.heartbeat,
        )
        if former.state is MonitorState.ERROR:
            armed = mended(armed)
    return armed, Answer(Word.ACTIVE, armed)


def prepare(monitor: Monitor | None, now: datetime, arming: Arming) -> Step:
    """Arm a mailbox unless it is armed for this session in the same way, which then stays exactly as it is.

    Raises:
        RoleHeld: It is watched for another session; nothing is changed.
    """
    check_free(monitor, now, arming)
    if monitor and monitor.state is MonitorState.ACTIVE and is_standing(monitor, now) and _is_same(monitor, arming):
        return monitor, Answer(Word.ALREADY_PREPARED, monitor)
    armed, answer = arm(monitor, now, arming)
    return armed, answer._replace(word=Word.PREPARED)


def is_standing(monitor: Monitor, now: datetime) -> bool:
    """Tell whether a monitor is neither stopped nor over, nor past its end without anybody having looked."""
    return stands(monitor) and now <= monitor.expires


def check_free(monitor: Monitor | None, now: datetime, arming: Arming) -> None:
    """Let nobody take a mailbox that is watched for another session, nor who was replaced already.

    Raises:
        RoleHeld: It is so.
    """
    if monitor is None or monitor.session == arming.session:
        return
    is_newer = arming.generation > monitor.generation
    if monitor.generation <= arming.generation and (
        is_newer or arming.gone == ordinal(monitor) or not is_standing(monitor, now)
    ):
        return
    raise RoleHeld(
        f"{arming.mailbox} is watched for session {monitor.session}",
        remedy=f"see restante monitor status {arming.mailbox}; that session can stop it",
        details=({"mailbox": arming.mailbox, "session": monitor.session, "generation": monitor.generation},),
    )


def disarm(monitor: Monitor | None, proof: Proof) -> Step:
    """Watch a mailbox no longer. Doing so again changes nothing, nor does who was replaced."""
    if monitor is None or not belongs(monitor, proof):
        return monitor, Answer(Word.INACTIVE)
    return None, Answer(Word.INACTIVE, ended(monitor, MonitorState.INACTIVE), automations=monitor.automations)


def deactivate(monitor: Monitor | None, session: str) -> Step:
    """Watch for a session no longer, which cannot be told anything now.

    Where the agent program has tasks of its own for it, that stays known until somebody takes them.
    """
    if monitor is None or monitor.session != session:
        return monitor, Answer(Word.INACTIVE)
    if not monitor.automations:
        return None, Answer(Word.INACTIVE, ended(monitor, MonitorState.INACTIVE))
    over = monitor if monitor.state is MonitorState.EXPIRED else ended(monitor, MonitorState.INACTIVE)
    return over, Answer(Word.INACTIVE, over)


def expire(monitor: Monitor | None, now: datetime, *, is_lost: bool = False) -> Step:
    """End a monitor that is past its time, or whose session or lease is lost; any other stays as it is."""
    if monitor is None or not stands(monitor):
        return monitor, Answer(Word.INACTIVE)
    monitor = steadied(monitor, now)
    if not is_lost and now <= monitor.expires:
        return monitor, Answer(Word(monitor.state), monitor)
    over = ended(monitor, MonitorState.EXPIRED)
    return over, Answer(Word.EXPIRED, over)


def _made(now: datetime, arming: Arming) -> Monitor:
    is_scheduled = arming.plan is Plan.SCHEDULED
    lasts = arming.time_to_live or (LASTS if is_scheduled else EVENT_LASTS)
    return Monitor(
        arming.mailbox,
        arming.owner,
        arming.session,
        arming.vendor,
        arming.generation,
        arming.token,
        arming.plan,
        arming.adapter,
        MonitorState.ACTIVE,
        armed=now,
        cycle_started=now,
        time_to_live=lasts,
        expires=now + lasts,
        last_checked=now if is_scheduled else None,
        interval=STAGES[0].interval if is_scheduled else 0,
        receiver=arming.receiver,
    )


def _is_same(monitor: Monitor, arming: Arming) -> bool:
    return (monitor.session, monitor.plan, monitor.generation) == (arming.session, arming.plan, arming.generation)
