"""Hooks in somebody's JSON settings: put in after their own, taken out again; every other byte is kept.

Nothing is written down beside the file, so what whitespace stands around our first element in a container
says whose the container is:

* ours: a line feed and more indentation than before the closing bracket, or no whitespace on either side;
* theirs, and it was written ``{}`` or ``[]``: a space, then the line feed and the indentation;
* theirs, and it held whitespace: that whitespace stands before the closing bracket, and ours before the
  element is such that the first rule does not hold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from restante.agents.hookline import is_guard, is_ours
from restante.agents.json_layout import Style, is_our_layout, render
from restante.agents.json_scan import Document, Node, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

Hook = dict[str, Any]
Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Placed:
    """One hook entry as it stands in a file.

    Attributes:
        event: The event it is for.
        group: Place of its group among the event's groups, from 0.
        place: Its place in the group, from 0.
        entry: The entry.
        settings: The group without its entries, for example its matcher.
        alone: Whether the group holds no other entry.
    """

    event: str
    group: int
    place: int
    entry: Any
    settings: dict[str, Any]
    alone: bool


@dataclass(frozen=True, slots=True)
class _Found:
    placed: Placed
    array: Node
    group: Node
    entries: Node
    node: Node


def hooks_in(data: bytes, path: str) -> list[Placed]:
    """Return every hook entry of a settings file, ours and others'.

    Raises:
        Unreadable: The file is not JSON of the expected shape; the line is named.
    """
    return [found.placed for found in _all(_checked(data, path, None))]


def put_hooks(
    data: bytes | None,
    wanted: Mapping[str, Hook],
    path: str,
    *,
    only: Collection[str] | None = None,
    is_it: Callable[[object], bool] = is_guard,
) -> bytes:
    """Return the file with our hook for each event in it, unchanged where all is as it should be.

    Args:
        data: The file; ``None`` when there is none.
        wanted: The entry for each event.
        path: The file's name, for errors.
        only: The keys that the root may hold; any when ``None``.
        is_it: Tells which entries of the file are those that are wanted, or were in another version.

    Raises:
        Unreadable: The file is not JSON of the expected shape; the line is named.
    """
    groups: dict[str, Any] = {event: {"hooks": [hook]} for event, hook in wanted.items()}
    if data is not None:
        data = _without(
            _checked(data, path, only), lambda found, earlier: found.event not in wanted or earlier > 0, data, is_it
        )
    if data is None:
        fresh = {"hooks": {event: [group] for event, group in groups.items()}}
        return (render(fresh, Style("\n", "", "  ")) + "\n").encode()
    document = _checked(data, path, only)
    edits: list[Edit] = []
    for found in _all(document):
        if is_it(found.placed.entry):
            group = groups.pop(found.placed.event)
            node, value = (found.group, group) if found.placed.alone else (found.node, group["hooks"][0])
            if document.value(node) != value:
                edits.append((node.start, node.end, render(value, Style.at(document, node))))
    return edited(document, edits + _additions(document, groups))


def take_out_hooks(data: bytes, path: str) -> bytes | None:
    """Return the file without our hooks, as it was before; ``None`` when it was nothing but ours.

    Raises:
        Unreadable: As ``put_hooks``.
    """
    return _without(_checked(data, path, None), lambda _found, _earlier: True, data, is_ours)


def _checked(data: bytes, path: str, only: Collection[str] | None) -> Document:
    document = scan(data, path)
    root = document.root
    if root.kind != "{":
        raise document.fault(root, "the file holds something else than a JSON object")
    for child in root.children:
        if only is not None and child.key not in only:
            raise document.fault(child, f"the key {child.key!r} makes the program reject the whole file")
    hooks = root.member("hooks")
    if hooks is not None and hooks.kind != "{":
        raise document.fault(hooks, "'hooks' is not an object")
    for event in hooks.children if hooks else ():
        if event.kind != "[":
            raise document.fault(event, f"the event {event.key!r} is not a list")
    return document


def _all(document: Document) -> list[_Found]:
    hooks = document.root.member("hooks")
    found = []
    for array in hooks.children if hooks else ():
        for index, group in enumerate(array.children):
            entries = group.member("hooks")
            if entries is None or entries.kind != "[":
                continue
            settings = {child.key: document.value(child) for child in group.children if child is not entries}
            alone = len(entries.children) == 1
            for place, node in enumerate(entries.children):
                placed = Placed(array.key, index, place, document.value(node), settings, alone)
                found.append(_Found(placed, array, group, entries, node))
    return found


# --- taking out -----------------------------------------------------------------------------------


def _without(
    document: Document, unwanted: Callable[[Placed, int], bool], data: bytes, is_it: Callable[[object], bool]
) -> bytes | None:
    """Take out those of our entries for which ``unwanted(entry, how many of ours came before)`` holds."""
    earlier: dict[str, int] = {}
    gone: list[_Found] = []
    for found in _all(document):
        if is_it(found.placed.entry):
            event = found.placed.event
            if unwanted(found.placed, earlier.get(event, 0)):
                gone.append(found)
            earlier[event] = earlier.get(event, 0) + 1
    if not gone:
        return data
    edits: list[Edit] = []
    text, hooks = document.text, document.root.names["hooks"]
    empty_events = []
    for event_node in hooks.children:
        groups = []
        for group in event_node.children:
            entries = [found.node for found in gone if found.group is group]
            if entries and len(entries) == len(group.names["hooks"].children):
                groups.append(group)
            elif entries:
                take_out(text, group.names["hooks"], entries, edits)
        if groups and take_out(text, event_node, groups, edits):
            empty_events.append(event_node)
    if not empty_events or not take_out(text, hooks, empty_events, edits):
        return edited(document, edits)
    return without_member(document, hooks, edits)


def without_member(document: Document, member: Node, edits: list[Edit]) -> bytes | None:
    """Return the file without a member of its root, as it was before; ``None`` when it held nothing but ours.

    Args:
        document: The file.
        member: What holds nothing but ours.
        edits: What else is to be changed.
    """
    if not take_out(document.text, document.root, [member], edits):
        return edited(document, edits)
    # The root holds nothing and is laid out as ours: the file goes, unless something stands around the root.
    around = document.text[: document.root.start], document.text[document.root.end :]
    if not document.bom and around in (("", "\n"), ("", "\r\n")):
        return None
    return (document.bom + "{}".join(around)).encode()


def take_out(text: str, container: Node, gone: list[Node], edits: list[Edit]) -> bool:
    """Take elements out of a container, unless that would leave an empty container of ours: then return ``True``."""
    children = container.children
    if len(gone) == len(children):
        first, last = children[0], children[-1]
        before, after = text[container.start + 1 : first.key_start], text[last.end : container.end - 1]
        if is_our_layout(before, after):
            return True
        was_closed = before.startswith(" ") and "\n" in before
        edits.append((container.start + 1, container.end - 1 if was_closed else last.end, ""))
        return False
    kept_one = False
    for index, child in enumerate(children):
        if not any(child is one for one in gone):
            kept_one = True
        elif kept_one:
            edits.append((children[index - 1].end, child.end, ""))
        else:
            edits.append((child.key_start, children[index + 1].key_start, ""))
    return False


# --- putting in -----------------------------------------------------------------------------------


def _additions(document: Document, groups: Mapping[str, Any]) -> list[Edit]:
    """Return the edits that add groups, each behind the others of its event."""
    if not groups:
        return []
    style = Style.of_members(document)
    hooks = document.root.member("hooks")
    if hooks is None:
        return [append(document, document.root, style, {"hooks": {event: [one] for event, one in groups.items()}})]
    edits = []
    fresh = {event: [group] for event, group in groups.items() if event not in hooks.names}
    for event, group in groups.items():
        if event in hooks.names:
            edits.append(append(document, hooks.names[event], style.deeper().deeper(), [group]))
    if fresh:
        edits.append(append(document, hooks, style.deeper(), fresh))
    return edits


def append(document: Document, container: Node, style: Style, added: dict[str, Any] | list[Any]) -> Edit:
    """Return the edit that adds elements at a container's end, laid out like those that stand there."""
    text, children = document.text, container.children
    if children:
        begin = children[-2].end if len(children) > 1 else container.start + 1
        space = text[begin : children[-1].key_start].replace(",", "")
        own = Style.from_gap(space, style.step)
        gap = own.gap if own.eol else space
        end = children[-1].end
        return (end, end, "".join("," + gap + element for element in _elements(added, own)))
    body = ("," + style.gap).join(_elements(added, style))
    inside = text[container.start + 1 : container.end - 1]
    if style.eol and not inside:
        closing = style.eol + style.indent.removesuffix(style.step)
        return (container.start + 1, container.start + 1, " " + style.gap + body + closing)
    gap = " " if is_our_layout(style.gap, inside) else style.gap
    return (container.start + 1, container.start + 1, gap + body)


def _elements(added: dict[str, Any] | list[Any], style: Style) -> list[str]:
    if isinstance(added, list):
        return [render(value, style) for value in added]
    colon = ": " if style.eol else ":"
    return [f"{json.dumps(key)}{colon}{render(value, style)}" for key, value in added.items()]


def edited(document: Document, edits: list[Edit]) -> bytes:
    """Return a file with its edits made."""
    text = document.text
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return (document.bom + text).encode()
