"""What the commands about sessions answer with ``--json``: the JSON of the HTTP API, made by ``domain.wire``."""

from __future__ import annotations

from typing import Any

from restante.domain.lifecycle import Status
from restante.domain.message import Priority, Scope
from restante.domain.overview import Fate, Reason
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Presence, TurnSource
from restante.faces.cli.shapes import FLAG, NUMBER, TEXT, list_of, or_null, record, words

_TIME: dict[str, Any] = {"type": "integer"}
_PROCESS = record(host=TEXT, pid=NUMBER, started=TEXT)
_SESSION_FIELDS: dict[str, dict[str, Any]] = {
    "id": TEXT,
    "owner": TEXT,
    "mode": TEXT,
    "name": TEXT,
    "workingDir": TEXT,
    "parentSessionId": or_null(TEXT),
    "process": or_null(_PROCESS),
    "createdAt": _TIME,
    "lastActivityAt": _TIME,
    "detachedAt": or_null(_TIME),
    "turn": NUMBER,
    "turnEndedAt": or_null(_TIME),
    "turnEndSource": or_null(words(TurnSource)),
    "blocked": or_null(TEXT),
    "openTodos": NUMBER,
    "totalTodos": NUMBER,
    "event": NUMBER,
}
_SESSION = record(**_SESSION_FIELDS)
_ROW = record(
    **_SESSION_FIELDS,
    presence=words(Presence),
    state=words(("gone", "detached", "blocked", "idle", "busy", "new")),
    status=words(("stopped", "idle", "busy")),
    reason=or_null(words(Reason)),
    # Null where the server that was asked does not tell the numbers.
    inboxPending=or_null(NUMBER),
    inboxUnseen=or_null(NUMBER),
    inboxTotal=or_null(NUMBER),
    inboxHighWater=or_null(NUMBER),
    oldestUnseenAt=or_null(_TIME),
    parked=FLAG,
    parkedSince=or_null(_TIME),
    parkedUntil=or_null(_TIME),
    waitsFor=list_of(TEXT),
    roles=list_of(
        record(role=TEXT, pending=NUMBER, unseen=NUMBER, oldestUnseenAt=or_null(_TIME), total=NUMBER, highWater=NUMBER)
    ),
)
_COUNTS: dict[str, dict[str, Any]] = {
    "pending": NUMBER,
    "unseen": NUMBER,
    "oldestUnseenAt": or_null(_TIME),
    "total": NUMBER,
    "highWater": NUMBER,
}
_MESSAGE = record(
    **{"from": or_null(TEXT)},
    id=TEXT,
    number=NUMBER,
    to=TEXT,
    fromKind=words(("session", "user")),
    fromVerified=FLAG,
    fromLabel=TEXT,
    fromName=or_null(TEXT),
    text=TEXT,
    createdAt=_TIME,
    seenAt=or_null(_TIME),
    noticedAt=or_null(_TIME),
    expiresAt=or_null(_TIME),
    status=words(Status),
    priority=words(Priority),
    scope=words(Scope),
    type=TEXT,
    subject=TEXT,
    conversation=TEXT,
    parent=TEXT,
    clientMessageId=or_null(TEXT),
)
TRACE = record(
    messageId=TEXT,
    to=TEXT,
    createdAt=_TIME,
    state=words(Fate),
    at=or_null(_TIME),
    decision=or_null(words(Decision)),
    action=or_null(words(Action)),
)
WATCHED = record(cursor=TEXT, sessions=list_of(_ROW), gone=list_of(TEXT), timedOut=FLAG)

_CHANGED = record(session=_SESSION)

SESSION_SCHEMAS: dict[str, dict[str, Any]] = {
    "ls": record(sessions=list_of(_ROW), left_out=NUMBER, mutual_waits=list_of(list_of(TEXT))),
    "post": record(message=_MESSAGE, duplicate=FLAG, session=_SESSION, presence=words(Presence), left=FLAG, **_COUNTS),
    "receipts": record(receipts=list_of(TRACE), left_out=NUMBER, more=FLAG),
    "session start": _CHANGED,
    "session end": _CHANGED,
    "session delete": _CHANGED,
    "session show": record(session=_ROW),
    "session rename": _CHANGED,
    "session todo": _CHANGED,
    "session blocked": _CHANGED,
    "session turn": _CHANGED,
    "account add": record(name=TEXT),
    "account list": record(accounts=list_of(record(name=TEXT))),
    "account remove": record(name=TEXT, sessionsEnded=NUMBER, sessionsLeft=NUMBER),
    "migrate": record(mailboxes=NUMBER, already=NUMBER, rows=NUMBER, messages=NUMBER, sessions=NUMBER, digest=TEXT),
    "persist": record(on=FLAG, fixed=FLAG, hasServer=FLAG),
}
