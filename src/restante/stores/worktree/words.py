"""Single values of a block: times, closed lists of words, ids; and what is to be said of those nobody understands."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from restante.domain.message import Priority, Scope
from restante.domain.receipt import Action, Decision

if TYPE_CHECKING:
    from collections.abc import Mapping

PRIORITIES = {one.value: one for one in Priority}
SCOPES = {one.value: one for one in Scope}
STATUSES = frozenset(("unread", "cancelled"))
DECISIONS = {one.value: one for one in Decision}
ACTIONS = {one.value: one for one in Action}

_LISTED = (("priority", PRIORITIES), ("status", STATUSES), ("scope", SCOPES))
# What our writer and the original program write there, and nothing: nearly every message is looked at no further.
_USUAL_PRIORITIES, _USUAL_STATUSES, _USUAL_SCOPES = (frozenset((*known, "", None)) for _, known in _LISTED)
# Patterns are texts here: re compiles one when it is first used, and most runs use few of them.
_ID = r"msg_[0-9]{8}T[0-9]{6}_[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}(?![0-9A-Za-z_])"
_DRESS = "*_`'\" \t"
# A word may be explained behind it: "accepted (with changes)", "applied - see the tests".
_EXPLAINED = r"(?s)\s*(?:[.,;:(]|[-\u2013\u2014]\s).*"


def moment(text: str) -> datetime | None:
    """Read an ISO 8601 time; one without a zone is UTC. ``None`` when it is none."""
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is None:
            return at.replace(tzinfo=UTC)
        return at if at.tzinfo is UTC else at.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    bare = text.strip(_DRESS)
    return moment(bare) if bare != text else None


def moment_text(at: datetime) -> str:
    """Write a time as the original program does: UTC, milliseconds, ``Z``; what is finer is cut off."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def word(text: str) -> str:
    """Return a word of a closed list without the dress that agents put on it."""
    bare = text.strip(_DRESS).lower()
    bare = re.sub(_EXPLAINED, "", bare, count=1) if len(bare) > 8 else bare.rstrip(".,;:")
    return bare.strip(_DRESS).replace("-", "_").replace(" ", "_")


def message_ids(text: str) -> list[str]:
    """Return the well-formed message ids in a value, as written."""
    return re.findall(_ID, text)


def problems(kind: str, fields: Mapping[str, str]) -> list[str]:
    """Say which values of a block cannot be understood; each is read as if it were not there."""
    return _RULES[kind](fields)


def _message_problems(fields: Mapping[str, str]) -> list[str]:
    get = fields.get
    if (
        get("priority") in _USUAL_PRIORITIES
        and get("status") in _USUAL_STATUSES
        and get("scope") in _USUAL_SCOPES
        and "expires_at" not in fields
        and "withdrawn_at" not in fields
    ):
        return _time_problems(fields, "created_at")
    found = []
    for name, known in _LISTED:
        value = fields.get(name)
        if value and value not in known:
            found.append(f"unknown {name} {value!r}")
    return found + _time_problems(fields, "created_at", "expires_at", "withdrawn_at")


def _receipt_problems(fields: Mapping[str, str]) -> list[str]:
    named = message_ids(fields.get("message_id", ""))
    found = [f"speaks of {len(named)} messages, only the first counts"] if len(set(named)) > 1 else []
    for name, known in (("decision", DECISIONS), ("action_status", ACTIONS), ("action", ACTIONS)):
        value = fields.get(name, "")
        if value and word(value) not in known:
            found.append(f"unknown {name} {value!r}")
    return found + _time_problems(fields, "seen_at")


def _reply_problems(fields: Mapping[str, str]) -> list[str]:
    to = fields.get("to") or fields.get("message_id", "")
    found = [f"answers no message: {to!r}"] if to and not message_ids(to) else []
    return found + _time_problems(fields, "created_at")


def _time_problems(fields: Mapping[str, str], *names: str) -> list[str]:
    found = []
    for name in names:
        value = fields.get(name)
        if value and moment(value) is None:
            found.append(f"{name} is no time: {value!r}")
    return found


_RULES = {"msg": _message_problems, "receipt": _receipt_problems, "reply": _reply_problems}
