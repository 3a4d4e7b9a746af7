"""Mail counts as seen once its reader took it: when the answer was sent whole, and the reader did not vanish before it.

The system takes a short answer at once, whether or not its reader still lives. So a read stays open for a moment after
it was answered: a reader that ends its connection in order has read everything, one that breaks it off has not. Nobody
has to wait for that moment: whatever else is asked settles the open reads first, by looking at their connections.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from restante.faces.http.connections import Connection

GRACE_SECONDS = 0.25
# A client that takes nothing for so long will not read it.
MOST_SECONDS = 30.0


class Handover:
    """One answered read.

    Args:
        connection: Where the answer went.
        confirm: Records that it was taken; asks the exchange before it returns.
    """

    __slots__ = ("confirm", "connection", "timer")

    def __init__(self, connection: Connection, confirm: Callable[[], asyncio.Future[None]]) -> None:
        self.connection = connection
        self.confirm = confirm
        self.timer: asyncio.TimerHandle | None = None


class Handovers:
    """The reads that were answered a moment ago.

    Args:
        lost: Called for each one whose reader vanished.
    """

    def __init__(self, lost: Callable[[], None]) -> None:
        self._lost = lost
        # In the order they were answered.
        self._open: dict[Handover, None] = {}
        self._asked: set[asyncio.Future[None]] = set()

    def add(self, one: Handover) -> None:
        """Leave a read open for the moment."""
        self._open[one] = None
        self._wait(one, MOST_SECONDS / GRACE_SECONDS)

    def settle(self) -> None:
        """Decide all open reads now. What is taken for read is asked of the exchange before anything else."""
        for one in tuple(self._open):
            if one.connection.is_decided(at_once=True):
                self._settle(one)

    async def finish(self) -> None:
        """Decide all open reads, and wait until that is written down."""
        for one in tuple(self._open):
            self._settle(one)
        if self._asked:
            await asyncio.gather(*self._asked, return_exceptions=True)

    def confirm(self, ask: Callable[[], asyncio.Future[None]]) -> None:
        """Record that mail was taken. Where that fails it stays unseen, and is told again."""
        asked = ask()
        self._asked.add(asked)
        asked.add_done_callback(self._answered)

    def _wait(self, one: Handover, rounds: float) -> None:
        one.timer = asyncio.get_running_loop().call_later(GRACE_SECONDS, self._look, one, rounds - 1)

    def _look(self, one: Handover, rounds: float) -> None:
        if one in self._open and rounds > 0 and not one.connection.is_decided(at_once=False):
            self._wait(one, rounds)
        else:
            self._settle(one)

    def _settle(self, one: Handover) -> None:
        if one not in self._open:
            return
        del self._open[one]
        if one.timer:
            one.timer.cancel()
        if one.connection.was_broken() or not one.connection.is_decided(at_once=True):
            self._lost()
        else:
            self.confirm(one.confirm)

    def _answered(self, asked: asyncio.Future[None]) -> None:
        self._asked.discard(asked)
        if not asked.cancelled():
            asked.exception()


async def linger(hung_up: Callable[[], Coroutine[None, None, None]]) -> None:
    """Keep a connection that ends with this answer open until its client ended it, or the moment is over."""
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await hung_up()
    except TimeoutError:
        return
