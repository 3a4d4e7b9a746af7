"""What the commands about verified mail answer with ``--json``; part of ``schemas``."""

from __future__ import annotations

from typing import Any

from restante.faces.cli.shapes import FLAG, NUMBER, TEXT, TIME, list_of, or_null, record

# Formats of others, which their own documents describe.
_ANY: dict[str, Any] = {"type": "object"}
_REASON = record(code=TEXT, meaning=TEXT)
_RULED = record(message_id=TEXT, agent=TEXT, audit=TEXT, decision=TEXT, latency_seconds=or_null(NUMBER))
_CHOICE = record(key=TEXT, name=TEXT, text=TEXT, effects=list_of(TEXT), needs=list_of(TEXT))
_READ = record(
    path=TEXT,
    verify_mode=TEXT,
    policy_error=or_null(TEXT),
    held=FLAG,
    message_auth=or_null(_ANY),
    message_sha256=TEXT,
    snapshot_path=or_null(TEXT),
    validation_errors=list_of(TEXT),
    message=or_null(_ANY),
    disposition=or_null(TEXT),
    quarantine_copy=or_null(TEXT),
    error=or_null(TEXT),
)

INTAKE_SCHEMAS: dict[str, dict[str, Any]] = {
    "archive ID": record(archived=FLAG, path=or_null(TEXT), reason=or_null(TEXT)),
    # A line for each; an answer is {"choice": KEY, ...} on one line, see docs/howto/check-inbox.md.
    "check-inbox": {
        "anyOf": [
            record(
                event={"const": "inquiry"},
                stage=TEXT,
                file=TEXT,
                sha256=TEXT,
                message=_ANY,
                why=TEXT,
                warnings=list_of(TEXT),
                reasons=list_of(_REASON),
                audit=or_null(TEXT),
                recommended=or_null(TEXT),
                choices=list_of(_CHOICE),
                allowed=list_of(TEXT),
                text=TEXT,
            ),
            record(event=TEXT, file=TEXT, text=TEXT, facts=_ANY),
            record(event={"const": "report"}, project=TEXT, text=TEXT, processed=NUMBER, handled=_ANY, retained=_ANY),
        ]
    },
    # Where the reading itself failed, only the last.
    "read": {"anyOf": [_READ, record(path=TEXT, held=FLAG, message={"type": "null"}, error=TEXT)]},
    "approvals": record(
        approvals=list_of(
            record(
                message_id=TEXT,
                agent=TEXT,
                **{"from": TEXT},
                type=TEXT,
                subject=TEXT,
                stage=TEXT,
                since=or_null(TIME),
                reasons=list_of(_REASON),
                breached=list_of(TEXT),
                asks_grant=FLAG,
                audit=TEXT,
                path=TEXT,
            )
        )
    ),
    "approve": _RULED,
    "modify": _RULED,
    "decline": _RULED,
}
