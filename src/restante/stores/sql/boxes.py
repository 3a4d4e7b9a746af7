"""The mailboxes of sessions: one by one, and asked about all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from restante.domain.ids import compose
from restante.domain.mailbox import Counts
from restante.domain.overview import Fate, Flow, Trace
from restante.domain.receipt import Action, Decision
from restante.stores.sql.addressing import address_at
from restante.stores.sql.counting import last_event
from restante.stores.sql.ledger import Sight, count, mail_counter, open_ledger, senders_of
from restante.stores.sql.rows import ACKNOWLEDGED, EXPIRED, WITHDRAWN, to_ms, to_time
from restante.stores.sql.store import NO_LIMITS, SqlMailbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from restante.domain.limits import Limits
    from restante.ports import Clock, Ids
    from restante.stores.sql.ledger import Ledger
    from restante.stores.sql.rows import Row
    from restante.stores.sql.transaction import Database, Transaction

PREFIX = "session:"

# So many mailboxes are kept with what they know of time; asking one by one is cheaper than all up to so many.
_MOST_OPEN = 10_000
_FEW = 20
_NEVER: tuple[int, list[Row]] = (0, [])

_Answer = TypeVar("_Answer")


class SqlBoxes:
    """``ports.sessions.Boxes`` in a database. May be shared between threads if its database may.

    Args:
        database: Where they are kept.
        clock: Where time comes from.
        ids: Where ids come from.
        limits: What each mailbox takes.
        is_durable: Whether the database survives the process.
    """

    def __init__(
        self, database: Database, clock: Clock, ids: Ids, limits: Limits = NO_LIMITS, *, is_durable: bool = True
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._is_durable = is_durable
        self._open: dict[tuple[str, str], SqlMailbox] = {}
        self._expired_before = 0
        # When all mailboxes of an owner were last looked at, and what was found.
        self._looks: dict[str, tuple[int, list[Row]]] = {}

    @property
    def database(self) -> Database:
        """Where they are kept."""
        return self._database

    @property
    def is_durable(self) -> bool:
        """Whether what is posted survives the process."""
        return self._is_durable

    @property
    def expired(self) -> int:
        """How many messages were found expired so far, by whatever wrote to their mailbox."""
        return self._expired_before + sum(one.expired for one in self._open.values())

    def box(self, session_id: str, owner: str) -> SqlMailbox:
        """Return the mailbox of a session; nothing is created by it.

        Raises:
            BadAddress: The id is not text.
        """
        found = self._open.get((session_id, owner))
        if found is None:
            if len(self._open) >= _MOST_OPEN:
                self._expired_before = self.expired
                self._open.clear()
            found = SqlMailbox(
                self._database,
                PREFIX + session_id,
                clock=self._clock,
                ids=self._ids,
                limits=self._limits,
                owner=owner,
            )
            # Kept: a mailbox remembers what it found expired, should the clock be set back.
            self._open[session_id, owner] = found
        return found

    def together(self, *, at_once: bool = False) -> AbstractContextManager[None]:
        """Make everything that this thread writes in the block durable at once; see ``transaction.Database``."""
        return self._database.together(at_once=at_once)

    def write_now(self) -> None:
        """Write what this thread put off in such a block; see ``transaction.Database``."""
        self._database.write_now()

    def counts(self, owner: str, session_ids: Sequence[str] | None = None) -> dict[str, Counts]:
        """Return the numbers of an owner's mailboxes that hold or held mail, in one consistent look."""
        if session_ids is not None and len(session_ids) <= _FEW:
            return self._one_by_one(owner, count, session_ids)
        now = to_ms(self._clock.now())
        if now < self._looks.get(owner, _NEVER)[0]:
            counts = self._one_by_one(owner, count)
        else:
            with self._database.reading() as run:
                rows = run.all("counts_of_owner", owner=owner, now=now) if run else []
            self._looks[owner] = now, rows
            counts = {row[0][len(PREFIX) :]: _read_counts(row) for row in rows if row[0].startswith(PREFIX)}
        return counts if session_ids is None else {one: counts[one] for one in session_ids if one in counts}

    def debts(self, owner: str) -> dict[str, set[str]]:
        """Return, for each session of whose mail some is pending, the sessions that hold some of it."""
        now = to_ms(self._clock.now())
        if now < self._looks.get(owner, _NEVER)[0]:
            pairs = [(sender, at) for at, senders in self._one_by_one(owner, senders_of).items() for sender in senders]
        else:
            with self._database.reading() as run:
                rows = run.all("debts", owner=owner, now=now) if run else []
            pairs = [(sender, address[len(PREFIX) :]) for sender, address in rows if address.startswith(PREFIX)]
        debts: dict[str, set[str]] = {}
        for sender, session_id in pairs:
            if sender.startswith(PREFIX):
                debts.setdefault(sender[len(PREFIX) :], set()).add(session_id)
        return debts

    def flows(self, owner: str, since: datetime) -> dict[tuple[str, str], Flow]:
        """Return what was posted since a time, by sender and addressed session."""
        now = to_ms(self._clock.now())
        with self._database.reading() as run:
            rows = run.all("flows", owner=owner, first=compose("msg", since, 0), now=now) if run else []
        return {(sender, at[len(PREFIX) :]): Flow(*counts) for sender, at, *counts in rows if at.startswith(PREFIX)}

    def _one_by_one(
        self, owner: str, look: Callable[[Ledger], _Answer], session_ids: Iterable[str] | None = None
    ) -> dict[str, _Answer]:
        """Look into mailboxes with what is known of time in each: nothing that expired revives in any of them."""
        answers: dict[str, _Answer] = {}
        latest, rows = self._looks.get(owner, _NEVER)
        known = {row[0]: row[2] for row in rows}
        now = self._clock.now()
        with self._database.reading() as run:
            if run is None:
                return answers
            if session_ids is None:
                session_ids = _ids(run.all("boxes_changed", owner=owner, event=-1))
            for session_id in session_ids:
                box = self.box(session_id, owner)
                if box.address in known:
                    box.remember(Sight(latest, known[box.address], latest))
                ledger = open_ledger(run, box.address, now, box.sight, owner=owner)
                if ledger:
                    answers[session_id] = look(ledger)
                    box.remember(ledger.sight)
        return answers

    def traces(self, sender: str, owner: str, *, message_ids: Sequence[str] = (), limit: int = 100) -> list[Trace]:
        """Return what became of a sender's messages, the newest first; see ``ports.sessions.Boxes.traces``."""
        with self._database.reading() as run:
            now = to_ms(self._clock.now())
            return find_traces(run, now, sender, owner, message_ids=message_ids, limit=limit) if run else []

    def owners(self) -> list[str]:
        """Return whose mailboxes there are, sorted."""
        with self._database.reading() as run:
            return [row[0] for row in run.all("owners_of_boxes")] if run else []

    def changed_since(self, event: int, owner: str) -> list[str]:
        """Return the ids of the sessions whose mailbox changed after an event, in that order."""
        with self._database.reading() as run:
            return _ids(run.all("boxes_changed", owner=owner, event=event)) if run else []

    def tip(self, owner: str) -> tuple[str, int]:
        """Return the tag of this place and the number of the owner's last event; ``("0", 0)`` before the first."""
        with self._database.reading() as run:
            return last_event(run, mail_counter(owner))

    def sweep(self, owner: str) -> list[str]:
        """Record what expired in an owner's mailboxes, so that it is an event; return the sessions whose mail it was.

        Writers do the same in the mailbox they write to. Where nothing expired nothing is written.
        """
        with self._database.reading() as run:
            now = to_ms(self._clock.now())
            expiring = _ids(run.all("boxes_expiring", owner=owner, now=now)) if run else []
        for session_id in expiring:
            self.box(session_id, owner).sweep()
        return expiring


def find_traces(
    run: Transaction,
    now: int,
    sender: str,
    owner: str,
    *,
    message_ids: Sequence[str] = (),
    limit: int = 100,
    of_roles: bool = False,
) -> list[Trace]:
    """Return what became of a sender's messages, the newest first.

    Args:
        run: The transaction.
        now: The time, in milliseconds since 1970.
        sender: Whose messages.
        owner: On whose behalf.
        message_ids: Only these.
        limit: At most so many.
        of_roles: Without ids: what was posted to no session, instead of what was posted to one.
    """
    known = {"owner": owner, "sender": sender}
    limit = max(0, limit)
    if message_ids:
        wanted = [one for one in dict.fromkeys(message_ids) if one.isascii()]
        there = [row for one in wanted for row in run.all("trace", **known, id=one)]
        gone = [row for one in wanted for row in run.all("trace_of_deleted", **known, id=one)]
    else:
        there = run.all("traces_of_roles" if of_roles else "traces", **known, most=limit)
        gone = run.all("traces_of_deleted_roles" if of_roles else "traces_of_deleted", **known, most=limit)
    traces = [*(_trace(row, now) for row in there), *map(_trace_of_deleted, gone)]
    named = [one._replace(to=address_at(one.to, owner)) for one in traces]
    return sorted(named, key=lambda trace: trace.message_id, reverse=True)[:limit]


def _ids(rows: list[Row]) -> list[str]:
    return [row[0][len(PREFIX) :] for row in rows if row[0].startswith(PREFIX)]


def _read_counts(row: Row) -> Counts:
    _, total, number, pending, unseen, oldest = row
    return Counts(total, unseen, pending, number, None if oldest is None else to_time(oldest))


def _trace(row: Row, now: int) -> Trace:
    """Return a row of the columns ``{trace}`` of queries.sql."""
    id_, address, created, expires, seen, withdrawn, closed, said, decision, action, heard = row
    if closed == WITHDRAWN:
        fate, at = Fate.WITHDRAWN, withdrawn
    elif said is not None:
        # A late answer is still an answer.
        fate, at = Fate.ACKNOWLEDGED, said
    elif closed == EXPIRED or (expires is not None and expires <= now):
        fate, at = Fate.EXPIRED, expires
    else:
        at = min((one for one in (seen, heard) if one is not None), default=None)
        fate = Fate.UNSEEN if at is None else Fate.SEEN
    return _as_trace(id_, address, created, fate, at, decision, action)


def _trace_of_deleted(row: Row) -> Trace:
    id_, address, created, deleted, closed, closed_ms, decision, action = row
    fate = _FATES.get(closed, Fate.DELETED)
    return _as_trace(id_, address, created, fate, deleted if fate is Fate.DELETED else closed_ms, decision, action)


_FATES = {ACKNOWLEDGED: Fate.ACKNOWLEDGED, WITHDRAWN: Fate.WITHDRAWN, EXPIRED: Fate.EXPIRED}


def _as_trace(
    id_: str, address: str, created: int, fate: Fate, at: int | None, decision: str | None, action: str | None
) -> Trace:
    return Trace(
        message_id=id_,
        to=address.removeprefix(PREFIX),
        created=to_time(created),
        fate=fate,
        at=None if at is None else to_time(at),
        decision=None if decision is None else Decision(decision),
        action=None if action is None else Action(action),
    )
