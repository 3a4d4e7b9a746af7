"""The stream that tells a page to look again; it says that something changed, and never what."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sse_starlette import EventSourceResponse, ServerSentEvent

from restante.faces.web.rendering import HEADERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

# A page that looks again more often than this shows no more to a person, and asks the server for it.
_PAUSE_SECONDS = 0.25


async def events(hub: Hub, visitor: Visitor, _: Request) -> Response:
    """Tell that something changed, at most four times a second."""

    async def frames() -> AsyncIterator[ServerSentEvent]:
        yield ServerSentEvent("begun", event="begun")
        async for _ in hub.ticks(visitor.claim):
            yield ServerSentEvent("changed", event="changed")
            await asyncio.sleep(_PAUSE_SECONDS)

    return EventSourceResponse(frames(), headers=HEADERS, ping=15)
