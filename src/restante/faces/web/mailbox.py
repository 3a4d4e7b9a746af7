"""The page of one mailbox: its messages, threads folded, with all that became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import Response

from restante.domain.address import Home, parse_address
from restante.domain.errors import NoSuchMessage
from restante.domain.text import sender_words
from restante.faces.web.places import FILTERS, View, view
from restante.faces.web.rendering import HEADERS, page

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.requests import Request

    from restante.domain.case import Case
    from restante.domain.why import Explanation
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


class Step(NamedTuple):
    """One thing that became of a message: its name among the texts, when, and the word or the reader."""

    name: str
    at: datetime | None
    word: str = ""


class Letter(NamedTuple):
    """A message as it is shown."""

    case: Case
    sender: str
    steps: tuple[Step, ...]


class Thread(NamedTuple):
    """Messages of one conversation, the newest first; a message of none is one by itself."""

    letters: tuple[Letter, ...]


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
        await view(hub, visitor, str(address))

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
    found = await view(hub, visitor, given.get("at", ""), before=number + 1)
    for case in found.cases:
        if case.entry.message.number == number:
            headers = HEADERS | {"content-disposition": 'inline; filename="message.txt"'}
            body = case.entry.message.body.encode("utf-8", "surrogatepass")
            return Response(body, media_type="text/plain; charset=utf-8", headers=headers)
    raise NoSuchMessage(f"there is no message {number} there", remedy="load the page again")


async def _values(hub: Hub, visitor: Visitor, request: Request) -> dict[str, Any]:
    given = request.query_params
    wanted = given.get("show", "all")
    wanted = wanted if wanted in FILTERS else "all"
    before = _number(given.get("before", ""))
    found = await view(hub, visitor, given.get("at", ""), before=before, wanted=wanted)
    return {"view": found, "threads": _threads(found), "show": wanted, "filters": tuple(FILTERS), "now": found.now}


def _threads(found: View) -> list[Thread]:
    threads: dict[str, list[Letter]] = {}
    for case in found.cases:
        message = case.entry.message
        threads.setdefault(message.conversation or f"\0{message.id}", []).append(_letter(case, found))
    return [Thread(tuple(letters)) for letters in threads.values()]


def _letter(case: Case, found: View) -> Letter:
    sender = case.entry.message.sender
    name = found.names.get(sender.name, "")
    words = sender_words(sender.name, name, is_verified=sender.verified) if name else sender.label
    return Letter(case, words, tuple(_steps(case)))


def _steps(case: Case) -> list[Step]:
    standing, message = case.entry.standing, case.entry.message
    steps = [Step("queued", message.created)]
    if standing.noticed_at:
        steps.append(Step("noticed", standing.noticed_at))
    if standing.seen_at:
        steps.append(Step("seen", standing.seen_at))
    for receipt in case.receipts:
        if receipt.decision:
            steps.append(Step("decision", receipt.seen_at, receipt.decision.value))
        if receipt.action:
            steps.append(Step("action", receipt.seen_at, receipt.action.value))
    ends = (("withdrawn", standing.withdrawn_at), ("expired", standing.expired_at))
    return [*steps, *(Step(name, at) for name, at in ends if standing.status.value == name)]


def _number(given: str) -> int:
    return int(given) if given and given.isascii() and given.isdecimal() and len(given) < 16 else 0
