"""Parking a request in the event loop until something releases it: a post, a change, time, a hang-up, a stop."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Busy
from restante.exchange import Spell
from restante.faces.http.waits import Waiter, Why

if TYPE_CHECKING:
    from datetime import datetime

    from restante.faces.http.asking import Ask
    from restante.faces.http.outside import Outside
    from restante.faces.http.waits import Waits
    from restante.faces.http.worker import Worker
    from restante.ports import Clock

_MOST_REMEMBERED = 10_000
# Other processes see who waits after so long.
_WRITE_SECONDS = 0.2


class _Spell(NamedTuple):
    """A session's waiting, over several calls with small gaps between them."""

    since: datetime
    ended: float | None


class Patience:
    """One request's waiting: as long as its time lasts and its client is there, over any number of releases.

    Args:
        ask: The request.
        seconds: How long it may take in all.
        parking: What is shared.
    """

    def __init__(self, ask: Ask, seconds: float, parking: Parking) -> None:
        self._loop = asyncio.get_running_loop()
        self._ask = ask
        self._parking = parking
        self._began = self._loop.time()
        self._end = self._began + seconds
        self._waiter: Waiter | None = None
        self._released: asyncio.Future[Why] | None = None
        self._hung_up: asyncio.Task[None] | None = None
        self._last = Why.ABORT

    @property
    def waited(self) -> float:
        """Seconds since it began."""
        return self._loop.time() - self._began

    @property
    def is_parked(self) -> bool:
        """Whether there is something to wait for."""
        return self._released is not None

    def park(self, owner: str, session: str, *, is_own: bool = False) -> None:
        """Take a place among those who wait; to be called right where it was seen that there is nothing yet.

        Raises:
            RestanteError: There is no place.
        """
        self._released = self._loop.create_future()
        if self._waiter is not None:
            if self._waiter.missed is not None:
                self._wake(self._waiter.missed)
            else:
                self._waiter.is_armed = True
            return
        waiter = Waiter(owner, session, is_own=is_own, wake=self._wake)
        self._parking.enter(waiter)
        self._waiter = waiter
        if is_own:
            self._parking.begin(owner, session, self._end - self._loop.time())

    async def released(self) -> Why:
        """Wait. The place is kept: until it is parked again, whatever happens is for the next look to see."""
        assert self._released is not None
        released = self._released
        if self._hung_up is None:
            self._hung_up = self._loop.create_task(self._ask.hung_up())
            self._hung_up.add_done_callback(lambda _: self._wake(Why.ABORT))
        elif self._hung_up.done():
            self._wake(Why.ABORT)
        timer = self._loop.call_at(self._end, self._wake, Why.TIMEOUT)
        try:
            self._last = await released
        finally:
            timer.cancel()
            self._released = None
        return self._last

    def close(self) -> None:
        """Give the place back: the waiting is over."""
        if self._hung_up is not None:
            self._hung_up.cancel()
        if self._waiter is not None:
            self._parking.leave(self._waiter)
            if self._waiter.is_own:
                self._parking.end(self._waiter.owner, self._waiter.session, self._last)

    def _wake(self, why: Why) -> None:
        if self._released is not None and not self._released.done():
            self._released.set_result(why)


class Parking:
    """The places to wait, what must be looked at while any is taken, and what is told of sessions that wait.

    Args:
        waits: The places.
        worker: Asks the exchange.
        outside: Notices what other processes do.
        clock: Where time comes from.
        grace: Seconds between two waits that count as one spell.
    """

    def __init__(self, waits: Waits, worker: Worker, outside: Outside, clock: Clock, grace: float) -> None:
        self._waits = waits
        self._worker = worker
        self._outside = outside
        self._clock = clock
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        self._spells: dict[tuple[str, str], _Spell] = {}
        # What is not written down yet.
        self._unwritten: dict[tuple[str, str], Spell] = {}
        self._timer: asyncio.TimerHandle | None = None

    def enter(self, waiter: Waiter) -> None:
        """Take a place.

        Raises:
            RestanteError: There is none.
        """
        self._waits.park(waiter)
        self._outside.look()

    def leave(self, waiter: Waiter) -> None:
        """Give a place back."""
        self._waits.leave(waiter)

    def begin(self, owner: str, session: str, seconds: float) -> None:
        """Record that a session itself waits for its mail."""
        known = self._spells.get((owner, session))
        now = self._clock.now()
        goes_on = known is not None and (known.ended is None or self._loop.time() - known.ended <= self._grace)
        since = known.since if known is not None and goes_on else now
        if len(self._spells) > _MOST_REMEMBERED:
            self._spells.clear()
        self._spells[owner, session] = _Spell(since, None)
        self._record(owner, session, since, now + timedelta(seconds=seconds))

    def end(self, owner: str, session: str, why: Why) -> None:
        """Record that a session waits no more, unless another call of it still does."""
        known = self._spells.get((owner, session))
        if known is None or self._waits.parked(owner, session):
            return
        # A wait that ended for nothing may be followed by the next one: the grace bridges the two.
        if why in (Why.TIMEOUT, Why.ABORT):
            self._spells[owner, session] = _Spell(known.since, self._loop.time())
            self._record(owner, session, known.since, self._clock.now())
        else:
            del self._spells[owner, session]
            self._record(owner, session, None, None)

    def _record(self, owner: str, session: str, since: datetime | None, until: datetime | None) -> None:
        self._unwritten[owner, session] = Spell(session, owner, since, until)
        if self._timer is None:
            self._timer = self._loop.call_later(_WRITE_SECONDS, self.write)

    def write(self) -> None:
        """Let the exchange know who waits: soon for whoever looks, and not for each wait alone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        spells = list(self._unwritten.values())
        self._unwritten.clear()
        if not spells:
            return
        try:
            asked = self._worker.submit(lambda exchange: exchange.park_all(spells), alone=True)
        except Busy:
            return
        # What cannot be written down is no more than a word in a list.
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())
