"""The mailbox that an address names, as a page shows it: the newest messages first, a window at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.address import Home, parse_address
from restante.domain.errors import NothingThere
from restante.domain.letters import View
from restante.domain.lifecycle import Show
from restante.faces.web.grounds import known_worktrees

if TYPE_CHECKING:
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

WINDOW = 50


async def view(hub: Hub, visitor: Visitor, address: str, *, before: int = 0, wanted: Show = Show.ALL) -> View:
    """Look into a mailbox; it marks nothing.

    Args:
        hub: The server.
        visitor: Who looks.
        address: The mailbox.
        before: Only messages with a smaller number; 0 for the newest.
        wanted: Which messages.

    Raises:
        NothingThere: There is no such mailbox, or it is another owner's.
    """
    parsed = parse_address(address)
    if parsed.home is Home.SESSION:

        def look(exchange: Exchange, window: LocalWindow) -> View:
            found = window.timeline(parsed.name, before=before, limit=WINDOW, show=wanted)
            session = window.find(parsed.name)
            counts = window.row(session).counts
            return View(address, session.title, found.cases, found.older, counts, exchange.clock.now(), found.names)

        return await hub.run(visitor.claim, look)
    if parsed.home is Home.WORKTREE and not visitor.owner and parsed.name in await known_worktrees(hub, visitor):
        return await hub.apart(lambda: _worktree(hub, address, parsed.name, before, wanted))
    if parsed.home is Home.ROLE:
        return await hub.apart(lambda: _role(hub, visitor, address, before, wanted))
    raise NothingThere(f"no mailbox {address!r} can be shown here", remedy="choose one of the overview")


def _role(hub: Hub, visitor: Visitor, address: str, before: int, wanted: Show) -> View:
    from restante.wiring.pages import roster_for

    with roster_for(hub.environment, visitor.owner) as roster:
        seat = roster.seat(address)
        found = roster.timeline(address, before=before, limit=WINDOW, fits=wanted.fits)
        return View(address, address, found.cases, found.older, seat.counts, roster.clock.now(), found.names)


def _worktree(hub: Hub, address: str, path: str, before: int, wanted: Show) -> View:
    from restante.wiring import open_office

    office = open_office(path, environment=hub.environment)
    found = office.timeline(before=before, limit=WINDOW, fits=wanted.fits)
    name = path.rpartition("/")[2] or path
    return View(address, name, found.cases, found.older, office.counts(), office.clock.now(), {})
