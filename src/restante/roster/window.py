"""A window that shows a session the mail of the roles it holds together with its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from restante.domain.errors import NoSuchMessage, PersistenceOff, RestanteError
from restante.domain.lifecycle import Show
from restante.domain.mailbox import Counts
from restante.domain.overview import Cleared, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from restante.domain.case import Timeline
    from restante.domain.message import Draft
    from restante.domain.overview import Handed, Late, Persistence, Row, Trace, Watched
    from restante.domain.receipt import Action, Decision
    from restante.domain.registry import Arrival, Identity, Session
    from restante.domain.team import RoleReading
    from restante.domain.why import Explanation
    from restante.ports.roles import Roles
    from restante.ports.sessions import Window

# How long is waited for a session's own mail before roles are looked at again.
_SLICE_SECONDS = 1.0


class RosterWindow:
    """A ``ports.sessions.Window``: what concerns the caller's own mail concerns that of its roles, too.

    Args:
        window: The window of the same caller onto the mail between sessions.
        roster: The caller's roster.
    """

    def __init__(self, window: Window, roster: Roles) -> None:
        self._window = window
        self._roster = roster

    @property
    def identity(self) -> Identity:
        """Who asks."""
        return self._window.identity

    def register(self, arrival: Arrival) -> Session:
        """See ``Window.register``."""
        return self._window.register(arrival)

    def detach(self, session: str = "") -> Session:
        """See ``Window.detach``; a session that ended holds no role any more."""
        return self._window.detach(session)

    def delete(self, session: str) -> Session:
        """See ``Window.delete``."""
        return self._window.delete(session)

    def describe(
        self,
        session: str = "",
        *,
        name: str | None = None,
        blocked: str | None = None,
        open_todos: int | None = None,
        total_todos: int | None = None,
    ) -> Session:
        """See ``Window.describe``."""
        return self._window.describe(
            session, name=name, blocked=blocked, open_todos=open_todos, total_todos=total_todos
        )

    def turn(self, session: str = "", *, has_ended: bool, source: str = "hook") -> Session:
        """See ``Window.turn``."""
        return self._window.turn(session, has_ended=has_ended, source=source)

    def sessions(self) -> list[Row]:
        """See ``Window.sessions``."""
        return self._window.sessions()

    def post(self, to: str, draft: Draft, *, allow_warnings: bool = False) -> Handed:
        """See ``Window.post``."""
        return self._window.post(to, draft, allow_warnings=allow_warnings)

    def read(
        self, session: str = "", *, after: int = 0, limit: int | None = None, wait: float | None = None
    ) -> Reading:
        """Return pending messages, those of the caller's roles among its own; see ``Window.read``.

        Numbers count within one mailbox: with ``after`` only the session's own mail is told.
        """
        if after > 0 or not self._is_own(session):
            return self._window.read(session, after=after, limit=limit, wait=wait)
        if wait is None or not self._roster.mine():
            return self._read(session, limit, wait)
        end = time.monotonic() + wait
        while True:
            left = end - time.monotonic()
            reading = self._read(session, limit, max(0.0, min(_SLICE_SECONDS, left)))
            if reading.counts.unseen or left <= _SLICE_SECONDS:
                is_over = not reading.counts.unseen
                return reading._replace(timed_out=is_over, waited=wait - max(0.0, end - time.monotonic()))

    def timeline(self, session: str, *, before: int = 0, limit: int = 50, show: Show = Show.ALL) -> Timeline:
        """See ``Window.timeline``."""
        return self._window.timeline(session, before=before, limit=limit, show=show)

    def confirm(self, message_ids: Sequence[str], session: str = "", *, only_noticed: bool = False) -> None:
        """Record that messages were handed over whole, each in its mailbox; see ``Window.confirm``.

        Raises:
            RoleHeld: The caller holds the role of one of them no longer; the others are recorded.
        """
        own, of_roles = self._split(message_ids, session)
        if own:
            self._window.confirm(own, session, only_noticed=only_noticed)
        errors = []
        for role, ids in of_roles.items():
            try:
                self._roster.confirm(role, ids, only_noticed=only_noticed)
            except RestanteError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def acknowledge(
        self,
        message_ids: Sequence[str],
        session: str = "",
        *,
        through: bool = False,
        decision: Decision | None = None,
        action: Action | None = None,
        summary: str = "",
        late: Late | None = None,
    ) -> Cleared:
        """Acknowledge messages, each in its mailbox; see ``Window.acknowledge``.

        Raises:
            RoleHeld: One is mail of a role that the caller does not hold, or no longer.
        """
        own, of_roles = self._split(message_ids, session)
        if own:
            self._roster.check_not_of_others(own)
        removed = 0
        for role, ids in of_roles.items():
            cleared = self._roster.acknowledge(
                role, ids, through=through, decision=decision, action=action, summary=summary, late=late
            )
            removed += cleared.removed
        if not own and of_roles:
            return Cleared(removed, self._read(session, 1, None).counts)
        try:
            cleared = self._window.acknowledge(
                own, session, through=through, decision=decision, action=action, summary=summary, late=late
            )
        except PersistenceOff:
            if not own:
                raise
            raise NoSuchMessage(f"no message {own[0]!r} waits", remedy="restante inbox") from None
        rest = [one.counts for one in self._readings(session, 1)]
        return cleared._replace(removed=cleared.removed + removed, counts=_sum(cleared.counts, rest))

    def receipts(self, message_ids: Sequence[str] = (), *, limit: int = 100) -> list[Trace]:
        """Return what became of what the caller posted, to sessions and to roles; see ``Window.receipts``."""
        of_roles = {one.message_id: one for one in self._roster.receipts(message_ids, limit=limit)}
        try:
            own = self._window.receipts(message_ids, limit=limit)
        except PersistenceOff:
            if not of_roles and not message_ids:
                raise
            own = []
        found = {**{one.message_id: one for one in own}, **of_roles}
        return [found[one] for one in sorted(found, reverse=True)][:limit]

    def withdraw(self, message_id: str) -> Trace:
        """Take back what the caller posted, to whomever; see ``Window.withdraw``."""
        if self._roster.receipts([message_id]):
            return self._roster.withdraw(message_id)
        return self._window.withdraw(message_id)

    def why(self, message: str) -> Explanation:
        """See ``Window.why``; whoever answers knows of roles, too."""
        return self._window.why(message)

    def watch(self, cursor: str = "", sessions: Sequence[str] = (), *, wait: float | None = None) -> Watched:
        """See ``Window.watch``."""
        return self._window.watch(cursor, sessions, wait=wait)

    def persistence(self) -> Persistence:
        """See ``Window.persistence``; mail of roles is always kept."""
        return self._window.persistence()

    def set_persistence(self, is_on: bool) -> Persistence:
        """See ``Window.set_persistence``."""
        return self._window.set_persistence(is_on)

    # -- helpers -------------------------------------------------------------------------------------------

    def _is_own(self, session: str) -> bool:
        identity = self.identity
        return bool(identity.session) and session in ("", identity.session)

    def _readings(self, session: str, limit: int | None) -> list[RoleReading]:
        return self._roster.readings(limit=limit) if self._is_own(session) else []

    def _read(self, session: str, limit: int | None, wait: float | None) -> Reading:
        of_roles = self._readings(session, limit)
        has_news = any(one.counts.unseen for one in of_roles)
        try:
            own = self._window.read(session, limit=limit, wait=None if has_news else wait)
        except PersistenceOff:
            # The mail of roles is kept wherever that of sessions is not.
            if not self._is_own(session):
                raise
            if wait and not has_news:
                time.sleep(wait)
            own = Reading((), Counts(), is_peek=False, timed_out=wait is not None)
        if not of_roles:
            return own
        entries = [*own.entries, *(entry for one in of_roles for entry in one.entries)]
        entries.sort(key=lambda entry: (entry.message.created, entry.message.id))
        shown = entries if limit is None else entries[:limit]
        left_out = own.left_out + sum(one.left_out for one in of_roles) + len(entries) - len(shown)
        counts = _sum(own.counts, [one.counts for one in of_roles])
        return own._replace(entries=tuple(shown), counts=counts, left_out=left_out, names=self._names(own, of_roles))

    def _names(self, own: Reading, of_roles: Iterable[RoleReading]) -> dict[str, str]:
        names = dict(own.names)
        for reading in of_roles:
            for entry in reading.entries:
                sender = entry.message.sender.name
                if sender not in names and (name := self._roster.name_of(sender)):
                    names[sender] = name
        return names

    def _split(self, message_ids: Sequence[str], session: str) -> tuple[list[str], dict[str, list[str]]]:
        """Return which messages are the session's own, or nobody knows whose, and which those of each role it holds."""
        of_roles: dict[str, list[str]] = {}
        places: dict[str, str] = {}
        if self._is_own(session):
            places = self._roster.locate(message_ids)
        for one, role in places.items():
            of_roles.setdefault(role, []).append(one)
        return [one for one in message_ids if one not in places], of_roles


def _sum(counts: Counts, others: Sequence[Counts]) -> Counts:
    """Return the numbers of several mailboxes together; the mark is that of the first."""
    every = [counts, *others]
    oldest = [one.oldest_unseen for one in every if one.oldest_unseen]
    return Counts(
        sum(one.total for one in every),
        sum(one.unseen for one in every),
        sum(one.pending for one in every),
        counts.high_water,
        min(oldest, default=None),
        sum(one.archived for one in every),
    )
