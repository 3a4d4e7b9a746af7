"""What screening looks at, and what it may show of it.

A rule is written for plain text; a person, a web page or a terminal gives full-width letters, no-break spaces,
invisible joiners and colour codes. ``fold`` takes those away and keeps where each character came from, so that
a finding still points into the original. ``excerpt`` shows a line of the original without its secrets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from restante.domain.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

REDACTED = "[redacted]"

# Longest part of a line that is shown on either side of what was found.
_AROUND = 60
# What is hidden wherever else it stands: nothing so short that it may be a word, not more than a flood holds.
_LEAST_SECRET = 6
_MOST_COPIED = 200
_ALIKE = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63", "-") | {
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u2028": "\n",
    "\u2029": "\n",
    "\x85": "\n",
    "\t": "\t",
    "\n": "\n",
    "\r": "\r",
}


class Folded:
    """A text as rules see it.

    Attributes:
        text: The folded text.
        lowered: The same in lower case, for a look whether a word occurs at all.
    """

    __slots__ = ("_origin", "_size", "lowered", "text")

    def __init__(self, text: str, origin: list[int] | None, size: int) -> None:
        self.text = text
        self.lowered = text.lower()
        self._origin = origin
        self._size = size

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original text of what stands between two places of the folded one."""
        if self._origin is None:
            return start, end
        if start >= len(self._origin):
            return self._size, self._size
        return self._origin[start], self._origin[end - 1] + 1 if end > start else self._origin[start]


def fold(text: str) -> Folded:
    """Return the text with look-alikes made plain, invisible characters left out and continued lines joined."""
    joined = text.replace("\\\r\n", "   ").replace("\\\n", "  ") if "\\" in text else text
    if joined.isascii() and joined.replace("\n", "").replace("\t", "").replace("\r", "").isprintable():
        return Folded(joined, None, len(text))
    if "\x1b" in joined:
        joined = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", lambda code: "\0" * len(code[0]), joined)
    known: dict[str, str] = {}
    characters: list[str] = []
    origin: list[int] = []
    for place, character in enumerate(joined):
        if " " <= character <= "~":
            plain = character
        else:
            if character not in known:
                known[character] = _plain(character)
            plain = known[character]
        characters.append(plain)
        origin.extend([place] * len(plain))
    return Folded("".join(characters), origin, len(text))


def _plain(character: str) -> str:
    import unicodedata

    if character in _ALIKE:
        return _ALIKE[character]
    # Cc, Cf: control and format characters; Mn: marks that combine, variation selectors among them.
    if unicodedata.category(character) in ("Cc", "Cf", "Mn"):
        return ""
    return "".join(_ALIKE.get(one, one) for one in unicodedata.normalize("NFKC", character))


def line_starts(text: str) -> list[int]:
    r"""Return where each line begins; a line ends with ``\n``, ``\r\n`` or ``\r``."""
    return [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges in order, those that touch made one."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        elif end > start:
            result.append((start, end))
    return result


def with_copies(text: str, hidden: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges, merged, with every other place where the same characters stand."""
    places = list(hidden)
    for secret in sorted({text[start:end] for start, end in hidden if end - start >= _LEAST_SECRET})[:_MOST_COPIED]:
        at = text.find(secret)
        while at >= 0:
            places.append((at, at + len(secret)))
            at = text.find(secret, at + len(secret))
    return merged(places)


def excerpt(text: str, line: tuple[int, int], at: int, hidden: Sequence[tuple[int, int]]) -> str:
    """Return the part of a line around a finding, safe to show.

    Args:
        text: The original text.
        line: Where the line begins and ends.
        at: Where in the text the finding begins.
        hidden: What must not be shown, merged and in order.
    """
    pieces: list[str] = []
    length = focus = 0
    place, end = line
    for start, stop in (one for one in hidden if one[1] > line[0] and one[0] < line[1]):
        if place <= at:
            focus = length + min(at, max(place, start)) - place
        pieces += (text[place : max(place, start)], REDACTED)
        length += len(pieces[-2]) + len(REDACTED)
        place = max(place, min(stop, end))
    if place <= at:
        focus = length + at - place
    pieces.append(text[place:end])
    shown = "".join(pieces)
    first, last = max(0, focus - _AROUND), focus + 2 * _AROUND
    cut = ("…" if first else "") + shown[first:last].strip() + ("…" if last < len(shown) else "")
    # Beyond what may act on a screen: invisible characters, because they are why a line looks harmless.
    return re.sub("[\xad\u180e\u200b-\u200f\u2060-\u2064]", lambda one: f"\\u{ord(one[0]):04x}", visible(cut))
