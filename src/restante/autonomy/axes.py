"""Gate 2: what a message declares, axis by axis. Every axis that holds is recorded, whichever one is the reason.

After OACP 0.5.3, section 6.5 of the specification: the ledger ``admission_axes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.vocabulary import ARTIFACTS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from restante.autonomy.policy import Policy

_DECLARED_RISKS = {
    "destructive_ops": "destructive_ops_pause",
    "touches_auth_config_or_secrets": "auth_config_or_secrets_pause",
    "touches_dependencies": "dependency_changes_pause",
    "public_visibility": "public_visibility_pause",
}
_PRIVATE_ARTIFACTS = ("creates_or_updates_pr", "comments_on_github", "files_issues")
SCOPE_EXCEEDED = "continuation_grant_scope_exceeded"


class Axes(NamedTuple):
    """The ledger of one admission.

    Attributes:
        thresholds: Codes of estimates over their caps.
        declared_risk: Codes of declared risks.
        declaration: ``declaration_error`` where the profile contradicts itself.
        side_effects: Codes of effects that neither the policy nor a grant covers.
        grant: Codes about a grant for the thread.
        errors: The contradictions: field, what it declares, what that conflicts with.
        exceeded: Field paths that an accepted grant does not cover.
    """

    thresholds: tuple[str, ...]
    declared_risk: tuple[str, ...]
    declaration: tuple[str, ...]
    side_effects: tuple[str, ...]
    grant: tuple[str, ...]
    errors: tuple[dict[str, object], ...]
    exceeded: tuple[str, ...]

    @property
    def held(self) -> tuple[str, ...]:
        """All codes of all axes."""
        return self.thresholds + self.declared_risk + self.declaration + self.side_effects + self.grant

    def verdict(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the codes that decide and what ``breached`` names for them; nothing where all is well."""
        if self.declaration:
            return self.declaration, tuple(str(error["field"]) for error in self.errors)
        if SCOPE_EXCEEDED in self.grant:
            return (SCOPE_EXCEEDED,), self.exceeded
        codes = self.declared_risk or self.grant + self.thresholds + self.side_effects
        return codes, codes


def logged_axes(axes: Axes | None) -> dict[str, object]:
    """Return the ledger as audit records hold it; every axis null where there was nothing to evaluate."""
    names = ("thresholds", "declared_risk", "declaration", "side_effects", "continuation_grant", "declaration_errors")
    if axes is None:
        return {"evaluated": False, **dict.fromkeys(names)}
    parts = (axes.thresholds, axes.declared_risk, axes.declaration, axes.side_effects, axes.grant, axes.errors)
    return {"evaluated": True, **{name: list(part) for name, part in zip(names, parts, strict=True)}}


def contradictions(profile: Mapping[str, object]) -> tuple[dict[str, object], ...]:
    """Return where a profile says both that something happens and that it does not."""
    artifacts = [f"task_profile.{flag}" for flag in ARTIFACTS if profile.get(flag) is True]
    errors: list[dict[str, object]] = []
    if artifacts and profile.get("external_side_effects") is not True:
        errors.append(_error("external_side_effects", declared=False, conflicts=artifacts))
    if profile.get("sends_oacp_reply_only") is True:
        if artifacts:
            errors.append(_error("sends_oacp_reply_only", declared=True, conflicts=artifacts))
        if profile.get("sends_oacp_reply") is False:
            only = ["task_profile.sends_oacp_reply_only"]
            errors.append(_error("sends_oacp_reply", declared=False, conflicts=only))
    return tuple(errors)


def _error(field: str, *, declared: bool, conflicts: list[str]) -> dict[str, object]:
    return {"field": f"task_profile.{field}", "declared": declared, "conflicts_with": conflicts}


def side_effects(profile: Mapping[str, object], policy: Policy, covered: Collection[str] = ()) -> tuple[str, ...]:
    """Return codes of the effects that a policy holds back.

    Args:
        profile: What is declared.
        policy: What the receiver allows.
        covered: Artifact flags that a person granted for the thread.
    """
    if policy.external == "allow":
        return ()
    left = [flag for flag in ARTIFACTS if profile.get(flag) is True and flag not in covered]
    external = profile.get("external_side_effects") is True and not covered
    if not left and not external:
        return ()
    if policy.external == "pause":
        return (*(("external_side_effects_pause",) if external else ()), *(f"{flag}_pause" for flag in left))
    codes = ["merges_pr_pause"] if "merges_pr" in left else []
    if not _is_private_artifact(profile, policy):
        codes.append("external_side_effects_not_pr_artifact")
    return tuple(codes)


def _is_private_artifact(profile: Mapping[str, object], policy: Policy) -> bool:
    return (
        profile.get("external_side_effects") is True
        and profile.get("public_visibility") is not True
        and profile.get("target_repo") in policy.private_repos
        and any(profile.get(flag) is True for flag in _PRIVATE_ARTIFACTS)
    )


def weigh(
    profile: Mapping[str, object],
    policy: Policy,
    *,
    scope: Mapping[str, object] | None = None,
    grant_codes: tuple[str, ...] = (),
) -> Axes:
    """Return the ledger of a profile under a policy.

    Args:
        profile: What is declared, or the default envelope.
        policy: What the receiver allows.
        scope: What a person granted for the thread and this message may use; None where nothing.
        grant_codes: Why a grant that was asked for or found does not hold.
    """
    covered = [flag for flag in ARTIFACTS if scope is not None and scope.get(flag) is True]
    effects = side_effects(profile, policy, covered)
    exceeded = () if scope is None else _exceeded(profile, scope)
    errors = contradictions(profile)
    caps = (
        ("estimated_minutes", policy.max_minutes, "estimated_minutes_exceeds_threshold"),
        ("expected_files_touched", policy.max_files, "expected_files_touched_exceeds_threshold"),
    )
    return Axes(
        thresholds=tuple(code for key, cap, code in caps if _number(profile, key) > (cap or 0)),
        declared_risk=tuple(code for flag, code in _DECLARED_RISKS.items() if profile.get(flag) is True),
        declaration=("declaration_error",) if errors else (),
        side_effects=effects,
        grant=(SCOPE_EXCEEDED,) if exceeded else grant_codes,
        errors=errors,
        exceeded=exceeded,
    )


def _exceeded(profile: Mapping[str, object], scope: Mapping[str, object]) -> tuple[str, ...]:
    fields = []
    if _number(profile, "estimated_minutes") > _number(scope, "max_actual_minutes"):
        fields.append("estimated_minutes")
    if _number(profile, "expected_files_touched") > _number(scope, "max_actual_files_touched"):
        fields.append("expected_files_touched")
    declared = [flag for flag in ARTIFACTS if profile.get(flag) is True]
    # Effects that no flag names are covered by nothing: a grant speaks of flags.
    if profile.get("external_side_effects") is True and not declared:
        fields.append("external_side_effects")
    fields += [
        flag for flag in (*declared, "sends_oacp_reply") if profile.get(flag) is True and scope.get(flag) is not True
    ]
    return tuple(f"task_profile.{field}" for field in fields)


def _number(values: Mapping[str, object], key: str) -> int:
    value = values.get(key)
    return value if isinstance(value, int) else 0
