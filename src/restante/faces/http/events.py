"""The stream of events: what changes, as it changes, without a word of any message."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from sse_starlette.event import ServerSentEvent

from restante.domain.errors import RateLimited
from restante.domain.wire import of_state, of_time
from restante.faces.http.sending import SECURITY_HEADERS, encode
from restante.faces.http.waits import Waiter, Why

if TYPE_CHECKING:
    from restante.domain.overview import Row, Watched
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Ask

HEARTBEAT_SECONDS = 15.0
MOST_STREAMS = 100
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    *SECURITY_HEADERS,
    # Proxies must pass each event on at once.
    (b"x-accel-buffering", b"no"),
]


async def events(ask: Ask) -> None:
    """Send events until the client goes or the server stops.

    ``session:updated`` and ``session:deleted`` tell of sessions, ``inbox:changed`` of numbers of a mailbox,
    ``sse:heartbeat`` that the stream lives. The id of an event is the cursor of ``watch``: a client that comes back
    with ``Last-Event-ID`` misses nothing.
    """
    cursor = ask.header(b"last-event-id").decode("ascii", "replace") or ask.query.get("since", "")
    await ask.admit()
    if ask.office.metrics.open_streams >= MOST_STREAMS:
        raise RateLimited("as many event streams are open as may be", retry_after=60)
    stream = _Stream(ask, cursor)
    ask.office.metrics.open_streams += 1
    try:
        await stream.run()
    finally:
        ask.office.metrics.open_streams -= 1
        stream.close()


class _Stream:
    def __init__(self, ask: Ask, cursor: str) -> None:
        self._ask = ask
        self._cursor = cursor
        self._is_resumed = bool(cursor)
        self._owner = ""
        self._told: dict[str, int] = {}
        self._waiter: Waiter | None = None
        self._released = asyncio.Event()
        self._why = Why.CHANGE

    async def run(self) -> None:
        """Send events until the end."""
        ask = self._ask
        watched = await ask.run(self._look, self._park)
        await ask.send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        if not self._is_resumed:
            # Whoever begins wants what happens from now on; where to go on from is told at once.
            self._remember(watched)
            watched = watched._replace(rows=(), gone=())
        hung_up = asyncio.create_task(ask.hung_up())
        hung_up.add_done_callback(lambda _: self._wake(Why.ABORT))
        try:
            await self._send(self._frames(watched) or self._heartbeat(watched.cursor))
            while self._why is Why.CHANGE:
                try:
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        await self._released.wait()
                except TimeoutError:
                    await self._send(self._heartbeat())
                    continue
                if self._why is Why.CHANGE:
                    self._released.clear()
                    await self._send(self._frames(await ask.run(self._look, self._park)))
            if self._why is Why.STOP:
                await ask.send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            hung_up.cancel()

    def close(self) -> None:
        """Give the place back."""
        if self._waiter is not None:
            self._ask.office.parking.leave(self._waiter)

    def _look(self, _: Exchange, window: LocalWindow) -> Watched:
        self._owner = window.identity.owner
        return window.watch(self._cursor)

    def _park(self, watched: Watched) -> None:
        self._cursor = watched.cursor
        if self._waiter is not None:
            self._waiter.is_armed = True
            return
        waiter = Waiter(self._owner, "", is_own=False, wake=self._wake)
        self._ask.office.parking.enter(waiter)
        self._waiter = waiter

    def _wake(self, why: Why) -> None:
        if self._why is Why.CHANGE:
            self._why = why
        self._released.set()

    def _remember(self, watched: Watched) -> None:
        self._told = {row.session.id: row.session.event for row in watched.rows}

    def _frames(self, watched: Watched) -> bytes:
        """Return the events of a look. Only the last has the cursor: all before it would be missed after a cut."""
        found: list[tuple[str, object]] = []
        for row in watched.rows:
            # A post changes the numbers of a mailbox, and nothing of the session.
            if self._told.get(row.session.id) != row.session.event:
                self._told[row.session.id] = row.session.event
                found.append(("session:updated", of_state(row)))
            found.append(("inbox:changed", _numbers(row)))
        for session in watched.gone:
            self._told.pop(session, None)
            found.append(("session:deleted", {"sessionId": session}))
        last = len(found) - 1
        return b"".join(
            _frame(name, data, watched.cursor if place == last else None) for place, (name, data) in enumerate(found)
        )

    def _heartbeat(self, cursor: str | None = None) -> bytes:
        return _frame("sse:heartbeat", {"t": round(time.time() * 1000)}, cursor)

    async def _send(self, data: bytes) -> None:
        if data:
            await self._ask.send({"type": "http.response.body", "body": data, "more_body": True})


def _frame(name: str, data: object, cursor: str | None) -> bytes:
    return ServerSentEvent(encode(data).decode(), event=name, id=cursor, sep="\n").encode()


def _numbers(row: Row) -> dict[str, object]:
    counts = row.counts
    return {
        "sessionId": row.session.id,
        "pending": counts.pending,
        "unseen": counts.unseen,
        "oldestUnseenAt": of_time(counts.oldest_unseen),
        "parked": row.is_parked,
        "reason": row.reason.value if row.reason else None,
    }
