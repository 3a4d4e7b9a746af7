"""Who waits for what. Pure: it knows no clock and no event loop; whoever parks says how to be woken.

Everything runs in one thread and nothing here waits, so that looking and parking are one step for who calls.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Busy, RateLimited, SessionBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Before a session's id: the place of those who wait for its turns. No id of a session begins so.
TURNS = "\0turns:"

_RETRY_SECONDS = 5


class Why(StrEnum):
    """What released a waiter."""

    POST = "post"
    CHANGE = "change"
    TIMEOUT = "timeout"
    ABORT = "abort"
    DROP = "drop"
    STOP = "stop"


class Caps(NamedTuple):
    """How many may wait at once: for one session, for one owner, in all."""

    per_session: int
    per_owner: int
    total: int


class Waiter:
    """One parked call.

    Args:
        owner: On whose behalf.
        session: Full id of the session it waits for; empty for all of the owner's.
        is_own: Whether the session itself waits for its mail.
        wake: Called when it is released.

    Attributes:
        missed: What released it for good while it looked again; no look would find that out.
    """

    __slots__ = ("is_armed", "is_own", "missed", "owner", "session", "wake")

    def __init__(self, owner: str, session: str, *, is_own: bool, wake: Callable[[Why], None]) -> None:
        self.owner = owner
        self.session = session
        self.is_own = is_own
        self.wake = wake
        self.is_armed = True
        self.missed: Why | None = None


class Waits:
    """The parked calls of a server.

    Args:
        caps: How many there may be.
    """

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        # By owner, then by session; the empty session is for those that wait for any change of the owner's.
        self._waiters: dict[str, dict[str, set[Waiter]]] = {}
        self._per_owner: dict[str, int] = {}
        self._total = 0
        self._is_stopped = False

    def __len__(self) -> int:
        return self._total

    def check(self, owner: str, session: str) -> None:
        """Refuse where one more could not wait.

        Raises:
            SessionBusy: As many wait for this session as may.
            RateLimited: As many wait for the owner, or in all, as may.
            Busy: The server is stopping.
        """
        if self._is_stopped:
            raise Busy("the server is stopping", remedy="ask again in a moment")
        here = self._waiters.get(owner, {}).get(session, ()) if session else ()
        if len(here) >= self._caps.per_session:
            raise SessionBusy(
                f"{len(here)} calls wait for session {session} already, which is the limit",
                remedy="end one of them, or ask without waiting",
            )
        if self._per_owner.get(owner, 0) >= self._caps.per_owner or self._total >= self._caps.total:
            raise RateLimited("as many calls wait as may at once", retry_after=_RETRY_SECONDS)

    def park(self, waiter: Waiter) -> None:
        """Let one wait. It keeps its place until it leaves, also while it looks again after it was released.

        Raises:
            RestanteError: As ``check``.
        """
        self.check(waiter.owner, waiter.session)
        self._waiters.setdefault(waiter.owner, {}).setdefault(waiter.session, set()).add(waiter)
        self._per_owner[waiter.owner] = self._per_owner.get(waiter.owner, 0) + 1
        self._total += 1

    def leave(self, waiter: Waiter) -> None:
        """Free the place of one that waits no more; leaving again changes nothing."""
        sessions = self._waiters.get(waiter.owner, {})
        here = sessions.get(waiter.session, set())
        if waiter not in here:
            return
        here.discard(waiter)
        if not here:
            del sessions[waiter.session]
        if not sessions:
            del self._waiters[waiter.owner]
        self._total -= 1
        self._per_owner[waiter.owner] -= 1
        if not self._per_owner[waiter.owner]:
            del self._per_owner[waiter.owner]

    def posted(self, owner: str, session: str) -> None:
        """Release everyone who waits for a session's mail; who waits for more than that is to look again."""
        if owner not in self._waiters:
            return
        self._release(self._of(owner, session), Why.POST)
        self._look_again(owner, session)

    def changed(self, owner: str, session: str = "") -> None:
        """Let everyone look again who waits for the session or watches the owner."""
        if session:
            self._release(self._of(owner, session), Why.CHANGE)
        self._look_again(owner, session)

    def stirred(self, owner: str) -> None:
        """Let everyone look again who waits for anything of an owner's."""
        for session in list(self._waiters.get(owner, ())):
            self._release(self._of(owner, session), Why.CHANGE)

    def dropped(self, owner: str, session: str) -> None:
        """Release who waits for a session that was detached or deleted."""
        self._release(self._of(owner, session), Why.DROP)
        self._look_again(owner, session)

    def stop(self) -> None:
        """Release everyone; from now on nobody may wait."""
        self._is_stopped = True
        for owner in list(self._waiters):
            for session in list(self._waiters.get(owner, ())):
                self._release(self._of(owner, session), Why.STOP)

    def owners(self) -> list[str]:
        """Return the owners on whose behalf anything waits."""
        return list(self._waiters)

    def parked(self, owner: str, session: str) -> int:
        """Return how many of a session's own calls wait for its mail."""
        return sum(waiter.is_own for waiter in self._of(owner, session))

    def own(self) -> int:
        """Return how many sessions wait for their own mail."""
        return sum(
            any(waiter.is_own for waiter in here) for sessions in self._waiters.values() for here in sessions.values()
        )

    def _look_again(self, owner: str, session: str) -> None:
        self._release(self._of(owner, TURNS + session), Why.CHANGE)
        self._release(self._of(owner, ""), Why.CHANGE)

    def _of(self, owner: str, session: str) -> Iterable[Waiter]:
        return tuple(self._waiters.get(owner, {}).get(session, ()))

    def _release(self, waiters: Iterable[Waiter], why: Why) -> None:
        for waiter in waiters:
            if waiter.is_armed:
                waiter.is_armed = False
                waiter.wake(why)
            elif why in (Why.DROP, Why.STOP):
                waiter.missed = why
