"""What a person decides, and what is in force: keeping mail on disk, limits, times, accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import RedirectResponse

from restante.config import OPTIONS, shown_value
from restante.domain.duration import parse_duration
from restante.domain.errors import UsageError
from restante.faces.web import access
from restante.faces.web.rendering import HEADERS, ROOT, page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from restante.config import Option, Settings
    from restante.domain.overview import Persistence, Retention
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


class _Chosen(NamedTuple):
    persistence: Persistence
    may_search: bool
    retention: Retention


async def show(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Show what is in force."""

    def work(_: Exchange, window: LocalWindow) -> _Chosen:
        return _Chosen(window.persistence(), window.choices.may_search, window.choices.retention())

    chosen = await hub.run(visitor.claim, work)
    options = [(one.name, one.help, _shown(hub.settings, one, visitor), one.default) for one in OPTIONS]
    values = {"options": options, **chosen._asdict(), **await access.values(hub, visitor)}
    return page("options.html", values, visitor)


async def change(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Switch whether mail between sessions is kept on disk, or texts may be searched; or say how long mail lasts."""
    form = await request.form()
    what = next((name for name in ("lasts", "persistence", "search") if name in form), "")
    word = str(form.get(what, ""))
    if what == "lasts":
        length = parse_duration(word) if word.strip() else None
        await hub.run(visitor.claim, lambda _, window: window.choices.set_time_to_live(length))
        return RedirectResponse(f"{ROOT}/settings#retention", 303, headers=HEADERS)
    if word not in ("on", "off"):
        raise UsageError("that cannot be done here", remedy="load the page again")
    is_on = word == "on"
    if what == "search":
        await hub.run(visitor.claim, lambda _, window: window.choices.allow_search(is_on))
    else:
        await hub.run(visitor.claim, lambda _, window: window.set_persistence(is_on), alone=True)
    return RedirectResponse(f"{ROOT}/settings", 303, headers=HEADERS)


def _shown(settings: Settings, option: Option, visitor: Visitor) -> str:
    shown = shown_value(settings, option)
    # The texts are the person's whose server it is: addresses, and words of commands.
    return ("set" if shown else "") if visitor.owner and option.kind is str else shown
