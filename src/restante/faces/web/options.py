"""What a person decides, and what is in force: keeping mail on disk, limits, times, accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse

from restante.config import OPTIONS, value_of
from restante.domain.errors import UsageError
from restante.faces.web.rendering import HEADERS, ROOT, page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.overview import Persistence
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

# What could be used to get in is not shown, not even to whoever is in.
_HIDDEN = frozenset({"database.url", "server.url"})


async def show(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Show what is in force."""

    def work(exchange: Exchange, window: LocalWindow) -> tuple[Persistence, list[str], bool]:
        return window.persistence(), exchange.accounts.names(), window.choices.may_search

    persistence, accounts, may_search = await hub.run(visitor.claim, work)
    options = [
        (one.name, one.help, _shown(one.name, value_of(hub.settings, one), visitor), one.default) for one in OPTIONS
    ]
    listed = accounts if not visitor.owner else [visitor.owner]
    values = {"persistence": persistence, "accounts": listed, "options": options, "may_search": may_search}
    return page("options.html", values, visitor)


async def change(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Switch whether mail between sessions is kept on disk, or whether texts may be searched."""
    form = await request.form()
    what = next((name for name in ("persistence", "search") if name in form), "")
    word = str(form.get(what, ""))
    if word not in ("on", "off"):
        raise UsageError("that cannot be done here", remedy="load the page again")
    is_on = word == "on"
    if what == "search":
        await hub.run(visitor.claim, lambda _, window: window.choices.allow_search(is_on))
    else:
        await hub.run(visitor.claim, lambda _, window: window.set_persistence(is_on), alone=True)
    return RedirectResponse(f"{ROOT}/settings", 303, headers=HEADERS)


def _shown(name: str, value: object, visitor: Visitor) -> str:
    # The texts are the person's whose server it is: addresses, and words of commands.
    is_hidden = name in _HIDDEN or (visitor.owner and isinstance(value, str))
    return ("set" if value else "") if is_hidden else str(value)
