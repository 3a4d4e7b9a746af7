"""The runtime envelope: what an accepted task may do, for a hook that asks before each step.

After OACP 0.5.3, section 4.4 of the specification: ``state/active_envelope.json``. Pure: which programs are there and
which hooks are registered comes in as an ``Adapter``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.bounded import bounded_copy
from restante.autonomy.instants import show_instant
from restante.autonomy.profile import Unparsable, default_envelope, extract_profile
from restante.autonomy.record import SPEC_VERSION
from restante.autonomy.record_checks import is_admitted
from restante.autonomy.vocabulary import PROFILE_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from restante.autonomy.policy import Policy
    from restante.autonomy.profile import Load

CONSOLE = "oacp-envelope-hook"
PUBLIC = "public_visibility_admission_approved"
_MESSAGE_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
_SHA256 = r"[0-9a-f]{64}"
_REASONS = {
    "unsupported": "adapter_unsupported",
    "expected_missing": "adapter_expected_missing",
    "failed": "adapter_detection_failed",
}


class Adapter(NamedTuple):
    """Whether a receiver's program asks before each step.

    Attributes:
        runtime: The program, None where it is not known.
        state: ``resolved``, ``unsupported``, ``expected_missing`` or ``failed``.
        console: The command that is asked, None where there is none for this program.
        detail: What was found, in words.
    """

    runtime: str | None
    state: str
    console: str | None = None
    detail: str | None = None

    @property
    def reason(self) -> str | None:
        """Why nothing is enforced; None where it is."""
        return _REASONS.get(self.state)


class Compiled(NamedTuple):
    """The outcome of compiling.

    Attributes:
        envelope: The envelope; None where there is none.
        error: Why it could not be compiled; empty where it could, or where deliberately there is none.
        reason: What the audit record says of its enforcement; None where it is enforced.
    """

    envelope: dict[str, object] | None
    error: str = ""
    reason: str | None = None


def detect_adapter(
    runtime: str | None, *, has_console: bool = False, is_registered: bool = False, fault: str = ""
) -> Adapter:
    """Return what is known of a receiver's program.

    Args:
        runtime: The program as the agent card names it; None where that cannot be read.
        has_console: Whether the command is on the path.
        is_registered: Whether it is registered as a hook before each tool.
        fault: What went wrong while looking; empty where nothing did.
    """
    if not runtime or (fault and runtime == "claude"):
        return Adapter(runtime or None, "failed", None, fault or "the receiver's program is not known")
    if runtime != "claude":
        return Adapter(runtime, "unsupported", None, f"no adapter for {runtime}")
    if has_console and is_registered:
        return Adapter(runtime, "resolved", CONSOLE)
    missing = "is not registered as PreToolUse hook" if has_console else "is not on the path"
    return Adapter(runtime, "expected_missing", CONSOLE, f"{CONSOLE} {missing}")


def compile_envelope(
    message: Mapping[str, object],
    raw_digest: str,
    policy: Policy,
    config: object,
    *,
    load: Load,
    project: str,
    receiver: str,
    adapter: Adapter,
    now: datetime,
    admission: Mapping[str, object] | None = None,
    session_id: str | None = None,
    compiler: str = "restante",
) -> Compiled:
    """Return the envelope of a message's declared profile under a policy.

    Args:
        message: The message's fields.
        raw_digest: SHA-256 of its bytes.
        policy: What the receiver allows.
        config: What the policy was parsed from, for the scripts that it trusts.
        load: Reads YAML.
        project: The project.
        receiver: Who works.
        adapter: Whether somebody asks before each step.
        now: The instant.
        admission: The audit record of the message's admission; a task that is public and was approved by a person
            gets no envelope, because none could hold what that person allowed.
        session_id: The session that is bound; None for any.
        compiler: Who compiles.
    """
    name, body = message.get("id"), message.get("body")
    if not isinstance(name, str) or re.fullmatch(_MESSAGE_ID, name) is None or not isinstance(body, str):
        return Compiled(None, "the message has no id that can name an envelope, or no body")
    if policy.is_malformed:
        return Compiled(None, f"the policy is malformed: {'; '.join(policy.faults)}")
    profile = extract_profile(body, load)
    if isinstance(profile, Unparsable):
        return Compiled(None, f"the task profile cannot be used: {profile.why}")
    if profile is None and message.get("type") not in policy.without_profile:
        return Compiled(None, "the message declares no task profile")
    try:
        scripts = _trusted_scripts(config)
    except ValueError as error:
        return Compiled(None, str(error))
    values = default_envelope(message.get("priority")) if profile is None else profile.values
    if values.get("public_visibility") is True and admission is not None and is_admitted(admission):
        return Compiled(None, reason=PUBLIC)
    envelope: dict[str, object] = {
        "envelope_version": 1,
        "spec_version": SPEC_VERSION,
        "compiler": compiler,
        "compiled_at_utc": show_instant(now),
        "project": project,
        "receiver": receiver,
        "message_id": name,
        "message_sha256": raw_digest,
        "constraints": {
            **{key: values[key] for key in PROFILE_KEYS},
            "private_repo_allowlist": list(policy.private_repos),
            "trusted_scripts": scripts,
        },
        "counters": {"files_touched": []},
        "enforcement": "none" if adapter.reason else "hooks",
    }
    if adapter.reason:
        envelope["enforcement_reason"] = adapter.reason
    envelope |= {"adapter": dict(adapter._asdict()), "session_id": session_id}
    return Compiled(envelope, reason=adapter.reason)


def with_counters(envelope: Mapping[str, object], previous: Mapping[str, object]) -> dict[str, object]:
    """Return an envelope that goes on counting where another one is."""
    return {**envelope, "counters": previous.get("counters", envelope.get("counters"))}


def _trusted_scripts(config: object) -> list[object]:
    block = config.get("envelope") if isinstance(config, dict) else None
    if block is None:
        return []
    scripts = block.get("trusted_scripts", []) if isinstance(block, dict) else None
    if not isinstance(scripts, list) or not all(_is_script(one) for one in scripts):
        raise ValueError("envelope.trusted_scripts: each needs path and sha256, and may have env")
    copy = bounded_copy(scripts)
    assert isinstance(copy, list)
    return copy


def _is_script(entry: object) -> bool:
    if not isinstance(entry, dict) or not set(entry) <= {"path", "sha256", "env"}:
        return False
    path, digest = entry.get("path"), entry.get("sha256")
    return (
        isinstance(path, str) and bool(path) and isinstance(digest, str) and re.fullmatch(_SHA256, digest) is not None
    )
