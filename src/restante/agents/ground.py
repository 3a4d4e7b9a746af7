"""One worktree as the agent programs see it: which files, which entries. Shared by install, uninstall and doctor."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from restante.agents import mcp_hooks
from restante.agents.files import read_plain
from restante.agents.gitplaces import GitPlaces, git_places
from restante.agents.hookline import (
    WAITING,
    calls_tool,
    handler,
    is_guard,
    is_waiter,
    needs_wrapping,
    timeouts_of,
    waiter,
)
from restante.agents.json_edit import hooks_in
from restante.agents.quirks import habits_of
from restante.programs import NAMES, PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Mapping

AGENTS = NAMES
MAILBOX = ".codex-mailbox"


@dataclass
class Ground:
    """A worktree, an installation and an environment.

    Attributes:
        root: The worktree's top level, as the person names it.
        bin_dir: Directory of the guard script and the interpreter.
        env: The environment; only looked at when needed.
        etc: Directory of what an administrator prescribes.
        timeout: Seconds to wait for another program.
        waits: Whether mailboxes are monitored on this machine, so that sessions that can have one have a waiter.
    """

    root: str
    bin_dir: str
    env: dict[str, str]
    etc: str
    timeout: float
    waits: bool = False

    @cached_property
    def places(self) -> GitPlaces:
        """Where git keeps what belongs to the worktree."""
        return git_places(self.root)

    @property
    def exclude(self) -> str:
        """Git's list of ignored files that is no part of the repository."""
        return os.path.join(self.places.common or "", "info", "exclude")

    def hook_files(self, agent: str) -> list[str]:
        """Return the files that hold a program's hooks for this worktree, the one it reads first; none for a plugin."""
        return habits_of(agent).hook_files(self.root)

    def read(self, path: str) -> bytes | None:
        """Return a file of this worktree, or of the one that it borrows hooks from; raises as ``read_plain``."""
        own = path.startswith(os.path.join(self.root, ""))
        return read_plain(path, self.root if own else self.places.hooks_root)

    def read_exclude(self) -> bytes | None:
        """Return git's list of ignored files; raises as ``read_plain``."""
        common = self.places.common
        return None if common is None else read_plain(self.exclude, common)

    def entries(self, path: str) -> dict[str, Any]:
        """Return our guard's entries in a settings file, by event.

        Raises:
            Unreadable: The file is not what it should be.
            Unsafe: It is a symbolic link.
        """
        data = self.read(path)
        return {} if data is None else {one.event: one.entry for one in hooks_in(data, path) if is_guard(one.entry)}

    def waiters(self, path: str) -> dict[str, Any]:
        """Return our waiter's entries in a settings file, by event; raises as ``entries``."""
        data = self.read(path)
        return {} if data is None else {one.event: one.entry for one in hooks_in(data, path) if is_waiter(one.entry)}

    def wanted_waiters(self, agent: str) -> dict[str, dict[str, Any]]:
        """Return the waiter's entry for each event; none where nothing is monitored, or the program takes none."""
        if not (habits_of(agent).waits and self.waits):
            return {}
        wrapped = needs_wrapping(self.env)
        return {event: waiter(self.bin_dir, agent, event, wrapped=wrapped) for event in WAITING}

    def wanted(self, agent: str, there: Mapping[str, Any], *, by_tool: bool | None = None) -> dict[str, dict[str, Any]]:
        """Return the hook entry for each event, given those of ours that are there.

        A line that is wrapped for another shell works in every shell and stays, so that trust in it lasts.

        Args:
            agent: The program.
            there: The entries, by event.
            by_tool: Whether checkpoints call a tool of the server where they can; ``None`` for as it is.
        """
        if by_tool is None:
            by_tool = any(calls_tool(entry) for entry in there.values())
        must_wrap = needs_wrapping(self.env)
        wanted = {}
        for event in timeouts_of(agent):
            wrapped = handler(self.bin_dir, agent, event, wrapped=True)
            is_kept = must_wrap or there.get(event) == wrapped
            wanted[event] = wrapped if is_kept else handler(self.bin_dir, agent, event)
        if by_tool and PROGRAMS[agent].calls_tools:
            wanted |= {event: mcp_hooks.handler(agent, event) for event in mcp_hooks.EVENTS}
        return wanted
