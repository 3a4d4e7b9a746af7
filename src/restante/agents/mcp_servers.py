"""How a program is told of the server ``restante mcp``; where, and in which shape, is in its entry of ``programs``."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from restante.agents.calling import finds_ours
from restante.agents.files import read_plain
from restante.agents.json_edit import take_out_hooks
from restante.agents.managed_block import Markers, find_block, put_block, take_out_block
from restante.agents.mcp_json import entry_in, put_entry, take_out_entry
from restante.agents.quirks import habits_of
from restante.domain.errors import BadText, Unreadable
from restante.domain.setup import FileChange
from restante.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SERVER = "restante"
_TOML = ".toml"
TOOLS = Markers(b"# restante: the tools", b"# restante: end of the tools", markdown=False)


class Place(NamedTuple):
    """Where a program reads of its servers.

    Attributes:
        file: The file, below the worktree's top level.
        section: The member, or table, that holds servers by name.
    """

    file: str
    section: str


PLACES = {
    name: Place(os.path.join(*one.server.file.split("/")), one.server.section)
    for name, one in PROGRAMS.items()
    if one.server
}


class Registration(NamedTuple):
    """The server in one program's file.

    Attributes:
        agent: The program.
        path: The file.
        data: What it holds; ``None`` when there is none.
        entry: The entry of our name; ``None`` for none.
    """

    agent: str
    path: str
    data: bytes | None
    entry: Any

    @property
    def is_ours(self) -> bool:
        """Whether the entry starts ``restante mcp``, of whatever installation."""
        return is_ours(self.entry)


def is_ours(entry: object) -> bool:
    """Tell whether an entry, as parsed, starts ``restante mcp``."""
    if not isinstance(entry, dict):
        return False
    command, words = entry.get("command"), entry.get("args")
    line = [command, *(words if isinstance(words, list) else [])] if isinstance(command, str) else command
    if not isinstance(line, list) or len(line) != 2 or not all(isinstance(one, str) for one in line):
        return False
    return os.path.basename(str(line[0])) == "restante" and bool(line[1] == "mcp")


def look(root: str, agent: str) -> Registration:
    """Return what a program is told of our server in a worktree.

    Raises:
        Unreadable: The file is not what it should be.
        Unsafe: It is a symbolic link.
    """
    place = PLACES[agent]
    path = os.path.join(root, place.file)
    data = read_plain(path, root)
    return _registration(agent, path, data)


def _registration(agent: str, path: str, data: bytes | None) -> Registration:
    section = PLACES[agent].section
    if path.endswith(_TOML):
        return Registration(agent, path, data, _table(data, path).get(section, {}).get(SERVER))
    return Registration(agent, path, data, entry_in(data, section, SERVER, path))


def wanted(agent: str, bin_dir: str, env: Mapping[str, str]) -> dict[str, Any]:
    """Return the entry that a program should have.

    Args:
        agent: The program.
        bin_dir: Directory of the launcher.
        env: The person's environment.

    Raises:
        BadText: The directory's name is not UTF-8 and cannot stand in a settings file.
    """
    command = "restante" if finds_ours(bin_dir, env) else os.path.join(bin_dir, "restante")
    try:
        command.encode()
    except UnicodeEncodeError:
        raise BadText(
            f"the installation's directory {bin_dir!r} has a name that is not UTF-8",
            remedy="install Restante elsewhere",
        ) from None
    server = PROGRAMS[agent].server
    assert server is not None
    if server.is_one_list:
        return {"type": "local", "command": [command, "mcp"], "enabled": True, **server.extra}
    return {"command": command, "args": ["mcp"], **server.extra}


def changes(
    root: str,
    bin_dir: str,
    env: Mapping[str, str],
    agents: Iterable[str],
    *,
    is_wanted: bool,
    earlier: Sequence[FileChange] = (),
) -> tuple[list[FileChange], list[str]]:
    """Return what telling programs of the server changes, and what the person should know.

    Args:
        root: The worktree's top level.
        bin_dir: Directory of the launcher.
        env: The person's environment.
        agents: Which programs.
        is_wanted: Register it; else only where it is registered it is kept current.
        earlier: What is changed anyway: a program may have its hooks in the same file.
    """
    texts = {change.path: change.after for change in earlier}
    made: list[FileChange] = []
    notes: list[str] = []
    for agent in agents:
        there = look(root, agent)
        if there.path in texts:
            there = _registration(agent, there.path, texts[there.path])
        if not (is_wanted or there.is_ours):
            continue
        if there.entry is not None and not there.is_ours:
            notes.append(f"{there.path} has a server of the name {SERVER!r} that is not ours; it stays")
            continue
        entry = wanted(agent, bin_dir, env)
        if there.path.endswith(_TOML):
            after = _put_table(there, entry)
        else:
            after = put_entry(there.data, PLACES[agent].section, SERVER, entry, there.path)
        made.append(FileChange(there.path, there.data, after, f"the server of tools for {agent}"))
        if there.data != after:
            notes += habits_of(agent).server_notes
    return made, notes


def removals(root: str, earlier: Sequence[FileChange] = ()) -> list[FileChange]:
    """Return what taking the server out again changes, after what is changed anyway. Raises as ``look``."""
    texts = {change.path: change.after for change in earlier}
    made = []
    for agent, place in PLACES.items():
        there = look(root, agent)
        if there.path in texts:
            there = _registration(agent, there.path, texts[there.path])
        if there.data is None or not there.is_ours:
            continue
        if there.path.endswith(_TOML):
            after = take_out_block(there.data, TOOLS, there.path)
        else:
            after = take_out_entry(there.data, place.section, SERVER, there.path)
        made.append(FileChange(there.path, there.data, after, "the server of tools taken out"))
    return made


def holds_only_ours(change: FileChange) -> bool:
    """Tell whether a file holds nothing but our server, and hooks of ours, so that git need not know of it."""
    after = change.after
    if after is not None and not change.path.endswith(_TOML):
        after = take_out_hooks(after, change.path)
    if after is None:
        return change.after is not None
    for place in PLACES.values():
        if change.path.endswith(f"{os.sep}{place.file}"):
            if place.file.endswith(".toml"):
                return take_out_block(after, TOOLS, change.path) is None
            return take_out_entry(after, place.section, SERVER, change.path) is None
    return False


def _put_table(there: Registration, entry: Mapping[str, Any]) -> bytes:
    """Return Codex's configuration with our table at its end; what else it says stays as it is.

    Raises:
        Unreadable: Its layout leaves no place for a table.
    """
    if there.entry == entry:
        assert there.data is not None
        return there.data
    lines = [f"[mcp_servers.{SERVER}]", *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]
    after = put_block(there.data, tuple(line.encode() for line in lines), TOOLS, there.path)
    expected = _table(there.data, there.path)
    if there.entry is not None and (there.data is None or find_block(there.data, TOOLS, there.path) is None):
        raise Unreadable(f"{there.path}: the server {SERVER!r} is written down elsewhere", remedy="remove it by hand")
    expected.setdefault("mcp_servers", {})[SERVER] = entry
    try:
        fits = tomllib.loads(after.decode()) == expected
    except ValueError:
        fits = False
    if not fits:
        raise Unreadable(f"{there.path}: its layout leaves no place for {lines[0]}", remedy="add it by hand")
    return after


def _table(data: bytes | None, path: str) -> dict[str, Any]:
    try:
        found = tomllib.loads((data or b"").decode())
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: not TOML: {error}", remedy="correct the file; nothing was changed") from None
    servers = found.get("mcp_servers", {})
    if not isinstance(servers, dict):
        raise Unreadable(f"{path}: mcp_servers is no table", remedy="correct the file; nothing was changed")
    return found
