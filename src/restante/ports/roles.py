"""What one caller can ask of the roles of teams, in domain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from restante.config import Settings
    from restante.domain.case import Timeline
    from restante.domain.lifecycle import Status
    from restante.domain.mailbox import Changes, Entry
    from restante.domain.message import Draft
    from restante.domain.overview import Cleared, Late, Trace
    from restante.domain.receipt import Action, Decision
    from restante.domain.registry import Identity
    from restante.domain.team import Copy, RoleReading, Seat, Tally
    from restante.ports import Clock


class Roles(Protocol):
    """Teams, their roles and the mail of those, here or through a server; see ``roster.Roster`` for what each does.

    Errors are those of ``domain.errors``; all may raise ``StorageFailed``, ``Busy`` and, through a server,
    ``Unreachable``.
    """

    @property
    def identity(self) -> Identity:
        """Who asks."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""

    @property
    def settings(self) -> Settings:
        """The values in force."""

    @property
    def freed(self) -> tuple[str, ...]:
        """Ids of an agent program's own tasks that watched the role which was just let go of: to be removed."""

    def join(self, role: str, *, worktree: str = "") -> Seat:
        """Make a role a member of its team; a session also takes it."""

    def leave(self, role: str) -> bool:
        """Take a role out of its team and tell whether it was in it."""

    def act_as(self, role: str) -> Seat:
        """Let the calling session hold a role."""

    def drop(self, role: str) -> str:
        """Let go of a role, and return the id of the session that held it; empty for nobody."""

    def seats(self, team: str = "") -> list[Seat]:
        """Return the roles of a team, or of all."""

    def mine(self) -> list[str]:
        """Return the addresses of the roles that the calling session holds."""

    def post(self, to: str, draft: Draft, *, allow_warnings: bool = False) -> list[Copy]:
        """Post to a role, or to all roles of a team but the caller's own."""

    def read(self, role: str, *, after: int = 0, limit: int | None = None) -> RoleReading:
        """Return the pending mail of a role; marks nothing."""

    def wait(self, role: str, seconds: float) -> bool:
        """Wait until something in a role's mailbox is unseen, and tell whether it is."""

    def readings(self, *, limit: int | None = None) -> list[RoleReading]:
        """Return the pending mail of all roles that the calling session holds; marks nothing."""

    def confirm(self, role: str, message_ids: Sequence[str], *, only_noticed: bool = False) -> None:
        """Record that messages were handed over whole to the holder."""

    def acknowledge(
        self,
        role: str,
        message_ids: Sequence[str],
        *,
        through: bool = False,
        decision: Decision | None = None,
        action: Action | None = None,
        summary: str = "",
        late: Late | None = None,
    ) -> Cleared:
        """Acknowledge messages of a role."""

    def locate(self, message_ids: Sequence[str]) -> dict[str, str]:
        """Return in which of the caller's roles messages are, by whole ids; those that are in none are left out."""

    def check_not_of_others(self, message_ids: Sequence[str]) -> None:
        """Refuse to act on mail of a role that the calling session does not hold."""

    def receipts(self, message_ids: Sequence[str] = (), *, limit: int = 100) -> list[Trace]:
        """Return what became of what the caller posted to roles, the newest first."""

    def withdraw(self, message_id: str) -> Trace:
        """Take back what the caller posted to a role."""

    def history(self, what: str, *, limit: int = 20) -> tuple[list[Entry], int]:
        """Return the newest messages of a role or a whole team, and how many are older."""

    def timeline(self, role: str, *, before: int, limit: int, fits: Callable[[Status], bool]) -> Timeline:
        """Return the newest messages of a role, answered ones too, to the person; it marks nothing."""

    def tally(self, role: str) -> Tally:
        """Return how far the mail of a role got."""

    def name_of(self, sender: str) -> str:
        """Return what the session of a sender is called; empty for nothing."""

    def tip(self, role: str) -> str:
        """Return the cursor after which only what happens from now on is told."""

    def follow(self, role: str, cursor: str, seconds: float | None = None) -> Iterator[Changes]:
        """Yield what happens in a role's mailbox from a cursor on."""

    def changes(self, role: str, cursor: str) -> Changes:
        """Return what happened since a cursor in the mailbox of a role that the caller holds."""
