"""What the original program does with a mailbox file, told again from a description of its behaviour.

It appends messages with raw bodies, and reads any of the three files with a CommonMark parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt

_JS_SPACE = (
    " \t\n\r\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):\s*(.*)", re.DOTALL)
_MARKDOWN = MarkdownIt("commonmark")


def trimmed(text: str) -> str:
    """What ``String.prototype.trim`` leaves."""
    return text.strip(_JS_SPACE)


def written(ident: str, body: str, *, created_at: str = "2026-05-20T12:34:56.000Z", priority: str = "normal") -> bytes:
    """The bytes that the original program appends for a message."""
    head = f"from: human\ncreated_at: {created_at}\npriority: {priority}\nstatus: unread\nscope: current_task"
    return f"\n---\n\n## {ident}\n\n{head}\n\nMesaj:\n{trimmed(body)}\n".encode()


@dataclass(frozen=True)
class Seen:
    """A record as the original program reads it."""

    id: str
    fields: dict[str, str]
    body: str


def read(data: bytes) -> list[Seen]:
    """The records that the original program finds in a file."""
    text = data.decode()
    tokens = _MARKDOWN.parse(text)
    lines = re.split(r"\r\n|\n", text)
    headings = [
        (opening.map, "".join(child.content for child in inline.children or []))
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open" and opening.tag == "h2" and opening.level == 0 and opening.map
    ]
    ends = [place[0] for place, _ in headings[1:]] + [len(lines)]
    return [
        _record(trimmed(title), trimmed("\n".join(lines[place[1] : end])).split("\n"))
        for (place, title), end in zip(headings, ends, strict=False)
    ]


def _record(ident: str, lines: list[str]) -> Seen:
    fields: dict[str, str] = {}
    for number, line in enumerate(lines):
        text = trimmed(line)
        if not text:
            continue
        pair = _PAIR.fullmatch(text)
        if not pair:
            return Seen(ident, fields, trimmed("\n".join(lines[number:])))
        fields[pair[1]] = pair[2]
    return Seen(ident, fields, "")


def hook_sees(data: bytes) -> list[str]:
    """The message ids that the original program's hook finds in ``INBOX.md``: a scan of lines, blind for Markdown."""
    form = re.compile(r"##\s+(msg_\d{8}T\d{6}_[0-9abcdefghjkmnpqrstvwxyz]{26})")
    return [found[1] for line in data.decode().splitlines() if (found := form.fullmatch(line.strip()))]
