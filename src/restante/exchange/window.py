"""A window onto the exchange of this process: everything one caller can ask, each in one call."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, Forbidden, MailboxFull, NoSuchSession, StorageFailed, UsageError
from restante.domain.lifecycle import Show
from restante.domain.limits import Limits, check_head
from restante.domain.naming import check_apart, check_name, meant, unknown
from restante.domain.overview import Handed
from restante.domain.registry import Presence
from restante.services import corresponding, enrolling, identifying, overseeing, posting
from restante.services.lasting import time_to_live

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from restante.domain.case import Timeline
    from restante.domain.finding import Finding
    from restante.domain.mailbox import Counts, Entry
    from restante.domain.message import Draft
    from restante.domain.overview import Cleared, Flow, Late, Persistence, Reading, Row, Trace, Watched
    from restante.domain.receipt import Action, Decision
    from restante.domain.registry import Arrival, Identity, Session
    from restante.domain.why import Explanation
    from restante.exchange import Exchange, ExchangeParts
    from restante.exchange.choices import Choices
    from restante.ports import Scanner
    from restante.ports.sessions import Box, Boxes


class LocalWindow:
    """A ``ports.sessions.Window`` onto the exchange of this process.

    Args:
        parts: What the exchange is made of.
        identity: Who asks.
        exchange: The exchange.
    """

    def __init__(self, parts: ExchangeParts, identity: Identity, exchange: Exchange) -> None:
        self._parts = parts
        self._identity = identity
        self._exchange = exchange

    @property
    def identity(self) -> Identity:
        """Who asks."""
        return self._identity

    @property
    def choices(self) -> Choices:
        """What the owner decided, and may decide."""
        from restante.exchange.choices import Choices

        return Choices(self._parts, self._identity)

    def find(self, session: str = "") -> Session:
        """Return the session that a reference means.

        Raises:
            NoSuchSession: There is none.
        """
        return self._meant(session) if session else self._own()

    # -- sessions ------------------------------------------------------------------------------------------

    def register(self, arrival: Arrival) -> Session:
        """Register a session, or attach it again; see ``Window.register``."""
        parts = self._parts
        return enrolling.register(
            arrival, self._identity, parts.sessions, parts.turns, parts.processes, parts.clock.now()
        )

    def detach(self, session: str = "") -> Session:
        """Record that a session's process ended; see ``Window.detach``."""
        found = self._changeable(session)
        enrolling.detach(found, self._parts.sessions, self._parts.turns, self._parts.clock.now())
        self._watch_no_more(found)
        return self._again(found)

    def delete(self, session: str) -> Session:
        """End a session for good, with its mail; see ``Window.delete``."""
        parts = self._parts
        found = self._changeable(session, for_good=True)
        with parts.keeping.held() as boxes:
            enrolling.delete(found, parts.sessions, parts.turns, parts.bell, boxes, parts.clock.now())
        self._watch_no_more(found)
        return found

    def describe(
        self,
        session: str = "",
        *,
        name: str | None = None,
        blocked: str | None = None,
        open_todos: int | None = None,
        total_todos: int | None = None,
    ) -> Session:
        """Change what is known of a session; see ``Window.describe``."""
        check_name(name or "")
        check_name(blocked or "")
        if min(open_todos or 0, total_todos or 0) < 0:
            raise UsageError("a number of items is not negative", remedy="give 0 or more")
        found = self._changeable(session)
        if name:
            check_apart(found.id, name, self._parts.sessions.named(name, found.owner))
        self._parts.sessions.describe(
            found.id,
            found.owner,
            self._parts.clock.now(),
            name=name,
            blocked=blocked,
            open_todos=open_todos,
            total_todos=total_todos,
        )
        return self._again(found)

    def turn(self, session: str = "", *, has_ended: bool, source: str = "hook") -> Session:
        """Set the turn latch; see ``Window.turn``."""
        parts = self._parts
        found = self._changeable(session)
        enrolling.set_turn(found, parts.sessions, parts.turns, parts.clock.now(), has_ended=has_ended, source=source)
        return self._again(found)

    def sessions(self) -> list[Row]:
        """Return every session of the owner with the numbers of its mailbox; see ``Window.sessions``."""
        found = self._refreshed()
        with self._parts.keeping.held() as boxes:
            return self._rows(boxes, found)

    def row(self, session: Session, *, is_whole: bool = True) -> Row:
        """Return a session as it is now, with its numbers; what that costs does not grow with how many there are.

        Args:
            session: Which.
            is_whole: Whether it is told, too, whose word it waits for; for that all pending mail is looked through.

        Raises:
            NoSuchSession: It was deleted.
        """
        found = self._refreshed([self._again(session)])
        with self._parts.keeping.held() as boxes:
            return self._rows(boxes, found, with_debts=is_whole)[0]

    # -- mail ----------------------------------------------------------------------------------------------

    def post(self, to: str, draft: Draft, *, allow_warnings: bool = False) -> Handed:
        """Post to a session; see ``Window.post``."""
        parts, now = self._parts, self._parts.clock.now()
        target = self.find(to)
        limits = Limits(message_bytes=parts.settings.message_bytes)
        if draft.expires is not None:
            # All of it is looked at by the mailbox; an end without a zone cannot even be compared.
            check_head(draft, limits)
        posting.check_expiry(draft.expires, now)
        posting.check_draft(draft, limits, self._screen, allow_warnings=allow_warnings)
        lasts = time_to_live(parts.sessions, target.owner, parts.settings.session_ttl)
        draft = corresponding.stamped(draft, self._identity, target, now, lasts)
        with parts.keeping.held() as boxes:
            box = corresponding.kept(boxes).box(target.id, target.owner)
            try:
                posted = box.post(draft)
            except MailboxFull as error:
                if not self._identity.verified:
                    # A claim alone takes nothing back.
                    error.remedy = error.remedy.partition(", or ")[0]
                raise
            if parts.sessions.session(target.id, target.owner) is None:
                # Deleted between the look and the post: nobody would ever delete this mail with it.
                box.delete()
                raise unknown(to)
            counts = box.counts()
        parts.bell.ring(target)
        self._exchange.ring(target.address)
        return Handed(posted, target, counts, self._exchange.presence(target))

    def read(
        self, session: str = "", *, after: int = 0, limit: int | None = None, wait: float | None = None
    ) -> Reading:
        """Return pending messages; see ``Window.read``."""
        target = self.find(session)
        is_addressee = self._identity.session == target.id
        if wait is None:
            return self._read(target, after, limit)
        began = time.monotonic()
        since = self._parts.clock.now()
        with self._parts.keeping.held() as boxes:
            corresponding.kept(boxes)
        if is_addressee:
            self._park(target, since, since + timedelta(seconds=wait))
        timed_out = False
        try:
            timed_out = self._ran_out(target, after, wait)
        finally:
            if is_addressee:
                # A wait that ended for nothing may be followed by the next at once: the grace bridges the two.
                self._park(target, *((since, self._parts.clock.now()) if timed_out else (None, None)))
        waited = time.monotonic() - began
        return self._read(target, after, limit)._replace(timed_out=timed_out, waited=waited)

    def timeline(
        self, session: str, *, before: int = 0, limit: int = 50, show: Show = Show.ALL, find: str = ""
    ) -> Timeline:
        """Return the newest messages of a mailbox, answered ones too; see ``Window.timeline``.

        With ``find``, only those that have these words, for an owner who allows texts to be searched.
        """
        from restante.services import looking

        target = self.find(session)
        if find:
            self.choices.check_search()
        if self._identity.session or not self._identity.verified:
            corresponding.check_addressee(self._identity, target)
        with self._parts.keeping.held() as boxes:
            box = self._box(boxes, target)
            found = looking.timeline(box, before=before, limit=limit, fits=show.fits, find=find)
        return found._replace(names=self._called(case.entry for case in found.cases))

    def screen(self, text: str) -> list[Finding]:
        """Return what a sender should think about before the text leaves."""
        return self._screen(text)

    def confirm(self, message_ids: Sequence[str], session: str = "", *, only_noticed: bool = False) -> None:
        """Record that messages were handed over whole; see ``Window.confirm``."""
        target = self.find(session)
        if self._identity.session == target.id and message_ids:
            with self._parts.keeping.held() as boxes:
                if boxes is not None:
                    box = boxes.box(target.id, target.owner)
                    corresponding.confirm(box, message_ids, self._identity, only_noticed=only_noticed)
                    self._note_collected(target, box.counts)

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
        """Acknowledge messages; see ``Window.acknowledge``."""
        parts = self._parts
        target = self.find(session)
        corresponding.check_addressee(self._identity, target)
        with parts.keeping.held() as boxes:
            cleared = corresponding.acknowledge(
                self._box(boxes, target),
                message_ids,
                self._identity,
                through=through,
                decision=decision,
                action=action,
                summary=summary,
                late=late,
            )
            if not cleared.counts.pending:
                enrolling.rest(target, parts.sessions, parts.bell, boxes)
            self._note_collected(target, lambda: cleared.counts)
        return cleared

    def receipts(self, message_ids: Sequence[str] = (), *, limit: int = 100) -> list[Trace]:
        """Return what became of what the caller posted; see ``Window.receipts``."""
        if limit < 1:
            raise UsageError(f"a limit of {limit} would tell nothing", remedy="give at least 1")
        with self._parts.keeping.held() as boxes:
            return corresponding.kept(boxes).traces(
                self._identity.sender.name, self._identity.owner, message_ids=message_ids, limit=limit
            )

    def withdraw(self, message_id: str) -> Trace:
        """Take back what the caller posted; see ``Window.withdraw``."""
        from restante.services import withdrawing

        parts, owner = self._parts, self._identity.owner
        with parts.keeping.held() as boxes:
            mail = corresponding.kept(boxes)
            trace = withdrawing.withdraw(message_id, self._identity, mail)
            target = parts.sessions.session(trace.to, owner)
            if target and not mail.box(trace.to, owner).counts().pending:
                enrolling.rest(target, parts.sessions, parts.bell, mail)
        return trace

    def why(self, message: str) -> Explanation:
        """Return why a message was not answered; see ``Window.why``."""
        from restante.services.explaining import Register, of_posted

        parts = self._parts
        with parts.keeping.held() as boxes:
            register = Register(
                identity=self._identity,
                sessions=parts.sessions,
                mail=boxes,
                refreshed=lambda one: self._refreshed([one])[0],
                presence=self._exchange.presence,
                around=parts.surroundings,
            )
            return of_posted(message, register, parts.clock.now())

    # -- overseeing ----------------------------------------------------------------------------------------

    def watch(self, cursor: str = "", sessions: Sequence[str] = (), *, wait: float | None = None) -> Watched:
        """Return every session that changed since a cursor; see ``Window.watch``."""
        overseeing.check_cursor(cursor)
        if wait is None:
            return self.look(cursor, sessions)
        # Under the cursor of the call, nothing that happens before the first look is missed.
        for _ in self._parts.watcher.ticks(wait):
            watched = self.look(cursor, sessions, only_news=True)
            if watched.rows or watched.gone:
                return watched
        return self.look(cursor, sessions)._replace(timed_out=True)

    def look(self, cursor: str, only: Sequence[str], *, only_news: bool = False) -> Watched:
        """Return every session that changed since a cursor, as it is now.

        Args:
            cursor: From an earlier answer, or empty.
            only: Only these sessions, by their whole ids; empty for all.
            only_news: Leave out who was gone at the cursor already, as a wait does.

        Raises:
            UsageError: It is no cursor.
        """
        parts, owner = self._parts, self._identity.owner
        self._refreshed()
        with parts.keeping.held() as boxes:
            if boxes is not None:
                # What expired changed, too, although nobody wrote; where that cannot be recorded it is counted rightly.
                with suppress(StorageFailed, Busy):
                    boxes.sweep(owner)
            tell = partial(self._rows, boxes)
            return overseeing.watch(
                cursor, only, parts.sessions, boxes, owner, tell, only_news=only_news, roles=parts.role_rooms
            )

    def flows(self, since: datetime) -> dict[tuple[str, str], Flow]:
        """Return what was posted since a time, by sender and addressed session, to the person."""
        if self._identity.session or not self._identity.verified:
            raise Forbidden("who writes to whom is shown to the person", remedy="restante ls")
        with self._parts.keeping.held() as boxes:
            return boxes.flows(self._identity.owner, since) if boxes else {}

    def persistence(self) -> Persistence:
        """Return whether the mail of sessions is kept on disk; see ``Window.persistence``."""
        return self._exchange.persistence()

    def set_persistence(self, is_on: bool) -> Persistence:
        """Switch it; see ``Window.set_persistence``."""
        identifying.check_is_person(self._identity)
        if is_on:
            # The way back for whoever has no server: what cannot be read is kept, under another name.
            self._parts.keeping.mend()
        self._parts.keeping.switch(is_on)
        if not is_on:
            self._exchange.clear_texts()
        return self._exchange.persistence()

    # -- helpers -------------------------------------------------------------------------------------------

    def _own(self) -> Session:
        """Return the caller's own session.

        Raises:
            NoSuchSession: It claims to be one, and there is none; or it was deleted.
            UsageError: It is none.
        """
        identity = self._identity
        if identity.session:
            return enrolling.check_is_there(identity.session, identity.owner, self._parts.sessions)
        if identity.claimed:
            raise NoSuchSession(
                f"{identity.claimed!r} is no live session, so this is a user (unverified)",
                remedy="register it: restante session start, or give at least 8 characters of its id",
            )
        raise UsageError("you are no session: say which one is meant", remedy="restante ls")

    def _meant(self, reference: str) -> Session:
        sessions, owner = self._parts.sessions, self._identity.owner
        exact = sessions.session(reference, owner)
        return exact or meant(reference, sessions.named(reference, owner))

    def _changeable(self, reference: str, *, for_good: bool = False) -> Session:
        found = self.find(reference)
        identifying.check_may_change(self._identity, found, for_good=for_good)
        return found

    def _again(self, session: Session) -> Session:
        return enrolling.check_is_there(session.id, session.owner, self._parts.sessions)

    def _box(self, boxes: Boxes | None, session: Session) -> Box:
        return corresponding.kept(boxes).box(session.id, session.owner)

    def _read(self, target: Session, after: int, limit: int | None) -> Reading:
        is_addressee = self._identity.session == target.id
        with self._parts.keeping.held() as boxes:
            reading = corresponding.read(self._box(boxes, target), after=after, limit=limit, is_addressee=is_addressee)
        return reading._replace(names=self._called(reading.entries)) if reading.entries else reading

    def _called(self, entries: Iterable[Entry]) -> dict[str, str]:
        """Return what the sessions that wrote are called, by their addresses."""
        names = {}
        for sender in {entry.message.sender.name for entry in entries}:
            if sender.startswith("session:"):
                found = self._parts.sessions.session(sender.removeprefix("session:"), self._identity.owner)
                if found and found.name:
                    names[sender] = found.name
        return names

    def _ran_out(self, target: Session, after: int, wait: float) -> bool:
        """Wait, and return whether that was until the time was over."""
        for _ in self._parts.watcher.ticks(wait):
            with self._parts.keeping.held() as boxes:
                if corresponding.has_unseen(self._box(boxes, target), after):
                    return False
            # Whoever waits for the mail of a session that was deleted, or that ended meanwhile, waits for nothing.
            found = self._parts.sessions.session(target.id, target.owner)
            if found is None or (found.detached is not None and target.detached is None):
                return False
        return True

    def _note_collected(self, target: Session, counts: Callable[[], Counts]) -> None:
        """Let nobody be woken for what the session read."""
        if self._parts.monitors:
            from restante.services.monitoring import note_collected

            monitors, clock = self._parts.monitors, self._parts.clock
            note_collected(target.address, target.owner, target.id, counts, monitors, clock)

    def _watch_no_more(self, session: Session) -> None:
        """End what watches for a session that ended; where that cannot be written, the next look finds it gone."""
        if self._parts.monitors:
            from restante.services.disarming import session_ended

            with suppress(StorageFailed, Busy):
                session_ended(session.id, self._parts.monitors, self._parts.doorbells)

    def _park(self, session: Session, since: datetime | None, until: datetime | None) -> None:
        with suppress(StorageFailed, Busy):
            self._exchange.park(session.id, session.owner, since, until)

    def _screen(self, text: str) -> list[Finding]:
        return _screening()(text, self._parts.scanners)

    def _rows(self, boxes: Boxes | None, found: list[Session], *, with_debts: bool = True) -> list[Row]:
        now, grace = self._parts.clock.now(), self._parts.settings.server_grace
        owner, presence = self._identity.owner, self._exchange.presence
        roles = self._parts.role_rooms
        return overseeing.rows(found, boxes, owner, now, presence, grace, with_debts=with_debts, roles=roles)

    def _refreshed(self, only: list[Session] | None = None) -> list[Session]:
        """Return the owner's sessions, or just some, after what hooks and the system say of them was taken in."""
        parts, now = self._parts, self._parts.clock.now()
        known = parts.sessions.all(self._identity.owner) if only is None else only
        # Of one that was detached everything is known; there are many of them where nobody looks after a machine.
        ids = [one.id for one in known if not one.detached]
        latches, blocked = parts.turns.latches(ids), parts.turns.blocked(ids)
        found = []
        for one in known:
            session = overseeing.take_signs(
                one, parts.sessions, now, latch=latches.get(one.id), blocked=blocked.get(one.id)
            )
            if not one.detached and self._exchange.presence(one) is Presence.GONE:
                with suppress(StorageFailed, Busy, NoSuchSession):
                    enrolling.detach(one, parts.sessions, parts.turns, now)
                    session = self._again(one)
            found.append(session)
        return found


@cache
def _screening() -> Callable[[str, Sequence[Scanner]], list[Finding]]:
    """Return what screens a text by our own rules and by others: most who ask the exchange post nothing."""
    from restante.services.screening import RuleScanner, screen

    own = RuleScanner()
    return lambda text, others: screen(text, (own, *others))
