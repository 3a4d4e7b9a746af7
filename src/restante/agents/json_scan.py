"""Where the values of a JSON text stand, so that one of them can be changed and every other byte kept.

Strict RFC 8259, and stricter where programs disagree: a key may not come twice in one object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from restante.domain.errors import Unreadable

_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
        (?P<mark>[{}\[\]:,])
      | (?P<string>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*")
      | (?P<other>(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![0-9A-Za-z_.+-]))
    )""",
    re.VERBOSE,
)
_BOM = "\ufeff"
_DEEPEST = 200


@dataclass(slots=True)
class Node:
    """One value.

    Attributes:
        kind: ``{`` for an object, ``[`` for an array, empty for anything else.
        start: Where it begins in the text.
        end: Where it ends, exclusive.
        children: What an object or array holds, in order.
        names: The same by name, in an object.
        key: Its name, in an object.
        key_start: Where its name begins, or where it begins itself in an array.
    """

    kind: str
    start: int
    end: int = 0
    children: list[Node] = field(default_factory=list)
    names: dict[str, Node] = field(default_factory=dict)
    key: str = ""
    key_start: int = 0

    def member(self, key: str) -> Node | None:
        """Return the member of that name."""
        return self.names.get(key)


@dataclass(slots=True)
class Document:
    """A JSON file: its text without a byte order mark, and its root.

    Attributes:
        path: The file's name, for errors.
        bom: The byte order mark, or nothing.
        text: The rest.
        root: The value it holds.
    """

    path: str
    bom: str
    text: str
    root: Node

    def value(self, node: Node) -> Any:  # noqa: ANN401 (any JSON value)
        """Return a value as Python has it."""
        return json.loads(self.text[node.start : node.end])

    def fault(self, node: Node, reason: str) -> Unreadable:
        """Return an error that names the line a value begins at."""
        return _fault(self.path, self.text, node.start, reason)


def scan(data: bytes, path: str) -> Document:
    """Find every value of a JSON file.

    Raises:
        Unreadable: It is not UTF-8, not JSON, or holds a key twice; the line is named.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Unreadable(f"{path}:1: UTF-16, not UTF-8", remedy="save it as UTF-8")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"{path}:{line}: not UTF-8", remedy="save it as UTF-8") from None
    bom = _BOM if text.startswith(_BOM) else ""
    text = text[len(bom) :]
    return Document(path, bom, text, _Scanner(text, path).run())


def _fault(path: str, text: str, at: int, reason: str) -> Unreadable:
    line = text.count("\n", 0, at) + 1
    return Unreadable(f"{path}:{line}: {reason}", remedy="correct the file, then try again; nothing was changed")


class _Scanner:
    """One pass over a text, with a stack of its own: depth must not depend on the interpreter's."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.at = 0

    def run(self) -> Node:
        root = self._value(*self._next())
        stack = [root] if root.kind else []
        while stack:
            self._step(stack)
        rest = self.text[self.at :].strip(" \t\n\r")
        if rest:
            raise self._fault(self.text.index(rest, self.at), "text after the end of the JSON value")
        return root

    def _step(self, stack: list[Node]) -> None:
        """Read one member or the end of the innermost container."""
        top = stack[-1]
        closer = "}" if top.kind == "{" else "]"
        mark, start = self._next()
        if mark == closer and not top.children:
            top.end = self.at
            stack.pop()
            return
        if top.children:
            if mark == closer:
                top.end = self.at
                stack.pop()
                return
            if mark != ",":
                raise self._fault(start, f"a comma or {closer!r} is missing")
            comma = start
            mark, start = self._next()
            if mark == closer:
                raise self._fault(comma, f"a comma before {closer!r}")
        child = self._member(top, mark, start) if top.kind == "{" else self._value(mark, start)
        top.children.append(child)
        if child.kind:
            if len(stack) >= _DEEPEST:
                raise self._fault(child.start, f"nested deeper than {_DEEPEST} levels")
            stack.append(child)

    def _member(self, parent: Node, mark: str, start: int) -> Node:
        if not mark.startswith('"'):
            raise self._fault(start, "a key in double quotes is missing")
        key = json.loads(mark)
        if key in parent.names:
            raise self._fault(start, f"the key {mark} comes twice in one object")
        colon, at = self._next()
        if colon != ":":
            raise self._fault(at, "a colon is missing")
        child = self._value(*self._next())
        child.key, child.key_start = key, start
        parent.names[key] = child
        return child

    def _value(self, mark: str, start: int) -> Node:
        if mark in ("{", "["):
            return Node(mark, start, key_start=start)
        if mark in ("}", "]", ":", ","):
            raise self._fault(start, f"a value is missing before {mark!r}")
        return Node("", start, self.at, key_start=start)

    def _next(self) -> tuple[str, int]:
        match = _TOKEN.match(self.text, self.at)
        if match is None or match.lastgroup is None:
            rest = self.text[self.at :]
            at = len(self.text) - len(rest.lstrip(" \t\n\r"))
            raise self._fault(at, _what_is_wrong(self.text[at : at + 2]))
        self.at = match.end()
        return match[match.lastgroup], match.start(match.lastgroup)

    def _fault(self, at: int, reason: str) -> Unreadable:
        return _fault(self.path, self.text, at, reason)


def _what_is_wrong(text: str) -> str:
    if not text:
        return "the file ends where a JSON value or bracket is missing"
    if text in ("//", "/*") or text[0] == "#":
        return "a comment, which JSON does not have"
    if text[0] == '"':
        return "a string that does not end, or holds a character or escape that JSON does not allow"
    return f"unexpected {text[0]!r}"
