"""Where CommonMark sees headings of depth two, and nothing else of it.

Follows the block structure of https://spec.commonmark.org/0.31.2/ line by line (its appendix "A parsing
strategy", phase 1): containers, then the one open leaf. Inline content, tightness and rendering do not
matter here. Lines are bytes; structure is ASCII, so text needs no decoding.
"""

import re
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_HTML_NAMES = (
    rb"address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt"
    rb"|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu"
    rb"|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr"
    rb"|track|ul"
)
_ATTRIBUTE = rb"""\s+[a-zA-Z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
# The seven kinds of HTML block: what opens each, and what closes it (None: a blank line).
_HTML: tuple[tuple[re.Pattern[bytes], re.Pattern[bytes] | None], ...] = (
    (
        re.compile(rb"<(?:script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE),
        re.compile(rb"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(rb"<!--"), re.compile(rb"-->")),
    (re.compile(rb"<\?"), re.compile(rb"\?>")),
    (re.compile(rb"<![A-Za-z]"), re.compile(rb">")),
    (re.compile(rb"<!\[CDATA\["), re.compile(rb"\]\]>")),
    (re.compile(rb"</?(?:" + _HTML_NAMES + rb")(?:\s|/?>|$)", re.IGNORECASE), None),
    (re.compile(rb"(?:<[A-Za-z][A-Za-z0-9-]*(?:" + _ATTRIBUTE + rb")*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>)\s*$"), None),
)
_ANY_TAG = _HTML[6]
_ATX = re.compile(rb"(#{1,6})(?: |$)")
_ATX_TAIL = re.compile(rb"(?:^| )#+ *$")
_FENCE = re.compile(rb"(`{3,})[^`]*$|(~{3,})")
_UNDERLINE = re.compile(rb"(=+|-+) *$")
_RULE = re.compile(rb"(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$")
_SPACES = re.compile(rb" *")
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARKER = re.compile(rb"(?:[-+*]|(\d{1,9})[.)])(?= |$)")
# A link reference definition at the start of a paragraph is not part of a heading made of that paragraph.
_REFERENCE = re.compile(
    rb"""\[(?=[^\]]*[^\]\s])(?:[^\[\]\\]|\\.)+\]:\s*(?:<(?:[^<>\\\n]|\\.)*>|[^\s<]\S*)"""
    rb"""(?:[ \n]\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ ]*(?:\n|$)""",
    re.DOTALL,
)
# Nobody nests deeper; without a limit the work on a line could grow with its square.
_DEEPEST = 100


class Heading(NamedTuple):
    """A heading of depth two that no container holds.

    Attributes:
        start: Offset of the first byte of its first line.
        after: Offset of the first byte after its last line.
        text: What it says, not decoded, inline marks not interpreted.
        underlined: Whether it is a setext heading.
    """

    start: int
    after: int
    text: bytes
    underlined: bool


class _Leaf(IntEnum):
    NONE = 0
    PARAGRAPH = 1
    FENCE = 2
    HTML = 3
    CODE = 4


def headings(data: bytes, start: int, end: int) -> "Iterator[Heading]":
    """Yield the top-level headings of depth two in a stretch of text that begins outside of any block."""
    outline = _Outline()
    for line in _LINE.finditer(data, start, end):
        found = outline.feed(line[0], line.start())
        if found:
            yield found


class _Outline:
    """What is open after the lines fed so far."""

    __slots__ = ("_closer", "_containers", "_leaf", "_paragraph")

    def __init__(self) -> None:
        # 0 is a block quote; n > 0 a list item whose content stands n columns in, -n one that is still empty.
        self._containers: list[int] = []
        self._leaf = _Leaf.NONE
        self._closer: re.Pattern[bytes] | None = None
        self._paragraph: list[tuple[int, bytes]] = []

    def feed(self, raw: bytes, start: int) -> Heading | None:
        """Take one line with its line ending; return the heading that it is or ends."""
        line = raw.rstrip(b"\r\n")
        if b"\t" in line:
            line = line.expandtabs(4)
        position, depth = self._continue_containers(line)
        whole = depth == len(self._containers)
        rest = line[position:]
        if whole and self._leaf > _Leaf.PARAGRAPH and self._continue_leaf(rest):
            return None
        if not rest.strip(b" "):
            self._settle(depth)
            return None
        return self._open(line, position, depth, (start, start + len(raw)))

    def _settle(self, depth: int) -> None:
        del self._containers[depth:]
        self._leaf = _Leaf.NONE

    def _continue_containers(self, line: bytes) -> tuple[int, int]:
        position = depth = 0
        for width in self._containers:
            text = _end_of_spaces(line, position)
            if not width:
                if text - position > 3 or line[text : text + 1] != b">":
                    break
                position = text + 1 + (line[text + 1 : text + 2] == b" ")
            elif text == len(line):
                if width < 0:
                    break
                position = text
            elif text - position >= abs(width):
                position += abs(width)
                self._containers[depth] = abs(width)
            else:
                break
            depth += 1
        return position, depth

    def _continue_leaf(self, rest: bytes) -> bool:
        """Tell whether the line belongs to the open fence, HTML or indented code; close what it ends."""
        text = rest.lstrip(b" ")
        indent = len(rest) - len(text)
        if self._leaf is _Leaf.CODE:
            return indent >= 4 or not text
        if self._leaf is _Leaf.FENCE:
            if indent < 4 and self._closer and self._closer.match(text):
                self._leaf = _Leaf.NONE
            return True
        if self._closer is None:
            return bool(text)
        if self._closer.search(rest):
            self._leaf = _Leaf.NONE
        return True

    def _open(self, line: bytes, position: int, depth: int, span: tuple[int, int]) -> Heading | None:
        """Open what a line that is not blank begins."""
        in_paragraph = self._leaf is _Leaf.PARAGRAPH and depth == len(self._containers)
        lazy = self._leaf is _Leaf.PARAGRAPH and not in_paragraph
        while True:
            first = _end_of_spaces(line, position)
            if first == len(line):
                return None
            if first - position >= 4:
                if in_paragraph or lazy:
                    break
                self._settle(depth)
                self._leaf = _Leaf.CODE
                return None
            container = _container_at(line, position, first, in_paragraph) if depth < _DEEPEST else None
            if container is None:
                heading, done = self._leaf_at(line[first:], depth, span, in_paragraph, lazy)
                if done:
                    return heading
                break
            self._settle(depth)
            self._containers.append(container[0])
            position = container[1]
            depth += 1
            in_paragraph = lazy = False
        text = line[first:]
        if in_paragraph or lazy:
            self._paragraph.append((span[0], text))
        else:
            self._begin_paragraph(text, depth, span[0])
        return None

    def _begin_paragraph(self, text: bytes, depth: int, start: int) -> None:
        self._settle(depth)
        self._leaf = _Leaf.PARAGRAPH
        self._paragraph = [(start, text)]

    def _leaf_at(
        self, text: bytes, depth: int, span: tuple[int, int], in_paragraph: bool, lazy: bool
    ) -> tuple[Heading | None, bool]:
        """Open the leaf that begins here, if one that is not a paragraph does."""
        if atx := _ATX.match(text):
            self._settle(depth)
            if depth or len(atx[1]) != 2:
                return None, True
            words = _ATX_TAIL.sub(b"", text[2:].rstrip(b" ")).strip(b" ")
            return Heading(*span, words, underlined=False), True
        if fence := _FENCE.match(text):
            self._settle(depth)
            mark = fence[1] or fence[2]
            self._leaf = _Leaf.FENCE
            self._closer = re.compile(b"%b{%d,} *$" % (mark[:1], len(mark)))
            return None, True
        if text[:1] == b"<" and self._html_at(text, depth, in_paragraph or lazy):
            return None, True
        if in_paragraph and (underline := _UNDERLINE.match(text)):
            first, words = self._without_references()
            if words:
                self._leaf = _Leaf.NONE
                if depth or underline[1][:1] == b"=":
                    return None, True
                return Heading(first, span[1], words, underlined=True), True
        if _is_rule(text, 0):
            self._settle(depth)
            return None, True
        return None, False

    def _html_at(self, text: bytes, depth: int, interrupting: bool) -> bool:
        for kind in _HTML:
            opener, closer = kind
            if opener.match(text):
                if kind is _ANY_TAG and interrupting:
                    return False
                self._settle(depth)
                if closer is None or not closer.search(text):
                    self._leaf = _Leaf.HTML
                    self._closer = closer
                return True
        return False

    def _without_references(self) -> tuple[int, bytes]:
        words = b"\n".join(line.rstrip(b" ") for _, line in self._paragraph)
        begin = 0
        while reference := _REFERENCE.match(words, begin):
            begin = reference.end()
        first = min(words.count(b"\n", 0, begin), len(self._paragraph) - 1)
        return self._paragraph[first][0], words[begin:]


def _end_of_spaces(line: bytes, position: int) -> int:
    found = _SPACES.match(line, position)
    return found.end() if found else position


def _container_at(line: bytes, position: int, first: int, in_paragraph: bool) -> tuple[int, int] | None:
    """Return what a quote or list item that begins here is kept as, and where its content begins, if one does."""
    if line[first : first + 1] == b">":
        return 0, first + 1 + (line[first + 1 : first + 2] == b" ")
    marker = _MARKER.match(line, first)
    if not marker or _is_rule(line, first):
        return None
    content = _end_of_spaces(line, marker.end())
    if in_paragraph and (content == len(line) or (marker[1] and int(marker[1]) != 1)):
        return None
    if content == len(line):
        return position - marker.end() - 1, content
    begin = content if content - marker.end() < 5 else marker.end() + 1
    return begin - position, begin


def _is_rule(line: bytes, first: int) -> bool:
    mark = line[first : first + 1]
    return len(line.rstrip(b" " + mark)) <= first and _RULE.match(line, first) is not None
