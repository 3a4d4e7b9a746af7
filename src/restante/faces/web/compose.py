"""Writing: to a session or a worktree; what screening finds is said while one types, and again before it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.address import Home, parse_address
from restante.domain.errors import NothingThere, Refused, RestanteError, Screened
from restante.domain.message import Priority, Scope
from restante.domain.writing import Left, Writing
from restante.faces.web.grounds import known_worktrees
from restante.faces.web.rendering import page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from restante.domain.finding import Finding
    from restante.domain.message import Draft
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

_MOST_RECIPIENTS = 500


async def show(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show the form; what the address says is filled in already."""
    given = request.query_params
    values = {name: given.get(name, "") for name in Writing._fields}
    return await _form(hub, visitor, values)


async def findings(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Say what screening finds in a text that is being written."""
    text = _as_typed(str((await request.form()).get("text", "")))
    found = await hub.run(visitor.claim, lambda _, window: window.screen(text)) if text else []
    return page("_findings.html", {"findings": found}, visitor)


async def send(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Leave the text; where screening finds something, ask again first."""
    form = await request.form()
    values = {name: str(form.get(name, "")) for name in Writing._fields}
    values["text"] = _as_typed(values["text"])
    is_sure = form.get("anyway") == "1"
    try:
        left = await _leave(hub, visitor, Writing(**values), is_sure=is_sure)
    except Screened as error:
        found = await hub.run(visitor.claim, lambda _, window: window.screen(values["text"]))
        return await _form(hub, visitor, values, findings=found, error=None if found else error)
    except RestanteError as error:
        return await _form(hub, visitor, values, error=error)
    return await _form(hub, visitor, values | {"text": "", "subject": ""}, left=left)


async def _leave(hub: Hub, visitor: Visitor, writing: Writing, *, is_sure: bool) -> Left:
    to = writing.to.strip()
    # Every address has one of these signs; a word without is what a session is called.
    address = parse_address(to if ":" in to or "/" in to else f"session:{to}")
    if address.home is Home.SESSION:
        writing.check_once()

        def post(exchange: Exchange, window: LocalWindow) -> Left:
            draft = writing.draft(exchange.clock.now())
            handed = window.post(address.name, draft, allow_warnings=is_sure)
            return Left(handed.to.title, handed.posted.message.id, handed.posted.duplicate)

        return await hub.run(visitor.claim, post)
    if address.home is Home.ROLE:
        draft = await hub.run(visitor.claim, lambda exchange, _: writing.draft(exchange.clock.now()))
        return await hub.apart(lambda: _to_role(hub, visitor, str(address), draft, is_sure=is_sure))
    if address.home is not Home.WORKTREE or address.name not in await known_worktrees(hub, visitor):
        raise NothingThere(f"nothing can be left at {writing.to!r} from here", remedy="choose one of the list")
    draft = await hub.run(visitor.claim, lambda exchange, _: writing.draft(exchange.clock.now()))
    return await hub.apart(lambda: _to_worktree(hub, address.name, draft, writing.interval_ms, is_sure=is_sure))


def _to_role(hub: Hub, visitor: Visitor, role: str, draft: Draft, *, is_sure: bool) -> Left:
    from restante.wiring.pages import roster_for

    with roster_for(hub.environment, visitor.owner) as roster:
        (copy,) = roster.post(role, draft, allow_warnings=is_sure)
    if copy.posted is None:
        raise copy.problem or Refused(f"nothing was left for {role}")
    return Left(role, copy.posted.message.id, copy.posted.duplicate)


def _roles(hub: Hub, visitor: Visitor) -> list[tuple[str, str]]:
    from restante.wiring.pages import roster_for

    try:
        with roster_for(hub.environment, visitor.owner) as roster:
            return [(seat.member.role, seat.member.role) for seat in roster.seats("")]
    except RestanteError:
        # Sessions and worktrees can be written to all the same.
        return []


def _to_worktree(hub: Hub, path: str, draft: Draft, every: int | None, *, is_sure: bool) -> Left:
    from restante.wiring import open_office

    sent = open_office(path, environment=hub.environment).send(draft, allow_warnings=is_sure, repeat_ms=every)
    return Left(path.rpartition("/")[2] or path, sent.posted.message.id, sent.posted.duplicate)


async def _form(
    hub: Hub,
    visitor: Visitor,
    values: dict[str, str],
    *,
    findings: list[Finding] | None = None,
    error: RestanteError | None = None,
    left: Left | None = None,
) -> Response:
    def work(_: Exchange, window: LocalWindow) -> list[tuple[str, str]]:
        rows = window.sessions()
        return [(row.session.address, f"{row.session.title} ({row.state})") for row in rows]

    places = [(f"worktree:{one}", one) for one in await known_worktrees(hub, visitor)]
    places = [*await hub.apart(lambda: _roles(hub, visitor)), *places]
    shown: dict[str, Any] = {
        "values": values,
        "recipients": [*await hub.run(visitor.claim, work), *places][:_MOST_RECIPIENTS],
        "priorities": [one.value for one in Priority],
        "scopes": [one.value for one in Scope],
        "findings": findings or [],
        "is_asked": bool(findings),
        "error": error,
        "left": left,
    }
    return page("compose.html", shown, visitor, status=error.http_status if error else 200)


def _as_typed(text: str) -> str:
    """Return a text with the line ends that were typed: a form sends CR LF for each, whatever was in it."""
    return text.replace("\r\n", "\n")
