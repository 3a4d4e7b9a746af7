"""The routes of the pages, and what every request passes: who asks, whether a form is its own, errors as pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, Router

from restante.domain.envelope import status_of
from restante.domain.errors import Forbidden, NothingThere, RestanteError, Unauthorized, UsageError
from restante.domain.registry import Claim
from restante.faces.web import (
    access,
    approvals,
    around,
    compose,
    live,
    mailbox,
    monitors,
    options,
    overview,
    repeats,
    worktrees,
)
from restante.faces.web.entering import COOKIE, FIELD, HEADER, LASTS_SECONDS, Door, check_form
from restante.faces.web.rendering import HEADERS, ROOT, asset, page
from restante.faces.web.texts import text
from restante.wiring.opening import check_own_browser

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.types import ASGIApp, Receive, Scope, Send

    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

# Where a command of the person asks for a key, in the words of the API.
KEY_PATH = "/api/v1/ui/key"

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

# A page is asked for with GET; with POST whatever it can do.
PAGES: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/", overview.show),
    ("GET", "/part/sessions", overview.part),
    ("GET", "/part/picture", overview.picture),
    ("GET", "/part/around", around.part),
    ("GET", "/mailbox", mailbox.show),
    ("GET", "/part/messages", mailbox.part),
    ("GET", "/part/why", mailbox.why),
    ("GET", "/raw", mailbox.raw),
    ("GET", "/compose", compose.show),
    ("POST", "/compose", compose.send),
    ("POST", "/part/findings", compose.findings),
    ("GET", "/approvals", approvals.show),
    ("POST", "/approvals", approvals.decide),
    ("GET", "/worktrees", worktrees.show),
    ("POST", "/worktrees", worktrees.install),
    ("GET", "/repeats", repeats.show),
    ("POST", "/repeats", repeats.change),
    ("GET", "/monitors", monitors.show),
    ("POST", "/monitors", monitors.change),
    ("GET", "/settings", options.show),
    ("POST", "/settings", options.change),
    ("POST", "/access", access.change),
    ("GET", "/events", live.events),
)


def pages(hub: Hub) -> ASGIApp:
    """Return the application of the pages, for everything below ``/ui``.

    Args:
        hub: The server that it stands on.
    """
    door = Door(hub)

    def route(method: str, path: str, handler: Any) -> Route:  # noqa: ANN401  see PAGES
        return Route(ROOT + path, _guarded(hub, door, handler), methods=[method])

    return Router(
        [
            Route(ROOT, _to_overview),
            Route(ROOT + "/static/{name}", _static),
            # Browsers ask for it by themselves where they show a text.
            Route("/favicon.ico", _icon),
            Route(KEY_PATH, _key_maker(hub, door), methods=["POST"]),
            Route(ROOT + "/enter", _entrance(hub, door), methods=["GET", "POST"]),
            Route(ROOT + "/leave", _exit, methods=["POST"]),
            *(route(*one) for one in PAGES),
        ],
        redirect_slashes=False,
        default=_nothing,
    )


def _guarded(hub: Hub, door: Door, handler: Any) -> Any:  # noqa: ANN401  an endpoint of Starlette
    async def endpoint(request: Request) -> Response:
        visitor = None
        try:
            visitor = await door.visitor(request.cookies.get(COOKIE, ""))
            if visitor is None:
                return await _stranger(hub, request)
            if request.method == "POST":
                form = await _form_of(request)
                given = request.headers.get(HEADER.decode()) or str(form.get(FIELD, ""))
                check_form(visitor, given)
            found: Response = await handler(hub, visitor, request)
            if request.method == "POST":
                hub.stirred(visitor.owner)
        except Unauthorized:
            return await _stranger(hub, request)
        except Exception as error:  # noqa: BLE001  whatever it is, it is told as a page and written down
            return _error(hub.told(error), request, visitor)
        return found

    return endpoint


async def _form_of(request: Request) -> FormData:
    """Return what a form holds; whoever asks for it again is given the same.

    Raises:
        UsageError: It is none, or larger than any of ours.
    """
    try:
        return await request.form()
    except MultiPartException as error:
        raise UsageError(f"this is no form: {error.message}", remedy="load the page again") from None
    except ClientDisconnect:
        # Nobody is there any more to be told.
        raise UsageError("the form was cut off", remedy="send it again") from None


async def _stranger(hub: Hub, request: Request) -> Response:
    if _is_part(request):
        # A way in would take the place of what somebody reads or writes.
        return _error(Unauthorized(text("enter.again"), remedy=text("enter.command")), request)
    return await _ask_who(hub)


async def _ask_who(hub: Hub, error: RestanteError | None = None) -> Response:
    return page("enter.html", {"needs_name": await hub.needs_owner(), "error": error}, status=401)


def _is_part(request: Request) -> bool:
    """Tell whether a script of a page asks for a part of it."""
    return request.headers.get("hx-request") == "true"


def _error(error: RestanteError, request: Request, visitor: Visitor | None = None) -> Response:
    name = "_error.html" if _is_part(request) else "error.html"
    return page(name, {"error": error}, visitor, status=status_of(error))


async def _to_overview(_: Request) -> Response:
    return RedirectResponse(ROOT + "/", headers=HEADERS)


async def _static(request: Request) -> Response:
    found = asset(request.path_params["name"])
    return found or _error(NothingThere("there is no such file", remedy="load the page again"), request)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope, receive)
    error = NothingThere(f"there is no page {request.url.path}", remedy="choose one of the overview")
    await _error(error, request)(scope, receive, send)


async def _icon(_: Request) -> Response:
    found = asset("icon.svg")
    assert found is not None
    return found


def _key_maker(hub: Hub, door: Door) -> Any:  # noqa: ANN401  an endpoint of Starlette
    async def endpoint(request: Request) -> Response:
        """Give whoever proves to be the person a key for a browser. Errors are the server's own, as of its API."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        claim = Claim(secret.strip()) if scheme.lower() == "bearer" else Claim()
        owner = await hub.run(claim, lambda _, window: window.identity.owner)
        return JSONResponse(
            {"success": True, "data": {"path": f"{ROOT}/enter?key={door.key_for(owner)}"}}, headers=HEADERS
        )

    return endpoint


def _entrance(hub: Hub, door: Door) -> Any:  # noqa: ANN401  an endpoint of Starlette
    async def endpoint(request: Request) -> Response:
        try:
            # A page of another site must not enter a browser into somebody else's account.
            if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
                raise Forbidden("another site led here", remedy="restante ui, in a terminal of this machine")
            if request.method == "POST":
                form = await _form_of(request)
                address = request.client.host if request.client else ""
                owner = await hub.owner(str(form.get("name", "")), str(form.get("password", "")), address)
            else:
                # A proxy may be another user's, and is asked by another name.
                if request.url.hostname in _LOOPBACK:
                    await hub.apart(lambda: check_own_browser(request.client, request.scope.get("server")))
                owner = door.owner_of(request.query_params.get("key", ""))
            cookie = await door.cookie_for(owner)
        except RestanteError as error:
            return await _ask_who(hub, error if request.method == "POST" or request.query_params else None)
        answer = RedirectResponse(ROOT + "/", 303, headers=HEADERS)
        is_secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, cookie, LASTS_SECONDS, path=ROOT, secure=is_secure, httponly=True, samesite="strict")
        return answer

    return endpoint


async def _exit(_: Request) -> Response:
    answer = RedirectResponse(ROOT + "/", 303, headers=HEADERS)
    answer.delete_cookie(COOKIE, path=ROOT, httponly=True, samesite="strict")
    return answer
