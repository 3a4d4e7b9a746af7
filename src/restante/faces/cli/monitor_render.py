"""How monitors are told: one line of ``key=value`` for each, in the words of agmsg's monitor, or JSON.

Times in a line are seconds since 1970. A value that is not plain is written as a JSON string.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from restante.domain.backoff import schedule
from restante.domain.monitor import MonitorState, Plan
from restante.domain.monitoring import Word
from restante.domain.text import iso
from restante.faces.cli.output import json_line

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.monitor import Monitor
    from restante.domain.monitoring import Answer
    from restante.domain.outlook import Outlook

_PLAIN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]*")
_MARKED = (Word.WAKE, Word.WAITING)


def line(**values: object) -> str:
    """Return values as one line."""
    return " ".join(f"{name}={_value(value)}" for name, value in values.items())


def of_check(answer: Answer, now: datetime) -> str:
    """Return the line of a check."""
    monitor = answer.monitor
    if monitor is None:
        return line(status=answer.word)
    values: dict[str, object] = {"status": answer.word}
    if answer.word in _MARKED or (answer.word is Word.ERROR and answer.mark):
        values |= {"count": answer.unseen, "max_id": answer.mark, "new_message": answer.is_new}
    if answer.word is Word.WAITING and answer.retry_in:
        values["retry_in"] = _seconds_up(answer)
    if answer.word is Word.ERROR:
        values |= {"failures": monitor.failures, "detail": monitor.last_error}
    if monitor.plan is Plan.EVENT and answer.word is Word.WAKE:
        values |= _whom(monitor)
    return line(**values, **_tail(answer.word, monitor, now))


def of_arming(answer: Answer, now: datetime) -> str:
    """Return the line of an arming."""
    monitor = answer.monitor
    assert monitor
    if answer.word in (Word.PREPARED, Word.ALREADY_PREPARED):
        # Two of one name: agmsg's line says how the preparing went, and then how the monitor stands.
        return (
            line(status=answer.word, owner=monitor.token)
            + " "
            + line(status=monitor.state, **_tail(answer.word, monitor, now), **_freed(answer))
        )
    values: dict[str, object] = {"status": answer.word, "owner": monitor.token, "lease_id": monitor.token}
    values |= _whom(monitor)
    if monitor.plan is Plan.EVENT:
        heartbeat, watchdog, *_ = (*monitor.automations, None, None)
        values |= {"adapter": monitor.adapter, "expires_at": monitor.expires}
        values |= {"heartbeat_automation_id": heartbeat, "watchdog_automation_id": watchdog}
    return line(**values, **_tail(answer.word, monitor, now), **_freed(answer))


def of_told(answer: Answer, now: datetime, told: dict[str, object]) -> str:
    """Return the line of what a monitor was told, with what was understood."""
    assert answer.monitor
    tail = _tail(answer.word, answer.monitor, now) if answer.word is Word.DELIVERED else {}
    return line(status=answer.word, **told, **tail)


def of_end(answer: Answer, mode: str = "") -> str:
    """Return the line of a stop, with the mode that was asked for."""
    is_quiet = answer.monitor is not None and answer.monitor.plan is Plan.EVENT and not answer.automations
    pause = {} if is_quiet else {"schedule_action": "pause"}
    return line(status=answer.word, **({"mode": mode} if mode else {}), **pause, **_freed(answer))


def of_outlook(outlook: Outlook, now: datetime, *, is_one_of_many: bool) -> str:
    """Return the line of one monitor's status."""
    monitor, sight = outlook.monitor, outlook.sight
    if monitor is None:
        return line(status=MonitorState.INACTIVE, mode=outlook.mode, reason=outlook.reason)
    values: dict[str, object] = {"identity": outlook.mailbox} if is_one_of_many else {}
    values |= {
        "status": monitor.state,
        "last_seen_id": monitor.last_seen,
        "last_delivered_id": monitor.last_delivered,
        "last_woken_id": monitor.last_woken,
        "pending_id": monitor.pending,
    }
    if sight:
        values |= {
            "max_id": sight.mark,
            "queued": sight.unseen - sight.noticed,
            "noticed": sight.noticed,
            "seen": sight.pending - sight.unseen,
            "acknowledged": sight.acknowledged,
        }
    else:
        values["trouble"] = outlook.trouble
    values |= {"mode": outlook.mode, **({"reason": outlook.reason} if outlook.reason else {})}
    values |= {"receiver": outlook.hearing, "failures": monitor.failures}
    if monitor.last_error:
        values["last_error"] = monitor.last_error
    values |= {"adapter": monitor.adapter, **_whom(monitor)}
    if monitor.plan is Plan.EVENT:
        values["expires_at"] = monitor.expires
    return line(**values, **_tail(Word(monitor.state), monitor, now))


def json_of(answer: Answer, mailbox: str, now: datetime) -> dict[str, Any]:
    """Return an answer for ``--json``."""
    return {
        "status": answer.word,
        "count": answer.unseen,
        "max_id": answer.mark,
        "new_message": answer.is_new,
        "retry_in": _seconds_up(answer),
        "automations": list(answer.automations),
        **json_of_monitor(answer.monitor, mailbox, now),
    }


def json_of_outlook(outlook: Outlook, now: datetime) -> dict[str, Any]:
    """Return how a monitor stands for ``--json``."""
    sight = outlook.sight
    numbers = None
    if sight:
        numbers = {
            "max_id": sight.mark,
            "unseen": sight.unseen,
            "queued": sight.unseen - sight.noticed,
            "noticed": sight.noticed,
            "seen": sight.pending - sight.unseen,
            "acknowledged": sight.acknowledged,
        }
    return {
        "mode": outlook.mode,
        "reason": outlook.reason,
        "receiver": outlook.hearing,
        "numbers": numbers,
        "trouble": outlook.trouble,
        **json_of_monitor(outlook.monitor, outlook.mailbox, now),
    }


def json_of_monitor(monitor: Monitor | None, mailbox: str, now: datetime) -> dict[str, Any]:
    """Return a mailbox and its monitor, ``None`` where it has none, for ``--json``."""
    if monitor is None:
        return {"mailbox": mailbox, "monitor": None}
    told = {
        "state": monitor.state,
        "session": monitor.session,
        "agent": monitor.vendor,
        "owner": monitor.token,
        "generation": monitor.generation,
        "plan": monitor.plan,
        "adapter": monitor.adapter,
        "armed_at": iso(monitor.armed),
        "expires_at": iso(monitor.expires),
        "last_checked_at": monitor.last_checked and iso(monitor.last_checked),
        "heartbeat_at": monitor.heartbeat and iso(monitor.heartbeat),
        "last_seen_id": monitor.last_seen,
        "last_delivered_id": monitor.last_delivered,
        "last_woken_id": monitor.last_woken,
        "pending_id": monitor.pending,
        "tries": monitor.tries,
        "failures": monitor.failures,
        "last_error": monitor.last_error,
        "automations": list(monitor.automations),
        "schedule": _json_schedule(monitor, now) if monitor.plan is Plan.SCHEDULED else None,
    }
    return {"mailbox": mailbox, "monitor": told}


def _json_schedule(monitor: Monitor, now: datetime) -> dict[str, Any]:
    here = schedule(monitor, now)
    return {
        "stage": here.stage,
        "elapsed": here.elapsed,
        "next_interval": here.interval,
        "next_rrule": here.rule,
        "schedule_change": here.has_changed,
        "next_due_at": iso(here.next_due),
    }


def _whom(monitor: Monitor) -> dict[str, object]:
    team, slash, role = monitor.mailbox.partition("/")
    names = {"team": team, "name": role} if slash and ":" not in monitor.mailbox else {}
    return {**names, "mailbox": monitor.mailbox, "thread": monitor.session}


def _tail(word: Word, monitor: Monitor, now: datetime) -> dict[str, object]:
    """Return what every line about a scheduled task ends with."""
    if monitor.plan is not Plan.SCHEDULED:
        return {}
    if word is Word.INACTIVE:
        return {"schedule_action": "pause"}
    here = schedule(monitor, now)
    tail: dict[str, object] = {"schedule_action": "pause"} if word is Word.EXPIRED else {}
    return tail | {
        "stage": here.stage,
        "elapsed": here.elapsed,
        "next_interval": here.interval,
        "next_rrule": here.rule,
        "schedule_change": here.has_changed,
        "next_due_at": here.next_due,
        "expires_at": here.expires,
    }


def _freed(answer: Answer) -> dict[str, object]:
    return {"automation_ids": ",".join(answer.automations)} if answer.automations else {}


def _seconds_up(answer: Answer) -> int:
    return int(-(-answer.retry_in.total_seconds() // 1))


def _value(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(int(value))
    if hasattr(value, "timestamp"):
        return str(int(value.timestamp()))
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json_line(text)
