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
        if "\n" not in space:
            return Style("", "", "")
        indent = space.rpartition("\n")[2]
        return Style("\r\n" if "\r\n" in space else "\n", indent, step or indent or "  ")

    @staticmethod
    def at(document: Document, node: Node) -> Style:
        """The layout of a value that is there."""
        text, members = document.text, Style.of_members(document)
        if not members.eol or "\n" not in text[node.start : node.end]:
            return Style("", "", "")
        line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
        return Style(members.eol, line[: len(line) - len(line.lstrip(" \t"))], members.step)


def render(value: object, style: Style) -> str:
    """Write a value as JSON; its lines after the first begin as ``style`` says."""
    if not style.eol:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return json.dumps(value, indent=style.step, ensure_ascii=False).replace("\n", style.gap)
