"""All that the screen asks of Restante, each in one call, through the same public API as the page in the browser.

Every call may take long, and is made in one thread beside the screen's own, always the same.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.address import Home, parse_address
from restante.domain.errors import Forbidden, NothingThere, Refused, RestanteError, Unreachable
from restante.domain.letters import View
from restante.domain.lifecycle import Show
from restante.domain.outlook import Mode
from restante.domain.overview import mutual_waits
from restante.domain.registry import Claim
from restante.domain.urgency import most_urgent_first
from restante.domain.writing import Left
from restante.wiring import approvals
from restante.wiring.grounds import worktrees_around
from restante.wiring.opening import check_no_agent, server_of
from restante.wiring.sessions import open_exchange, open_roster, open_window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.domain.finding import Finding
    from restante.domain.overview import Row
    from restante.domain.team import Seat
    from restante.domain.why import Explanation
    from restante.domain.writing import Writing
    from restante.exchange.window import LocalWindow
    from restante.ports.roles import Roles
    from restante.ports.sessions import Window
    from restante.vigil import Vigil

LETTERS = 50
_MOST_RECIPIENTS = 500


class Look(NamedTuple):
    """What the overview shows.

    Attributes:
        rows: The sessions that fit, the most urgent first.
        everything: All sessions.
        seats: The roles, the most unseen mail first.
        worktrees: The worktrees that are known on this machine.
        waiting: How many messages wait for an approval.
        troubled: The mailboxes that are watched and wake nobody.
        pairs: Names of sessions that wait for each other.
        now: The time of the look.
        problems: What could not be looked at, in words.
    """

    rows: Sequence[Row]
    everything: Sequence[Row]
    seats: Sequence[Seat]
    worktrees: Sequence[str]
    waiting: int
    troubled: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    now: datetime
    problems: tuple[str, ...] = ()


class Ground:
    """What a person at this terminal can ask.

    Args:
        environment: Where settings and places come from.
        directory: The directory that the person works in.
    """

    def __init__(self, environment: Mapping[str, str], directory: str) -> None:
        self.environment = environment
        self.directory = directory
        self._window: Window | None = None
        self._roles: Roles | None = None
        self._server = ""

    def check_is_person(self) -> None:
        """Check that whoever asks is the person.

        Raises:
            Refused: An agent program asks.
            Forbidden: Nothing proves who asks.
        """
        check_no_agent(self.environment, "the screen")
        identity = self.window.identity
        if not identity.verified or identity.session:
            raise Forbidden("nothing proves that you are the person of this machine", remedy="restante doctor")

    @property
    def window(self) -> Window:
        """The person's window: onto the server if one lives now, else onto what is kept here."""
        server = server_of(self.environment)
        if self._window is None or server != self._server:
            self._window, self._roles = open_window(self.environment, self.directory), None
            self._server = server
        return self._window

    def look(self, wanted: str = "") -> Look:
        """Look at everything, the most urgent first.

        Args:
            wanted: Only sessions that have each of these words.
        """
        problems: list[str] = []
        try:
            everything = self.window.sessions()
        except Unreachable:
            # The server ended since; what is kept here may still be shown.
            self._window = None
            everything = self.window.sessions()
        roles, seats, waiting = self._roster(), [], 0
        try:
            seats = sorted(roles.seats(""), key=lambda seat: (-seat.counts.unseen, seat.member.role))
        except RestanteError as error:
            problems.append(error.message)
        worktrees = worktrees_around(row.session.worktree for row in everything)
        try:
            waiting = len(approvals.waiting(self.environment, worktrees))
        except RestanteError as error:
            # Whoever never asked for OACP trees is not told that they cannot be read.
            problems += [] if isinstance(error, Refused) else [error.message]
        troubled: list[str] = []
        # Where a server is configured its machine keeps them, which the screen of monitors says; faults, the roles say.
        with suppress(RestanteError):
            troubled = [one.mailbox for one in self.vigil.outlooks() if one.mode is Mode.TURN or one.trouble]
        titles = {row.session.id: row.session.title for row in everything}
        pairs = [(titles[one], titles[other]) for one, other in mutual_waits(everything)]
        rows = most_urgent_first(everything, wanted)
        return Look(rows, everything, seats, worktrees, waiting, troubled, pairs, roles.clock.now(), tuple(problems))

    def view(self, address: str, *, before: int = 0, show: Show = Show.ALL) -> View:
        """Look into a mailbox; it marks nothing.

        Args:
            address: The mailbox.
            before: Only messages with a smaller number; 0 for the newest.
            show: Which messages.

        Raises:
            NothingThere: There is no such mailbox.
        """
        place, now = parse_address(address), self._roster().clock.now()
        if place.home is Home.SESSION:
            found = self.window.timeline(place.name, before=before, limit=LETTERS, show=show)
            row = next((row for row in self.window.sessions() if row.session.id == place.name), None)
            if row is None:
                raise NothingThere(f"there is no session {place.name!r} any more", remedy="go back to the overview")
            return View(address, row.session.title, found.cases, found.older, row.counts, now, found.names)
        if place.home is Home.ROLE:
            found = self._roster().timeline(address, before=before, limit=LETTERS, fits=show.fits)
            seats = {seat.member.role: seat for seat in self._roster().seats("")}
            if address not in seats:
                raise NothingThere(f"no role {address!r} has joined", remedy="go back to the overview")
            return View(address, address, found.cases, found.older, seats[address].counts, now, found.names)
        if place.home is Home.WORKTREE:
            from restante.wiring import open_office

            office = open_office(place.name, environment=self.environment)
            found = office.timeline(before=before, limit=LETTERS, fits=show.fits)
            name = place.name.rpartition("/")[2] or place.name
            return View(address, name, found.cases, found.older, office.counts(), now, found.names)
        raise NothingThere(f"no mailbox {address!r} can be shown here", remedy="choose one of the overview")

    def why(self, address: str, message: str) -> Explanation:
        """Return why a message of a mailbox was not answered."""
        place = parse_address(address)
        if place.home is Home.WORKTREE:
            from restante.wiring.tracing import open_tracer

            return open_tracer(place.name, self.environment).why(message)
        return self.window.why(message)

    def screen(self, text: str) -> list[Finding]:
        """Return what a sender should think about before a text leaves."""
        if not text.strip():
            return []
        return self._screener.screen(text)

    def recipients(self) -> list[tuple[str, str]]:
        """Return who can be written to: addresses, each with what people call it."""
        found = [(row.session.address, row.session.title) for row in most_urgent_first(self.window.sessions())]
        # Where roles cannot be told, sessions and worktrees can be written to all the same.
        with suppress(RestanteError):
            found += [(seat.member.role, seat.member.role) for seat in self._roster().seats("")]
        known = worktrees_around([*(row.session.worktree for row in self.window.sessions()), self.directory])
        found += [(f"worktree:{one}", one) for one in known]
        # An address that cannot be typed cannot stand in a field either.
        return [one for one in found if one[0].isprintable()][:_MOST_RECIPIENTS]

    def leave(self, writing: Writing, *, is_sure: bool = False) -> Left:
        """Leave a text.

        Args:
            writing: What was filled in.
            is_sure: Leave it although screening found something.

        Raises:
            Screened: Screening found something, and the person was not asked yet.
            NothingThere: Nothing can be left there.
        """
        place = parse_address(writing.to.strip())
        draft = writing.draft(self._roster().clock.now())
        if place.home is Home.WORKTREE:
            from restante.wiring import open_office

            office = open_office(place.name, environment=self.environment)
            sent = office.send(draft, allow_warnings=is_sure, repeat_ms=writing.interval_ms)
            return Left(
                place.name.rpartition("/")[2] or place.name, sent.posted.message.id, duplicate=sent.posted.duplicate
            )
        writing.check_once()
        if place.home is Home.SESSION:
            handed = self.window.post(place.name, draft, allow_warnings=is_sure)
            return Left(handed.to.title, handed.posted.message.id, duplicate=handed.posted.duplicate)
        if place.home is Home.ROLE:
            (copy,) = self._roster().post(str(place), draft, allow_warnings=is_sure)
            if copy.posted is None:
                raise copy.problem or Refused(f"nothing was left for {copy.role}")
            return Left(copy.role, copy.posted.message.id, duplicate=copy.posted.duplicate)
        raise NothingThere(f"nothing can be left at {writing.to!r} from here", remedy="choose one of the list")

    def now(self) -> datetime:
        """Return the time."""
        return self._roster().clock.now()

    @cached_property
    def vigil(self) -> Vigil:
        """The person's monitors.

        Raises:
            Refused: A server is configured; they are in its machine's data.
        """
        from restante.wiring.monitors import open_vigil

        return open_vigil(self.environment, self.directory, arms=False)

    @cached_property
    def _screener(self) -> LocalWindow:
        exchange = open_exchange(self.environment)
        return exchange.window(exchange.identify(Claim()))

    def _roster(self) -> Roles:
        window = self.window
        if self._roles is None or window is not self._window:
            self._roles = open_roster(self.environment, self.directory)
        return self._roles
