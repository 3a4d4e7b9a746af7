r"""How untrusted text is shown: nothing in it may act on the terminal, the layout or the reader's eye.

Escaped are control characters except line feed and tab, and the characters that change writing direction
or hide text (Unicode bidi embeddings and isolates, tag characters), each as ``\xNN`` or ``\uNNNN``. Right-to-left
scripts, joiners and emoji stay as they are: they are somebody's language.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

# Texts, compiled by re when first used: most runs meet nothing that needs them.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
_TILDES = "~{3,}"
_LONGEST_NAME = 40
# "session:" and the beginning of an id; ids that are hardly longer stand as they are.
_BEGINNING = 16
_SHORT_ADDRESS = 20


def visible(text: str) -> str:
    """Return the text with everything that could act on a reader's screen written out."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return re.sub(_UNSAFE, lambda match: _escape(match[0]), text)


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def one_line(text: str, width: int) -> str:
    """Return the beginning of a text as one line of at most ``width`` characters."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def sender_words(label: str, name: str, *, is_verified: bool) -> str:
    """Return who something is from as ``builder (session:aaaa1111…, verified)``, where the session has a name.

    A name is what a session calls itself, and proves nothing: it is cut, can close no parenthesis, and never stands
    without the beginning of the id.

    Args:
        label: The address of the session.
        name: What it is called.
        is_verified: Whether it was proven to be that session.
    """
    shown = one_line(name, _LONGEST_NAME).replace("(", "[").replace(")", "]")
    beginning = visible(label if len(label) <= _SHORT_ADDRESS else label[:_BEGINNING] + "…")
    return f"{shown} ({beginning}, {'verified' if is_verified else 'unverified'})"


def counted(number: int, one: str, many: str = "") -> str:
    """Return ``1 message`` or ``2 messages``: a number, and the word in the form that goes with it.

    Args:
        number: How many.
        one: The word for one.
        many: The word for any other number; by default the same with an *s*.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def fenced(text: str) -> str:
    """Return the text between tilde fences that nothing in it can close."""
    longest = max(map(len, re.findall(_TILDES, text)), default=2) if "~~~" in text else 2
    fence = "~" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def cut(text: str, limit: int) -> str:
    """Return the longest beginning of a text that has at most ``limit`` UTF-8 bytes."""
    data = text.encode()
    return text if len(data) <= limit else data[: max(0, limit)].decode(errors="ignore")


def age(then: datetime | None, now: datetime) -> str:
    """Return how long ago something was, in words; never negative, however clocks stand."""
    if then is None:
        return "at an unknown time"
    seconds = max(0, int((now - then).total_seconds()))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago" if seconds else "just now"


def iso(time: datetime) -> str:
    """Return an instant as ``2026-05-20T15:30:00.000Z``, the form that all files and answers use."""
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z"
