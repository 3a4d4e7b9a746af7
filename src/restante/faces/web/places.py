"""The mailbox that an address names, as a page shows it: the newest messages first, a window at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.domain.address import Home, parse_address
from restante.domain.errors import NothingThere
from restante.domain.letters import View
from restante.domain.lifecycle import Show
from restante.faces.web.grounds import known_worktrees
from restante.wiring.pages import oacp_box, roster_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

WINDOW = 50


class Look(NamedTuple):
    """Which messages of a mailbox are looked at.

    Attributes:
        before: Only those with a smaller number; 0 for the newest.
        wanted: In which state.
        find: Words that they have.
    """

    before: int = 0
    wanted: Show = Show.ALL
    find: str = ""


async def view(hub: Hub, visitor: Visitor, address: str, look: Look) -> View:
    """Look into a mailbox; it marks nothing.

    Args:
        hub: The server.
        visitor: Who looks.
        address: The mailbox.
        look: Which messages.

    Raises:
        NothingThere: There is no such mailbox, or it is another owner's.
        Forbidden: Words are looked for, and the owner does not allow it.
    """
    parsed = parse_address(address)
    if parsed.home is Home.SESSION:

        def work(exchange: Exchange, window: LocalWindow) -> View:
            found = window.timeline(parsed.name, before=look.before, limit=WINDOW, show=look.wanted, find=look.find)
            session = window.find(parsed.name)
            counts = window.row(session).counts
            return View(address, session.title, found.cases, found.older, counts, exchange.clock.now(), found.names)

        return await hub.run(visitor.claim, work)
    if look.find:
        await hub.run(visitor.claim, lambda _, window: window.choices.check_search())
    if parsed.home is Home.WORKTREE and not visitor.owner and parsed.name in await known_worktrees(hub, visitor):
        return await hub.apart(lambda: _worktree(hub, address, parsed.name, look))
    if parsed.home is Home.OACP and not visitor.owner:
        places = await known_worktrees(hub, visitor)
        return await hub.apart(lambda: _oacp(hub, places, parsed.name, look))
    if parsed.home is Home.ROLE:
        return await hub.apart(lambda: _role(hub, visitor, address, look))
    raise NothingThere(f"no mailbox {address!r} can be shown here", remedy="choose one of the overview")


def _role(hub: Hub, visitor: Visitor, address: str, look: Look) -> View:
    with roster_for(hub.environment, visitor.owner) as roster:
        seat = roster.seat(address)
        found = roster.timeline(address, before=look.before, limit=WINDOW, fits=look.wanted.fits, find=look.find)
        return View(address, address, found.cases, found.older, seat.counts, roster.clock.now(), found.names)


def _oacp(hub: Hub, places: Sequence[str], agent: str, look: Look) -> View:
    from restante.office import timeline_of
    from restante.wiring.oacp import clock_of

    box = oacp_box(hub.environment, places, agent)
    found = timeline_of(box, before=look.before, limit=WINDOW, fits=look.wanted.fits, find=look.find)
    return View(f"oacp:{agent}", agent, found.cases, found.older, box.counts(), clock_of(hub.environment).now(), {})


def _worktree(hub: Hub, address: str, path: str, look: Look) -> View:
    from restante.wiring import open_office

    office = open_office(path, environment=hub.environment)
    found = office.timeline(before=look.before, limit=WINDOW, fits=look.wanted.fits, find=look.find)
    name = path.rpartition("/")[2] or path
    return View(address, name, found.cases, found.older, office.counts(), office.clock.now(), {})
