"""The mailboxes of roles, in the database that says who holds each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.limits import check_head, check_text
from restante.domain.monitor import Signal
from restante.stores.sql.addressing import address_at, is_role
from restante.stores.sql.boxes import find_traces
from restante.stores.sql.counting import last_event
from restante.stores.sql.ledger import mail_counter, open_ledger
from restante.stores.sql.rows import to_ms
from restante.stores.sql.sessions import check_words
from restante.stores.sql.store import NO_LIMITS, SqlMailbox
from restante.stores.sql.teams import check_lease

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.limits import Limits
    from restante.domain.mailbox import Posted
    from restante.domain.message import Draft
    from restante.domain.overview import Trace
    from restante.ports import Clock, Ids
    from restante.stores.sql.ledger import Ledger
    from restante.stores.sql.transaction import Database, Transaction

_MOST_OPEN = 1_000


class SqlRoleBoxes:
    """``ports.teams.RoleBoxes`` in a database. May be shared between threads if its database may.

    Args:
        database: Where they are kept: where ``SqlTeams`` keeps the leases.
        clock: Where time comes from.
        ids: Where ids come from.
        limits: What each mailbox takes.
    """

    def __init__(self, database: Database, clock: Clock, ids: Ids, limits: Limits = NO_LIMITS) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._open: dict[tuple[str, str], RoleMailbox] = {}

    def box(self, role: str, owner: str) -> RoleMailbox:
        """Return the mailbox of a role; nothing is created by it.

        Raises:
            BadAddress: The role or the owner is not text.
        """
        found = self._open.get((role, owner))
        if found is None:
            if len(self._open) >= _MOST_OPEN:
                self._open.clear()
            # Kept: a mailbox remembers what it found expired, should the clock be set back.
            found = self._open[role, owner] = self._new(role, owner)
        return found

    def post(self, role: str, owner: str, draft: Draft, signal: Signal | None = None) -> Posted:
        """Post to a role; see ``ports.teams.RoleBoxes.post``."""
        return self.box(role, owner).post_with(draft, signal)

    def tip(self, owner: str) -> tuple[str, int]:
        """Return the tag of this place and the number of the owner's last event; see ``ports.teams.RoleBoxes``."""
        with self._database.reading() as run:
            return last_event(run, mail_counter(owner))

    def changed_since(self, event: int, owner: str) -> list[str]:
        """Return the roles whose mailbox changed after an event, in that order."""
        with self._database.reading() as run:
            rows = run.all("boxes_changed", owner=owner, event=event) if run else []
        return [address_at(row[0], owner) for row in rows if is_role(row[0])]

    def signals(self, role: str, owner: str, *, after: int = 0) -> list[tuple[int, Signal]]:
        """Return what messages with a greater number say of actions, with those numbers, in order."""
        with self._database.reading() as run:
            ledger = open_ledger(run, role, self._clock.now(), None, owner=owner)
            rows = ledger.run.all("signals", box=ledger.box, after=after) if ledger else []
        return [(number, Signal(action, correlation, state)) for number, action, correlation, state in rows]

    def traces(self, sender: str, owner: str, *, message_ids: Sequence[str] = (), limit: int = 100) -> list[Trace]:
        """Return what became of a sender's messages to roles, the newest first; see ``ports.teams.RoleBoxes``."""
        with self._database.reading() as run:
            now = to_ms(self._clock.now())
            if run is None:
                return []
            return find_traces(run, now, sender, owner, message_ids=message_ids, limit=limit, of_roles=True)

    def fenced(self, role: str, owner: str, session: str, generation: int | None = None) -> RoleMailbox:
        """Return the mailbox for its holder; see ``ports.teams.RoleBoxes.fenced``."""
        check_words(session)
        return self._new(role, owner).for_holder(session, generation)

    def _new(self, role: str, owner: str) -> RoleMailbox:
        return RoleMailbox(self._database, role, clock=self._clock, ids=self._ids, limits=self._limits, owner=owner)


class RoleMailbox(SqlMailbox):
    """A ``ports.Mailbox`` of a role; its address is the role. See ``SqlMailbox``."""

    # Who alone may change it, as the holder of the role, and under which generation; empty and ``None`` for whoever.
    _session = ""
    _generation: int | None = None

    def for_holder(self, session: str, generation: int | None) -> RoleMailbox:
        """Let nobody but a session change it, as long as that one holds the role.

        Args:
            session: The id of the session.
            generation: Under which generation it must hold it; ``None`` for whichever it is.
        """
        self._session, self._generation = session, generation
        return self

    def post_with(self, draft: Draft, signal: Signal | None) -> Posted:
        """Store a message with what it says of an action, durably, in one step; raises what ``post`` does."""
        if signal is None:
            return self.post(draft)
        check_words(*signal)
        size = check_text(draft.body, self._limits)
        check_head(draft, self._limits)
        with self._writing(create=True) as ledger:
            assert ledger is not None
            posted = self._post(ledger, draft, size)
            if not posted.duplicate:
                ledger.run.do("add_signal", box=ledger.box, number=posted.message.number, **signal._asdict())
        return posted

    def _open(self, run: Transaction | None, *, create: bool) -> Ledger | None:
        if self._session:
            # Within the transaction that changes something: nobody can take the role between the two.
            check_lease(run, self._address, self._owner, self._session, self._generation)
        return super()._open(run, create=create)
