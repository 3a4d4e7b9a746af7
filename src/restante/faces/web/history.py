"""How many messages were unseen over the last hour, of each owner that looked at a page since the server began."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import RestanteError

if TYPE_CHECKING:
    from datetime import datetime

    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

SPAN_SECONDS = 3600
# No more points than the line has pixels; nothing is asked while nothing happens.
_PAUSE_SECONDS = 30
_MOST = 2 * SPAN_SECONDS // _PAUSE_SECONDS


class Sample(NamedTuple):
    """So many were unseen from this time on (seconds since 1970)."""

    at: float
    unseen: int


class History:
    """Remembers; in memory alone."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[Sample]] = {}
        self._following: dict[str, asyncio.Task[None]] = {}

    def note(self, owner: str, now: datetime, unseen: int) -> list[Sample]:
        """Take in what is unseen now, and return what is known of the last hour, the oldest first."""
        kept = self._samples.setdefault(owner, deque(maxlen=_MOST))
        at = now.timestamp()
        while kept and kept[-1].at > at:
            # The clock was set back.
            kept.pop()
        if not kept or kept[-1].unseen != unseen:
            kept.append(Sample(at, unseen))
        while len(kept) > 1 and kept[1].at <= at - SPAN_SECONDS:
            kept.popleft()
        return list(kept)

    def follow(self, hub: Hub, visitor: Visitor) -> None:
        """Take in what changes from now on, whether anybody looks or not."""
        task = self._following.get(visitor.owner)
        if task is None or task.done():
            self._following[visitor.owner] = asyncio.get_running_loop().create_task(self._follow(hub, visitor))

    async def _follow(self, hub: Hub, visitor: Visitor) -> None:
        def count(exchange: Exchange, window: LocalWindow) -> tuple[datetime, int]:
            return exchange.clock.now(), sum(row.counts.unseen for row in window.sessions())

        try:
            async for _ in hub.ticks(visitor.claim):
                self.note(visitor.owner, *await hub.run(visitor.claim, count))
                await asyncio.sleep(_PAUSE_SECONDS)
        except RestanteError:
            # Nobody may look any more, or nothing can be counted; the next page begins anew.
            return
