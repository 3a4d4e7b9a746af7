"""What explaining a message looks at on this machine, and the tracer that asks every home."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING

from restante.domain.facts import Watch
from restante.domain.registry import Presence
from restante.system.places import data_directory
from restante.system.processes import LocalProcesses, host_name
from restante.system.turns import TurnFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from restante.domain.facts import Hooks
    from restante.domain.registry import Process
    from restante.ports.monitoring import Monitors
    from restante.ports.sessions import Processes
    from restante.ports.teams import RoleBoxes, Teams


class LocalSurroundings:
    """A ``ports.explaining.Surroundings`` of this machine.

    Args:
        environment: Where settings and places come from.
        teams: Opens where roles, their mail and monitors are; gives ``None`` where there never was any.
        processes: Which processes live here; the machine's by default.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        teams: Callable[[], tuple[Teams, RoleBoxes, Monitors] | None],
        processes: Processes | None = None,
    ) -> None:
        self._environment = environment
        self._open_teams = teams
        self._processes = processes or LocalProcesses()
        self._turns = TurnFiles(data_directory(environment))

    def hooks(self, worktree: str, program: str) -> Hooks | None:
        """See the port."""
        from restante.agents.readiness import readiness

        return readiness(worktree, program, os.path.dirname(sys.executable), self._environment)

    def last_sign(self, session_id: str) -> datetime | None:
        """See the port."""
        return self._turns.last_sign(session_id)

    def is_elsewhere(self, process: Process | None) -> bool:
        """See the port."""
        return process is not None and process.host != host_name()

    def watch(self, mailbox: str, owner: str) -> Watch | None:
        """See the port."""
        monitor = self._teams[2].monitor(mailbox, owner) if self._teams else None
        if monitor is None:
            return None
        receiver = self._processes.presence(monitor.receiver) if monitor.receiver else Presence.UNKNOWN
        return Watch(monitor, receiver)

    def roles(self) -> tuple[Teams, RoleBoxes] | None:
        """See the port."""
        return self._teams[:2] if self._teams else None

    @cached_property
    def _teams(self) -> tuple[Teams, RoleBoxes, Monitors] | None:
        return self._open_teams()
