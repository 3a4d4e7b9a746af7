"""Another face on this server, below a path of its own: found by its name, and loaded when it is first asked for.

What it asks for, it asks in the caller's name, as every route does. But nobody becomes the person by it: it is for
models, and a person's proof, which a program may be configured with, only lets them in.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from restante.domain.errors import TimedOut
from restante.domain.registry import Claim, Identity
from restante.faces.http.asking import Ask
from restante.faces.http.guests import Guest, Lodging
from restante.faces.http.parking import Patience
from restante.faces.http.sending import NoSuchMethod, send_error
from restante.faces.http.waits import Why
from restante.roster.window import RosterWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Office
    from restante.ports.sessions import Window
    from restante.roster import Roster

_Result = TypeVar("_Result")

# path -> where its application is made, and the library that it needs.
MOUNTS = {
    "/mcp": Lodging(
        "restante.faces.mcp.served",
        ("mcp",),
        "the parts for this are not installed on the server",
        "pip install 'restante[mcp]'",
    )
}
_SEEN = "restante.seen"
_GONE = "restante.gone"
_START_SECONDS = 30.0
# What stands in the one message of an answer that is no word of it being on its way.
_ANSWER = b'"result"'


class Visit(NamedTuple):
    """One caller at the exchange: what it can ask, time and settings, its proof, and what it can ask of roles."""

    window: Window
    tools: Exchange
    secret: str
    roles: Roster


class Mount(Guest):
    """A face below a path; the gate that it asks through, too.

    Args:
        path: Where it is.
        office: What all requests share.
    """

    def __init__(self, path: str, office: Office) -> None:
        super().__init__(office, MOUNTS[path])
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def body_bytes(self) -> int:
        """Largest body of a request."""
        return self._office.body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and do what is to be done once the answer was taken."""
        seen: list[Callable[[], object]] = []
        gone = asyncio.Event()
        asked = {**scope, _SEEN: seen, _GONE: gone}

        async def receiving() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                gone.set()
            return message

        async def work(sending: Send) -> None:
            async def handing(message: Message) -> None:
                await sending(message)
                # Whoever has the answer may ask on before the end of the body is out.
                if seen and _ANSWER in message.get("body", b""):
                    given = tuple(seen)
                    seen.clear()
                    await self._hand_over(asked, given)

            if asked["method"] != "POST":
                # Nothing is sent that was not asked for, and there is nothing to end.
                await send_error(sending, NoSuchMethod(asked["method"], "POST"))
                return
            await self._admitted(asked, "")
            app = await self._opened()
            await app(asked, receiving, handing)

        await self._answering(send, work)

    async def stop(self) -> None:
        """End what runs beside it."""
        self._over.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=1.0)
            self._task.cancel()

    # -- the gate ------------------------------------------------------------------------------------------

    async def ask(self, scope: Scope, claimed: str, work: Callable[[Visit], _Result], *, changes: bool) -> _Result:
        """Ask the exchange in the name of whoever sent a request; see ``faces.mcp.served.Gate``."""
        ask = await self._admitted(scope, claimed)

        def visit(exchange: Exchange, window: LocalWindow) -> tuple[_Result, str]:
            one = _visit(ask, exchange, window, claimed)
            return work(one), one.window.identity.owner

        def tell(done: tuple[_Result, str]) -> None:
            if changes:
                self._office.waits.stirred(done[1])

        return (await ask.run(visit, tell))[0]

    async def wait(self, scope: Scope, claimed: str, seconds: float, has_come: Callable[[Visit], bool]) -> bool:
        """Wait until something holds that a post may bring about; see ``faces.mcp.served.Gate``."""
        ask = await self._admitted(scope, claimed)
        patience = Patience(ask, seconds, self._office.parking)

        def look(exchange: Exchange, window: LocalWindow) -> tuple[bool, str, str]:
            visit = _visit(ask, exchange, window, claimed)
            identity = visit.window.identity
            return has_come(visit), identity.owner, identity.session

        def park(looked: tuple[bool, str, str]) -> None:
            if not looked[0] and looked[2]:
                patience.park(looked[1], looked[2], is_own=True)

        try:
            looked = await ask.run(look, park)
            while patience.is_parked:
                why = await patience.released()
                if why is Why.ABORT:
                    raise TimedOut("the program that waited has gone")
                looked = await ask.run(look, park if why is Why.CHANGE else None)
                if why is Why.STOP:
                    break
        finally:
            patience.close()
        return looked[0]

    def after(self, scope: Scope, seen: Callable[[], object]) -> None:
        """Do something once the answer was taken; see ``faces.mcp.served.Gate``."""
        scope[_SEEN].append(seen)

    # -- helpers -------------------------------------------------------------------------------------------

    async def _admitted(self, scope: Scope, claimed: str) -> Ask:
        async def hung_up() -> Message:
            # The other face reads what the client sends, and hears of its end.
            await scope[_GONE].wait()
            return {"type": "http.disconnect"}

        ask = Ask(self._office, scope, hung_up, _nowhere, None)
        await ask.admit(claimed=claimed or None)
        return ask

    async def _made(self, module: Any) -> ASGIApp:  # noqa: ANN401  see Guest
        app, run = module.open_app(self)
        ready = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(run(ready, self._over))
        await asyncio.wait_for(ready.wait(), _START_SECONDS)
        made: ASGIApp = app
        return made

    async def _hand_over(self, scope: Scope, seen: Sequence[Callable[[], object]]) -> None:
        """Record as seen what the client's system took.

        Later is too late to tell: clients end a stream of events as soon as they have their answer, which looks as if
        they had vanished.
        """
        office = self._office

        def confirm() -> asyncio.Future[None]:
            def work(_: Exchange) -> None:
                for one in seen:
                    one()

            return office.worker.submit(work)

        connection = scope.get("state", {}).get("connection")
        if connection is None or await connection.flushed():
            office.handovers.confirm(confirm)
        else:
            office.metrics.lost.inc()


def _visit(ask: Ask, exchange: Exchange, window: LocalWindow, claimed: str) -> Visit:
    identity = window.identity
    secret = ask.secret
    if identity.verified and not identity.session:
        # A person's proof: as far as it goes the model is whom its program names, and that is not proven.
        owner = identity.owner or None
        named = exchange.identify(Claim(session=claimed, owner=owner)) if claimed else Identity(identity.owner)
        window, secret = exchange.window(named), ""
    roles = exchange.roster(window.identity)
    own: Window = RosterWindow(window, roles) if window.identity.session else window
    return Visit(own, exchange, secret if window.identity.verified else "", roles)


async def _nowhere(_: Message) -> None:
    return
