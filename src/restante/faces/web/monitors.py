"""Which mailboxes are watched, for which session, whether anybody listens, and what really happens when mail comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse

from restante.domain.errors import UsageError
from restante.faces.web.rendering import HEADERS, ROOT, page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.outlook import Outlook
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


async def show(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Show all monitors and how they stand."""

    def look() -> Sequence[Outlook]:
        from restante.wiring.pages import vigil_for

        with vigil_for(hub.environment, visitor.owner) as vigil:
            return vigil.outlooks()

    def name(exchange: Exchange, window: LocalWindow) -> tuple[dict[str, str], datetime]:
        return {row.session.id: row.session.title for row in window.sessions()}, exchange.clock.now()

    found = await hub.apart(look)
    names, now = await hub.run(visitor.claim, name)
    return page("monitors.html", {"outlooks": found, "now": now, "names": names}, visitor)


async def change(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Stop watching a mailbox; mail stays where it is."""
    form = await request.form()
    mailbox = str(form.get("mailbox", ""))
    if form.get("action") != "stop" or not mailbox:
        raise UsageError("that cannot be done here", remedy="load the page again")

    def work() -> None:
        from restante.wiring.pages import vigil_for

        with vigil_for(hub.environment, visitor.owner) as vigil:
            vigil.stop(mailbox)

    await hub.apart(work)
    return RedirectResponse(f"{ROOT}/monitors", 303, headers=HEADERS)
