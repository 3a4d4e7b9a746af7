"""Where the blocks of a mailbox file begin. The rule is in ``grammar``'s docstring."""

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.ids import is_well_formed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLANKS = b" \t\r\n\v\f"

_MESSAGE_LINES = (b"from: human", b"created_at: .*", b"priority: .*", b"status: .*", b"scope: .*")
_LINES = {
    "msg": _MESSAGE_LINES,
    "receipt": (b"message_id: .*",),
    "reply": (rb"from: agent(?:\r?\nto: .*)?", b"created_at: .*"),
}
_HAZARD = re.compile(rb"```|~~~|<")
_TO_LINE_END = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_CLOSING_MARKS = re.compile(rb"(?:^|[ \t])#+[ \t]*$")
_MOST_DRESS = 3
_DRESS = re.compile(rb"(\*{1,3}|_{1,3}|`+)(.+)\1")
_SEPARATOR = re.compile(rb"(?:\A|\n)---\r?\n\r?\n\Z")
_RULE_AT_END = re.compile(rb"(?:\A|(?<=[\r\n]))(?:-{3,}|\*{3,}|_{3,})\Z")


class Start(NamedTuple):
    """The heading of a block.

    Attributes:
        before: Offset where the text before it ends, its separator not counted.
        start: Offset of the heading line.
        after: Offset of the line after the heading.
        id: The id; empty where a heading ends the block before it and begins none.
    """

    before: int
    start: int
    after: int
    id: str


class _Patterns(NamedTuple):
    strong: re.Pattern[bytes]
    heading: re.Pattern[bytes]
    underlined: re.Pattern[bytes]


@cache
def _patterns(kind: str) -> _Patterns:
    token = kind.encode()
    ident = token + rb"_[0-9]{8}T[0-9]{6}_[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}"
    lines = b"".join(line.replace(b".*", rb"[^\r\n]*") + rb"\r?\n" for line in _LINES[kind])
    return _Patterns(
        strong=re.compile(rb"\n---\r?\n\r?\n(## (" + ident + rb")\r?\n)\r?\n" + lines),
        # The agent's free hand in RECEIPTS.md: there every heading ends the receipt before it.
        heading=re.compile(rb"##[ \t]+" if kind == "receipt" else rb"##[ \t]+[*_`]*" + token + rb"\\?_"),
        underlined=re.compile(token + rb"\\?_[\w\\]{20,60}[*_`]{0,6}[ \t]*(?:\r\n?|\n) {0,3}-+[ \t]*(?=[\r\n]|\Z)"),
    )


# The first match behind a position, kept so that no byte is searched twice.
_Ahead = tuple[int, "re.Match[bytes] | None"]


def _ahead(pattern: "re.Pattern[bytes]", data: bytes, position: int, known: _Ahead) -> _Ahead:
    since, found = known
    if 0 <= since <= position and (found is None or found.start() >= position):
        return known
    return position, pattern.search(data, position)


class Starts:
    """The starts in one stretch of text, found from left to right.

    Args:
        data: The text.
        kind: The kind in the ids: ``msg``, ``reply``, ``receipt``.
        report: Told of headings that look like a block's and are none: offset and text.
    """

    def __init__(self, data: bytes, kind: str, report: "Callable[[int, bytes], None]") -> None:
        self._data = data
        self._kind = kind
        self._report = report
        self._patterns = _patterns(kind)
        self._strong: _Ahead = (-1, None)
        self._underlined: _Ahead = (-1, None)

    def next(self, position: int) -> Start | None:
        """Find the first start at or behind a position that is outside of any Markdown block."""
        strong = self._next_strong(position)
        limit = strong.start() if strong else len(self._data)
        if strong and limit == position:
            return Start(limit, strong.start(1), strong.end(1), strong[2].decode())
        for start, after, text in self._headings(position, limit):
            ident = undressed(text)
            if is_well_formed(ident, self._kind):
                return Start(self._text_end(position, start), start, after, ident)
            if self._kind != "receipt" and not ident.startswith(self._kind + "_"):
                continue
            if self._data[after - 1 : after] not in (b"\n", b"\r"):
                break
            self._report(start, text)
            # A block with a broken id, not a heading that somebody put into a text: it takes nothing with it.
            broken = " " not in ident and _SEPARATOR.search(self._data, max(start - 8, position), start)
            if broken or self._kind == "receipt":
                return Start(self._text_end(position, start), start, after, "")
        return Start(strong.start(), strong.start(1), strong.end(1), strong[2].decode()) if strong else None

    def _next_strong(self, position: int) -> re.Match[bytes] | None:
        self._strong = _ahead(self._patterns.strong, self._data, position, self._strong)
        return self._strong[1]

    def _next_underlined(self, position: int) -> re.Match[bytes] | None:
        self._underlined = _ahead(self._patterns.underlined, self._data, position, self._underlined)
        return self._underlined[1]

    def _headings(self, position: int, limit: int) -> "Iterator[tuple[int, int, bytes]]":
        """Yield start, end and text of the headings that may be a block's, as CommonMark sees them."""
        data = self._data
        underlined = self._next_underlined(position)
        if underlined and underlined.end() > limit:
            underlined = None
        hazard: re.Match[bytes] | None = None
        told = searched = position
        for found in self._patterns.heading.finditer(data, position, limit):
            place = found.start()
            line = place - (len(margin := data[max(position, place - 4) : place]) - len(margin.rstrip(b" ")))
            if line > position and data[line - 1 : line] not in (b"\n", b"\r"):
                continue
            hazard = hazard or _HAZARD.search(data, searched, place)
            searched = max(position, place - 2)
            if hazard or line < place or (underlined and underlined.start() < place):
                break
            told = line_end(data, place, limit)
            yield place, told, _atx_text(data[place:told])
        else:
            if not underlined:
                return
        from restante.stores.worktree.outline import headings

        for heading in headings(data, position, limit):
            if heading.start >= told and not (heading.underlined and self._is_foreign(heading.text)):
                yield heading.start, heading.after, heading.text

    def _is_foreign(self, text: bytes) -> bool:
        return not is_well_formed(undressed(text), self._kind)

    def _text_end(self, floor: int, start: int) -> int:
        """Return where the text between two offsets ends, without the rule that separates blocks."""
        text = self._data[floor:start].rstrip(BLANKS)
        rule = _RULE_AT_END.search(text)
        if rule:
            text = text[: rule.start()].rstrip(BLANKS)
        return line_end(self._data, floor + len(text), start) if text else floor


def undressed(text: bytes) -> str:
    """Return a heading's text without emphasis, backticks and backslashes around an id."""
    for _ in range(_MOST_DRESS):
        if not (found := _DRESS.fullmatch(text)):
            break
        text = found[2].strip(b" ") if found[1][:1] == b"`" else found[2]
    return text.replace(b"\\_", b"_").decode(errors="replace")


def line_end(data: bytes, position: int, limit: int) -> int:
    """Return the offset behind the end of the line that a position is on."""
    found = _TO_LINE_END.match(data, position, limit)
    return found.end() if found else limit


def _atx_text(line: bytes) -> bytes:
    text = line.rstrip(b"\r\n")[2:].rstrip(b" \t")
    return _CLOSING_MARKS.sub(b"", text).strip(b" \t")
