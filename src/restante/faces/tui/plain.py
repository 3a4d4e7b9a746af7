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
