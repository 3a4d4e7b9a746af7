"""Who may ask this server for anything: owners, the person's tokens, sessions and their secrets; and ending that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import RedirectResponse

from restante.domain.errors import Forbidden, UsageError
from restante.faces.web.rendering import HEADERS, ROOT
from restante.wiring.accounts import person_token_made, person_token_mark, renew_person_token

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.account import Owner
    from restante.domain.registry import Session
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

_MOST_SESSIONS = 50


class _Known(NamedTuple):
    owners: Sequence[Owner]
    tokens: Sequence[str]
    sessions: Sequence[tuple[Session, bool]]
    now: datetime


async def values(hub: Hub, visitor: Visitor) -> dict[str, Any]:
    """Return what the settings show of it; never a secret, and never what only another owner knows."""

    def work(exchange: Exchange, window: LocalWindow) -> _Known:
        choices = window.choices
        return _Known(choices.owners(), choices.tokens(), choices.with_secrets(), exchange.clock.now())

    known = await hub.run(visitor.claim, work)
    environment = hub.environment
    return {
        "owners": known.owners,
        "tokens": known.tokens,
        "own_token": "" if visitor.owner else await hub.apart(lambda: person_token_mark(environment)),
        "token_made": None if visitor.owner else await hub.apart(lambda: person_token_made(environment)),
        "secrets": known.sessions[:_MOST_SESSIONS],
        "more_secrets": max(0, len(known.sessions) - _MOST_SESSIONS),
        "now": known.now,
    }


async def change(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Make a new token, trust one no longer, remove an account, or end a session with its mail."""
    form = await request.form()
    action, what = str(form.get("action", "")), str(form.get("what", ""))
    if action == "end":
        await hub.run(visitor.claim, lambda _, window: window.delete(what))
    elif action == "distrust":
        await hub.run(visitor.claim, lambda _, window: window.choices.distrust(what))
    elif action in ("renew", "remove"):
        if visitor.owner:
            raise Forbidden("only the person whose server this is may do this", remedy="ask that person")
        if action == "renew":
            await hub.run(visitor.claim, lambda exchange, _: renew_person_token(hub.environment, exchange), alone=True)
        else:
            await hub.dismiss(what, ends_sessions=form.get("sessions") == "1")
    else:
        raise UsageError("that cannot be done here", remedy="load the page again")
    return RedirectResponse(f"{ROOT}/settings#access", 303, headers=HEADERS)
