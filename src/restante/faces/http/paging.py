"""The pages for people on this server, below ``/ui``: loaded when the first of them is asked for."""

from __future__ import annotations

import asyncio
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from restante.domain.envelope import status_of
from restante.domain.errors import RestanteError, Unauthorized
from restante.domain.saying import SHARED_ENGLISH
from restante.domain.text import visible
from restante.faces.http.accounts import Password
from restante.faces.http.guests import Guest, Lodging
from restante.faces.http.sending import SECURITY_HEADERS, send_error
from restante.faces.http.waits import Waiter, Why
from restante.wiring.accounts import person_proof

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from restante.config import Settings
    from restante.domain.account import Dismissed
    from restante.domain.registry import Claim
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Office

PATHS = ("/ui", "/ui/{rest:path}", "/api/v1/ui/key", "/favicon.ico")

_LODGING = Lodging(
    "restante.faces.web.app",
    ("jinja2", "python_multipart"),
    "the parts for the pages are not installed",
    "pip install 'restante[serve]'",
)

_Result = TypeVar("_Result")


class Pages(Guest):
    """Serves the pages, and is the ``faces.web.hub.Hub`` that they stand on.

    Args:
        office: What all requests of this server share.
        environment: Where settings and places come from.
    """

    def __init__(self, office: Office, environment: Mapping[str, str]) -> None:
        super().__init__(office, _LODGING)
        self._environment = environment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def work(sending: Send) -> None:
            app = await self._opened()
            # The whole path is the other application's own, whichever of our routes matched.
            await app({**scope, "path_params": {}}, receive, sending)

        await self._answering(send, work, send_error if scope["path"].startswith("/api/") else _send_page)

    @property
    def environment(self) -> Mapping[str, str]:
        """Where settings and places come from."""
        return self._environment

    @property
    def settings(self) -> Settings:
        """The values in force."""
        return self._office.settings

    async def run(
        self, claim: Claim, work: Callable[[Exchange, LocalWindow], _Result], *, alone: bool = False
    ) -> _Result:
        """Ask the exchange in somebody's name; see ``faces.web.hub.Hub``."""
        office = self._office
        office.handovers.settle()
        office.parking.write()

        def ask(exchange: Exchange) -> tuple[_Result, str]:
            identity = exchange.identify(claim)
            if identity.owner and not office.accounts.knows(identity.owner, exchange):
                raise Unauthorized(
                    f"there is no account {identity.owner!r} any more", remedy="ask whose server this is"
                )
            if not identity.verified or identity.session:
                raise Unauthorized("what was shown proves no person", remedy="restante ui")
            return work(exchange, exchange.window(identity)), identity.owner

        done, _ = await office.worker.submit(ask, alone=alone)
        return done

    def stirred(self, owner: str) -> None:
        """Let everyone look again who waits for anything of an owner's: something was changed from a page."""
        self._office.waits.stirred(owner)

    async def apart(self, work: Callable[[], _Result]) -> _Result:
        """Do something that may take long in a thread of its own."""
        return await asyncio.to_thread(work)

    async def needs_owner(self) -> bool:
        """Whether there are accounts."""
        return await self._office.accounts.are_there()

    async def owner(self, name: str, password: str, address: str) -> str:
        """Return whose name and password these are; see ``faces.web.hub.Hub``."""
        return await self._office.accounts.owner(Password(name, password), address)

    async def dismiss(self, account: str, *, ends_sessions: bool) -> Dismissed:
        """Remove an account; see ``faces.web.hub.Hub``."""
        dismissed = await self._office.accounts.delete(account, ends_sessions=ends_sessions)
        self._office.log.say("account deleted", sessions_ended=dismissed.ended)
        self.stirred(account)
        return dismissed

    async def proof_of(self, owner: str) -> bytes:
        """Return what only this server and a person's place know; see ``faces.web.hub.Hub``."""
        if not owner:
            return person_proof(self._environment)
        found = await self._office.worker.submit(lambda exchange: exchange.accounts.password_hash(owner))
        return (found or "").encode()

    async def ticks(self, claim: Claim) -> AsyncIterator[None]:
        """Yield whenever something changed for somebody, until the server stops."""
        owner = await self.run(claim, lambda _, window: window.identity.owner)
        released, last = asyncio.Event(), [Why.CHANGE]

        def wake(why: Why) -> None:
            last[0] = why
            released.set()

        waiter = Waiter(owner, "", is_own=False, wake=wake)
        self._office.parking.enter(waiter)
        try:
            while True:
                await released.wait()
                if last[0] is Why.STOP:
                    return
                released.clear()
                # Before whoever is told looks: what happens meanwhile is told again.
                waiter.is_armed = True
                yield
        finally:
            self._office.parking.leave(waiter)

    async def _made(self, module: Any) -> ASGIApp:  # noqa: ANN401  see Guest
        made: ASGIApp = module.pages(self)
        return made


async def _send_page(send: Send, error: RestanteError) -> None:
    """Send an error as a page that needs nothing: what makes the others may be what failed, or is not installed."""
    title = SHARED_ENGLISH["error.title"]
    words = [one for one in (error.message, error.remedy) if one]
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><h1>{title}</h1>'
        f'<p role="alert">{"</p><p>".join(escape(visible(one)) for one in words)}</p>'
    ).encode()
    kind = (b"content-type", b"text/html; charset=utf-8")
    headers = [kind, *SECURITY_HEADERS, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status_of(error), "headers": headers})
    await send({"type": "http.response.body", "body": body})
