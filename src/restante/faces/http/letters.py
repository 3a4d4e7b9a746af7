"""The handler that shows a mailbox to the person: what was posted, answered mail too, and what became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.errors import UsageError
from restante.domain.lifecycle import Show
from restante.domain.wire_letters import of_timeline
from restante.faces.http.requests import number_in

if TYPE_CHECKING:
    from restante.domain.case import Timeline
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Ask

MOST = 200
USUAL = 50


async def timeline(ask: Ask) -> dict[str, Any]:
    """Show the newest messages of a mailbox."""
    await ask.admit()
    before = number_in(ask.query, "before", least=0) or 0
    limit = number_in(ask.query, "limit", least=1, most=MOST) or USUAL
    word = ask.query.get("show", Show.ALL.value)
    if word not in {one.value for one in Show}:
        raise UsageError(f"show={word!r} is no choice", remedy=f"one of: {', '.join(Show)}")

    def work(_: Exchange, window: LocalWindow) -> Timeline:
        return window.timeline(ask.params["id"], before=before, limit=limit, show=Show(word))

    return of_timeline(await ask.run(work))
