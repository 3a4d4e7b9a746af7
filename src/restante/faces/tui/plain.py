"""How texts become lines of a screen: as data, with nothing in them that acts on a terminal or is taken for markup.

Whatever is shown passes ``domain.text.visible``, and reaches the library as ``Text`` or ``Content``, which it never
parses. ``tests/faces/tui`` has the corpus of attacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content

from restante.domain.text import age, iso, one_line, visible

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.errors import RestanteError

# What would act on a terminal is not taken into a field of one line, typed or pasted: see ``domain.text``.
PRINTABLE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]*"
# A table leaves a blank on both sides of a cell.
_BESIDE = 2
# What a line of bytes has beside the numbers and letters themselves: its place, blanks, bars.
_ADDRESS = 11
_SIGN = "\N{REPLACEMENT CHARACTER}"


def cell(text: str, width: int, style: str = "") -> Text:
    """Return the beginning of a text as a cell of a table.

    Args:
        text: Whose ever text.
        width: At most so many characters.
        style: How it looks, in the library's words; never anybody's text.
    """
    return Text(one_line(text, width), style=style, no_wrap=True, end="")


def body(*parts: tuple[str, str] | str) -> Content:
    """Return texts one after the other, each alone or with a style.

    Args:
        parts: Texts of anybody's, or pairs of such a text and a style of ours.
    """
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    return Content.assemble(*[(visible(text), style) for text, style in pairs])


def fitted(total: int, *wanted: tuple[int, int], rest: int) -> list[int]:
    """Return how wide the columns of a table are; the last takes what the others leave.

    Args:
        total: The characters of a line.
        wanted: Of each column but the last the characters it wants, and how few will do; with 0 it may be left out.
        rest: The fewest characters of the last one.
    """
    widths = [most for most, _ in wanted]
    missing = rest - (total - sum(widths) - _BESIDE * (len(widths) + 1))
    for number in reversed(range(len(wanted))):
        most, least = wanted[number]
        given = max(0, min(missing, most - least))
        widths[number] -= given
        missing -= given if widths[number] else given + _BESIDE
    shown = sum(1 for one in widths if one)
    return [*widths, max(rest, total - sum(widths) - _BESIDE * (shown + 1))]


def dump(data: bytes, width: int) -> str:
    """Return bytes as lines of hexadecimal numbers and letters; nothing in it acts on a terminal, whatever they are.

    Args:
        data: The bytes.
        width: The characters of a line.
    """
    each = 16 if width >= _ADDRESS + 16 * 4 else 8
    lines = []
    for place in range(0, len(data), each):
        part = data[place : place + each]
        letters = "".join(chr(one) if 0x20 <= one < 0x7F else "." for one in part)
        lines.append(f"{place:06x}  {part.hex(' '):<{each * 3 - 1}}  |{letters}|")
    return "\n".join(lines)


def in_place(text: str) -> str:
    """Return a text of the same length with a sign for each character that would act on the screen, for fields."""
    if text.isprintable():
        return text
    return "".join(one if one == "\t" or visible(one) == one else _SIGN for one in text)


def when(then: datetime | None, now: datetime) -> str:
    """Return how long ago something was; empty where nobody knows."""
    return age(then, now) if then else ""


def exactly(then: datetime | None) -> str:
    """Return an instant in full; empty where nobody knows."""
    return iso(then) if then else ""


def words_of(error: RestanteError) -> str:
    """Return what went wrong and what mends it, in one line."""
    return visible(f"{error.message}; {error.remedy}" if error.remedy else error.message)
