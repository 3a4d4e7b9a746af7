"""What each command answers with ``--json``, as JSON Schema (draft 2020-12).

docs/reference/json.md is made from these, and tests hold every answer to them. Fields are only ever added.
"""

from __future__ import annotations

from typing import Any

from restante.domain.lifecycle import Status
from restante.domain.mailbox import ChangeKind
from restante.domain.message import Priority, Scope
from restante.domain.receipt import Action, Decision
from restante.domain.why import RULES
from restante.faces.cli.command import SHELLS
from restante.faces.cli.intake_schemas import INTAKE_SCHEMAS
from restante.faces.cli.monitor_schemas import MONITOR_SCHEMAS
from restante.faces.cli.session_schemas import SESSION_SCHEMAS, TRACE, WATCHED
from restante.faces.cli.setup import TRUST_OUTCOMES
from restante.faces.cli.shapes import FLAG, NUMBER, TEXT, TIME, list_of, or_null, record, words
from restante.faces.cli.subscription_table import SUBSCRIPTION_SCHEMAS
from restante.faces.cli.switches import UNAVAILABLE
from restante.faces.cli.switches import WORDS as SWITCHES
from restante.faces.cli.team_schemas import ROLE_STATUS, copies, team_schemas

_DECISION = words(Decision)
_ACTION = words(Action)
_MESSAGE_FIELDS: dict[str, dict[str, Any]] = {
    "id": TEXT,
    "number": NUMBER,
    "mailbox": TEXT,
    "from": TEXT,
    "verified": FLAG,
    "created_at": TIME,
    "expires_at": or_null(TIME),
    "priority": words(Priority),
    "scope": words(Scope),
    "type": TEXT,
    "subject": TEXT,
    "conversation": TEXT,
    "parent": TEXT,
    "client_id": TEXT,
    "body": TEXT,
}
_STANDING_FIELDS: dict[str, dict[str, Any]] = {
    "status": words(Status),
    "noticed_at": or_null(TIME),
    "seen_at": or_null(TIME),
    "acknowledged_at": or_null(TIME),
    "withdrawn_at": or_null(TIME),
    "expired_at": or_null(TIME),
    "decision": or_null(_DECISION),
    "action": or_null(_ACTION),
    "summary": TEXT,
}
_MESSAGE = record(**_MESSAGE_FIELDS)
_ENTRY = record(**_MESSAGE_FIELDS, **_STANDING_FIELDS)
_RECEIPT = record(
    id=TEXT,
    message_id=TEXT,
    seen_at=or_null(TIME),
    decision=or_null(_DECISION),
    action=or_null(_ACTION),
    summary=TEXT,
    notes=TEXT,
    by=TEXT,
)
_REPLY = record(**{"id": TEXT, "to": or_null(TEXT), "created_at": or_null(TIME), "from": TEXT, "body": TEXT})
_CASE = record(**_MESSAGE_FIELDS, **_STANDING_FIELDS, receipts=list_of(_RECEIPT), replies=list_of(_REPLY))
_COUNTS = record(
    total=NUMBER,
    pending=NUMBER,
    unseen=NUMBER,
    high_water=NUMBER,
    oldest_unseen_at=or_null(TIME),
    archived=NUMBER,
)
_REPEAT = record(
    id=TEXT,
    active=FLAG,
    interval_ms={"type": "integer", "minimum": 5000},
    next_run_at=TIME,
    last_sent_at=or_null(TIME),
    sent_count=NUMBER,
    priority=words(Priority),
    scope=words(Scope),
    source_message_id=or_null(TEXT),
    allow_warnings=FLAG,
    body=TEXT,
)
_WHY = record(
    message_id=TEXT,
    mailbox=or_null(TEXT),
    cause=words([rule.cause for rule in RULES]),
    sentence=TEXT,
    evidence=list_of(TEXT),
    command=or_null(TEXT),
)
_SNAPSHOT = record(
    mailbox=TEXT,
    counts=_COUNTS,
    messages=list_of(_CASE),
    unattached_replies=list_of(_REPLY),
    repeats=list_of(_REPEAT),
    faults=list_of(record(source=TEXT, line=NUMBER, reason=TEXT)),
    cursor=TEXT,
)
_CHANGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "event": words(ChangeKind),
        "at": or_null(TIME),
        "message_id": or_null(TEXT),
        "message": _MESSAGE,
        "receipt": _RECEIPT,
        "reply": _REPLY,
        "cursor": TEXT,
    },
    "required": ["event", "at", "message_id", "cursor"],
    "additionalProperties": False,
}
_PLAN_FIELDS: dict[str, dict[str, Any]] = {
    "changes": list_of(record(path=TEXT, what=TEXT)),
    "notes": list_of(TEXT),
    "diff": or_null(TEXT),
}
_PLAN = record(**_PLAN_FIELDS)
# What --trust came to; null where it was not asked for.
_TRUST = or_null(record(**_PLAN_FIELDS, outcome=words(TRUST_OUTCOMES)))

# With --to; the same as post to a role.
_COPIES = copies(_MESSAGE, _COUNTS)
TEAM_SCHEMAS = team_schemas(_ENTRY, _COUNTS)

ERROR = record(
    error=record(
        code=TEXT,
        message=TEXT,
        remedy=TEXT,
        details=list_of({"type": "object", "additionalProperties": {"type": ["string", "integer"]}}),
    )
)

# Command -> the schema of its answer; for ``watch`` and ``repeats run --forever``, of each line.
SCHEMAS: dict[str, dict[str, Any]] = {
    "send": {"anyOf": [record(message=_MESSAGE, duplicate=FLAG, repeat=or_null(_REPEAT)), _COPIES]},
    "status": {"anyOf": [_SNAPSHOT, ROLE_STATUS]},
    "status ID": {"anyOf": [record(message=_CASE, why=or_null(_WHY)), record(receipt=TRACE, why=or_null(_WHY))]},
    "why": record(why=_WHY),
    "snapshot": _SNAPSHOT,
    "watch": {"anyOf": [_CHANGE, record(event=words(["end"]), cursor=TEXT), WATCHED]},
    "withdraw": {"anyOf": [record(id=TEXT, standing=record(**_STANDING_FIELDS)), record(receipt=TRACE)]},
    "archive": record(moved=NUMBER, kept=NUMBER, into=or_null(TEXT)),
    # The session's own mailbox beside the worktree's: null where sessions are not used, or for a person.
    "inbox": record(
        messages=list_of(_ENTRY),
        left_out=NUMBER,
        peeked=FLAG,
        counts=_COUNTS,
        session_counts=or_null(_COUNTS),
        not_read=or_null(TEXT),
    ),
    "ack": record(
        receipts=list_of(_RECEIPT),
        counts=_COUNTS,
        session=or_null(record(ids=list_of(TEXT), removed=NUMBER, counts=_COUNTS, left=FLAG)),
    ),
    "reply": record(reply=_REPLY),
    "repeats list": record(repeats=list_of(_REPEAT)),
    "repeats show": record(repeat=_REPEAT),
    "repeats pause": record(repeat=_REPEAT),
    "repeats resume": record(repeat=_REPEAT),
    "repeats remove": record(removed=TEXT),
    "repeats run": record(
        sent=list_of(record(repeat=TEXT, message=_MESSAGE)), failed=list_of(record(repeat=TEXT, reason=TEXT))
    ),
    "install": record(
        **_PLAN_FIELDS,
        trust=_TRUST,
        switches=or_null(record(sessions=words((*SWITCHES, UNAVAILABLE)), persistence=words((*SWITCHES, UNAVAILABLE)))),
    ),
    "uninstall": _PLAN,
    "doctor": record(ok=FLAG, checks=list_of(record(name=TEXT, ok=or_null(FLAG), detail=TEXT, remedy=TEXT))),
    "threads": record(
        threads=list_of(
            record(
                id=TEXT,
                agent=TEXT,
                title=TEXT,
                directory=TEXT,
                status=TEXT,
                loaded=FLAG,
                updated_at=or_null(TIME),
                pending=or_null(NUMBER),
            )
        )
    ),
    "completion": record(shell=words(SHELLS), script=TEXT),
    **SESSION_SCHEMAS,
    "post": {"anyOf": [SESSION_SCHEMAS["post"], _COPIES]},
    **TEAM_SCHEMAS,
    **MONITOR_SCHEMAS,
    **INTAKE_SCHEMAS,
    **SUBSCRIPTION_SCHEMAS,
}
