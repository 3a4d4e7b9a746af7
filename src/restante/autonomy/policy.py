"""A receiver's policy: what ``config.yaml`` says about work that may start without a person.

Format: OACP 0.5.3, ``agents/<receiver>/config.yaml``. Ours beside it is ``restante: {strict: bool}``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.vocabulary import ALWAYS_PAUSE, AUTO_REVIEW

if TYPE_CHECKING:
    from collections.abc import Mapping

_CAPS = ("max_estimated_minutes", "max_expected_files_touched")
_ALWAYS_PAUSING = (
    "destructive_ops",
    "auth_config_or_secrets",
    "dependency_changes",
    "public_visibility",
    "git_push_or_deploy",
)
_EXTERNAL = ("pause", "allow_pr_artifacts", "allow")
REPOSITORY = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"


class Policy(NamedTuple):
    """What a receiver allows.

    Attributes:
        mode: ``always_pause`` or ``auto_review``.
        faults: One sentence for each fault; a policy with faults pauses everything.
        max_minutes: Cap of a declared estimate, in minutes; None where the policy names none.
        max_files: Cap of the declared number of files; None where the policy names none.
        external: ``pause``, ``allow_pr_artifacts`` or ``allow``.
        without_profile: Types of message that need no declared profile.
        private_repos: Repositories, ``owner/name``, whose pull request artifacts are private.
        grants_enabled: Whether grants of a person for a thread are recognised.
        strict: Whether our additional hard stops apply; None where the policy does not say.
        digest: SHA-256 of what was parsed, as audit records carry it.
    """

    mode: str = ALWAYS_PAUSE
    faults: tuple[str, ...] = ()
    max_minutes: int | None = None
    max_files: int | None = None
    external: str = "pause"
    without_profile: frozenset[str] = frozenset()
    private_repos: tuple[str, ...] = ()
    grants_enabled: bool = False
    strict: bool | None = None
    digest: str = ""

    @property
    def is_malformed(self) -> bool:
        """Whether the policy has faults and therefore allows nothing."""
        return bool(self.faults)


def policy_digest(config: object) -> str:
    """Return the SHA-256 of a parsed configuration without its signature.

    It is taken over JSON with sorted keys, compact and ASCII, so that it does not depend on how the file is laid out.
    """
    import hashlib
    import json

    bare = {key: value for key, value in config.items() if key != "auth"} if isinstance(config, dict) else config
    try:
        text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        # Dates, mixed keys or loops: no JSON, and still a digest that tells one such policy from another.
        text = ascii(bare)
    return hashlib.sha256(text.encode()).hexdigest()


def parse_policy(config: object) -> Policy:
    """Return the policy that a parsed configuration holds.

    Args:
        config: What the YAML reader gave; None for a missing or empty file, anything but a mapping for one that
            could not be read.

    Returns:
        The policy. One with faults is ``always_pause`` and names them all; no fault raises.
    """
    digest = policy_digest(config)
    if config is None:
        return Policy(digest=digest)
    if not isinstance(config, dict):
        return Policy(faults=("the configuration is no mapping",), digest=digest)
    faults: list[str] = []
    strict = _strict(config.get("restante"), faults)
    autonomy = config.get("autonomy")
    if "autonomy" not in config:
        return Policy(faults=tuple(faults), strict=strict, digest=digest)
    if not isinstance(autonomy, dict):
        return Policy(faults=(*faults, "autonomy: no mapping"), strict=strict, digest=digest)
    policy = _read(autonomy, faults)._replace(strict=strict, digest=digest)
    return Policy(faults=tuple(faults), strict=strict, digest=digest) if faults else policy


def _strict(block: object, faults: list[str]) -> bool | None:
    if block is None:
        return None
    value = block.get("strict") if isinstance(block, dict) else block
    if not isinstance(block, dict) or not (value is None or isinstance(value, bool)):
        faults.append("restante.strict: neither true nor false")
        return True
    return value


def _read(autonomy: Mapping[object, object], faults: list[str]) -> Policy:
    mode = autonomy.get("default_mode")
    if mode not in (ALWAYS_PAUSE, AUTO_REVIEW):
        faults.append(f"autonomy.default_mode: {mode!r} is neither {ALWAYS_PAUSE} nor {AUTO_REVIEW}")
    thresholds = autonomy.get("auto_review_thresholds")
    minutes = files = None
    external = "pause"
    if isinstance(thresholds, dict):
        minutes, files = (_cap(thresholds, key, faults) for key in _CAPS)
        external = _effects(thresholds, faults)
    elif thresholds is not None or mode == AUTO_REVIEW:
        faults.append("autonomy.auto_review_thresholds: no mapping")
    types = _texts(autonomy, "allow_without_task_profile", faults, r"[a-z_]{1,64}")
    repos = _texts(autonomy, "private_repo_allowlist", faults, REPOSITORY)
    enabled = _grants(autonomy.get("continuation_grants"), faults)
    return Policy(str(mode), (), minutes, files, external, frozenset(types), tuple(dict.fromkeys(repos)), enabled)


def _cap(thresholds: Mapping[object, object], key: str, faults: list[str]) -> int | None:
    value = thresholds.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    faults.append(f"autonomy.auto_review_thresholds.{key}: {value!r} is no number from 0")
    return None


def _effects(thresholds: Mapping[object, object], faults: list[str]) -> str:
    where = "autonomy.auto_review_thresholds"
    faults.extend(f"{where}.{key}: only 'pause'" for key in _ALWAYS_PAUSING if thresholds.get(key) != "pause")
    external = thresholds.get("external_side_effects")
    if external not in _EXTERNAL:
        faults.append(f"{where}.external_side_effects: {external!r} is none of {', '.join(_EXTERNAL)}")
    return str(external)


def _texts(autonomy: Mapping[object, object], key: str, faults: list[str], pattern: str) -> list[str]:
    values = autonomy.get(key)
    if values is None:
        return []
    good = [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
    if not isinstance(values, list) or len(good) != len(values) or not all(re.fullmatch(pattern, one) for one in good):
        faults.append(f"autonomy.{key}: {values!r:.80}")
    return good


def _grants(block: object, faults: list[str]) -> bool:
    if block is None:
        return False
    enabled = block.get("enabled", False) if isinstance(block, dict) else None
    if not isinstance(enabled, bool):
        faults.append("autonomy.continuation_grants.enabled: neither true nor false")
    return enabled is True
