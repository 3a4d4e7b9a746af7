"""Our server in a program's JSON settings: one entry in an object of servers; every other byte is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.agents.json_edit import append, edited, take_out, without_member
from restante.agents.json_layout import Style, render
from restante.agents.json_scan import scan

if TYPE_CHECKING:
    from restante.agents.json_edit import Edit
    from restante.agents.json_scan import Document, Node


def entry_in(data: bytes | None, section: str, name: str, path: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the entry of that name, ``None`` where there is none.

    Args:
        data: The file; ``None`` when there is none.
        section: The member of the root that holds servers by name.
        name: The server's name.
        path: The file's name, for errors.

    Raises:
        Unreadable: The file is not JSON of the expected shape; the line is named.
    """
    if data is None:
        return None
    document, servers = _checked(data, section, path)
    node = servers.member(name) if servers else None
    return document.value(node) if node else None


def put_entry(data: bytes | None, section: str, name: str, value: dict[str, Any], path: str) -> bytes:
    """Return the file with the entry in it, unchanged where it is as it should be. Arguments as ``entry_in``."""
    if data is None:
        return (render({section: {name: value}}, Style("\n", "", "  ")) + "\n").encode()
    document, servers = _checked(data, section, path)
    style = Style.of_members(document)
    if servers is None:
        return edited(document, [append(document, document.root, style, {section: {name: value}})])
    node = servers.member(name)
    if node is None:
        return edited(document, [append(document, servers, style.deeper(), {name: value})])
    if document.value(node) == value:
        return data
    return edited(document, [(node.start, node.end, render(value, Style.at(document, node)))])


def take_out_entry(data: bytes, section: str, name: str, path: str) -> bytes | None:
    """Return the file without the entry, as it was before; ``None`` when it was nothing but ours."""
    document, servers = _checked(data, section, path)
    node = servers.member(name) if servers else None
    if servers is None or node is None:
        return data
    edits: list[Edit] = []
    if take_out(document.text, servers, [node], edits):
        return without_member(document, servers, edits)
    return edited(document, edits)


def _checked(data: bytes, section: str, path: str) -> tuple[Document, Node | None]:
    document = scan(data, path)
    if document.root.kind != "{":
        raise document.fault(document.root, "the file holds something else than a JSON object")
    servers = document.root.member(section)
    if servers is not None and servers.kind != "{":
        raise document.fault(servers, f"{section!r} is not an object")
    return document, servers
