"""Changing an audit record: a copy is changed, its keys keep their order, and what is closed stays closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.autonomy.bounded import bounded_copy
from restante.autonomy.instants import parse_instant
from restante.autonomy.record import SCHEMA_VERSION
from restante.autonomy.record_checks import is_born_done
from restante.autonomy.vocabulary import TERMINAL_STATES
from restante.autonomy.workclock import part, pause_state
from restante.domain.errors import Damaged, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

RESULT_KEYS = (
    "final_state",
    "completion_kind",
    "actual_minutes",
    "actual_files_touched",
    "work_started_at_utc",
    "predicted_risk_materialized",
    "completed_at_utc",
    "envelope_enforcement",
    "envelope_enforcement_reason",
    "threshold_checkpoint",
    "human_outcome",
    "message_auth",
    "finalizer",
    "runtime",
    "reply_message_id",
    "artifacts",
    "clock_adjustments",
    "pause_intervals",
    "cancelled_by",
    "cancelled_at_utc",
    "reason",
    "deliverables_landed",
    "superseded_by_message",
    "legacy_final_state",
)
_LARGE = 500_000


def editable(record: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return a deep copy of a record, in the current schema, and the ``result`` inside it.

    Raises:
        Damaged: The record has no result, or holds what no record holds.
    """
    try:
        copy = bounded_copy(dict(record), most=_LARGE)
    except ValueError as error:
        raise Damaged(f"audit record: {error}") from None
    assert isinstance(copy, dict)
    result = copy.get("result")
    if not isinstance(result, dict):
        raise Damaged("audit record: no result")
    if copy.get("schema_version") != SCHEMA_VERSION:
        copy["schema_version"] = SCHEMA_VERSION
    return copy, result


def arrange(result: dict[str, object]) -> None:
    """Put the keys of a result in the order of the format; keys that are not its own come last."""
    ordered = {key: result[key] for key in RESULT_KEYS if key in result}
    ordered |= {key: value for key, value in result.items() if key not in ordered}
    result.clear()
    result.update(ordered)


def is_closed(record: Mapping[str, object]) -> bool:
    """Tell whether a record has come to its end; one that was born done, or stands still, has not."""
    result = part(record, "result")
    if is_born_done(record) or (pause_state(result) == "waiting" and result.get("final_state") not in TERMINAL_STATES):
        return False
    return result.get("final_state") in TERMINAL_STATES or result.get("completed_at_utc") is not None


def instant_of(value: object, name: str) -> datetime | None:
    """Return the instant that was given, None where none was.

    Raises:
        UsageError: It is no instant.
    """
    instant = parse_instant(value)
    if value is not None and instant is None:
        raise UsageError(f"{name}: {value!r:.80} is no UTC time like 2026-05-12T12:30:00Z")
    return instant
