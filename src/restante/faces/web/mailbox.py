"""The page of one mailbox: its messages, threads folded, with all that became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from restante.domain.address import Home, parse_address
from restante.domain.errors import NoSuchMessage
from restante.domain.letters import threads_of
from restante.domain.lifecycle import Show
from restante.domain.seeking import MOST_LETTERS, sought
from restante.faces.web.places import Look, view
from restante.faces.web.rendering import HEADERS, page

if TYPE_CHECKING:
    from starlette.requests import Request

    from restante.domain.why import Explanation
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


async def show(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show the whole page."""
    return page("mailbox.html", await _values(hub, visitor, request), visitor)


async def part(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show a window of messages: the newest ones, or those before a number."""
    return page("_messages.html", await _values(hub, visitor, request), visitor)


async def why(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Say why a message was not answered, with what that was concluded from and the command that helps next."""
    given = request.query_params
    address, message = parse_address(given.get("at", "")), given.get("id", "")
    if address.home is Home.WORKTREE:
        await view(hub, visitor, str(address), Look())

        def trace() -> Explanation:
            from restante.wiring.tracing import open_tracer

            return open_tracer(address.name, hub.environment).why(message)

        found = await hub.apart(trace)
    else:
        found = await hub.run(visitor.claim, lambda _, window: window.why(message))
    return page("_why.html", {"it": found}, visitor)


async def raw(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show the bytes of one message, as text and never as anything that a browser would run."""
    given = request.query_params
    number = _number(given.get("number", ""))
    found = await view(hub, visitor, given.get("at", ""), Look(before=number + 1))
    for case in found.cases:
        if case.entry.message.number == number:
            headers = HEADERS | {"content-disposition": 'inline; filename="message.txt"'}
            body = case.entry.message.body.encode("utf-8", "surrogatepass")
            return Response(body, media_type="text/plain; charset=utf-8", headers=headers)
    raise NoSuchMessage(f"there is no message {number} there", remedy="load the page again")


async def _values(hub: Hub, visitor: Visitor, request: Request) -> dict[str, Any]:
    given = request.query_params
    asked = given.get("show", "")
    wanted = Show(asked) if asked in set(Show) else Show.ALL
    find = given.get("find", "").strip()[:MOST_LETTERS]
    look = Look(_number(given.get("before", "")), wanted, find)
    found = await view(hub, visitor, given.get("at", ""), look)
    return {
        "view": found,
        "threads": threads_of(found.cases, found.names),
        "show": wanted.value,
        "filters": tuple(Show),
        "find": find,
        "words": sought(find).words,
        "may_search": await hub.run(visitor.claim, lambda _, window: window.choices.may_search),
        "now": found.now,
    }


def _number(given: str) -> int:
    return int(given) if given and given.isascii() and given.isdecimal() and len(given) < 16 else 0
