"""The first page: who deserves a look, the most urgent first; who waits for whom; how much has been unseen."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from restante.domain.overview import mutual_waits
from restante.domain.urgency import most_urgent_first
from restante.faces.web.history import History
from restante.faces.web.pictures import graph_of, sparkline
from restante.faces.web.rendering import page
from restante.faces.web.texts import text

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.overview import Flow, Row
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

WINDOW = 60
_MOST_WINDOW = 1_000
_PICTURED = timedelta(days=1)


class _Look(NamedTuple):
    rows: list[Row]
    now: datetime


_HISTORY = History()


async def show(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show the whole page."""
    _HISTORY.follow(hub, visitor)
    return page("overview.html", await _values(hub, visitor, request), visitor)


async def part(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show what changes of it."""
    return page("_sessions.html", await _values(hub, visitor, request), visitor)


async def picture(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Show who wrote to whom within a day, and where an answer is waited for."""

    def work(exchange: Exchange, window: LocalWindow) -> tuple[list[Row], dict[tuple[str, str], Flow]]:
        return window.sessions(), window.flows(exchange.clock.now() - _PICTURED)

    rows, flows = await hub.run(visitor.claim, work)
    return page("_picture.html", {"graph": graph_of(most_urgent_first(rows), flows, text("picture.you"))}, visitor)


async def _values(hub: Hub, visitor: Visitor, request: Request) -> dict[str, Any]:
    def work(exchange: Exchange, window: LocalWindow) -> _Look:
        return _Look(window.sessions(), exchange.clock.now())

    look = await hub.run(visitor.claim, work)
    given = request.query_params
    wanted = given.get("filter", "").strip()[:100]
    shown = _size(given.get("size", ""))
    rows = most_urgent_first(look.rows, wanted)
    unseen = sum(row.counts.unseen for row in look.rows)
    titles = {row.session.id: row.session.title for row in look.rows}
    return {
        "now": look.now,
        "rows": rows[:shown],
        "left": max(0, len(rows) - shown),
        "size": shown,
        "more": min(_MOST_WINDOW, shown * 2),
        "filter": wanted,
        "sessions": len(look.rows),
        "unseen": unseen,
        "pending": sum(row.counts.pending for row in look.rows),
        "pairs": [(titles[one], titles[other]) for one, other in mutual_waits(look.rows)],
        "spark": sparkline(_HISTORY.note(visitor.owner, look.now, unseen), look.now.timestamp()),
    }


def _size(given: str) -> int:
    is_number = given.isascii() and given.isdecimal() and len(given) < 16
    return min(_MOST_WINDOW, max(1, int(given))) if is_number else WINDOW
