"""What is wrong with a message: the rules of OACP 0.5.4, in the words and the order that its fixtures pin."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import TYPE_CHECKING

from restante.autonomy.vocabulary import MESSAGE_TYPES, PRIORITIES
from restante.stores.oacp.names import AGENT, CHANNEL, CONVERSATION, TIME
from restante.stores.oacp.rendering import ORDER, TELEMETRY
from restante.stores.oacp.trailer import split_trailer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_NEEDED = ("id", "from", "type", "priority", "created_at_utc", "subject", "body")
_OPTIONAL = (
    "related_packet",
    "related_pr",
    "conversation_id",
    "parent_message_id",
    "context_keys",
    "expires_at",
    "channel",
    "autonomy_hint",
    *TELEMETRY,
    "auth",
)
_KNOWN = frozenset((*ORDER, *TELEMETRY, "auth"))
_REVIEWS = ("review_addressed", "review_feedback", "review_lgtm")
_ALONE = ("handoff", "handoff_complete")
_MOST = {"id": 200, "subject": 200, "body": 20_000, "parent_message_id": 200}
_AGENT_FORM = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_FRAMING = (
    "field 'auth' must be the final physical line of the file: "
    'auth: "<base64url>" followed by exactly one LF (no CRLF)'
)


def validate(
    fields: Mapping[str, object], raw: bytes, *, check_auth: Callable[[str], str | None] | None = None
) -> list[str]:
    """Return what is wrong with a message, in the published order; an empty list for nothing.

    Args:
        fields: As ``reading.read_fields`` gives them.
        raw: The file.
        check_auth: Tells what is wrong with a signature's structure, ``None`` for nothing; its place alone is looked
            at without.
    """
    return [
        *_unknown(fields),
        *_needed(fields),
        *_to(fields),
        *_shapes(fields),
        *_words(fields),
        *_telemetry(fields),
        *_hint(fields),
        *_times(fields, "created_at_utc"),
        *_references(fields),
        *_times(fields, "expires_at"),
        *_channel(fields),
        *_lengths(fields),
        *_auth(fields, raw, check_auth),
    ]


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _unknown(fields: Mapping[str, object]) -> Iterator[str]:
    if names := sorted(set(fields) - _KNOWN):
        yield f"unknown field(s): {', '.join(names)}"


def _needed(fields: Mapping[str, object]) -> Iterator[str]:
    for name in _NEEDED:
        if name not in fields:
            yield f"missing required field: {name}"
        elif not isinstance(fields[name], str):
            yield f"field '{name}' must be a scalar string, not nested YAML"
        elif not _text(fields, name).strip():
            yield f"field '{name}' must be non-empty"


def _to(fields: Mapping[str, object]) -> Iterator[str]:
    to = fields.get("to")
    if to is None:
        yield "missing required field: to"
    elif isinstance(to, dict):
        yield "field 'to' must be a string or list of strings, not a mapping"
    elif isinstance(to, list):
        yield from _to_many(to, _text(fields, "from"), _text(fields, "type"))
    elif not str(to).strip():
        yield "field 'to' must be non-empty"
    elif not AGENT.fullmatch(str(to)):
        yield f"field 'to' must match {_AGENT_FORM}"


def _to_many(to: list[object], sender: str, kind: str) -> Iterator[str]:
    if not to:
        yield "field 'to' list must not be empty"
        return
    if len(to) > 10:
        yield "field 'to' list exceeds maximum of 10 recipients"
    for one in to:
        if not AGENT.fullmatch(str(one)):
            yield f"field 'to' list entry '{one}' must match {_AGENT_FORM}"
    if sender in to:
        yield "field 'to' list must not include the sender"
    if len(to) > 1 and kind in _ALONE:
        yield f"type '{kind}' does not support broadcast (multiple recipients)"


def _shapes(fields: Mapping[str, object]) -> Iterator[str]:
    for name in _OPTIONAL:
        if name in fields and not isinstance(fields[name], str):
            yield f"field '{name}' must be a scalar value"


def _words(fields: Mapping[str, object]) -> Iterator[str]:
    if (sender := _text(fields, "from")) and not AGENT.fullmatch(sender):
        yield f"field 'from' must match {_AGENT_FORM}"
    if (kind := _text(fields, "type")) and kind not in MESSAGE_TYPES:
        yield f"field 'type' must be one of: {', '.join(MESSAGE_TYPES)}"
    if (priority := _text(fields, "priority")) and priority not in PRIORITIES:
        yield f"field 'priority' must be one of: {', '.join(PRIORITIES)}"


def _telemetry(fields: Mapping[str, object]) -> Iterator[str]:
    if any(name in fields for name in TELEMETRY) and fields.get("type") not in _REVIEWS:
        yield f"review telemetry fields are allowed only for: {', '.join(_REVIEWS)}"
    if "model" in fields and not _text(fields, "model").strip():
        yield "field 'model' must be a non-empty string"
    for name in TELEMETRY[1:4]:
        if name in fields and not re.fullmatch(r"[0-9]+", _text(fields, name)):
            yield f"field '{name}' must be a non-negative integer"
    for name in TELEMETRY[4:]:
        if name in fields and not _is_amount(_text(fields, name)):
            yield f"field '{name}' must be a non-negative number"


def _is_amount(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and value >= 0


def _hint(fields: Mapping[str, object]) -> Iterator[str]:
    if (hint := _text(fields, "autonomy_hint")) and hint != "auto_proceed":
        yield "field 'autonomy_hint' must be one of: auto_proceed"


def _times(fields: Mapping[str, object], name: str) -> Iterator[str]:
    value = _text(fields, name)
    if not value:
        return
    if not TIME.fullmatch(value):
        yield f"field '{name}' must be UTC RFC3339 seconds format: YYYY-MM-DDTHH:MM:SSZ"
        return
    try:
        datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        yield f"field '{name}' is not a valid UTC timestamp"


def _references(fields: Mapping[str, object]) -> Iterator[str]:
    number = fields.get("related_pr", "")
    if number != "" and not (isinstance(number, str) and re.fullmatch(r"[0-9]+", number)):
        yield "field 'related_pr' must be empty or a numeric PR id"
    if (conversation := _text(fields, "conversation_id")) and not CONVERSATION.fullmatch(conversation):
        yield "field 'conversation_id' must match pattern conv-<YYYYMMDD>-<agent>-<seq>"
    if len(_text(fields, "parent_message_id")) > _MOST["parent_message_id"]:
        yield "field 'parent_message_id' is too long (max 200 chars)"
    if "context_keys" in fields and not isinstance(fields["context_keys"], str):
        yield "field 'context_keys' must be a string (use YAML block scalar)"


def _channel(fields: Mapping[str, object]) -> Iterator[str]:
    if (channel := _text(fields, "channel")) and not CHANNEL.fullmatch(channel):
        yield "field 'channel' must be 1-64 chars of alphanumeric, hyphens, or underscores"


def _lengths(fields: Mapping[str, object]) -> Iterator[str]:
    for name in ("id", "subject", "body"):
        if len(_text(fields, name)) > _MOST[name]:
            yield f"field '{name}' is too long (max {_MOST[name]} chars)"


def _auth(fields: Mapping[str, object], raw: bytes, check_auth: Callable[[str], str | None] | None) -> Iterator[str]:
    trailer = split_trailer(raw)
    if "auth" not in fields and trailer.state != "malformed":
        return
    value = fields.get("auth")
    if check_auth and isinstance(value, str) and (reason := check_auth(value)):
        yield f"field 'auth': {reason}"
    if trailer.state != "ok":
        yield _FRAMING
    elif value != trailer.value:
        yield "field 'auth' parsed value does not match the raw trailer line"
