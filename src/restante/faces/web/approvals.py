"""What waits for a person before work may start or go on, and the form to decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse

from restante.domain.errors import Forbidden, RestanteError
from restante.faces.web.grounds import known_worktrees
from restante.faces.web.rendering import HEADERS, ROOT, page
from restante.wiring import approvals
from restante.wiring.approvals import DECISIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub
    from restante.wiring.approvals import Waiting


async def show(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show what waits, the oldest first."""
    return page("approvals.html", await _values(hub, visitor, done=request.query_params.get("done", "")), visitor)


async def decide(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Write a decision into the audit record."""
    form = {name: str(value) for name, value in (await request.form()).items()}
    decision = form.get("decision", "")
    try:
        found = await _waiting(hub, visitor)
        given = (form.get("key", ""), decision, form.get("note", ""), form.get("grant", ""))
        await hub.apart(lambda: approvals.decide(hub.environment, found, *given))
    except RestanteError as error:
        return page("approvals.html", await _values(hub, visitor, error=error), visitor, status=error.http_status)
    return RedirectResponse(f"{ROOT}/approvals?done={decision}", 303, headers=HEADERS)


async def count(hub: Hub, visitor: Visitor) -> int:
    """Return how many messages wait for a person; none where that cannot be told."""
    try:
        return len(await _waiting(hub, visitor))
    except RestanteError:
        return 0


async def _values(hub: Hub, visitor: Visitor, *, done: str = "", error: RestanteError | None = None) -> dict[str, Any]:
    now = await hub.run(visitor.claim, lambda exchange, _: exchange.clock.now())
    found = await _waiting(hub, visitor)
    return {
        "waiting": [(one.key, one) for one in found],
        "now": now,
        "error": error,
        "done": done if done in DECISIONS else "",
    }


async def _waiting(hub: Hub, visitor: Visitor) -> Sequence[Waiting]:
    if visitor.owner:
        raise Forbidden(
            "approvals are in files of this machine, which are nobody's account", remedy="restante approvals"
        )
    places = await known_worktrees(hub, visitor)
    return await hub.apart(lambda: approvals.waiting(hub.environment, places))
