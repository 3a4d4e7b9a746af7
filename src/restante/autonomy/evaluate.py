"""One message against one receiver's policy: gate by gate, the first that holds it back says why.

After OACP 0.5.3, section 6.2 of the specification. Pure: what the clock, the history and the YAML reader say comes in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.axes import contradictions, weigh
from restante.autonomy.demotion import Declared
from restante.autonomy.grants import grant_envelope
from restante.autonomy.hard_stops import Scan, scan_text
from restante.autonomy.integrity import early_pause
from restante.autonomy.profile import Profile, Unparsable, default_envelope, extract_profile
from restante.autonomy.record import Circumstances, build_record, build_result
from restante.autonomy.strict import STRICT_ORDER, scan_strictly
from restante.autonomy.threads import resolve_grant
from restante.autonomy.verdict import Verdict
from restante.autonomy.vocabulary import AUTO_REVIEW, REVIEW_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.autonomy.actuals import Actuals
    from restante.autonomy.checkpoint import Checkpoint
    from restante.autonomy.policy import Policy
    from restante.autonomy.profile import Load
    from restante.autonomy.threads import Resolution

_RECEIVED = ("message_valid", "message_not_expired", "message_hash_recorded")


class Evaluation(NamedTuple):
    """The answer of the gates.

    Attributes:
        decision: The audit record, as it is written and printed.
        annotation: The verdict and its reasons as one line for a person.
    """

    decision: dict[str, object]
    annotation: str

    @property
    def is_accepted(self) -> bool:
        """Whether work may start without a person."""
        return self.decision["decision"] == "auto_accepted"


def evaluate(
    message: Mapping[str, object],
    raw_digest: str,
    policy: Policy,
    history: Sequence[Mapping[str, object]],
    *,
    now: datetime,
    receiver: str,
    load: Load,
    actuals: object = None,
    policy_auth: Mapping[str, object] | None = None,
    validation_errors: Sequence[str] = (),
    runtime: Mapping[str, object] | None = None,
    strict: bool = False,
    message_path: str = "",
    policy_path: str = "",
    evaluator: Mapping[str, object] | None = None,
) -> Evaluation:
    """Return whether work on a message may start without a person, and the record that says why.

    Args:
        message: The message's fields.
        raw_digest: SHA-256 of its bytes.
        policy: What the receiver allows.
        history: Audit records of this receiver that may matter: those of the same message and of its thread, each
            with its file's name under ``threads.AUDIT_FILE``.
        now: The instant of the evaluation.
        receiver: Who evaluates.
        load: Reads YAML; used for the profile in the body, and for the body of a review.
        actuals: Measurements of work under way, for a checkpoint.
        policy_auth: What is proven of the policy's signature; a status ``invalid`` pauses.
        validation_errors: What is wrong with the message; anything pauses.
        runtime: Which program and model evaluates, see ``record.runtime_block``.
        strict: Whether our additional hard stops apply; the policy can only add them.
        message_path: Where the message lies.
        policy_path: Where the policy lies.
        evaluator: Which evaluator the record names.

    Raises:
        BadConfig: The measurements are malformed. Nothing in message, profile or policy raises.
    """
    is_strict = strict or policy.strict is True
    circumstances = Circumstances(receiver, now, raw_digest, message_path, policy_path, policy_auth, runtime, evaluator)
    verdict = early_pause(message, policy, history, circumstances, validation_errors, is_strict=is_strict)
    if verdict is None and message.get("type") in REVIEW_TYPES:
        verdict = _review(message, policy, history, circumstances, load, is_strict=is_strict)
    elif verdict is None:
        verdict = _task(message, policy, history, circumstances, load, is_strict=is_strict)
    measured = checked = None
    if actuals is not None:
        from restante.autonomy.actuals import parse_actuals

        measured = parse_actuals(actuals)
        if verdict.envelope is not None:
            verdict, checked = _after_checkpoint(verdict, measured, policy, now)
    record = build_record(message, verdict, policy, circumstances, build_result(verdict, measured, checked))
    return Evaluation(record, _annotation(verdict))


def _annotation(verdict: Verdict) -> str:
    if verdict.is_accepted:
        return f"auto_accepted: {', '.join(verdict.codes[3:])}"
    found = f" ({verdict.pattern})" if verdict.pattern else ""
    return f"paused: {', '.join(verdict.codes)}{found}"


def _body(message: Mapping[str, object]) -> str:
    body = message.get("body")
    return body if isinstance(body, str) else ""


def _review(
    message: Mapping[str, object],
    policy: Policy,
    history: Sequence[Mapping[str, object]],
    circumstances: Circumstances,
    load: Load,
    *,
    is_strict: bool,
) -> Verdict:
    """Judge a message of a review: nothing but a person's earlier word lets it run."""
    try:
        holder = load(_body(message))
    except Exception:  # noqa: BLE001 - a YAML reader raises what it likes; a body that is prose asks for nothing
        holder = {}
    grant = resolve_grant(
        message, holder or {}, policy, history, receiver=circumstances.receiver, now=circumstances.now
    )
    found = scan_strictly(message, Declared(), Scan()) if is_strict else None
    verdict = Verdict(is_accepted=False, codes=(grant.code,), mode=AUTO_REVIEW, grant=grant, strict=found)
    scope = grant.usable_scope
    if scope is None:
        return verdict.paused(grant.code)
    verdict = verdict._replace(envelope=grant_envelope(scope), source="continuation_grant")
    if found:
        return _strictly_paused(verdict)
    codes = (*_RECEIVED, "continuation_grant_accepted", "workspace_check_required")
    return verdict._replace(is_accepted=True, codes=codes, kind="auto_accepted")


def _task(
    message: Mapping[str, object],
    policy: Policy,
    history: Sequence[Mapping[str, object]],
    circumstances: Circumstances,
    load: Load,
    *,
    is_strict: bool,
) -> Verdict:
    body = _body(message)
    profile = extract_profile(body, load)
    needs_none = message.get("type") in policy.without_profile
    verdict = Verdict(is_accepted=False, codes=(), mode=AUTO_REVIEW)
    if isinstance(profile, Unparsable):
        return verdict.paused("task_profile_unparsable")
    if profile is None and not needs_none:
        scan = scan_text(body, Declared())
        return verdict._replace(scan=scan).paused(
            "risk_obvious_no_profile" if scan.is_risky_without_profile else "task_profile_missing"
        )
    grant = None
    if profile is not None:
        grant = resolve_grant(
            message, profile.values, policy, history, receiver=circumstances.receiver, now=circumstances.now
        )
    return _weighed(message, policy, profile, grant, verdict, is_strict=is_strict)


def _weighed(
    message: Mapping[str, object],
    policy: Policy,
    profile: Profile | None,
    grant: Resolution | None,
    verdict: Verdict,
    *,
    is_strict: bool,
) -> Verdict:
    """Weigh what is declared, then the words, then give the verdict."""
    values = default_envelope(message.get("priority")) if profile is None else profile.values
    axes = weigh(
        values,
        policy,
        scope=None if grant is None else grant.usable_scope,
        grant_codes=(grant.code,) if grant is not None and grant.code and not grant.is_accepted else (),
    )
    declared = Declared(external=policy.external, needs_none=profile is None)
    if profile is not None:
        declared = declared._replace(
            profile=values, is_complete=profile.is_complete, is_sound=not contradictions(values)
        )
    scan = scan_text(_body(message), declared)
    verdict = verdict._replace(
        profile=None if profile is None else values,
        declared=None if profile is None else profile.declared,
        envelope=values,
        source="default_profileless" if profile is None else "task_profile",
        axes=axes,
        scan=scan,
        strict=scan_strictly(message, declared, scan) if is_strict else None,
        grant=grant,
        notes=scan.notes,
        warnings=() if profile is None else profile.warnings,
        expected_pauses=None if profile is None else profile.expected_pauses,
    )
    if scan.blocker is not None:
        return verdict._replace(pattern=scan.blocker.label).paused(scan.blocker.code)
    if verdict.strict:
        return _strictly_paused(verdict)
    codes, breached = axes.verdict()
    if codes:
        return verdict.paused(*codes, breached=breached)
    return verdict._replace(is_accepted=True, codes=_accepted(verdict), kind="auto_accepted")


def _strictly_paused(verdict: Verdict) -> Verdict:
    found = sorted(verdict.strict or (), key=lambda hit: STRICT_ORDER[hit.code])
    return verdict._replace(pattern=found[0].label).paused(*dict.fromkeys(hit.code for hit in found))


def _accepted(verdict: Verdict) -> tuple[str, ...]:
    profile = "task_profile_present" if verdict.profile is not None else "task_profile_not_required"
    advisory = ("lexical_advisory",) if verdict.scan.notes else ()
    granted = ("continuation_grant_accepted",) if verdict.grant is not None and verdict.grant.is_accepted else ()
    passed = ("task_type_allowed", "risk_threshold_passed", "hard_stops_clear")
    return (*_RECEIVED, profile, *passed, *advisory, "workspace_check_required", *granted)


def _after_checkpoint(verdict: Verdict, actuals: Actuals, policy: Policy, now: datetime) -> tuple[Verdict, Checkpoint]:
    from restante.autonomy.checkpoint import evaluate_checkpoint

    scope = None if verdict.grant is None else verdict.grant.usable_scope
    checked = evaluate_checkpoint(actuals, verdict.envelope or {}, now=now, grant=scope, policy=policy)
    if not verdict.is_accepted:
        # What held the message back stays the reason; what was measured all the same is on record.
        return verdict, checked
    if checked.is_paused:
        return verdict._replace(kind="checkpoint_paused").paused(*checked.codes, breached=checked.fields), checked
    return verdict._replace(codes=(*verdict.codes, *checked.codes)), checked
