"""How an agent program reads its hooks, where nothing particular is known of it; see ``quirks``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from restante.agents.gitplaces import GitPlaces


class Habits:
    """What is so of every program that nobody says otherwise of.

    Args:
        name: The program.

    Attributes:
        only_keys: The keys that the root of its hooks file may hold; any when ``None``.
        refuses_mark: Whether a byte order mark makes it reject the whole file.
        borrows: Whether several worktrees of a repository share the first of its hooks files.
        waits: Whether a session of it can have a waiter.
        tool_input: What a hook that calls a tool hands over beside what all do.
        server_notes: What the person should know once the server of tools is registered.
    """

    only_keys: Collection[str] | None = None
    refuses_mark = False
    borrows = False
    waits = False
    tool_input: Mapping[str, str] = {}
    server_notes: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def hook_files(self, root: str) -> list[str]:
        """Return the files that hold its hooks for a worktree, the one it reads first; none where it has a plugin."""
        settings = PROGRAMS[self.name].settings
        return [os.path.join(root, *settings.split("/"))] if settings else []

    def switched_off_by(self, _root: str, _env: Mapping[str, str], _etc: str) -> str:
        """Return the file that keeps it from running a worktree's hooks, or nothing."""
        return ""

    def find(self, env: Mapping[str, str]) -> str | None:
        """Return the path of the program; ``None`` where it is not on PATH."""
        from shutil import which

        # A relative part of PATH would run a program out of whatever directory this is.
        places = [place for place in env.get("PATH", "").split(os.pathsep) if os.path.isabs(place)]
        return which(self.name, path=os.pathsep.join(places))

    def notes(self, _places: GitPlaces) -> list[str]:
        """Return what the person should know of its hooks in a worktree."""
        return []
