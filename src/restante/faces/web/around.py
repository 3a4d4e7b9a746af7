"""What else there is beside sessions, for the overview: roles of teams, monitors that are not well, approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import RestanteError
from restante.domain.outlook import Mode
from restante.faces.web import approvals
from restante.faces.web.grounds import known_worktrees
from restante.faces.web.rendering import page
from restante.wiring.pages import file_boxes, roster_for, vigil_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.outlook import Outlook
    from restante.domain.team import Seat
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


_MOST_BOXES = 40


class _Around(NamedTuple):
    seats: Sequence[Seat] = ()
    troubled: Sequence[Outlook] = ()
    problem: str = ""


async def part(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Show it; what cannot be looked at is said, and keeps nothing else from being shown."""

    def name(exchange: Exchange, window: LocalWindow) -> tuple[dict[str, str], datetime]:
        return {row.session.address: row.session.title for row in window.sessions()}, exchange.clock.now()

    found = await hub.apart(lambda: _look(hub, visitor.owner))
    names, now = await hub.run(visitor.claim, name)
    places = await known_worktrees(hub, visitor)
    boxes = [] if visitor.owner else await hub.apart(lambda: file_boxes(hub.environment, places))
    boxes.sort(key=lambda box: (-box.counts.unseen, -box.counts.pending, box.name))
    values = {
        "around": found,
        "names": names,
        "boxes": boxes[:_MOST_BOXES],
        "more_boxes": max(0, len(boxes) - _MOST_BOXES),
        "waiting": 0 if visitor.owner else await approvals.count(hub, visitor),
        "now": now,
    }
    return page("_around.html", values, visitor)


def _look(hub: Hub, owner: str) -> _Around:
    try:
        with roster_for(hub.environment, owner) as roster, vigil_for(hub.environment, owner) as vigil:
            seats, outlooks = roster.seats(""), vigil.outlooks()
    except RestanteError as error:
        return _Around(problem=error.message)
    ordered = sorted(seats, key=lambda seat: (-seat.counts.unseen, seat.member.role))
    return _Around(ordered, [one for one in outlooks if one.mode is Mode.TURN or one.trouble])
