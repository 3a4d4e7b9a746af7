"""The rest of a record's life: checkpoints while the work goes on, and its end.

After OACP 0.5.3, section 6.10 of the specification. A record is changed as a copy; one that would be wrong afterwards
is not given back at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy import terminal
from restante.autonomy.checkpoint import RESUMED, WAITING, Checkpoint, breaches, evaluate_checkpoint, limits_of
from restante.autonomy.editing import arrange, editable, instant_of, is_closed
from restante.autonomy.findings import validate_record
from restante.autonomy.instants import parse_instant, show_instant
from restante.autonomy.measuring import Wish, check_reply_effects, is_cleared, measure, shelve_pause, start_work
from restante.autonomy.reauthorization import budget_of
from restante.autonomy.record_checks import FINALIZER, is_admitted
from restante.autonomy.vocabulary import LIVE_STATES
from restante.autonomy.workclock import part, pause_state, paused_at
from restante.domain.errors import Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.autonomy.actuals import Actuals
    from restante.autonomy.policy import Policy


class Finalized(NamedTuple):
    """A changed record.

    Attributes:
        record: The changed copy.
        is_breached: Whether the work must stop, or may not be called done.
    """

    record: dict[str, object]
    is_breached: bool

    def summary(self, audit_file: str, *, dry_run: bool) -> dict[str, object]:
        """Return what the command prints of it."""
        result = part(self.record, "result")
        return {
            "audit_file": audit_file,
            "dry_run": dry_run,
            "final_state": result.get("final_state"),
            "completion_kind": result.get("completion_kind"),
            "evaluation_id": self.record.get("evaluation_id"),
            "checkpoint_action": part(result, "threshold_checkpoint").get("action"),
        }


def finalize(
    record: Mapping[str, object],
    wish: Wish,
    *,
    now: datetime,
    policy: Policy | None = None,
    siblings: Sequence[Mapping[str, object]] = (),
) -> Finalized:
    """Return a record after a checkpoint, or at its end.

    Args:
        record: The audit record.
        wish: What is to be written.
        now: The instant.
        policy: The receiver's, for what a sender's answer to a pause may widen; without it nothing.
        siblings: The other records of the same receiver and message.

    Raises:
        UsageError: The wish is malformed or incomplete; ``BadConfig`` where its measurements are.
        Refused: The record does not allow it, or would be wrong afterwards.
        Damaged: The record cannot be used.
    """
    if wish.final_state not in ("", "done", "error", "superseded", "cancelled"):
        raise UsageError(f"final state {wish.final_state!r}: done, error, superseded or cancelled")
    copy, result = editable(record)
    if is_closed(copy) and not (wish.replace and result.get("final_state") != "superseded"):
        raise Refused(f"the record is closed: {result.get('final_state')}", remedy="--replace writes its end again")
    if wish.final_state == "superseded":
        terminal.supersede(copy, result, wish, siblings, now)
        is_breached = False
    elif wish.final_state == "cancelled":
        terminal.cancel(copy, result, wish, now)
        is_breached = False
    else:
        is_breached = _measured(copy, result, wish, (now, policy, siblings))
    arrange(result)
    _refuse_what_is_wrong(copy, siblings)
    return Finalized(copy, is_breached)


def _refuse_what_is_wrong(record: Mapping[str, object], siblings: Sequence[Mapping[str, object]]) -> None:
    errors = [one for one in validate_record(record, siblings) if one.severity == "error"]
    if errors:
        named = "; ".join(f"{one.code} {one.detail}".strip() for one in errors)
        raise Refused(f"the record would be wrong: {named}")


def _measured(
    record: dict[str, object],
    result: dict[str, object],
    wish: Wish,
    around: tuple[datetime, Policy | None, Sequence[Mapping[str, object]]],
) -> bool:
    """Write a checkpoint, ``done`` or ``error``; return whether the work must stop."""
    now, policy, siblings = around
    if not is_admitted(record):
        raise Refused("nobody has let this task in", remedy="record the outcome of the pause first")
    if wish.final_state == "done" and any(part(one, "result").get("final_state") in LIVE_STATES for one in siblings):
        raise Refused("another evaluation of this message is live", remedy="finalize or supersede that one first")
    started = start_work(record, result, wish)
    ended = _end(result, wish, now) if wish.final_state else None
    stopped = paused_at(result) if pause_state(result) == "waiting" else None
    actuals = measure(result, wish, started=started, end=ended or stopped or now, now=now)
    if actuals.paused_at is not None and actuals.paused_at < started:
        raise Refused(f"the work cannot stop at {show_instant(actuals.paused_at)}, before it began")
    if ended is not None:
        actuals = actuals._replace(completed_at=ended)
    checked = None
    if wish.final_state != "error":
        checked = _checkpoint(record, result, wish, actuals, (now, policy))
    _write(result, actuals, checked, is_failed=wish.final_state == "error")
    if checked is not None and checked.is_paused:
        _stop(result, checked, ended)
        return True
    if wish.final_state:
        assert ended is not None
        terminal.close(record, result, wish, ended)
    return False


def _end(result: Mapping[str, object], wish: Wish, now: datetime) -> datetime:
    """Return when the work ended; an end at which it was stopped stays."""
    checkpoint = part(result, "threshold_checkpoint")
    pinned = parse_instant(checkpoint.get("completed_at_utc")) if checkpoint.get("terminal_time") is True else None
    named = (wish.completed_at, (wish.actuals or {}).get("completed_at_utc"))
    said = next((instant_of(value, "completed_at_utc") for value in named if value is not None), None)
    if pinned is not None and said is not None and said != pinned:
        raise Refused(f"the work ended at {show_instant(pinned)}: that is stamped and stays")
    return pinned or said or now.replace(microsecond=0)


def _grant_scope(record: Mapping[str, object]) -> Mapping[str, object] | None:
    grant = part(record, "continuation_grant")
    return part(grant, "scope") if grant.get("decision") == "accepted" else None


def _checkpoint(
    record: Mapping[str, object],
    result: dict[str, object],
    wish: Wish,
    actuals: Actuals,
    around: tuple[datetime, Policy | None],
) -> Checkpoint | None:
    """Return a new checkpoint, None where the last one's answer still covers what is measured."""
    now, policy = around
    before, state = part(result, "threshold_checkpoint"), pause_state(result)
    budget = budget_of(part(before, "reauthorization"))
    envelope, grant = part(record, "scope_envelope"), _grant_scope(record)
    limits = limits_of(envelope, grant, budget)
    check_reply_effects(wish, limits.effects)
    fields = actuals.intents or breaches(actuals, limits)
    carried: tuple[str, ...] = ()
    if state == "resumed":
        if is_cleared(result, actuals, fields):
            return None
        if wish.final_state:
            raise Refused(
                f"more than the answer to the last checkpoint let happen: {', '.join(fields)}",
                remedy="record a new checkpoint first",
            )
        shelve_pause(result, now)
    elif state != "none":
        actuals, carried = _at_the_same_stop(result, wish, actuals)
    elif wish.final_state:
        actuals = actuals._replace(paused_at=actuals.completed_at)
    return evaluate_checkpoint(
        actuals,
        envelope,
        now=now,
        grant=grant,
        standing=budget,
        policy=policy,
        newest_answer=parse_instant(part(before, "reauthorization").get("decided_at_utc")),
        carried=carried,
    )


def _at_the_same_stop(result: Mapping[str, object], wish: Wish, actuals: Actuals) -> tuple[Actuals, tuple[str, ...]]:
    """Return measurements of work that stands still, with the stamp and the findings of its stop."""
    stamped = paused_at(result)
    if wish.final_state and not actuals.answers:
        raise Refused(f"the checkpoint is {pause_state(result)}", remedy="record a person's decision first")
    if stamped is not None and actuals.paused_at not in (None, stamped):
        raise Refused(f"the work stopped at {show_instant(stamped)}: that is stamped and stays")
    named = part(result, "threshold_checkpoint").get("breached_fields")
    return actuals._replace(paused_at=stamped), tuple(str(one) for one in named) if isinstance(named, list) else ()


def _write(result: dict[str, object], actuals: Actuals, checked: Checkpoint | None, *, is_failed: bool) -> None:
    before = part(result, "threshold_checkpoint")
    # What a plain yes was given to stays as it was measured then: it is the measure of what comes later.
    block = dict(checked.block if checked is not None else before)
    if not is_failed:
        block["side_effects_actual"] = dict(actuals.effects)
        if checked is None:
            block["action"] = RESUMED
    if actuals.completed_at is not None:
        block["completed_at_utc"] = show_instant(actuals.completed_at)
    if before.get("terminal_time") is True and block.get("breached") is True:
        block = _with_terminal_time(block)
    result["threshold_checkpoint"] = block
    risk = actuals.risk if actuals.risk is not None else block.get("predicted_risk_materialized") is True
    result |= {
        "actual_minutes": actuals.minutes,
        "actual_files_touched": actuals.files,
        "predicted_risk_materialized": risk,
        "finalizer": dict(FINALIZER),
    }


def _with_terminal_time(block: Mapping[str, object]) -> dict[str, object]:
    return {
        **{key: value for key, value in block.items() if key != "reauthorization"},
        "terminal_time": True,
        "reauthorization": block.get("reauthorization"),
    }


def _stop(result: dict[str, object], checked: Checkpoint, ended: datetime | None) -> None:
    """Leave the record paused; an end that was measured is pinned for when somebody lets it stand."""
    if ended is not None and checked.block.get("action") == WAITING:
        result["threshold_checkpoint"] = _with_terminal_time(part(result, "threshold_checkpoint"))
    result |= {"final_state": "paused", "completion_kind": "checkpoint_paused", "completed_at_utc": None}
