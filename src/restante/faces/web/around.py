"""What else there is beside sessions, for the overview: roles of teams, monitors that are not well, approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import RestanteError
from restante.domain.outlook import Mode
from restante.faces.web import approvals
from restante.faces.web.rendering import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.outlook import Outlook
    from restante.domain.team import Seat
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


class _Around(NamedTuple):
    seats: Sequence[Seat] = ()
    troubled: Sequence[Outlook] = ()
    problem: str = ""


async def part(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Show it; what cannot be looked at is said, and keeps nothing else from being shown."""
    found = await hub.apart(lambda: _look(hub, visitor.owner))
    now = await hub.run(visitor.claim, lambda exchange, _: exchange.clock.now())
    waiting = 0 if visitor.owner else await approvals.count(hub, visitor)
    return page("_around.html", {"around": found, "waiting": waiting, "now": now}, visitor)


def _look(hub: Hub, owner: str) -> _Around:
    from restante.wiring.pages import roster_for, vigil_for

    try:
        with roster_for(hub.environment, owner) as roster, vigil_for(hub.environment, owner) as vigil:
            seats, outlooks = roster.seats(""), vigil.outlooks()
    except RestanteError as error:
        return _Around(problem=error.message)
    ordered = sorted(seats, key=lambda seat: (-seat.counts.unseen, seat.member.role))
    return _Around(ordered, [one for one in outlooks if one.mode is Mode.TURN or one.trouble])
