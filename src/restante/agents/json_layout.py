"""How JSON is laid out, so that what we add looks like its surroundings and can be told from them again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from restante.agents.json_scan import Document, Node


def is_our_layout(before: str, after: str) -> bool:
    """Tell whether whitespace inside a container, before its elements and after them, is as we write our own."""
    if not before:
        return not after
    inner = re.fullmatch(r"(\r?\n)([ \t]+)", before)
    outer = re.fullmatch(r"(\r?\n)([ \t]*)", after)
    if inner is None or outer is None or inner[1] != outer[1]:
        return False
    return inner[2].startswith(outer[2]) and len(inner[2]) > len(outer[2])


@dataclass(frozen=True, slots=True)
class Style:
    """How a place is laid out.

    Attributes:
        eol: What ends a line; empty where all is on one line.
        indent: What an element's line begins with.
        step: By how much deeper elements are indented more.
    """

    eol: str
    indent: str
    step: str

    @property
    def gap(self) -> str:
        """What stands before an element."""
        return self.eol + self.indent

    def deeper(self) -> Style:
        """The layout one level further in."""
        return Style(self.eol, self.indent + self.step, self.step) if self.eol else self

    @staticmethod
    def of_members(document: Document) -> Style:
        """The layout of the root's members."""
        root = document.root
        if not root.children:
            return Style("\r\n" if "\r\n" in document.text else "\n", "  ", "  ")
        return Style.from_gap(document.text[root.start + 1 : root.children[0].key_start], "")

    @staticmethod
    def from_gap(space: str, step: str) -> Style:
        """The layout that the whitespace before an element shows."""
        line = re.search(r"(\r?\n)([ \t]*)\Z", space)
        return Style(line[1], line[2], step or line[2] or "  ") if line else Style("", "", "")

    @staticmethod
    def at(document: Document, node: Node) -> Style:
        """The layout of a value that is there."""
        own = document.text[node.start : node.end]
        if "\n" not in own:
            return Style("", "", "")
        first, last = own.split("\n", 2)[1], own.rpartition("\n")[2]
        indent, inner = last[: len(last) - len(last.lstrip(" \t"))], first[: len(first) - len(first.lstrip(" \t"))]
        return Style("\r\n" if "\r\n" in own else "\n", indent, inner.removeprefix(indent) or "  ")


def render(value: object, style: Style) -> str:
    """Write a value as JSON; its lines after the first begin as ``style`` says."""
    if not style.eol:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return json.dumps(value, indent=style.step, ensure_ascii=False).replace("\n", style.gap)
