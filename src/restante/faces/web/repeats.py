"""Guidance that is posted again and again, in all worktrees that are known, and pausing, resuming, removing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import RedirectResponse

from restante.domain.errors import RestanteError, UsageError
from restante.faces.web.grounds import known_worktrees
from restante.faces.web.rendering import HEADERS, ROOT, page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.repeat import Repeat
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

_ACTIONS = ("pause", "resume", "remove")


class Kept(NamedTuple):
    """The repeats of one worktree, or why they cannot be read."""

    path: str
    repeats: tuple[Repeat, ...]
    problem: str = ""


async def show(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Show all repeats."""
    places = await known_worktrees(hub, visitor)
    found = await hub.apart(lambda: [_kept(hub, one) for one in places])
    now = await hub.run(visitor.claim, lambda exchange, _: exchange.clock.now())
    return page("repeats.html", {"kept": [one for one in found if one.repeats or one.problem], "now": now}, visitor)


async def change(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Pause, resume or remove one."""
    form = await request.form()
    path, repeat, action = (str(form.get(name, "")) for name in ("path", "repeat", "action"))
    if action not in _ACTIONS or path not in await known_worktrees(hub, visitor):
        raise UsageError("that cannot be done here", remedy="load the page again")

    def work() -> None:
        from restante.wiring import open_office

        office = open_office(path, environment=hub.environment)
        if action == "remove":
            office.remove_repeat(repeat)
        else:
            office.set_repeat_active(repeat, action == "resume")

    await hub.apart(work)
    return RedirectResponse(f"{ROOT}/repeats", 303, headers=HEADERS)


def _kept(hub: Hub, path: str) -> Kept:
    from restante.wiring import open_office

    try:
        return Kept(path, tuple(open_office(path, environment=hub.environment).repeats()))
    except RestanteError as error:
        return Kept(path, (), error.message)
