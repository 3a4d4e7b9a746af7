"""The ASGI application: routes of the table behind the guards, and every error in its envelope."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.routing import Route as StarletteRoute
from starlette.routing import Router

from restante.domain.errors import RestanteError
from restante.exchange import Exchange
from restante.faces.http.accounts import Accounts
from restante.faces.http.asking import Ask, ClientGoneError, Office
from restante.faces.http.guards import Guards, Rules, names_of
from restante.faces.http.handover import Handovers
from restante.faces.http.metrics import Metrics
from restante.faces.http.mounting import MOUNTS, Mount
from restante.faces.http.openapi import document
from restante.faces.http.outside import Outside
from restante.faces.http.paging import PATHS, Pages
from restante.faces.http.parking import Parking
from restante.faces.http.requests import decoder_of
from restante.faces.http.sending import InternalError, NoSuchMethod, NoSuchRoute, enveloped, send_error, send_json
from restante.faces.http.table import PREFIX, ROUTES
from restante.faces.http.waits import Caps, Waits
from restante.faces.http.worker import FINISH_SECONDS, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from restante.faces.http.logs import Log
    from restante.faces.http.routes import Route

# An escape of JSON takes six bytes for one; and a little for all that is not the text.
_ESCAPE = 6
_SLACK_BYTES = 16_384
_UPKEEP_SECONDS = 600.0


class _Handler:
    """Answers one route.

    Args:
        route: The route.
        office: What is shared.
    """

    def __init__(self, route: Route, office: Office) -> None:
        self._route = route
        self._office = office
        self._decoder = decoder_of(route.body) if route.body else None
        self._timer = office.metrics.timer(f"{route.method} {route.path}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        has_begun = False

        async def sending(message: object) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)  # type: ignore[arg-type]

        try:
            answer = await self._route.handler(Ask(self._office, scope, receive, sending, self._decoder))
            if answer is not None:
                await send_json(send, enveloped(answer))
        except ClientGoneError:
            pass
        except Exception as error:  # noqa: BLE001  whatever it is, it is told in the envelope and written down
            told = self._told(error)
            if not has_begun:
                await send_error(send, told)
            # Where the status is out already, the server ends the connection of an answer that is incomplete.
        finally:
            self._timer.observe(time.perf_counter() - began)

    def _told(self, error: Exception) -> RestanteError:
        where = f"{self._route.method} {self._route.path}"
        if isinstance(error, RestanteError):
            self._office.metrics.refused(error.code)
            if error.http_status >= 500:
                self._office.log.say("failed", route=where, code=error.code)
            return error
        self._office.metrics.refused(InternalError.code)
        self._office.log.fault("fault", error, route=where)
        return InternalError("the server failed to answer; it wrote down where", remedy="see its log")


class _Path:
    """Answers all methods of one path."""

    def __init__(self, handlers: dict[str, _Handler]) -> None:
        self._handlers = handlers
        self._allowed = ", ".join(sorted(handlers))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._handlers.get(scope["method"])
        if handler is None:
            await send_error(send, NoSuchMethod(scope["method"], self._allowed))
        else:
            await handler(scope, receive, send)


class Server:
    """Everything that a server is made of; to be made, started and stopped within an event loop.

    Args:
        opener: Makes the exchange, in the thread that asks it.
        hosts: Names that it is asked by, by comma, beside those of this machine.
        log: Where it says what happens.
    """

    def __init__(self, opener: Callable[[], Exchange], hosts: str, log: Log) -> None:
        self._opener = opener
        self._hosts = hosts
        self.log = log
        self._office: Office | None = None
        self._outside: Outside | None = None
        self._upkeep: asyncio.Task[None] | None = None
        self._mounts: dict[str, Mount] = {}

    async def start(self) -> ASGIApp:
        """Open the exchange and return the application.

        Raises:
            RestanteError: The exchange cannot be opened.
        """
        loop = asyncio.get_running_loop()
        sizes: list[Metrics] = []
        worker = Worker(loop, self._opener, lambda size: sizes[0].batches.observe(size) if sizes else None)
        await worker.start()
        settings, clock, watcher = await worker.submit(lambda one: (one.settings, one.clock, one.watcher))
        caps = Caps(settings.server_waits_per_session, settings.server_waits_per_owner, settings.server_waits)
        waits = Waits(caps)
        metrics = Metrics(waits)
        metrics.listens(watcher)
        sizes.append(metrics)
        self._outside = Outside(waits, worker, watcher)
        accounts = Accounts(loop.time, worker.submit)
        body_bytes = settings.message_bytes * _ESCAPE + _SLACK_BYTES
        office = self._office = Office(
            settings=settings,
            worker=worker,
            waits=waits,
            parking=Parking(waits, worker, self._outside, clock, settings.server_grace),
            handovers=Handovers(metrics.lost.inc),
            accounts=accounts,
            metrics=metrics,
            log=self.log,
            document=document,
            body_bytes=body_bytes,
        )
        self._upkeep = loop.create_task(self._keep_up())
        rules = Rules(names_of(self._hosts, settings.server_hosts), body_bytes, settings.server_rate)
        self._mounts = {path: Mount(path, office) for path in MOUNTS}
        return Guards(_routed(office, self._mounts), rules, loop.time, metrics.refused)

    @property
    def office(self) -> Office:
        """What all requests share."""
        assert self._office is not None
        return self._office

    def release(self) -> None:
        """Let everyone go who waits; from now on nobody may."""
        if self._outside is not None:
            self._outside.stop()
        if self._office is not None:
            self._office.waits.stop()

    async def stop(self) -> None:
        """Write down what is to be written down, and close the exchange."""
        self.release()
        if self._upkeep is not None:
            self._upkeep.cancel()
        for mount in self._mounts.values():
            await mount.stop()
        if self._office is not None:
            # Whose reads are not written down is told again.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._office.handovers.finish(), FINISH_SECONDS)
            self._office.accounts.stop()
            self._office.parking.write()
            await self._office.worker.stop()

    async def _keep_up(self) -> None:
        while True:
            try:
                done = await self.office.worker.submit(Exchange.upkeep, alone=True)
                if done.problem or done.set_aside:
                    self.log.say("upkeep", problem=bool(done.problem), set_aside=len(done.set_aside))
            except RestanteError as error:
                self.log.say("upkeep failed", code=error.code)
            await asyncio.sleep(_UPKEEP_SECONDS)


def _routed(office: Office, mounts: dict[str, Mount]) -> ASGIApp:
    paths: dict[str, dict[str, _Handler]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method] = _Handler(route, office)
    routes = [StarletteRoute(PREFIX + path, _Path(handlers)) for path, handlers in paths.items()]
    routes += [StarletteRoute(path, mount) for path, mount in mounts.items()]
    pages = Pages(office, os.environ)
    routes += [StarletteRoute(path, pages) for path in PATHS]
    # Only the router: each further layer would stand in the memory of every call that waits.
    return Router(routes, redirect_slashes=False, default=_nowhere)


async def _nowhere(scope: Scope, _: Receive, send: Send) -> None:
    await send_error(send, NoSuchRoute(f"no route {scope['path']!r}", remedy=f"see {PREFIX}/openapi.json"))
