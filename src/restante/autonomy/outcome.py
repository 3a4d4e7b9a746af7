"""What a person decided about paused work, written into its audit record.

After OACP 0.5.3, section 6.9 of the specification. A person decides on the task and, apart from it, on a grant for the
thread: the one never follows from the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.actuals import DECISIONS, is_actor
from restante.autonomy.bounded import bounded_copy
from restante.autonomy.checkpoint import DECLINED, RESUMED
from restante.autonomy.editing import arrange, editable, instant_of, is_closed
from restante.autonomy.grants import Requested, parse_scope, requested_grant
from restante.autonomy.instants import parse_instant, show_instant
from restante.autonomy.reauthorization import budget_of, no_answer
from restante.autonomy.vocabulary import PAUSED
from restante.autonomy.workclock import part, pause_state, paused_at
from restante.domain.errors import Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_BREACHED = "threshold_checkpoint_breached"
GRANT_DECISIONS = ("not_requested", "approved", "modified", "denied")


class Decided(NamedTuple):
    """A record with a person's decision.

    Attributes:
        record: The changed copy.
        warnings: What the caller should say.
        is_changed: Whether anything is different; the same decision again changes nothing.
    """

    record: dict[str, object]
    warnings: tuple[str, ...] = ()
    is_changed: bool = True


def record_outcome(
    record: Mapping[str, object],
    *,
    decision: str,
    now: datetime,
    actor: str = "human",
    grant_decision: str | None = None,
    grant_scope: object = None,
    modification: object = None,
    decided_at: object = None,
    replace: bool = False,
) -> Decided:
    """Return a record with a person's decision on its pause.

    A first decision goes where the answer to the admission belongs, even when it is about a checkpoint. A later one
    stands at the checkpoint that it ends.

    Args:
        record: The audit record.
        decision: ``approved``, ``modified`` or ``declined``.
        now: The instant, where ``decided_at`` is not given.
        actor: Who decided: one word.
        grant_decision: ``not_requested``, ``approved``, ``modified`` or ``denied``; needed where the message asks for
            a grant.
        grant_scope: The scope that is granted, where it is not the one that was asked for.
        modification: How the task was changed; a mapping.
        decided_at: When it was decided.
        replace: Whether an earlier decision on the admission may be replaced.

    Raises:
        UsageError: What was given is malformed or incomplete.
        Refused: The record is closed, not paused, or decided already.
        Damaged: The record cannot be used.
    """
    if decision not in DECISIONS:
        raise UsageError(f"decision {decision!r}: one of {', '.join(DECISIONS)}")
    if not is_actor(actor):
        raise UsageError(f"actor {actor!r}: one word without spaces")
    copy, result = editable(record)
    if is_closed(copy):
        raise Refused(f"the record is closed: {result.get('final_state')}", remedy="decide on the latest evaluation")
    at = instant_of(decided_at, "decided_at") or now.replace(microsecond=0)
    warnings = ("actor 'human' names nobody",) if actor == "human" else ()
    if pause_state(result) == "waiting":
        _answer_checkpoint(copy, result, decision, at, actor)
    else:
        request = requested_grant(copy.get("task_profile"))
        grant = _grant(request, decision, grant_decision, grant_scope)
        outcome = _admission(copy, result, decision, at, actor, grant)
        if modification is not None:
            outcome["modification"] = _modification(modification, decision)
        if not _is_open(result, outcome, replace=replace):
            return Decided(copy, warnings, is_changed=False)
        result["human_outcome"] = outcome
    arrange(result)
    return Decided(copy, warnings)


def _is_open(result: Mapping[str, object], outcome: Mapping[str, object], *, replace: bool) -> bool:
    """Tell whether a decision is to be written; the same one again is not."""
    before = part(result, "human_outcome")
    if before.get("recorded") is not True:
        return True
    changeless = ("decided_at_utc", "decision_latency_seconds")
    is_same = {**before, **dict.fromkeys(changeless)} == {**outcome, **dict.fromkeys(changeless)}
    if not replace and not is_same:
        raise Refused(f"decided already: {before.get('decision')} by {before.get('actor')}", remedy="--replace")
    return replace


def _latency(since: datetime | None, at: datetime, what: str) -> int | None:
    if since is None:
        return None
    seconds = int((at - since).total_seconds())
    if seconds < 0:
        raise UsageError(f"decided_at {show_instant(at)} lies before {what} at {show_instant(since)}")
    return seconds


def _admission(
    record: Mapping[str, object],
    result: Mapping[str, object],
    decision: str,
    at: datetime,
    actor: str,
    grant: dict[str, object],
) -> dict[str, object]:
    if record.get("decision") != PAUSED or result.get("final_state") == "pending":
        raise Refused("the record is not paused: there is nothing to decide")
    codes = record.get("reason_codes")
    return {
        "recorded": True,
        "actor": actor,
        "decision": decision,
        "decided_at_utc": show_instant(at),
        "decision_latency_seconds": _latency(parse_instant(record.get("created_at_utc")), at, "the evaluation"),
        "pause_reason_codes": list(codes) if isinstance(codes, list) else [],
        "grant": grant,
    }


def _answer_checkpoint(
    record: dict[str, object], result: dict[str, object], decision: str, at: datetime, actor: str
) -> None:
    """Write a decision on work that was stopped: the first as an admission's, later ones at the stop itself."""
    checkpoint = result["threshold_checkpoint"]
    assert isinstance(checkpoint, dict)
    latency = _latency(paused_at(result), at, "the pause")
    if part(result, "human_outcome").get("recorded") is True:
        checkpoint["action"] = DECLINED if decision == "declined" else RESUMED
        checkpoint["reauthorization"] = {
            **no_answer(None, budget_of(part(checkpoint, "reauthorization"))),
            "presented": True,
            "channel": "receiver_human",
            "decision": decision,
            "decided_at_utc": show_instant(at),
            "actor": actor,
            "disposition": "declined" if decision == "declined" else "resumed",
            "cleared_paused_at_utc": show_instant(at),
        }
        return
    result["human_outcome"] = {
        "recorded": True,
        "actor": actor,
        "decision": decision,
        "decided_at_utc": show_instant(at),
        "decision_latency_seconds": latency,
        "pause_reason_codes": ["declaration_error" if checkpoint.get("declaration_errors") else _BREACHED],
        "grant": _grant_block(requested_grant(record.get("task_profile")), "not_requested", None),
    }


def _modification(modification: object, decision: str) -> dict[str, object]:
    if decision != "modified":
        raise UsageError(f"a modification belongs to the decision modified, not {decision}")
    try:
        copy = bounded_copy(modification)
    except ValueError as error:
        raise UsageError(f"modification: {error}") from None
    if not isinstance(copy, dict):
        raise UsageError("modification: no mapping")
    return copy


def _grant(request: Requested, decision: str, grant_decision: str | None, scope: object) -> dict[str, object]:
    asked = request.scope is not None
    if grant_decision is None:
        if asked:
            raise UsageError("the message asks for a grant: say approved, modified or denied")
        grant_decision = "not_requested"
    if grant_decision not in GRANT_DECISIONS:
        raise UsageError(f"grant decision {grant_decision!r}: one of {', '.join(GRANT_DECISIONS)}")
    if grant_decision == "not_requested" and asked:
        raise UsageError("the message asks for a grant: say approved, modified or denied")
    if grant_decision not in ("approved", "modified"):
        if scope is not None:
            raise UsageError(f"a scope belongs to a grant, not to {grant_decision}")
        return _grant_block(request, grant_decision, None)
    if decision == "declined":
        raise UsageError("a declined task grants nothing")
    return _grant_block(request, grant_decision, _granted(request, grant_decision, scope))


def _granted(request: Requested, grant_decision: str, scope: object) -> dict[str, object]:
    if scope is None:
        if grant_decision == "modified" or request.scope is None:
            raise UsageError(f"a grant that is {grant_decision} needs its scope")
        return request.scope
    answer = parse_scope(scope)
    if answer.scope is None:
        raise UsageError(f"grant scope: {answer.error}")
    return answer.scope


def _grant_block(request: Requested, grant_decision: str, granted: dict[str, object] | None) -> dict[str, object]:
    return {
        "decision": grant_decision,
        "request_present": request.is_present,
        "request_error": request.error or None,
        "requested_scope": request.scope,
        "granted_scope": granted,
    }
