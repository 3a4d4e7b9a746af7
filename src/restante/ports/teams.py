"""What teams, roles and leases need of the world, in domain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, timedelta

    from restante.domain.mailbox import Posted
    from restante.domain.message import Draft
    from restante.domain.monitor import Signal
    from restante.domain.overview import Trace
    from restante.domain.registry import Presence, Process
    from restante.domain.team import Lease, Member
    from restante.ports import Mailbox


class Teams(Protocol):
    """The roles of all teams and who holds them. Every change is one durable, atomic step.

    A role is named by its address, ``team/role``. An owner is part of every question: a foreign role is an unknown one.
    """

    def join(self, role: str, owner: str, now: datetime, *, worktree: str, vendor: str) -> Member:
        """Make a role a member of its team; joining again changes nothing but where it works."""

    def leave(self, role: str, owner: str, now: datetime) -> Member | None:
        """Take a role out of its team, whoever holds it; its mail stays.

        Returns:
            The role as it was, so that who held it can be told; ``None`` where it was not in its team.
        """

    def member(self, role: str, owner: str) -> Member | None:
        """Return a role that has joined and not left."""

    def members(self, team: str, owner: str) -> list[Member]:
        """Return the roles of a team, sorted; with an empty team, those of all teams."""

    def held_by(self, session: str, owner: str) -> list[Member]:
        """Return the roles whose lease names this session, sorted; see ``standing`` for whether it holds."""

    def leases(self) -> list[tuple[str, Member]]:
        """Return the roles of all owners whose lease names anybody, each with its owner, sorted."""

    def take(
        self,
        role: str,
        owner: str,
        now: datetime,
        *,
        session: str,
        process: Process | None,
        time_to_live: timedelta,
        presence: Callable[[Process | None], Presence],
    ) -> Lease:
        """Let a session hold a role: free, its own, or one whose holder is proven dead or expired. One of many wins.

        Taking what one holds already renews it under the same generation.

        Raises:
            NothingThere: The role has not joined.
            RoleHeld: Another session holds it; nothing was changed. Its text and details name who.
        """

    def beat(self, role: str, owner: str, now: datetime, *, session: str, generation: int | None = None) -> Lease:
        """Record that the holder was heard of.

        Raises:
            RoleHeld: The session does not hold the role, or no longer under this generation.
        """

    def release(self, role: str, owner: str, now: datetime, *, session: str, generation: int | None = None) -> bool:
        """Let go of a role and tell whether the session held it (under this generation); else nothing is changed."""


class RoleBoxes(Protocol):
    """The mailboxes of roles; durable by nature."""

    def box(self, role: str, owner: str) -> Mailbox:
        """Return the mailbox of a role; nothing is created by it."""

    def post(self, role: str, owner: str, draft: Draft, signal: Signal | None = None) -> Posted:
        """Post to a role, with what the message says of an action, in one step.

        A client id that was used before returns the stored message, whose signal stays as it was; raises what
        ``Mailbox.post`` does.
        """

    def tip(self, owner: str) -> tuple[str, int]:
        """Return the tag of this place and the number of the owner's last event; ``("0", 0)`` before the first."""

    def changed_since(self, event: int, owner: str) -> list[str]:
        """Return the roles whose mailbox changed after an event, in that order."""

    def signals(self, role: str, owner: str, *, after: int = 0) -> list[tuple[int, Signal]]:
        """Return what the messages of a role with a greater number say of actions, with those numbers, in order."""

    def traces(self, sender: str, owner: str, *, message_ids: Sequence[str] = (), limit: int = 100) -> list[Trace]:
        """Return what became of a sender's messages, the newest first; ``to`` is the role's address.

        Args:
            sender: As the messages name it.
            owner: Whose.
            message_ids: Only these; then those in mailboxes of sessions too, where they are kept in the same database.
            limit: At most so many.
        """

    def fenced(self, role: str, owner: str, session: str, generation: int | None = None) -> Mailbox:
        """Return the mailbox for its holder: each change checks in its own transaction that the session holds the role.

        With a generation it must hold it under that one. What changes anything raises ``RoleHeld`` where it does not,
        and has changed nothing; reading is not checked.
        """
