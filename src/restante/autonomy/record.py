"""The audit record of one evaluation, in the key order of the format.

After OACP 0.5.3, schema version 2, section 6.8 of the specification. A record is a plain dict: it is somebody else's
format. ``strict_matches`` is ours, and there only where our additional hard stops were on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.axes import logged_axes
from restante.autonomy.checkpoint import not_evaluated
from restante.autonomy.hard_stops import logged
from restante.autonomy.instants import show_instant
from restante.autonomy.strict import logged_strict
from restante.autonomy.verdict import Verdict, classify_pause
from restante.autonomy.vocabulary import ACCEPTED, PAUSED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from restante.autonomy.actuals import Actuals
    from restante.autonomy.checkpoint import Checkpoint
    from restante.autonomy.policy import Policy

SCHEMA_VERSION = 2
SPEC_VERSION = "0.5.3"
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# What a record says of its own place and time; it is written and not printed.
_WRITTEN_ONLY = frozenset(
    {
        "created_at_utc",
        "message_subject",
        "message_path",
        "policy_path",
        "thresholds",
        "runtime",
        "supersedes_evaluation_id",
    }
)
_POLICY_AUTH = ("status", "signer_agent", "signer_kid", "reason")


class Circumstances(NamedTuple):
    """What is known of an evaluation beside message and policy.

    Attributes:
        receiver: Who evaluates.
        now: When.
        digest: SHA-256 of the message's bytes.
        message_path: Where the message lies; empty where the caller does not say.
        policy_path: Where the policy lies.
        policy_auth: What is proven of the policy's signature.
        runtime: Which program and model evaluates, see ``runtime_block``.
        evaluator: Which evaluator this is.
    """

    receiver: str
    now: datetime
    digest: str
    message_path: str = ""
    policy_path: str = ""
    policy_auth: Mapping[str, object] | None = None
    runtime: Mapping[str, object] | None = None
    evaluator: Mapping[str, object] | None = None


def evaluation_id(receiver: str, message_id: str, message_sha256: str, created_at_utc: str) -> str:
    """Return the name of one evaluation: the same four values give the same name."""
    import hashlib

    text = "\n".join((receiver, message_id, message_sha256, created_at_utc))
    return "eval-" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def state_digest(record: Mapping[str, object]) -> str:
    """Return what changes whenever anything in a record does."""
    import hashlib
    import json

    return hashlib.sha256(json.dumps(record, sort_keys=True, default=str).encode()).hexdigest()


def runtime_block(agent: str, model: str = "", effort: str = "") -> dict[str, object]:
    """Return which program evaluates.

    Args:
        agent: The receiver.
        model: What ``OACP_RUNTIME_MODEL`` says; ``name[context]`` is told apart. Empty where it is not set.
        effort: What ``OACP_RUNTIME_EFFORT`` says; a word that is no effort is kept beside the unknown one.
    """
    block: dict[str, object] = {"agent": agent, "model": None, "model_source": None}
    name, bracket, context = model.strip().partition("[")
    if name:
        block |= {"model": name, "model_source": "env:OACP_RUNTIME_MODEL"}
        if bracket:
            block |= {"model_context": context.removesuffix("]"), "model_raw": model.strip()}
    else:
        block["model_unknown_reason"] = "OACP_RUNTIME_MODEL is not set"
    block |= {"effort": None, "effort_source": "env:OACP_RUNTIME_EFFORT" if effort else None}
    if effort in _EFFORTS:
        return {**block, "effort": effort}
    if effort:
        return {**block, "effort_raw": effort, "effort_unknown_reason": f"none of {', '.join(_EFFORTS)}"}
    return {**block, "effort_unknown_reason": "OACP_RUNTIME_EFFORT is not set"}


def no_outcome() -> dict[str, object]:
    """Return the block of a record that no person has decided on."""
    names = ("actor", "decision", "decided_at_utc", "decision_latency_seconds")
    grant = {
        "decision": "not_recorded",
        "request_present": False,
        "request_error": None,
        "requested_scope": None,
        "granted_scope": None,
    }
    return {"recorded": False, **dict.fromkeys(names), "pause_reason_codes": [], "grant": grant}


def build_record(
    message: Mapping[str, object],
    verdict: Verdict,
    policy: Policy,
    circumstances: Circumstances,
    result: Mapping[str, object],
) -> dict[str, object]:
    """Return the audit record of a verdict."""
    created = show_instant(circumstances.now)
    evaluator = {"source": "restante", "content_sha256": None, "git_sha": None, "executed": True}
    record: dict[str, object] = {
        "decision": ACCEPTED if verdict.is_accepted else PAUSED,
        "mode": verdict.mode,
        "reason_codes": list(verdict.codes),
        "scope_envelope": _copied(verdict.envelope),
        "logged_notes": [
            *({"code": code, "matched_pattern": label} for code, label in verdict.notes),
            *({"code": "expected_pauses_declaration_warning", "detail": text} for text in verdict.warnings),
        ],
        "continuation_grant": {"present": False, "enabled": False} if verdict.grant is None else verdict.grant.block(),
        "result": dict(result),
        "message_sha256": circumstances.digest,
        "policy_sha256": policy.digest,
        "schema_version": SCHEMA_VERSION,
        "spec_version": SPEC_VERSION,
        "evaluator": dict(circumstances.evaluator or evaluator),
    }
    if circumstances.policy_auth is not None:
        record["policy_auth"] = {key: circumstances.policy_auth.get(key) for key in _POLICY_AUTH}
    record |= {
        "receiver": circumstances.receiver,
        "sender": _text(message.get("from")),
        "message_id": _text(message.get("id")),
        "message_type": _text(message.get("type")),
        "conversation_id": _text(message.get("conversation_id")),
        "parent_message_id": _text(message.get("parent_message_id")),
        "task_profile": _copied(verdict.declared),
        "scope_envelope_source": verdict.source,
        "breached": list(verdict.breached),
        "co_occurring_reason_codes": verdict.co_occurring,
        "admission_axes": logged_axes(verdict.axes),
        **classify_pause(verdict),
        "matched_patterns": logged(verdict.scan.hits),
    }
    if verdict.strict is not None:
        record["strict_matches"] = logged_strict(verdict.strict)
    if verdict.pattern:
        record["matched_pattern"] = verdict.pattern
    if verdict.errors:
        record["message_validation_errors"] = list(verdict.errors)
    name = evaluation_id(circumstances.receiver, _text(message.get("id")) or "", circumstances.digest, created)
    return record | {
        "created_at_utc": created,
        "message_subject": _text(message.get("subject")),
        "message_path": circumstances.message_path,
        "policy_path": circumstances.policy_path,
        "thresholds": {
            "max_estimated_minutes": policy.max_minutes,
            "max_expected_files_touched": policy.max_files,
        },
        "runtime": dict(circumstances.runtime or runtime_block(circumstances.receiver)),
        "evaluation_id": name,
        "supersedes_evaluation_id": None,
    }


def printed(record: Mapping[str, object]) -> dict[str, object]:
    """Return a decision as the gate prints it: the record without what says where and when it is written."""
    return {key: value for key, value in record.items() if key not in _WRITTEN_ONLY}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _copied(values: Mapping[str, object] | None) -> dict[str, object] | None:
    return None if values is None else dict(values)


def build_result(verdict: Verdict, actuals: Actuals | None, checked: Checkpoint | None) -> dict[str, object]:
    """Return ``result`` of a new record."""
    ends = actuals.completed_at if actuals is not None and checked is not None and checked.is_paused else None
    block = not_evaluated() if checked is None else checked.block
    return {
        "final_state": "pending" if verdict.is_accepted else "paused",
        "completion_kind": verdict.kind,
        "actual_minutes": block["actual_minutes"],
        "actual_files_touched": block["actual_files_touched"],
        "work_started_at_utc": None,
        "predicted_risk_materialized": block["predicted_risk_materialized"],
        "completed_at_utc": show_instant(ends) if ends else None,
        "envelope_enforcement": "none",
        "threshold_checkpoint": block,
        "human_outcome": no_outcome(),
    }
