r"""Bodies: how a text is written so that nothing in it can be taken for structure, and how it comes back exactly.

*Plain*: as it is, where no Markdown parser and no line scanner can find structure in it.
*Fenced*: between tilde fences longer than any run of tildes in it.
*Quoted*: fenced, and every line behind ``| ``, or behind ``^ `` where a lone CR and no LF ended the line before.
Used where a line of the text looks like a block's heading: the original program's hook counts such lines
wherever they stand, and a torn fence would no longer hide them. And for a lone CR: that program counts lines
in two ways, which then disagree about everything behind it.
"""

from __future__ import annotations

import re

from restante.stores.worktree.fields import CONTROLS

# Patterns are texts here: re compiles one when it is first used, and most runs use few of them. Those for a line begin
# with the line feed before it: looking for that is many times as fast as a try at each character.
_CONTROLS = f"(?![\t\n])[{CONTROLS}]"
_METADATA = r"[\w-]+:"
_STRUCTURE = r"(?m)\n[^\S\n]*(?:#|```|~~~|<|>|([-=*_])(?:[ \t]*\1)*[ \t]*$)"
_SIGNS = frozenset("#`~<>-=*_")
_HEADING = r"\n[^\S\n]*##[^\S\n]+(?:msg|reply|receipt|auto)_"
_LONE_CR = r"\r(?!\n)"
_LINE_END = r"\r(?!\n)|\n"
_TILDES = r"~{4,}"
_OPENING = re.compile(rb"(~{4,})text\n")
_BLOCK_HEADING = re.compile(rb"\n## (?:msg|reply|receipt|auto)_")
_BEHIND = re.compile(rb"\s*(?:\Z|-{1,3}(?:\Z|[\r\n])|#)")
# What stands behind nearly every body.
_NEXT = b"\n\n---\n"
_LEAST_FENCE = 4


def write_body(text: str) -> tuple[str, str]:
    """Return the form of a body (empty for plain) and what stands in the file, up to and with the last line end."""
    if _is_plain(text):
        return "", text + "\n"
    form = "fenced"
    if ("##" in text and re.search(_HEADING, "\n" + text)) or ("\r" in text and re.search(_LONE_CR, text)):
        form = "quoted"
        text = "| " + re.sub(_LINE_END, lambda end: "\n^ " if end[0] == "\r" else "\n| ", text)
    longest = _LEAST_FENCE - 1
    if "~~~~" in text:
        longest = max(len(run) for run in re.findall(_TILDES, text))
    fence = "~" * (longest + 1)
    return form, f"{fence}text\n{text}\n{fence}\n"


def _is_plain(text: str) -> bool:
    return bool(
        text
        and text == text.strip()
        and (
            (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable())
            or not re.search(_CONTROLS, text)
        )
        and not (":" in text and re.match(_METADATA, text))
        and not (_has_signs(text) and re.search(_STRUCTURE, "\n" + text))
    )


def _has_signs(text: str) -> bool:
    """Tell whether any line begins with what structure begins with; where none does, no pattern is needed."""
    return any(line.lstrip()[:1] in _SIGNS for line in text.split("\n"))


def read_counted(data: bytes, start: int, size: int, form: str) -> tuple[bytes, int] | None:
    """Take a body by its count.

    Returns:
        The body and the offset behind it; ``None`` when what stands there is not what was counted. At the end of the
        data a body counts as soon as it is all there: editors leave out the last line end.
    """
    first, last = max(start - 1, 0), start + size + 1
    # Looking for four bytes first is many times as fast as trying the pattern.
    heading = None if data.find(b"\n## ", first, last) < 0 else _BLOCK_HEADING.search(data, first, last)
    if not form:
        end = start + size
        if not heading and data.startswith(_NEXT, end) and not data.endswith(b"\n---", start, end):
            return data[start:end], end + 1
        behind = data[end : end + 2]
        # No plain body ends with a rule: that one separates blocks, and stands where the rest of a torn body would.
        is_torn = end > len(data) or heading or data.endswith(b"\n---", start, end)
        # Text behind it, before the next rule, is of somebody who edited the message: then the count says nothing.
        whole = behind in (b"", b"\n", b"\n\n") and not is_torn and _BEHIND.match(data, end)
        return (data[start:end], min(end + 1, len(data))) if whole else None
    opening = _OPENING.match(data, start)
    if not opening:
        return None
    closing = b"\n%b\n" % opening[1]
    if form == "fenced":
        end = opening.end() + size
        behind = data[end : end + len(closing)]
        is_last = end + len(behind) == len(data)
        if heading or end > len(data) or not (closing.startswith(behind) if is_last else behind == closing):
            return None
        body = data[opening.end() : end]
        return (body, end + len(behind)) if opening[1] not in body else None
    return _read_quoted(data, opening.end(), size, closing)


def _read_quoted(data: bytes, start: int, size: int, closing: bytes) -> tuple[bytes, int] | None:
    heading = _BLOCK_HEADING.search(data, start)
    end = data.find(closing, start, heading.start() + 1 if heading else len(data))
    after = end + len(closing)
    if end < 0:
        if heading:
            return None
        # A line of the body begins with its quote, so this can only be a part of the closing line.
        rest = data[start:].rstrip(b"\n").rstrip(b"~").rstrip(b"\n")
        end, after = start + len(rest), len(data)
    body = _unquoted(data[start:end])
    return (body, after) if body is not None and len(body) == size else None


def _unquoted(text: bytes) -> bytes | None:
    ends = {b"| ": b"\n", b"^ ": b"\r"}
    lines = text.split(b"\n")
    if any(line[:2] not in ends for line in lines):
        return None
    return b"".join(ends[line[:2]] + line[2:] for line in lines)[1:]


def read_loose(raw: bytes, size: int, form: str) -> tuple[bytes, bool]:
    """Take a body whose count does not fit: torn, edited by hand, or its line ends were converted.

    Returns:
        The body, and whether all of it is there.
    """
    opened = re.match(rb"(~{4,})text\r?\n", raw) if form else None
    if opened:
        closed = re.compile(rb"\r?\n" + opened[1] + rb"[ \t]*(?:\r?\n|\Z)").search(raw, opened.end() - 1)
        body = raw[opened.end() : closed.start()] if closed else raw[opened.end() :]
        if form == "quoted":
            body = _unquoted(body.replace(b"\r\n", b"\n")) or body
        if not closed:
            return body, False
    else:
        body = raw.strip(b" \t\r\n\v\f")
        # Without its whole opening line a fenced body is torn, or somebody took the fence away.
        if form and (len(body) != size or body.startswith(b"~")):
            return body, False
    converted = body.replace(b"\r\n", b"\n")
    if len(converted) == size:
        return converted, True
    return body, len(body) >= size
