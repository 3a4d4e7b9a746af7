"""What monitors need of the world, in domain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from restante.domain.monitor import Monitor, Sight, Signal, Subscription, Target, Woken

_Answer = TypeVar("_Answer")


class Monitors(Protocol):
    """Where monitors are kept: at most one for each mailbox of an owner."""

    def monitor(self, mailbox: str, owner: str) -> Monitor | None:
        """Return the monitor of a mailbox, whatever its state."""

    def all(self, owner: str | None = None) -> list[Monitor]:
        """Return all monitors of an owner, or of all owners, by their mailbox's address. Creates nothing."""

    def of_session(self, session: str) -> list[Monitor]:
        """Return the monitors that wake a session."""

    def change(
        self, mailbox: str, owner: str, step: Callable[[Monitor | None, Sight], tuple[Monitor | None, _Answer]]
    ) -> _Answer:
        """Change a monitor in one durable, atomic step.

        ``step`` is given what is kept and what is to be seen of the mailbox, both of one moment (an empty sight for a
        mailbox of another home: whoever steps looks for itself before), and returns what is kept from then on
        (``None`` for nothing) and an answer. What it raises is raised, and nothing is changed. It may be called again
        where the database asks for it, so it has no other effect.
        """


class Sights(Protocol):
    """Numbers of mailboxes, without a letter of their mail: it marks nothing and never reads a text."""

    def look(self, mailbox: str, owner: str, *, whole: bool = False) -> Sight:
        """Return what is to be seen of a mailbox of whatever home.

        Args:
            mailbox: Its address.
            owner: Whose.
            whole: Whether the acknowledged ones are counted too.

        Raises:
            StorageFailed: It cannot be looked at.
        """


class Subscriptions(Protocol):
    """Who wants to be woken once."""

    def add(self, subscription: Subscription) -> None:
        """Keep one."""

    def all(self, owner: str) -> list[Subscription]:
        """Return an owner's, in the order they were made."""

    def take_matching(self, mailbox: str, owner: str, signals: Sequence[Signal]) -> list[Subscription]:
        """Take away those that one of the signals ends, and return them: each is given to one caller only."""

    def take_expired(self, now: datetime) -> list[Subscription]:
        """Take away those that are over, of all owners, and return them: each is given to one caller only."""

    def remove(self, subscription_id: str, owner: str) -> bool:
        """Take one away and tell whether there was one."""


class Doorbells(Protocol):
    """Content-free signs that something was posted to a mailbox that is monitored. Never raises, never waits."""

    def expect(self, mailbox: str, waiter: str = "") -> None:
        """Let bells of a mailbox be heard from now on; only such a mailbox has one. Expecting again changes nothing.

        Args:
            mailbox: Its address.
            waiter: Id of the session whose own waiter is to be rung, too; empty for none.
        """

    def forget(self, mailbox: str) -> None:
        """Take the bell away; forgetting twice changes nothing."""

    def has_waiter(self, session: str) -> bool:
        """Tell whether a waiter of a session was heard of since a mailbox was first armed for it."""

    def ring(self, mailbox: str) -> None:
        """Ring; where none is expected it changes nothing and costs one look for a file."""

    def rung(self, mailboxes: Sequence[str]) -> list[str]:
        """Return those whose bell rang since they were last asked for here; whoever is new counts as rung."""

    def ticks(self, timeout: float | None = None) -> Iterator[None]:
        """Yield once at the start, whenever a bell may have rung, and once when the time is over."""


class Waker(Protocol):
    """A way to start a visible turn of a session; see docs/why/ for what it may do."""

    @property
    def name(self) -> str:
        """Its name, by which a person arms it."""

    @property
    def is_default(self) -> bool:
        """Whether it is used without being named."""

    def can_wake(self, target: Target, /) -> str:
        """Return why it cannot wake this session; empty when, as far as is known now, it can."""

    def wake(self, target: Target, text: str, /) -> Woken:
        """Start a visible turn with this text, which holds no word of mail. Never raises for a refusal."""
