"""Heads and receipts that a person or an agent wrote by hand: read for what their author meant.

Field names may be bold, in backticks, in a list, in any case, with spaces; values may be wrapped over
several lines. A line that is none of the known fields is never taken for one after the head has ended.
"""

from __future__ import annotations

import re

from restante.stores.worktree.fields import read_value

_MARKER = re.compile(r"(?:mesaj|message):", re.IGNORECASE)
_PLAIN = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:\s+(.*))?")
_DRESSED = re.compile(
    r"(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:>\s*)?"
    r"[*_`]*([A-Za-z]+(?:[ _-][A-Za-z]+){0,2})[*_`]*\s*:[*_`]*(?:\s+(.*))?"
)
_RULE_OR_FENCE = re.compile(r"(?:-{3,}|\*{3,}|_{3,}|```.*|~~~.*)")
_LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\r|\n|\Z)")

_HEAD = frozenset(
    {"from", "to", "message_id", "by", "sender", "created_at", "expires_at", "withdrawn_at", "priority", "status"}
    | {"scope", "client_id", "subject", "type", "conversation", "parent", "body_bytes", "body"}
)
# Behind a blank line only a value that no sentence would have makes a line part of the head.
_FITTING = {
    "from": re.compile(r"human|agent"),
    "to": re.compile(r"\W*msg_\w+\W*"),
    "message_id": re.compile(r"\W*msg_\w+\W*"),
    "created_at": re.compile(r"\W*\d{4}-\d\d-\d\dT[\d:.,+Z-]+\W*"),
    "priority": re.compile(r"low|normal|high"),
    "status": re.compile(r"unread|cancelled"),
    "scope": re.compile(r"current_task|workspace|thread|question"),
    "body_bytes": re.compile(r"\d+"),
}
_RECEIPT = frozenset(("message_id", "seen_at", "decision", "action_status", "action", "summary", "notes", "by"))
_FOLDED = frozenset(("|", ">", "|-", ">-"))
_FREE_TEXT = frozenset(("summary", "notes"))


def read_head(data: bytes, start: int) -> tuple[dict[str, str], int, bool]:
    """Read the metadata below a message's or a reply's heading.

    Args:
        data: The file.
        start: Offset of the line after the heading.

    Returns:
        The fields, the offset of the body, and whether a marker line (``Mesaj:``, ``Message:``) announced it.
    """
    fields: dict[str, str] = {}
    position, body, blank = start, start, False
    while position < len(data):
        line = _LINE.match(data, position)
        assert line is not None
        text = line[1].decode(errors="replace").strip()
        if _MARKER.fullmatch(text):
            return fields, line.end(), True
        if text:
            pair = _head_pair(text, fields, behind_blank=blank)
            if pair is None:
                break
            fields[pair[0]] = pair[1]
            body = line.end()
        else:
            blank = bool(fields)
        position = line.end()
    return fields, body, False


def is_head_fragment(text: str) -> bool:
    """Tell whether a text is what the beginning of a metadata line leaves."""
    return any(f"{name}:".startswith(text) for name in (*_HEAD, "Mesaj", "Message"))


def _head_pair(text: str, fields: dict[str, str], *, behind_blank: bool) -> tuple[str, str] | None:
    if plain := _PLAIN.fullmatch(text):
        name, value = plain[1], (plain[2] or "").strip()
        if name in _HEAD:
            if not behind_blank or (name in _FITTING and _FITTING[name].fullmatch(value)):
                return name, read_value(value)
            return None
        if fields and not behind_blank:
            return name, read_value(value)
    dressed = _DRESSED.fullmatch(text)
    name = _name_of(dressed[1]) if dressed else ""
    if dressed and name in _FITTING:
        value = (dressed[2] or "").strip().strip("*_`")
        if _FITTING[name].fullmatch(value):
            return name, value
    return None


def read_receipt(text: str) -> tuple[dict[str, str], str]:
    """Read the lines below a receipt's heading.

    Returns:
        The fields by their proper names, and what belongs to none of them.
    """
    found: dict[str, list[str]] = {}
    strays: list[str] = []
    goes_on: list[str] | None = None
    for raw in text.splitlines():
        line = raw.strip()
        if not line or _RULE_OR_FENCE.fullmatch(line):
            goes_on = None
            continue
        if line[0] == line[-1] == "`" and ":" in line:
            line = line.strip("`")
        dressed = _DRESSED.fullmatch(line)
        name = _name_of(dressed[1]) if dressed else ""
        if dressed and (name in _RECEIPT or ("_" in name and "_" in dressed[1])):
            value = (dressed[2] or "").strip()
            found[name] = ["" if value in _FOLDED else read_value(value)]
            goes_on = found[name] if name in _FREE_TEXT else None
        elif goes_on is not None:
            goes_on.append(line)
        else:
            strays.append(line)
    return {name: " ".join(parts).strip() for name, parts in found.items()}, "\n".join(strays)


def _name_of(written: str) -> str:
    return written.lower().replace(" ", "_").replace("-", "_")
