"""What a vigil is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from restante.config import Settings
    from restante.domain.registry import Process
    from restante.ports import Clock
    from restante.ports.monitoring import Doorbells, Monitors, Sights
    from restante.ports.sessions import Processes, Sessions
    from restante.ports.teams import Teams


class VigilParts(Protocol):
    """What a vigil is made of."""

    @property
    def settings(self) -> Settings:
        """The values in force."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""

    @property
    def monitors(self) -> Monitors:
        """Where monitors are kept."""

    @property
    def all_sights(self) -> Sights:
        """The numbers of mailboxes of every home."""

    @property
    def teams(self) -> Teams:
        """Who holds which role."""

    @property
    def sessions(self) -> Sessions:
        """The register of sessions."""

    @property
    def processes(self) -> Processes:
        """Which processes live here."""

    @property
    def doorbells(self) -> Doorbells:
        """The signs for whoever listens."""

    def is_ours(self, process: Process) -> bool:
        """Tell whether the caller may run below a process; see ``RosterParts.is_ours``."""

    @property
    def command(self) -> str:
        """How an agent calls this installation."""

    def adapter(self, vendor: str, name: str = "", *, is_person: bool = True) -> str:
        """Return the name of the way to wake a session of an agent program.

        Args:
            vendor: The agent program.
            name: The way that was chosen; empty for the usual one of the program.
            is_person: Whether a person chose it.

        Raises:
            UsageError: There is no way of that name.
            Forbidden: A session chose one that only a person may.
        """

    def new_token(self) -> str:
        """Return a token that nobody can guess."""
