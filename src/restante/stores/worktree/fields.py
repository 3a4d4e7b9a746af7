"""Metadata lines of a block: how one value is written and read, and how the head that our writer writes is read.

A value stands on its line as it is. One that would not survive there (control characters, space at an end,
a leading quotation mark) is a JSON string. Heads in any other shape are ``handwritten``'s.
"""

from __future__ import annotations

import json
import re

from restante.domain.errors import BadText

# C0, DEL and C1, the two Unicode line ends and the byte order mark: what some reader trims or breaks a line at.
CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff"
# Patterns are texts here: re compiles one when it is first used, and most runs use few of them.
_UNFIT = f"[{CONTROLS}]"
_RAW_IN_JSON = "[\x7f-\x9f\u2028\u2029\ufeff]"


def write_value(text: str) -> str:
    """Return one value as it stands on its line.

    Raises:
        BadText: It holds a lone surrogate, which has no UTF-8 form.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadText(f"{text!r} holds a lone surrogate", remedy="send text that is valid UTF-8") from None
    if text[:1] != '"' and text == text.strip() and (text.isprintable() or not re.search(_UNFIT, text)):
        return text
    return re.sub(_RAW_IN_JSON, lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def read_value(text: str) -> str:
    """Return what ``write_value`` was given; text that is no JSON string is taken as it stands."""
    if text[:1] != '"' or text[-1:] != '"' or len(text) < 2:
        return text
    try:
        value = json.loads(text)
        value.encode()
    except ValueError:
        return text
    return str(value)


def read_lines(head: str) -> dict[str, str]:
    """Read ``key: value`` lines, each ended by a line feed; a later line of the same key counts."""
    fields = dict([line.split(": ", 1) for line in head[:-1].split("\n")])
    if '"' in head:
        return {key: read_value(value) for key, value in fields.items()}
    return fields


def size_of(fields: dict[str, str]) -> int | None:
    """Return the size of the body that the head promises, in UTF-8 bytes; ``None`` when it promises none."""
    text = fields.get("body_bytes")
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else None
