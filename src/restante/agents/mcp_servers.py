"""Where each program is told of the server ``restante mcp``, in which shape (each seen with the program itself).

* Claude Code 2.1.332: ``.mcp.json``, ``mcpServers``; ``alwaysLoad`` keeps the tools from being looked up first.
* Codex 0.171.0: ``.codex/config.toml``, ``mcp_servers``; it hands on only a few variables and those that are named.
* opencode 1.18.33: ``opencode.json``, ``mcp``.
* Gemini CLI 0.61.0: ``.gemini/settings.json``, ``mcpServers``.
"""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from restante.agents import claude, codex
from restante.agents.calling import finds_ours
from restante.agents.files import read_plain
from restante.agents.managed_block import Markers, find_block, put_block, take_out_block
from restante.agents.mcp_json import entry_in, put_entry, take_out_entry
from restante.domain.errors import BadText, Unreadable
from restante.domain.setup import FileChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SERVER = "restante"
TOOLS = Markers(b"# restante: the tools", b"# restante: end of the tools", markdown=False)

# Codex gives a server none but these of the person's variables, and settings may stand in them.
_VARIABLES = (
    *("RESTANTE_CONFIG", "RESTANTE_DATA", "RESTANTE_DATABASE_URL", "RESTANTE_NAME", "RESTANTE_NESTED"),
    *("RESTANTE_SERVER_URL", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
)


class Place(NamedTuple):
    """Where a program reads of its servers.

    Attributes:
        file: The file, below the worktree's top level.
        section: The member, or table, that holds servers by name.
    """

    file: str
    section: str


PLACES = {
    codex.NAME: Place(os.path.join(".codex", "config.toml"), "mcp_servers"),
    claude.NAME: Place(".mcp.json", "mcpServers"),
    "opencode": Place("opencode.json", "mcp"),
    "gemini": Place(os.path.join(".gemini", "settings.json"), "mcpServers"),
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
    if agent == codex.NAME:
        return Registration(agent, path, data, _table(data, path).get(place.section, {}).get(SERVER))
    return Registration(agent, path, data, entry_in(data, place.section, SERVER, path))


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
    if agent == "opencode":
        return {"type": "local", "command": [command, "mcp"], "enabled": True}
    entry: dict[str, Any] = {"command": command, "args": ["mcp"]}
    if agent == claude.NAME:
        entry["alwaysLoad"] = True
    elif agent == codex.NAME:
        # Else the tools of a server that is a moment late are missing in the first request.
        entry |= {"env_vars": list(_VARIABLES), "required": True}
    return entry


def changes(
    root: str, bin_dir: str, env: Mapping[str, str], agents: Iterable[str], *, is_wanted: bool
) -> tuple[list[FileChange], list[str]]:
    """Return what telling programs of the server changes, and what the person should know.

    Args:
        root: The worktree's top level.
        bin_dir: Directory of the launcher.
        env: The person's environment.
        agents: Which programs.
        is_wanted: Register it; else only where it is registered it is kept current.
    """
    made: list[FileChange] = []
    notes: list[str] = []
    for agent in agents:
        there = look(root, agent)
        if not (is_wanted or there.is_ours):
            continue
        if there.entry is not None and not there.is_ours:
            notes.append(f"{there.path} has a server of the name {SERVER!r} that is not ours; it stays")
            continue
        entry = wanted(agent, bin_dir, env)
        if agent == codex.NAME:
            after = _put_table(there, entry)
        else:
            after = put_entry(there.data, PLACES[agent].section, SERVER, entry, there.path)
        made.append(FileChange(there.path, there.data, after, f"the server of tools for {agent}"))
        if agent == claude.NAME and there.data != after:
            notes.append("Claude Code asks once, at a terminal, whether it may start the server of .mcp.json")
        elif agent == codex.NAME and there.data != after:
            notes.append("Codex reads .codex/config.toml only of a project that you trust: restante install --trust")
    return made, notes


def removals(root: str, agents: Sequence[str] = tuple(PLACES)) -> list[FileChange]:
    """Return what taking the server out again changes. Raises as ``look``."""
    made = []
    for agent in agents:
        there = look(root, agent)
        if there.data is None or not there.is_ours:
            continue
        if agent == codex.NAME:
            after = take_out_block(there.data, TOOLS, there.path)
        else:
            after = take_out_entry(there.data, PLACES[agent].section, SERVER, there.path)
        made.append(FileChange(there.path, there.data, after, "the server of tools taken out"))
    return made


def holds_only_ours(change: FileChange) -> bool:
    """Tell whether a file holds nothing but our server, so that git need not know of it."""
    after = change.after
    if after is None:
        return False
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
