"""Gate 1: may this message be looked at at all? Policy, mode, form, expiry, replay, in this order.

After OACP 0.5.3, section 6.2 of the specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.autonomy.instants import parse_instant
from restante.autonomy.verdict import Verdict
from restante.autonomy.vocabulary import ACCEPTED, ALWAYS_PAUSE, AUTO_REVIEW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.autonomy.policy import Policy
    from restante.autonomy.record import Circumstances

_REQUIRED = ("id", "from", "type", "priority", "created_at_utc", "subject", "body")


def early_pause(
    message: Mapping[str, object],
    policy: Policy,
    history: Sequence[Mapping[str, object]],
    circumstances: Circumstances,
    validation_errors: Sequence[str],
    *,
    is_strict: bool,
) -> Verdict | None:
    """Return the pause of a message that needs no further look, None where the gates go on."""
    auth = circumstances.policy_auth
    if auth is not None and auth.get("status") == "invalid":
        return _paused("policy_auth_invalid", kind="config_malformed")
    if policy.is_malformed:
        return _paused("config_malformed", kind="config_malformed")
    if policy.mode == ALWAYS_PAUSE:
        return _paused("mode_always_pause")
    errors = tuple(validation_errors) or form_errors(message)
    if errors:
        return _paused("message_invalid", AUTO_REVIEW)._replace(errors=errors)
    expires = parse_instant(message.get("expires_at"))
    if expires is not None and circumstances.now >= expires:
        return _paused("message_expired", AUTO_REVIEW)
    if any(_is_replayed(record, message, circumstances, is_strict=is_strict) for record in history):
        return _paused("message_replayed", AUTO_REVIEW)
    return None


def _paused(code: str, mode: str = ALWAYS_PAUSE, *, kind: str = "admission_paused") -> Verdict:
    return Verdict(is_accepted=False, codes=(code,), mode=mode, breached=(code,), kind=kind)


def form_errors(message: Mapping[str, object]) -> tuple[str, ...]:
    """Return what is plainly wrong with a message.

    A full validation is the mail room's; this holds whatever the caller did, so that nothing half read is accepted.
    """
    errors = [f"missing required field: {name}" for name in _REQUIRED if name not in message]
    if "to" not in message:
        errors.append("missing required field: to")
    errors += [f"field '{name}' must be a scalar string" for name in _REQUIRED if _is_no_text(message.get(name, "-"))]
    for name in ("created_at_utc", "expires_at"):
        value = message.get(name)
        if value is not None and not (isinstance(value, str) and parse_instant(value)):
            errors.append(f"field '{name}' must be a UTC time")
    return tuple(errors)


def _is_no_text(value: object) -> bool:
    return not isinstance(value, str) or not value.strip()


def _is_replayed(
    record: Mapping[str, object], message: Mapping[str, object], circumstances: Circumstances, *, is_strict: bool
) -> bool:
    """Tell whether a record says that this message ran already.

    The format knows a message by its id and only what ran without a person. Strictly, the same bytes under another
    id are the same message, and so is one that a person let run to its end.
    """
    if record.get("receiver") != circumstances.receiver:
        return False
    is_same = record.get("message_id") == message.get("id")
    if record.get("decision") == ACCEPTED and is_same:
        return True
    result = record.get("result")
    is_done = isinstance(result, dict) and result.get("final_state") == "done"
    has_run = record.get("decision") == ACCEPTED or is_done
    is_copy = bool(circumstances.digest) and record.get("message_sha256") == circumstances.digest
    return is_strict and has_run and (is_same or is_copy)
