"""Mail between sessions: the public Python API beside ``office``, which is about one worktree.

    >>> from restante import Draft
    >>> from restante.domain.registry import Arrival, Claim, Identity
    >>> from restante.wiring.sessions import open_exchange
    >>> exchange = open_exchange({"RESTANTE_DATA": "data"}, holds_mail=True)
    >>> anybody = exchange.window(Identity())
    >>> sessions = [anybody.register(Arrival(f"session-{name}", name=name)) for name in ("planner", "worker")]
    >>> window = exchange.window(exchange.identify(Claim(session="session-worker")))
    >>> window.post("planner", Draft("The parser is done.")).counts.unseen
    1

An exchange serves any number of callers; what one of them may ask is a ``ports.sessions.Window``. It holds no state
of its own but what its parts keep.
"""

from __future__ import annotations

from _thread import get_ident
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante.domain.errors import Busy, StorageFailed, Unreadable
from restante.domain.overview import Upkeep
from restante.domain.registry import Identity, Presence
from restante.exchange.window import LocalWindow
from restante.services import enrolling, identifying

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from restante.config import Settings
    from restante.domain.account import Dismissed
    from restante.domain.mailbox import Counts
    from restante.domain.overview import Persistence
    from restante.domain.registry import Claim, Session
    from restante.ports import Clock, Scanner, Watcher
    from restante.ports.explaining import Surroundings
    from restante.ports.monitoring import Doorbells, Monitors
    from restante.ports.sessions import Accounts, Keeping, Leavings, Processes, SessionBell, Sessions, Turns
    from restante.ports.teams import RoleBoxes, Teams
    from restante.roster import Roster


class Spell(NamedTuple):
    """Since and until when a session itself waits for its mail; ``None`` for no longer."""

    session_id: str
    owner: str
    since: datetime | None
    until: datetime | None


class ExchangeParts(Protocol):
    """What an exchange is made of."""

    @property
    def settings(self) -> Settings:
        """The values in force."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""

    @property
    def sessions(self) -> Sessions:
        """The register."""

    @property
    def keeping(self) -> Keeping:
        """Where the mail is, as persistence is set now."""

    @property
    def turns(self) -> Turns:
        """What hooks say of turns."""

    @property
    def processes(self) -> Processes:
        """Which processes live here."""

    @property
    def bell(self) -> SessionBell:
        """The sign for the hooks of worktrees."""

    @property
    def doorbells(self) -> Doorbells:
        """The sign for whoever monitors a mailbox."""

    @property
    def monitors(self) -> Monitors | None:
        """Who is woken for which mailbox; ``None`` where nothing was ever armed."""

    @property
    def leavings(self) -> Leavings:
        """What sandboxed sessions left in their worktrees."""

    @property
    def scanners(self) -> Sequence[Scanner]:
        """What screens a text beside our own rules."""

    @property
    def watcher(self) -> Watcher:
        """What hints at changes, for whoever waits without a server."""

    @property
    def surroundings(self) -> Surroundings:
        """What the machine knows around its mailboxes."""

    @property
    def accounts(self) -> Accounts:
        """The accounts of multi-user mode."""

    def roster(self, identity: Identity) -> Roster:
        """Return what a caller can ask of the roles of teams."""

    @property
    def role_rooms(self) -> tuple[Teams, RoleBoxes] | None:
        """Where roles are, and their mail; ``None`` where there are none yet."""

    def close(self) -> None:
        """Let go of the databases, and of mail that is in memory only."""


class Exchange:
    """Keeps the sessions of one machine, or of several, and their mail."""

    def __init__(self, parts: ExchangeParts) -> None:
        self._parts = parts
        # Whom to ring once the block is left that a thread is in.
        self._to_ring: dict[int, list[str]] = {}

    @property
    def settings(self) -> Settings:
        """The values in force."""
        return self._parts.settings

    @property
    def clock(self) -> Clock:
        """Where time comes from."""
        return self._parts.clock

    @property
    def accounts(self) -> Accounts:
        """The accounts of multi-user mode, which is on as soon as there is one."""
        return self._parts.accounts

    @property
    def watcher(self) -> Watcher:
        """What hints at changes by other processes."""
        return self._parts.watcher

    @property
    def keeping(self) -> Keeping:
        """Where the mail of sessions is."""
        return self._parts.keeping

    @property
    def is_near(self) -> bool:
        """Whether all is kept in files and memory of this machine, so that a few statements take no time."""
        return not self._parts.settings.database_url

    def identify(self, claim: Claim) -> Identity:
        """Return who asks. Never an error: what is not proven or claims no live session is "user, unverified".

        ``Identity.claimed`` keeps a claim that names no session, so that a face can warn of it.
        """
        sessions = self._parts.sessions
        identity, session = identifying.identify(claim, sessions, self.is_live)
        if session:
            identifying.hear_of(session, sessions, self._now())
        return identity

    def trust_person(self, token: str, owner: str = "") -> None:
        """Take a token for the proof of being the person; only its digest is kept."""
        identifying.trust_person(token, self._parts.sessions, owner)

    def distrust_person(self, token: str, owner: str = "") -> None:
        """Take a token for that proof no longer."""
        identifying.distrust(self.mark_of(token), Identity(owner, verified=True), self._parts.sessions)

    @staticmethod
    def mark_of(token: str) -> str:
        """Return by what a token can be told that is taken for proof; nobody finds the token by it."""
        return identifying.mark_of(token)

    def roster(self, identity: Identity) -> Roster:
        """Return what a caller can ask of the roles of teams."""
        return self._parts.roster(identity)

    def window(self, identity: Identity) -> LocalWindow:
        """Return what a caller can ask."""
        return LocalWindow(self._parts, identity, self)

    @contextmanager
    def together(self, *, at_once: bool = False) -> Iterator[None]:
        """Make everything that this thread does in the block durable at once, when it ends.

        A call within that fails is undone alone. Nothing may be told as done before the block was left without an
        error. After an error on leaving no call is promised: mail is undone, or was stored a moment before the register
        failed, and posting again under the same client id tells which. ``set_persistence`` and ``upkeep`` do not go
        into such a block.

        Args:
            at_once: Raise ``Busy`` within the block where another process would have to be waited for. Such a block may
                be left in another thread.
        """
        thread, to_ring = get_ident(), list[str]()
        self._to_ring[thread] = to_ring
        try:
            with self._parts.keeping.held(at_once=at_once) as boxes:
                if boxes is None:
                    with self._parts.sessions.together(at_once=at_once):
                        yield
                else:
                    with self._parts.sessions.together(at_once=at_once), boxes.together(at_once=at_once):
                        yield
        finally:
            if self._to_ring.get(thread) is to_ring:
                del self._to_ring[thread]
        for address in dict.fromkeys(to_ring):
            self._parts.doorbells.ring(address)

    def write_now(self) -> None:
        """Write what this thread's block of ``together`` put off, so that leaving it is little but the disk's work.

        Raises:
            StorageFailed: It cannot be written; all of the block is undone, and leaving it raises the same.
        """
        with self._parts.keeping.held() as boxes:
            if boxes is not None:
                boxes.write_now()

    def ring(self, address: str) -> None:
        """Ring for a mailbox that was posted to, once that is durable: now, or when this thread's block is left."""
        waiting = self._to_ring.get(get_ident())
        if waiting is None:
            self._parts.doorbells.ring(address)
        else:
            waiting.append(address)

    def park(self, session_id: str, owner: str, since: datetime | None, until: datetime | None) -> None:
        """Record since and until when a session itself waits for its mail; ``None`` for no longer.

        Only a receiver's own wait is recorded; the grace after it (``server.grace``) is added where it is told.
        """
        with self._parts.sessions.lightly():
            self._parts.sessions.park(session_id, owner, since, until)

    def park_all(self, spells: Iterable[Spell]) -> None:
        """Record many waits at once; see ``park``."""
        with self._parts.sessions.lightly():
            for session_id, owner, since, until in spells:
                self._parts.sessions.park(session_id, owner, since, until)

    def presence(self, session: Session) -> Presence:
        """Tell what is proven of a session."""
        return identifying.presence_of(session, self._parts.processes, self._now(), self.settings.session_ttl)

    def dismiss(self, account: str, *, ends_sessions: bool = False) -> Dismissed:
        """Remove an account of multi-user mode.

        Args:
            account: Its name.
            ends_sessions: End its sessions for good, with their mail; else they stay, shut out.

        Raises:
            NothingThere: There is none.
        """
        from restante.services.dismissing import dismiss

        parts = self._parts
        with parts.keeping.held() as boxes:

            def end(session: Session) -> None:
                enrolling.delete(session, parts.sessions, parts.turns, parts.bell, boxes, self._now())

            return dismiss(account, parts.accounts, parts.sessions, end, ends_sessions=ends_sessions)

    def is_live(self, session: Session) -> bool:
        """Tell whether a session lives, as far as can be told."""
        return self.presence(session) in (Presence.ALIVE, Presence.UNKNOWN)

    def is_awaited(self, worktree: str, but: str) -> bool:
        """Tell whether mail may wait for sessions of a worktree that live and belong to others than one owner.

        Where another process holds the mail in its memory that cannot be told, and it may.
        """
        here = [one for one in self._parts.sessions.at(worktree) if one.owner != but and self.is_live(one)]
        if not here:
            return False
        with self._parts.keeping.held() as boxes:
            return boxes is None or enrolling.waits_for(here, boxes)

    def is_there(self, identity: Identity) -> bool:
        """Tell whether a caller is a session that is registered and lives."""
        found = self._parts.sessions.session(identity.session, identity.owner) if identity.session else None
        return found is not None and self.is_live(found)

    def clear_texts(self) -> None:
        """Take the text of messages away that sandboxed sessions left in worktrees to be carried on."""
        sessions = self._parts.sessions
        places = {one.worktree for owner in sessions.owners() for one in sessions.all(owner) if one.worktree}
        for worktree in sorted(places):
            self._parts.leavings.drop_texts(worktree)

    def persistence(self) -> Persistence:
        """Return whether the mail of sessions is kept on disk."""
        return self._parts.keeping.persistence()

    def tally(self) -> list[Counts]:
        """Return the numbers of all mailboxes of all owners, without whose they are."""
        with self._parts.keeping.held() as boxes:
            return [one for owner in boxes.owners() for one in boxes.counts(owner).values()] if boxes else []

    def expired(self) -> int:
        """Record what expired, and return how many messages this process found expired so far."""
        with self._parts.keeping.held() as boxes:
            if boxes is None:
                return 0
            with suppress(StorageFailed, Busy):
                for owner in boxes.owners():
                    boxes.sweep(owner)
            return boxes.expired

    def upkeep(self) -> Upkeep:
        """Clear away what nobody can need: at the start of a server, and now and then.

        Never an error because of what is stored: a file of mail that cannot be read is set aside and told, and
        without a register that was read whole nothing is pruned. ``problem`` says why. Whoever has sessions or mail
        is looked after, also where there never was, or no longer is, an account.
        """
        from restante.services import upkeep

        parts = self._parts
        set_aside: tuple[str, ...] = ()
        pruned: list[str] = []
        forgotten: list[str] = []
        try:
            set_aside = parts.keeping.mend()
            if not self.persistence().is_on:
                self.clear_texts()
            with parts.keeping.held() as boxes:
                owners = {*parts.sessions.owners(), *(boxes.owners() if boxes else ())}
            for owner in sorted(owners):
                with parts.keeping.held() as boxes:
                    pruned += upkeep.prune(parts.sessions, boxes, owner) if boxes else []
                    forgotten += upkeep.forget(parts.sessions, parts.turns, boxes, owner, self._now(), self.presence)
        except (StorageFailed, Busy, Unreadable) as error:
            return Upkeep(tuple(pruned), tuple(forgotten), set_aside, error.message)
        return Upkeep(tuple(pruned), tuple(forgotten), set_aside)

    def close(self) -> None:
        """Let go of the databases, and of mail that is in memory only."""
        self._parts.close()

    def _now(self) -> datetime:
        return self._parts.clock.now()
