"""The rules that audit records are held to; each yields the code of a finding and what it is about.

After OACP 0.5.3, section 6.10 of the specification. ``findings`` puts them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.autonomy.actuals import DECISIONS, is_adjustment
from restante.autonomy.checkpoint import DECLINED, RESUMED, WAITING, is_canonical
from restante.autonomy.grants import is_count
from restante.autonomy.instants import parse_instant
from restante.autonomy.vocabulary import ACCEPTED, COMPLETION_KINDS, LIVE_STATES, PAUSED, TERMINAL_STATES
from restante.autonomy.workclock import answered_at, away_spans, entries, minutes_worked, part, paused_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Record = Mapping[str, object]
    Found = Iterator[tuple[str, str]]

FINALIZER = {"name": "oacp autonomy-finalize", "schema_version": 1}
CHECKPOINT_CODES = frozenset({"threshold_checkpoint_breached", "declaration_error", "checkpoint_reauthorization_stale"})
_YES = ("approved", "modified")
_GRANT_DECISIONS = (*_YES, "denied", "not_requested", "not_recorded", None)
# A clock that is read by hand and one that is not differ by this many minutes at most.
_TOLERANCE = 1


def is_born_done(record: Record) -> bool:
    """Tell whether a record was accepted and called done at once, as evaluators before 0.5.2 did."""
    result = part(record, "result")
    measured = ("completed_at_utc", "actual_minutes", "actual_files_touched", "finalizer")
    return (
        record.get("decision") == ACCEPTED
        and result.get("final_state") == "done"
        and all(result.get(key) is None for key in measured)
    )


def is_admission_pause(record: Record) -> bool:
    """Tell whether the message was held back before any work, and not at a checkpoint."""
    codes = record.get("reason_codes")
    checkpointed = part(record, "result").get("completion_kind") == "checkpoint_paused"
    only_checkpoint = isinstance(codes, list) and bool(codes) and all(one in CHECKPOINT_CODES for one in codes)
    return record.get("decision") == PAUSED and not (checkpointed and only_checkpoint)


def is_admitted(record: Record) -> bool:
    """Tell whether work on the message was let start, by the gates or by a person."""
    outcome = part(record, "result", "human_outcome")
    approved = outcome.get("recorded") is True and outcome.get("decision") in _YES
    return not is_admission_pause(record) or approved


def _shape(record: Record) -> Found:
    result = part(record, "result")
    kind, state = result.get("completion_kind"), result.get("final_state")
    if kind is None:
        yield "missing_completion_kind", ""
    elif kind not in COMPLETION_KINDS:
        yield "off_enum_completion_kind", f"{kind!s:.80}"
    elif record.get("decision") == ACCEPTED and kind not in ("auto_accepted", "checkpoint_paused"):
        yield "decision_kind_incoherent", f"accepted, and {kind}"
    elif record.get("decision") == PAUSED and kind == "auto_accepted":
        yield "decision_kind_incoherent", f"paused, and {kind}"
    if state not in LIVE_STATES and state not in TERMINAL_STATES:
        yield "off_enum_final_state", f"{state!s:.80}"
    ended_at_checkpoint = part(result, "threshold_checkpoint").get("breached") is True
    if state in LIVE_STATES and result.get("completed_at_utc") is not None and not ended_at_checkpoint:
        yield "paused_terminal_completed", f"{state}, and completed at {result['completed_at_utc']!s:.40}"


def _checkpoint(record: Record) -> Found:
    checkpoint = part(record, "result", "threshold_checkpoint")
    fields, errors = checkpoint.get("breached_fields"), checkpoint.get("declaration_errors")
    named = [*(fields if isinstance(fields, list) else []), *(errors if isinstance(errors, list) else [])]
    for field in dict.fromkeys(str(one) for one in named):
        if not is_canonical(field):
            yield "noncanonical_checkpoint_axis", f"{field:.80}"
    if checkpoint.get("breached") is not True:
        return
    if not fields:
        yield "breached_empty_fields", ""
        return
    basis, sub_basis = checkpoint.get("breach_basis"), checkpoint.get("breach_sub_basis")
    if basis not in ("realized", "declared_intent", None) or sub_basis not in ("waiting_on_peer", None):
        yield "off_enum_breach_basis", f"{basis!s:.40} {sub_basis!s:.40}"
        return
    intents = [str(one).startswith("task_profile.") for one in named]
    is_intent = basis == "declared_intent"
    waits = sub_basis is not None and (is_intent or "actual_minutes" not in named)
    if basis is not None and (waits or not (all(intents) if is_intent else not any(intents))):
        yield "breach_basis_incoherent", f"{basis}, and {', '.join(str(one) for one in named):.200}"


def _outcome(record: Record) -> Found:
    outcome = part(record, "result", "human_outcome")
    if not outcome or outcome.get("recorded") is False:
        return
    latency = outcome.get("decision_latency_seconds")
    good = (
        outcome.get("recorded") is True
        and outcome.get("decision") in DECISIONS
        and parse_instant(outcome.get("decided_at_utc")) is not None
        and isinstance(outcome.get("actor"), str)
        and bool(outcome.get("actor"))
        and (latency is None or is_count(latency))
        and part(outcome, "grant").get("decision") in _GRANT_DECISIONS
    )
    if not good:
        yield "invalid_human_outcome", ""
        return
    codes = outcome.get("pause_reason_codes")
    answers_checkpoint = isinstance(codes, list) and "threshold_checkpoint_breached" in codes
    if answers_checkpoint and is_admission_pause(record):
        yield "admission_outcome_replaced_by_checkpoint_clear", ""


def _pauses(record: Record) -> Found:
    result = part(record, "result")
    adjustments = result.get("clock_adjustments")
    if adjustments is not None and not (
        isinstance(adjustments, list)
        and all(
            isinstance(one, dict) and is_adjustment(one) and parse_instant(one.get("recorded_at_utc"))
            for one in adjustments
        )
    ):
        yield "invalid_clock_adjustments", ""
    intervals = result.get("pause_intervals")
    if intervals is not None and not (
        isinstance(intervals, list) and all(isinstance(one, dict) and _is_interval(one) for one in intervals)
    ):
        yield "invalid_pause_intervals", ""
    paused, answered = paused_at(result), answered_at(result)
    if paused is not None and answered is not None and answered < paused:
        yield "checkpoint_clear_precedes_pause", ""


def _is_interval(entry: Record) -> bool:
    paused, cleared = (parse_instant(entry.get(key)) for key in ("paused_at_utc", "cleared_paused_at_utc"))
    stamps = all(parse_instant(entry.get(key)) for key in ("decided_at_utc", "recorded_at_utc"))
    fields = entry.get("breached_fields")
    named = isinstance(fields, list) and bool(fields) and isinstance(entry.get("channel"), str)
    return paused is not None and cleared is not None and paused <= cleared and stamps and named


def _terminal(record: Record) -> Found:
    result = part(record, "result")
    state = result.get("final_state")
    if state not in TERMINAL_STATES:
        return
    if is_born_done(record):
        yield "legacy_born_done_unfinalized", ""
        return
    finalizer = result.get("finalizer")
    if finalizer is not None and finalizer != FINALIZER:
        yield "invalid_finalizer_provenance", ""
    by_writer = finalizer == FINALIZER
    if not all(is_count(result.get(key)) for key in ("actual_minutes", "actual_files_touched")):
        yield ("canonical_writer_missing_actuals" if by_writer else "terminal_missing_actuals"), ""
    if state in ("done", "error") and parse_instant(result.get("work_started_at_utc")) is None:
        code = "canonical_writer_missing_work_started_at" if by_writer else "terminal_missing_work_started_at"
        yield code, ""
    if state == "cancelled" and not _is_cancelled_well(record):
        yield "invalid_cancellation", ""
    if state == "done":
        yield from _done(record)


def _is_cancelled_well(record: Record) -> bool:
    result = part(record, "result")
    by, landed = result.get("cancelled_by"), result.get("deliverables_landed", [])
    stamped = parse_instant(result.get("cancelled_at_utc")) is not None
    return isinstance(by, str) and bool(by.strip()) and stamped and isinstance(landed, list) and is_admitted(record)


def _done(record: Record) -> Found:
    result = part(record, "result")
    checkpoint = part(result, "threshold_checkpoint")
    action = checkpoint.get("action")
    paused, answered = paused_at(result), answered_at(result)
    answer = part(checkpoint, "reauthorization").get("decision")
    outcome = part(result, "human_outcome").get("decision")
    approved = answer in _YES or (answered is not None and answer is None and outcome in _YES)
    precedes = paused is not None and answered is not None and answered < paused
    if action == WAITING:
        yield "paused_terminal_checkpoint_action", ""
    open_pause = action in (WAITING, DECLINED, RESUMED) and (action == DECLINED or not approved or precedes)
    if open_pause or not is_admitted(record):
        yield "terminal_paused_without_outcome", ""


def _clock(record: Record) -> Found:
    result = part(record, "result")
    started, created = parse_instant(result.get("work_started_at_utc")), parse_instant(record.get("created_at_utc"))
    if started is not None and created is not None and started < created:
        yield "work_started_before_admission", ""
    ended, minutes = parse_instant(result.get("completed_at_utc")), result.get("actual_minutes")
    is_over = result.get("final_state") in TERMINAL_STATES
    if not is_over or started is None or ended is None or not isinstance(minutes, int) or any(_pauses(record)):
        return
    counted = minutes_worked(started, ended, away_spans(result))
    stopped = [
        paused_at(result),
        *(parse_instant(one.get("paused_at_utc")) for one in entries(result, "pause_intervals")),
    ]
    is_late = any(one is not None and one > ended for one in stopped)
    if ended < started or is_late or abs(counted - minutes) > _TOLERANCE:
        yield "actual_minutes_inconsistent", f"recorded {minutes}, by the clock {counted}"


CHECKS: tuple[Callable[[Record], Found], ...] = (_shape, _checkpoint, _outcome, _pauses, _terminal, _clock)
