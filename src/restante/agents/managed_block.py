"""A block of ours in somebody's text file: put in, brought up to date, taken out; bytes in, bytes out.

The block's place says what the file was like, so that taking it out restores every byte: where the file
ended with a line feed, one empty line stands before the block and the block ends with a line feed; where
it did not, two line feeds stand before it and none after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from restante.domain.errors import Unreadable

_BOM = b"\xef\xbb\xbf"
_LIST = rb"(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*"
_OPENS = re.compile(rb" {0,3}" + _LIST + rb"(`{3,}(?=[^`]*$)|~{3,})")
_CLOSES = re.compile(rb"[ \t]*(`{3,}|~{3,})[ \t]*$")


@dataclass(frozen=True, slots=True)
class Markers:
    """The two lines that a block begins and ends with.

    Attributes:
        start: The first line.
        end: The last line.
        markdown: Whether the file is Markdown, where a fenced example of a block is not a block.
    """

    start: bytes
    end: bytes
    markdown: bool = True


GUIDANCE = Markers(b"<!-- RESTANTE_MAILBOX_START -->", b"<!-- RESTANTE_MAILBOX_END -->")
IGNORES = Markers(b"# restante: the mailbox's files", b"# restante: end", markdown=False)


@dataclass(frozen=True, slots=True)
class Block:
    """A block that was found: ``data[begin:end]``, its final line feed included, and its lines."""

    begin: int
    end: int
    lines: tuple[bytes, ...]
    crlf: bool
    ends_line: bool


@dataclass(slots=True)
class _Fence:
    line: int
    char: bytes
    length: int
    column: int

    def ends_at(self, text: bytes) -> bool:
        match = _CLOSES.match(text)
        if match is None or match[1][:1] != self.char or len(match[1]) < self.length:
            return False
        return bool(self.column) or len(text) - len(text.lstrip(b" ")) <= 3

    def is_left_at(self, text: bytes) -> bool:
        bare = text.lstrip(b" \t")
        return bool(self.column and bare) and len(text) - len(bare) < self.column


def find_block(data: bytes, markers: Markers, path: str) -> Block | None:
    """Find the block.

    Args:
        data: The file.
        markers: What the block begins and ends with.
        path: The file's name, for errors.

    Raises:
        Unreadable: The file is not a text of bytes and lines, or markers stand alone, twice, reversed or
            beside other text on their line; the line is named.
    """
    return _scan(data, markers, path)[0]


def put_block(data: bytes | None, lines: tuple[bytes, ...], markers: Markers, path: str) -> bytes:
    """Return the file with the block in it, up to date; unchanged where it is.

    Args:
        data: The file; ``None`` when there is none.
        lines: What stands between the markers.
        markers: What the block begins and ends with.
        path: The file's name, for errors.

    Raises:
        Unreadable: As ``find_block``; also where the file ends inside a code fence, which would hide the block.
    """
    wanted = (markers.start, *lines, markers.end)
    if data is None:
        return b"\n".join(wanted) + b"\n"
    found, fence = _scan(data, markers, path)
    if found is not None:
        if found.lines == wanted:
            return data
        eol = b"\r\n" if found.crlf else b"\n"
        return data[: found.begin] + eol.join(wanted) + (eol if found.ends_line else b"") + data[found.end :]
    if fence is not None:
        raise Unreadable(f"{path}:{fence.line}: a code fence begins here and never ends", remedy="close the fence")
    crlf = data.count(b"\r\n")
    eol = b"\r\n" if crlf * 2 > data.count(b"\n") else b"\n"
    block = eol.join(wanted)
    if not data.removeprefix(_BOM):
        return data + block
    return data + eol + block + eol if data.endswith(b"\n") else data + eol + eol + block


def take_out_block(data: bytes, markers: Markers, path: str) -> bytes | None:
    """Return the file without the block, as it was before; ``None`` when it was nothing but the block.

    Raises:
        Unreadable: As ``find_block``; also where a fence that never ends has swallowed a block.
    """
    found, fence = _scan(data, markers, path)
    if found is None:
        if fence is not None and markers.start in data.split(b"\n", fence.line)[-1]:
            raise Unreadable(f"{path}:{fence.line}: a code fence begins here and never ends", remedy="close the fence")
        return data
    before, after = data[: found.begin], data[found.end :]
    if not before and not after and found.ends_line:
        return None
    eol = b"\r\n" if found.crlf else b"\n"
    if not found.ends_line:
        before = before.removesuffix(eol).removesuffix(eol)
    elif before == eol or (before.endswith(eol) and before[: -len(eol)].endswith(b"\n")):
        before = before.removesuffix(eol)
    return before + after


def _scan(data: bytes, markers: Markers, path: str) -> tuple[Block | None, _Fence | None]:
    """Return the block, and the fence that is still open at the end."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        place = data.count(b"\n", 0, max(data.find(b"\0"), 0)) + 1
        raise Unreadable(f"{path}:{place}: not a plain text file (UTF-16, or zero bytes)", remedy="save it as UTF-8")
    starts: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    fence: _Fence | None = None
    comment = False
    offset = len(_BOM) if data.startswith(_BOM) else 0
    for number, line in enumerate(data[offset:].split(b"\n"), 1):
        text = line.removesuffix(b"\r")
        if fence is not None and fence.is_left_at(text):
            fence = None
        if fence is not None:
            fence = None if fence.ends_at(text) else fence
        elif markers.markdown and not comment and (match := _OPENS.match(text)):
            column = match.start(1) if text[: match.start(1)].strip() else 0
            fence = _Fence(number, match[1][:1], len(match[1]), column)
        else:
            if markers.markdown:
                comment = _in_comment(text, comment)
            _note_marker(text, markers, (number, offset), starts, ends, path)
        offset += len(line) + 1
    return _pair(data, starts, ends, path), fence


def _in_comment(text: bytes, already: bool) -> bool:
    if already or re.match(rb" {0,3}<!--", text):
        return b"-->" not in text
    return False


def _note_marker(
    text: bytes,
    markers: Markers,
    place: tuple[int, int],
    starts: list[tuple[int, int]],
    ends: list[tuple[int, int]],
    path: str,
) -> None:
    bare = text.rstrip(b" \t")
    if bare == markers.start:
        starts.append(place)
    elif bare == markers.end:
        ends.append(place)
    elif re.match(rb" {0,3}(?:" + re.escape(markers.start) + rb"|" + re.escape(markers.end) + rb")", text):
        raise Unreadable(
            f"{path}:{place[0]}: a marker of the mailbox block does not have its line to itself",
            remedy="put the marker on a line of its own, or remove the block by hand",
        )


def _pair(data: bytes, starts: list[tuple[int, int]], ends: list[tuple[int, int]], path: str) -> Block | None:
    if not starts and not ends:
        return None
    fault = ""
    if len(starts) > 1 or len(ends) > 1:
        line = (starts if len(starts) > 1 else ends)[1][0]
        fault = "the mailbox block begins or ends a second time here"
    elif not ends:
        line, fault = starts[0][0], "the mailbox block begins here and never ends"
    elif not starts:
        line, fault = ends[0][0], "the mailbox block ends here and never began"
    elif ends[0] < starts[0]:
        line, fault = ends[0][0], "the mailbox block ends here before it begins"
    if fault:
        raise Unreadable(f"{path}:{line}: {fault}", remedy="remove the marker lines by hand, then install again")
    begin = starts[0][1]
    stop = data.find(b"\n", ends[0][1])
    end = len(data) if stop < 0 else stop + 1
    raw = data[begin:end].removesuffix(b"\n").split(b"\n")
    lines = [line.removesuffix(b"\r") for line in raw]
    lines[0], lines[-1] = lines[0].rstrip(b" \t"), lines[-1].rstrip(b" \t")
    return Block(begin, end, tuple(lines), raw[0].endswith(b"\r"), stop >= 0)
