"""The checkpoint after acceptance: is the work still what was declared, and if not, who lets it go on?

After OACP 0.5.3, section 6.10 of the specification: ``result.threshold_checkpoint``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.instants import show_instant
from restante.autonomy.reauthorization import Pause, judge, no_answer
from restante.autonomy.vocabulary import ARTIFACTS, BASIC_FLAGS, EFFECTS
from restante.domain.errors import BadConfig

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from restante.autonomy.actuals import Actuals
    from restante.autonomy.policy import Policy

WAITING = "paused_for_reauthorization"
RESUMED = "resumed_after_reauthorization"
DECLINED = "reauthorization_declined"


class Limits(NamedTuple):
    """What work may amount to before somebody is asked.

    Attributes:
        minutes: Minutes of work; None where nothing was declared.
        files: Deliverables.
        effects: Effects that were declared, granted or allowed later.
    """

    minutes: int | None
    files: int | None
    effects: frozenset[str]


class Checkpoint(NamedTuple):
    """The outcome of one checkpoint.

    Attributes:
        block: ``threshold_checkpoint`` as audit records hold it.
        is_paused: Whether the work must stop.
        codes: Reason codes of the pause, or ``checkpoint_reauthorized`` where an answer ended it.
        fields: What was breached.
    """

    block: dict[str, object]
    is_paused: bool
    codes: tuple[str, ...]
    fields: tuple[str, ...]


def not_evaluated() -> dict[str, object]:
    """Return the block of a record whose work has not been measured."""
    nothing = dict.fromkeys(("actual_minutes", "actual_files_touched"))
    return {
        "evaluated": False,
        **nothing,
        "side_effects_actual": {},
        "breached": False,
        "breached_fields": [],
        "declaration_errors": [],
        "breach_basis": None,
        "breach_sub_basis": None,
        "paused_at_utc": None,
        "action": "not_evaluated",
        "predicted_risk_materialized": False,
        "completed_at_utc": None,
        "reauthorization": no_answer(None),
    }


def limits_of(
    envelope: Mapping[str, object], grant: Mapping[str, object] | None, standing: Mapping[str, object] | None = None
) -> Limits:
    """Return what work may amount to.

    Args:
        envelope: What was declared, or what stands for it.
        grant: The scope of an accepted grant; its maxima then hold.
        standing: A budget from an earlier answer to a pause.
    """
    granted, budget = grant or {}, standing or {}
    if grant is None:
        minutes, files = envelope.get("estimated_minutes"), envelope.get("expected_files_touched")
    else:
        minutes, files = granted.get("max_actual_minutes"), granted.get("max_actual_files_touched")
    named = (*EFFECTS, *BASIC_FLAGS)
    effects = {one for one in named if any(part.get(one) is True for part in (envelope, granted, budget))}
    if envelope.get("sends_oacp_reply_only") is True:
        effects.add("sends_oacp_reply")
    return Limits(
        _higher(minutes, budget.get("max_actual_minutes")),
        _higher(files, budget.get("max_actual_files_touched")),
        frozenset(effects),
    )


def _higher(*values: object) -> int | None:
    return max((value for value in values if isinstance(value, int)), default=None)


def breaches(actuals: Actuals, limits: Limits) -> tuple[str, ...]:
    """Return what was exceeded, as field paths; minutes and files strictly."""
    fields = []
    if limits.minutes is not None and actuals.minutes > limits.minutes:
        fields.append("actual_minutes")
    if limits.files is not None and actuals.files > limits.files:
        fields.append("actual_files_touched")
    happened = (effect for effect in EFFECTS if actuals.effects.get(effect))
    fields += [f"side_effects_actual.{effect}" for effect in happened if effect not in limits.effects]
    return tuple(fields)


def evaluate_checkpoint(
    actuals: Actuals,
    envelope: Mapping[str, object],
    *,
    now: datetime,
    grant: Mapping[str, object] | None = None,
    standing: Mapping[str, object] | None = None,
    policy: Policy | None = None,
    newest_answer: datetime | None = None,
    carried: tuple[str, ...] = (),
) -> Checkpoint:
    """Return what a checkpoint says about work under way.

    Args:
        actuals: What was measured.
        envelope: What was declared.
        now: The instant, for a pause that does not say when it began.
        grant: The scope of an accepted grant.
        standing: A budget from an earlier answer, which stands for the rest of the task.
        policy: The receiver's, for what a sender's answer may widen.
        newest_answer: The latest answer that is on record already.
        carried: What an earlier checkpoint found and nobody has answered; it stays found.

    Raises:
        BadConfig: The measurements contradict themselves.
    """
    limits = limits_of(envelope, grant, standing)
    realized = breaches(actuals, limits)
    _check(actuals, limits, realized)
    fields = actuals.intents or realized or carried
    block = _measured(actuals, fields)
    if not fields:
        action = "within_declared_envelope" if grant is None else "continued_with_grant"
        block["action"] = action
        block["reauthorization"] = no_answer("not_required" if actuals.answers else None, standing)
        return Checkpoint(block, is_paused=False, codes=(), fields=())
    paused_at = actuals.paused_at or now
    pause = Pause(paused_at, fields, actuals, envelope, policy, newest_answer, actuals.started_at)
    answer = judge(actuals.answers, pause, standing)
    disposition = answer["disposition"]
    action = {"resumed": RESUMED, "declined": DECLINED}.get(str(disposition), WAITING)
    block |= {"paused_at_utc": show_instant(paused_at), "action": action, "reauthorization": answer}
    if action == RESUMED:
        return Checkpoint(block, is_paused=False, codes=("checkpoint_reauthorized",), fields=fields)
    first = "declaration_error" if block["declaration_errors"] else "threshold_checkpoint_breached"
    codes = (first, "checkpoint_reauthorization_stale") if disposition == "stale" else (first,)
    return Checkpoint(block, is_paused=True, codes=codes, fields=fields)


def _measured(actuals: Actuals, fields: tuple[str, ...]) -> dict[str, object]:
    errors = [field for field in fields if field.startswith(("side_effects_actual.", "task_profile."))]
    is_intent = all(field.startswith("task_profile.") for field in fields)
    basis = None if not fields else "declared_intent" if is_intent else "realized"
    materialized = actuals.risk if actuals.risk is not None else basis == "realized"
    return {
        "evaluated": True,
        "actual_minutes": actuals.minutes,
        "actual_files_touched": actuals.files,
        "side_effects_actual": dict(actuals.effects),
        "breached": bool(fields),
        "breached_fields": list(fields),
        "declaration_errors": errors,
        "breach_basis": basis,
        "breach_sub_basis": actuals.sub_basis,
        "paused_at_utc": None,
        "action": None,
        "predicted_risk_materialized": materialized,
        "completed_at_utc": show_instant(actuals.completed_at) if actuals.completed_at else None,
        "reauthorization": None,
    }


def _check(actuals: Actuals, limits: Limits, realized: tuple[str, ...]) -> None:
    faults = []
    if actuals.intents:
        if any(actuals.effects.values()):
            faults.append("declared_intent_fields: caught before acting, so no effect has happened")
        if realized:
            faults.append(
                f"declared_intent_fields: cannot stand beside what was exceeded already: {', '.join(realized)}"
            )
        known = [one for one in actuals.intents if one.rpartition(".")[2] in limits.effects]
        faults += [f"declared_intent_fields: {one} is authorised" for one in known]
        if actuals.risk:
            faults.append("predicted_risk_materialized: nothing has happened yet")
    expected = "declared_intent" if actuals.intents else "realized" if realized else None
    if actuals.basis is not None and expected is not None and actuals.basis != expected:
        faults.append(f"breach_basis: {actuals.basis}, but the measurements say {expected}")
    if actuals.sub_basis and "actual_minutes" not in realized:
        faults.append("breach_sub_basis: only for minutes that were exceeded")
    if faults:
        raise BadConfig(tuple(faults), source="actuals")


def is_canonical(field: object) -> bool:
    """Tell whether a field path is one that checkpoints use."""
    flags = {*EFFECTS, *ARTIFACTS, *BASIC_FLAGS}
    if not isinstance(field, str):
        return False
    head, dot, name = field.partition(".")
    if not dot:
        return field in ("actual_minutes", "actual_files_touched")
    return head in ("side_effects_actual", "task_profile") and name in flags
