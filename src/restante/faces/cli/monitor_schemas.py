"""What the commands about monitors answer with ``--json``."""

from __future__ import annotations

from typing import Any

from restante.domain.monitor import MonitorState, Plan
from restante.domain.monitoring import Word
from restante.domain.outlook import Hearing, Mode
from restante.faces.cli.shapes import FLAG, NUMBER, TEXT, TIME, list_of, or_null, record, words

_SCHEDULE = record(
    stage=TEXT, elapsed=NUMBER, next_interval=NUMBER, next_rrule=TEXT, schedule_change=FLAG, next_due_at=TIME
)
_MONITOR = record(
    state=words(MonitorState),
    session=TEXT,
    agent=TEXT,
    owner=TEXT,
    generation=NUMBER,
    plan=words(Plan),
    adapter=TEXT,
    armed_at=TIME,
    expires_at=TIME,
    last_checked_at=or_null(TIME),
    heartbeat_at=or_null(TIME),
    last_seen_id=NUMBER,
    last_delivered_id=NUMBER,
    last_woken_id=NUMBER,
    pending_id=NUMBER,
    tries=NUMBER,
    failures=NUMBER,
    last_error=TEXT,
    automations=list_of(TEXT),
    schedule=or_null(_SCHEDULE),
)
_ANSWER_FIELDS: dict[str, dict[str, Any]] = {
    "status": words(Word),
    "count": NUMBER,
    "max_id": NUMBER,
    "new_message": FLAG,
    "retry_in": NUMBER,
    "automations": list_of(TEXT),
    "mailbox": TEXT,
    "monitor": or_null(_MONITOR),
}
# Another process works on the monitors right now: exit code 75.
_BUSY = record(status=words(("busy",)))
_ANSWER = {"anyOf": [record(**_ANSWER_FIELDS), _BUSY]}
_ARMED = {"anyOf": [record(**_ANSWER_FIELDS, mode=words(Mode), reason=TEXT), _BUSY]}
_ENDED = {"anyOf": [record(status=words((Word.INACTIVE,)), stopped=list_of(TEXT), automations=list_of(TEXT)), _BUSY]}
_NUMBERS = record(max_id=NUMBER, unseen=NUMBER, queued=NUMBER, noticed=NUMBER, seen=NUMBER, acknowledged=NUMBER)
_OUTLOOK = record(
    mode=words(Mode),
    reason=TEXT,
    receiver=words(Hearing),
    numbers=or_null(_NUMBERS),
    trouble=TEXT,
    mailbox=TEXT,
    monitor=or_null(_MONITOR),
)

MONITOR_SCHEMAS: dict[str, dict[str, Any]] = {
    "monitor arm": _ARMED,
    "monitor check": _ANSWER,
    "monitor claim": _ANSWER,
    "monitor heartbeat": _ANSWER,
    "monitor delivered": _ANSWER,
    "monitor failed": _ANSWER,
    "monitor scheduled": _ANSWER,
    "monitor automation": _ANSWER,
    "monitor status": {"anyOf": [record(monitors=list_of(_OUTLOOK), active=NUMBER), _BUSY]},
    "monitor stop": _ENDED,
    "monitor prepare": {"anyOf": [record(**_ANSWER_FIELDS, prompt=TEXT), _BUSY]},
    "monitor prompt": {"anyOf": [record(prompt=TEXT), _BUSY]},
    # A line for each thing that happens.
    "monitor run": record(said=TEXT),
    "monitor mode": {"anyOf": [*_ARMED["anyOf"], *_ENDED["anyOf"]]},
}
