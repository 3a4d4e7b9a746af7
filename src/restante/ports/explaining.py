"""What explaining a message needs of the world beside its mailbox, in domain words. Every answer is a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.facts import Hooks, Watch
    from restante.domain.registry import Process
    from restante.ports.teams import RoleBoxes, Teams


class Surroundings(Protocol):
    """What a machine knows around its mailboxes. Nothing is started and nothing is marked by a look."""

    def hooks(self, worktree: str, program: str) -> Hooks | None:
        """Return how the hooks of an agent program stand in a worktree.

        Args:
            worktree: Its top level.
            program: The agent program; empty for the one whose hooks stand best.

        Returns:
            ``None`` for a program that nobody installs hooks for.
        """

    def last_sign(self, session_id: str) -> datetime | None:
        """Return when the hooks of a session last told that a turn began or ended; ``None`` for never."""

    def is_elsewhere(self, process: Process | None) -> bool:
        """Tell whether a process is one of another machine, so that nobody here can look at it."""

    def watch(self, mailbox: str, owner: str) -> Watch | None:
        """Return the monitor of a mailbox; ``None`` where none was armed."""

    def roles(self) -> tuple[Teams, RoleBoxes] | None:
        """Return where roles and their mail are; ``None`` where there never was a role."""
