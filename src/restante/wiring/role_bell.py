"""The bell of a worktree, which also rings while mail waits for a role that one of its sessions holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.registry import Session
    from restante.ports.sessions import SessionBell


class RoleBell:
    """A ``ports.sessions.SessionBell``.

    Args:
        bell: The bell itself.
        waits: Tells whether mail waits for a role of a session of a worktree.
    """

    def __init__(self, bell: SessionBell, waits: Callable[[str], bool]) -> None:
        self._bell = bell
        self._waits = waits

    def ring(self, session: Session) -> None:
        """Ring; see ``SessionBell``."""
        self._bell.ring(session)

    def hush(self, worktree: str, is_waiting: Callable[[], bool]) -> None:
        """Stop ringing in a worktree unless mail waits there, be it for a role; see ``SessionBell``."""
        self._bell.hush(worktree, lambda: is_waiting() or self._waits(worktree))
