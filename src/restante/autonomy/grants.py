"""The grammar of a continuation grant: what a person allows for a thread, in numbers, dates and named effects.

After OACP 0.5.3, section 6.7 of the specification. A scope is flat and finite; what is not plainly in it is not
granted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.instants import parse_instant, show_instant
from restante.autonomy.vocabulary import ARTIFACTS, EFFECTS, GRANTED_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND = "approved_thread_continuation"
MISSING_SCOPE = "continuation_grant_missing_scope"
_NUMBERS = ("max_actual_minutes", "max_actual_files_touched")
_KEYS = frozenset({"allowed_types", "max_round", "expires_at_utc", *_NUMBERS, *EFFECTS})
_LARGEST = 10**15


class ScopeAnswer(NamedTuple):
    """A scope that was read.

    Attributes:
        scope: In the order of audit records, every effect named; None where it is none.
        error: The reason code of what is wrong with it; empty where nothing is.
    """

    scope: dict[str, object] | None
    error: str = ""


class Requested(NamedTuple):
    """What a message asks for.

    Attributes:
        is_present: Whether it asks at all.
        scope: What it asks for; None where that cannot be read.
        error: The reason code of what is wrong with it.
    """

    is_present: bool = False
    scope: dict[str, object] | None = None
    error: str = ""


def parse_scope(raw: object) -> ScopeAnswer:
    """Return a scope in its full form, or the code of what is wrong with it."""
    if not isinstance(raw, dict) or not set(raw) <= _KEYS:
        return ScopeAnswer(None, MISSING_SCOPE)
    for key in _NUMBERS:
        if not is_count(raw.get(key)):
            return ScopeAnswer(None, f"{key}_invalid")
    types = raw.get("allowed_types")
    if (
        not isinstance(types, list)
        or not types
        or not all(isinstance(one, str) and one in GRANTED_TYPES for one in types)
    ):
        return ScopeAnswer(None, MISSING_SCOPE)
    expires = parse_instant(raw.get("expires_at_utc"))
    if not is_count(raw.get("max_round"), least=1) or expires is None:
        return ScopeAnswer(None, MISSING_SCOPE)
    effects = {effect: raw.get(effect, False) for effect in EFFECTS}
    wrong = [effect for effect, value in effects.items() if not isinstance(value, bool)]
    if wrong:
        return ScopeAnswer(None, f"{wrong[0]}_invalid" if wrong[0] in ARTIFACTS else MISSING_SCOPE)
    return ScopeAnswer(
        {
            **{key: raw[key] for key in _NUMBERS},
            "allowed_types": list(types),
            "max_round": raw["max_round"],
            "expires_at_utc": show_instant(expires),
            **effects,
        }
    )


def is_count(value: object, *, least: int = 0) -> bool:
    """Tell whether a value is a whole number, not a boolean, from ``least`` to what all readers hold exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _LARGEST


def requested_grant(holder: object) -> Requested:
    """Return what a mapping with ``continuation_grants`` asks for.

    Args:
        holder: A task profile, or the body of a review message as YAML.
    """
    grants = holder.get("continuation_grants") if isinstance(holder, dict) else None
    request = grants.get(KIND) if isinstance(grants, dict) else None
    if not isinstance(request, dict):
        return Requested()
    answer = parse_scope(request.get("scope"))
    return Requested(True, answer.scope, answer.error)


def grant_envelope(scope: Mapping[str, object]) -> dict[str, object]:
    """Return the envelope of a review that runs on a grant: its maxima and its effects."""
    return {
        "estimated_minutes": scope["max_actual_minutes"],
        "expected_files_touched": scope["max_actual_files_touched"],
        **{effect: scope[effect] for effect in EFFECTS},
    }
