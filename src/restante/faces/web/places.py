"""The mailbox that an address names, as a page shows it: the newest messages first, a window at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.domain.address import Home, parse_address
from restante.domain.errors import NothingThere
from restante.domain.lifecycle import ACKNOWLEDGED, PENDING, Status
from restante.faces.web.grounds import known_worktrees

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.domain.case import Case
    from restante.domain.mailbox import Counts
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub

WINDOW = 50

FILTERS: dict[str, Callable[[Status], bool]] = {
    "all": lambda _: True,
    "pending": lambda status: status in PENDING,
    "unseen": lambda status: status is Status.UNSEEN,
    "answered": lambda status: status in ACKNOWLEDGED,
}


class View(NamedTuple):
    """A window of a mailbox.

    Attributes:
        address: The mailbox.
        name: What people call it.
        cases: Messages with all that was said of them, the newest first.
        older: Number before which there are older ones; 0 for none.
        counts: The numbers of the mailbox.
        now: The time of the look.
        names: What the sessions are called that wrote, by their addresses.
    """

    address: str
    name: str
    cases: tuple[Case, ...]
    older: int
    counts: Counts
    now: datetime
    names: dict[str, str]


async def view(hub: Hub, visitor: Visitor, address: str, *, before: int = 0, wanted: str = "all") -> View:
    """Look into a mailbox; it marks nothing.

    Args:
        hub: The server.
        visitor: Who looks.
        address: The mailbox.
        before: Only messages with a smaller number; 0 for the newest.
        wanted: One of ``FILTERS``.

    Raises:
        NothingThere: There is no such mailbox, or it is another owner's.
    """
    parsed = parse_address(address)
    fits = FILTERS.get(wanted, FILTERS["all"])
    if parsed.home is Home.SESSION:

        def look(exchange: Exchange, window: LocalWindow) -> View:
            found = window.timeline(parsed.name, before=before, limit=WINDOW, fits=fits)
            session = window.find(parsed.name)
            counts = window.row(session).counts
            return View(address, session.title, found.cases, found.older, counts, exchange.clock.now(), found.names)

        return await hub.run(visitor.claim, look)
    if parsed.home is Home.WORKTREE and not visitor.owner and parsed.name in await known_worktrees(hub, visitor):
        return await hub.apart(lambda: _worktree(hub, address, parsed.name, before, fits))
    if parsed.home is Home.ROLE:
        return await hub.apart(lambda: _role(hub, visitor, address, before, fits))
    raise NothingThere(f"no mailbox {address!r} can be shown here", remedy="choose one of the overview")


def _role(hub: Hub, visitor: Visitor, address: str, before: int, fits: Callable[[Status], bool]) -> View:
    from restante.wiring.pages import roster_for

    roster = roster_for(hub.environment, visitor.owner)
    seat = roster.seat(address)
    found = roster.timeline(address, before=before, limit=WINDOW, fits=fits)
    return View(address, address, found.cases, found.older, seat.counts, roster.clock.now(), found.names)


def _worktree(hub: Hub, address: str, path: str, before: int, fits: Callable[[Status], bool]) -> View:
    from restante.wiring import open_office

    office = open_office(path, environment=hub.environment)
    found = office.timeline(before=before, limit=WINDOW, fits=fits)
    name = path.rpartition("/")[2] or path
    return View(address, name, found.cases, found.older, office.counts(), office.clock.now(), {})
