"""How a call over standard input gets to mail: by what the program says with it, and in the server's environment."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from restante.peek import sessions_are_used
from restante.wiring import calls, open_office

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.desk import Desk, Tools
    from restante.ports.roles import Roles
    from restante.ports.sessions import Window

_LONGEST_ID = 128


class CallPlace:
    """Where one call gets its mail from. A ``telling.Place``.

    Args:
        environment: The server's.
        meta: What the program sent with the call.
    """

    def __init__(self, environment: Mapping[str, str], meta: Mapping[str, Any]) -> None:
        thread = meta.get("threadId")
        thread = thread if isinstance(thread, str) and len(thread) <= _LONGEST_ID else ""
        self.call = calls.call_of(environment, _directory(environment, meta), thread=thread)

    @property
    def is_session(self) -> bool:
        """Whether the program proved which session calls."""
        return self.call.caller.is_agent

    def desk(self) -> Desk:
        """Return where the caller's mail is."""
        return self._desk

    def window(self) -> Window:
        """Return what the caller can ask of the sessions."""
        return calls.window_of(self.call)

    def roles(self) -> Roles:
        """Return what the caller can ask of roles."""
        return calls.roster_of(self.call)

    def tools(self) -> Tools:
        """Return time and settings."""
        return open_office(self.call.directory, environment=self.call.environment, anywhere=True)

    @cached_property
    def _desk(self) -> Desk:
        return calls.desk_of(self.call, sessions_are_used=sessions_are_used(self.call.environment))


def _directory(environment: Mapping[str, str], meta: Mapping[str, Any]) -> str:
    """Return where the session works: where Codex says that the turn runs, else the project of Claude Code."""
    turn = meta.get("x-codex-turn-metadata")
    workspaces = turn.get("workspaces") if isinstance(turn, dict) else None
    if isinstance(workspaces, dict) and len(workspaces) == 1:
        (place,) = workspaces
        if isinstance(place, str) and os.path.isdir(place):
            return place
    project = environment.get("CLAUDE_PROJECT_DIR", "")
    return project if project and os.path.isdir(project) else os.getcwd()
