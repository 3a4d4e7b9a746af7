"""Mail between sessions: the public Python API beside ``office``, which is about one worktree.

An exchange serves any number of callers; what one of them may ask is a ``ports.sessions.Window``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from restante.config import Settings
    from restante.ports import Clock
    from restante.ports.sessions import Boxes, Processes, SessionBell, Sessions, Turns


class ExchangeParts(Protocol):
    """What an exchange is made of."""

    @property
    def settings(self) -> Settings:
        """The values in force."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""

    @property
    def sessions(self) -> Sessions:
        """The register."""

    @property
    def boxes(self) -> Boxes:
        """Where the mail is, as persistence is set now."""

    @property
    def turns(self) -> Turns:
        """What hooks say of turns."""

    @property
    def processes(self) -> Processes:
        """Which processes live here."""

    @property
    def bell(self) -> SessionBell:
        """The sign for the hooks of worktrees."""
