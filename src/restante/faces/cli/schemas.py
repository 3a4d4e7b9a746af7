"""What each command answers with ``--json``, as JSON Schema (draft 2020-12).

docs/reference/json.md is made from these, and tests hold every answer to them. Fields are only ever added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.lifecycle import Status
from restante.domain.mailbox import ChangeKind
from restante.domain.message import Priority, Scope
from restante.domain.receipt import Action, Decision
from restante.faces.cli.setup import TRUST_OUTCOMES
from restante.faces.cli.table import SHELLS

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "integer", "minimum": 0}
_FLAG: dict[str, Any] = {"type": "boolean"}
_TIME: dict[str, Any] = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _words(words: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": [str(word) for word in words]}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _record(**fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


_DECISION = _words(Decision)
_ACTION = _words(Action)
_MESSAGE_FIELDS: dict[str, dict[str, Any]] = {
    "id": _TEXT,
    "number": _NUMBER,
    "mailbox": _TEXT,
    "from": _TEXT,
    "verified": _FLAG,
    "created_at": _TIME,
    "expires_at": _or_null(_TIME),
    "priority": _words(Priority),
    "scope": _words(Scope),
    "type": _TEXT,
    "subject": _TEXT,
    "conversation": _TEXT,
    "parent": _TEXT,
    "client_id": _TEXT,
    "body": _TEXT,
}
_STANDING_FIELDS: dict[str, dict[str, Any]] = {
    "status": _words(Status),
    "noticed_at": _or_null(_TIME),
    "seen_at": _or_null(_TIME),
    "acknowledged_at": _or_null(_TIME),
    "withdrawn_at": _or_null(_TIME),
    "expired_at": _or_null(_TIME),
    "decision": _or_null(_DECISION),
    "action": _or_null(_ACTION),
    "summary": _TEXT,
}
_MESSAGE = _record(**_MESSAGE_FIELDS)
_ENTRY = _record(**_MESSAGE_FIELDS, **_STANDING_FIELDS)
_RECEIPT = _record(
    id=_TEXT,
    message_id=_TEXT,
    seen_at=_or_null(_TIME),
    decision=_or_null(_DECISION),
    action=_or_null(_ACTION),
    summary=_TEXT,
    notes=_TEXT,
    by=_TEXT,
)
_REPLY = _record(**{"id": _TEXT, "to": _or_null(_TEXT), "created_at": _or_null(_TIME), "from": _TEXT, "body": _TEXT})
_CASE = _record(**_MESSAGE_FIELDS, **_STANDING_FIELDS, receipts=_list(_RECEIPT), replies=_list(_REPLY))
_COUNTS = _record(
    total=_NUMBER,
    pending=_NUMBER,
    unseen=_NUMBER,
    high_water=_NUMBER,
    oldest_unseen_at=_or_null(_TIME),
    archived=_NUMBER,
)
_REPEAT = _record(
    id=_TEXT,
    active=_FLAG,
    interval_ms={"type": "integer", "minimum": 5000},
    next_run_at=_TIME,
    last_sent_at=_or_null(_TIME),
    sent_count=_NUMBER,
    priority=_words(Priority),
    scope=_words(Scope),
    source_message_id=_or_null(_TEXT),
    allow_warnings=_FLAG,
    body=_TEXT,
)
_SNAPSHOT = _record(
    mailbox=_TEXT,
    counts=_COUNTS,
    messages=_list(_CASE),
    unattached_replies=_list(_REPLY),
    repeats=_list(_REPEAT),
    faults=_list(_record(source=_TEXT, line=_NUMBER, reason=_TEXT)),
    cursor=_TEXT,
)
_CHANGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "event": _words(ChangeKind),
        "at": _or_null(_TIME),
        "message_id": _or_null(_TEXT),
        "message": _MESSAGE,
        "receipt": _RECEIPT,
        "reply": _REPLY,
        "cursor": _TEXT,
    },
    "required": ["event", "at", "message_id", "cursor"],
    "additionalProperties": False,
}
_PLAN_FIELDS: dict[str, dict[str, Any]] = {
    "changes": _list(_record(path=_TEXT, what=_TEXT)),
    "notes": _list(_TEXT),
    "diff": _or_null(_TEXT),
}
_PLAN = _record(**_PLAN_FIELDS)
# What --trust came to; null where it was not asked for.
_TRUST = _or_null(_record(**_PLAN_FIELDS, outcome=_words(TRUST_OUTCOMES)))

ERROR = _record(
    error=_record(
        code=_TEXT,
        message=_TEXT,
        remedy=_TEXT,
        details=_list({"type": "object", "additionalProperties": {"type": ["string", "integer"]}}),
    )
)

# Command -> the schema of its answer; for ``watch`` and ``repeats run --forever``, of each line.
SCHEMAS: dict[str, dict[str, Any]] = {
    "send": _record(message=_MESSAGE, duplicate=_FLAG, repeat=_or_null(_REPEAT)),
    "status": _SNAPSHOT,
    "status ID": _record(message=_CASE),
    "snapshot": _SNAPSHOT,
    "watch": {"anyOf": [_CHANGE, _record(event=_words(["end"]), cursor=_TEXT)]},
    "withdraw": _record(id=_TEXT, standing=_record(**_STANDING_FIELDS)),
    "archive": _record(moved=_NUMBER, kept=_NUMBER, into=_or_null(_TEXT)),
    "inbox": _record(messages=_list(_ENTRY), left_out=_NUMBER, peeked=_FLAG, counts=_COUNTS),
    "ack": _record(receipts=_list(_RECEIPT), counts=_COUNTS),
    "reply": _record(reply=_REPLY),
    "repeats list": _record(repeats=_list(_REPEAT)),
    "repeats show": _record(repeat=_REPEAT),
    "repeats pause": _record(repeat=_REPEAT),
    "repeats resume": _record(repeat=_REPEAT),
    "repeats remove": _record(removed=_TEXT),
    "repeats run": _record(
        sent=_list(_record(repeat=_TEXT, message=_MESSAGE)), failed=_list(_record(repeat=_TEXT, reason=_TEXT))
    ),
    "install": _record(**_PLAN_FIELDS, trust=_TRUST),
    "uninstall": _PLAN,
    "doctor": _record(ok=_FLAG, checks=_list(_record(name=_TEXT, ok=_or_null(_FLAG), detail=_TEXT, remedy=_TEXT))),
    "threads": _record(
        threads=_list(
            _record(
                id=_TEXT,
                agent=_TEXT,
                title=_TEXT,
                directory=_TEXT,
                status=_TEXT,
                loaded=_FLAG,
                updated_at=_or_null(_TIME),
                pending=_or_null(_NUMBER),
            )
        )
    ),
    "completion": _record(shell=_words(SHELLS), script=_TEXT),
}
