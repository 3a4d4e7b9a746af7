"""The tools on a running server: streamable HTTP by the official SDK, one process for any number of sessions.

Each request stands for itself. Nothing is kept for a program between two, so that a server that was started anew goes
on where the old one ended. Whoever mounts this lets a request in, asks the exchange and knows when an answer was taken;
that comes in as a ``Gate``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from restante import __version__
from restante.desk import Desk
from restante.domain.errors import NothingThere, NoWorktree, RestanteError
from restante.faces.mcp import acts
from restante.faces.mcp.arguments import seconds_in
from restante.faces.mcp.telling import Told, check_session, failed
from restante.faces.mcp.tools import INSTRUCTIONS, NAME, RESOURCES, TEMPLATES, TOOLS
from restante.wiring.calls import office_of

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import ServerRequestContext
    from starlette.types import ASGIApp, Scope

    from restante.desk import Tools
    from restante.office import Office
    from restante.ports.roles import Roles
    from restante.ports.sessions import Window

_Result = TypeVar("_Result")
_Context = Any

_LONGEST_ID = 128
_SLICE_SECONDS = 5.0
# Nothing tells a server of new mail in a worktree: it looks.
_LOOK_SECONDS = 1.0


class Visit(NamedTuple):
    """One caller at the exchange, for as long as one thing is asked.

    Attributes:
        window: What it can ask.
        tools: Time and settings.
        secret: What it proved itself by; empty for nothing.
        roles: What it can ask of roles.
    """

    window: Window
    tools: Tools
    secret: str
    roles: Roles


class Gate(Protocol):
    """What the server does for a request beside answering it. A person's proof lets in, and makes nobody the person."""

    @property
    def body_bytes(self) -> int:
        """Largest body of a request."""

    async def ask(self, scope: Scope, claimed: str, work: Callable[[Visit], _Result], *, changes: bool) -> _Result:
        """Ask the exchange in the name of whoever sent a request.

        Args:
            scope: The request.
            claimed: The session that the program names with its call.
            work: What to ask.
            changes: It may change what others wait for.
        """

    async def wait(self, scope: Scope, claimed: str, seconds: float, has_come: Callable[[Visit], bool]) -> bool:
        """Wait until something holds that a post to the caller's session may bring about; return whether it does."""

    def after(self, scope: Scope, seen: Callable[[], object]) -> None:
        """Do something once the answer to a request was taken whole."""


class _Place:
    """Where one call gets its mail from. A ``telling.Place``."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit

    @property
    def is_session(self) -> bool:
        return bool(self._visit.window.identity.session)

    def desk(self) -> Desk:
        visit = self._visit
        office: Office | None = office_of(visit.window, visit.secret) if visit.secret else None
        if not self.is_session:
            raise NoWorktree("nothing proves which session this is, so that no mailbox is yours", remedy="who; send")
        return Desk(office, visit.window, "", visit.tools, "")

    def window(self) -> Window:
        return self._visit.window

    def roles(self) -> Roles:
        return self._visit.roles

    def tools(self) -> Tools:
        return self._visit.tools


def open_app(gate: Gate) -> tuple[ASGIApp, Callable[[asyncio.Event, asyncio.Event], Awaitable[None]]]:
    """Return the application, and what is to run beside it.

    Args:
        gate: What the server does.

    Returns:
        The application, and a function that serves it: it sets its first event when it is ready, and ends after the
        second one was set.
    """
    served = _Served(gate)
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=served.tools,
        on_call_tool=served.call,
        on_list_resources=served.resources,
        on_list_resource_templates=served.templates,
        on_read_resource=served.read,
    )
    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=gate.body_bytes)

    async def run(ready: asyncio.Event, over: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await over.wait()

    return manager.handle_request, run


class _Served:
    """Answers the SDK's questions."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._tools = [types.Tool.model_validate(one) for one in TOOLS]
        self._resources = [types.Resource.model_validate(one) for one in RESOURCES]
        self._templates = [types.ResourceTemplate.model_validate(one) for one in TEMPLATES]

    async def tools(self, _: _Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def resources(self, _: _Context, __: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=self._resources)

    async def templates(self, _: _Context, __: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=self._templates)

    async def call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = params.arguments or {}
        if params.name == "wait":
            told = await self._wait(context, arguments)
        elif any(one.name == params.name for one in self._tools):
            try:
                told = await self._ask(context, lambda place: acts.call(params.name, place, arguments), changes=True)
            except RestanteError as error:
                told = failed(error)
        else:
            raise MCPError(types.INVALID_PARAMS, f"no tool {params.name[:80]!r}")
        if told.seen:
            self._gate.after(_scope(context), told.seen)
        # Text only: programs that find structured content beside it show the model nothing else.
        return types.CallToolResult(content=[types.TextContent(text=told.text)], is_error=told.is_error)

    async def read(
        self, context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text = await self._ask(context, lambda place: acts.resource(place, uri))
        except RestanteError as error:
            code = types.INVALID_PARAMS if isinstance(error, NothingThere) else types.INTERNAL_ERROR
            raise MCPError(code, failed(error).text) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
        )

    async def _ask(self, context: _Context, work: Callable[[_Place], _Result], *, changes: bool = False) -> _Result:
        return await self._gate.ask(_scope(context), _claimed(context), lambda one: work(_Place(one)), changes=changes)

    async def _wait(self, context: _Context, arguments: Mapping[str, Any]) -> Told:
        """Wait in slices, and say at each that it goes on."""
        try:
            seconds = seconds_in(arguments)
            began, told = time.monotonic(), 0.0
            slice_seconds = await self._ask(context, _slice)
            while (passed := time.monotonic() - began) < seconds:
                if passed - told >= _SLICE_SECONDS or not told:
                    told = passed or told
                    await context.session.report_progress(passed / seconds, 1.0, "waiting for mail")
                left = min(slice_seconds, seconds - passed)
                if await self._gate.wait(_scope(context), _claimed(context), left, _has_come):
                    break
            return await self._ask(context, lambda place: _ended(place, seconds))
        except RestanteError as error:
            return failed(error)


def _slice(place: _Place) -> float:
    """Return how long one slice of a wait takes; only a session may wait."""
    check_session(place)
    return _LOOK_SECONDS if place.desk().office else _SLICE_SECONDS


def _has_come(visit: Visit) -> bool:
    from restante import desk as desks

    return desks.collect(_Place(visit).desk()).has_unseen


def _ended(place: _Place, seconds: float) -> Told:
    from restante import desk as desks

    desk = place.desk()
    return acts.shown(place, desk) if desks.collect(desk).has_unseen else acts.nothing_came(desk, seconds)


def _scope(context: _Context) -> Scope:
    scope: Scope = context.request.scope
    return scope


def _claimed(context: _Context) -> str:
    """Return the thread that Codex names with its call."""
    thread = (context.meta or {}).get("threadId")
    return thread if isinstance(thread, str) and len(thread) <= _LONGEST_ID else ""
