"""Guidance that is posted again and again, in all worktrees that are known, and pausing, resuming, removing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse

from restante.domain.errors import UsageError
from restante.faces.web.grounds import known_worktrees
from restante.faces.web.rendering import HEADERS, ROOT, page
from restante.wiring.repeating import change_repeat, repeats_in

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


async def show(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Show all repeats."""
    places = await known_worktrees(hub, visitor)
    found = await hub.apart(lambda: repeats_in(hub.environment, places))
    now = await hub.run(visitor.claim, lambda exchange, _: exchange.clock.now())
    return page("repeats.html", {"kept": found, "now": now}, visitor)


async def change(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Pause, resume or remove one."""
    form = await request.form()
    path, repeat, action = (str(form.get(name, "")) for name in ("path", "repeat", "action"))
    if path not in await known_worktrees(hub, visitor):
        raise UsageError("that cannot be done here", remedy="load the page again")

    await hub.apart(lambda: change_repeat(hub.environment, path, repeat, action))
    return RedirectResponse(f"{ROOT}/repeats", 303, headers=HEADERS)
