"""A window for a sandboxed agent: it looks itself, and what it cannot write down is left for its next checkpoint."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from restante.domain.errors import (
    Busy,
    NoSuchSession,
    NothingThere,
    PersistenceOff,
    Refused,
    RestanteError,
    StorageFailed,
    Unreachable,
    UsageError,
)
from restante.domain.lifecycle import Show
from restante.domain.mailbox import Counts, Posted
from restante.domain.message import Draft, Message, Priority, Scope
from restante.domain.overview import Cleared, Handed, Late
from restante.domain.receipt import Action, Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from restante.domain.case import Timeline
    from restante.domain.overview import Persistence, Reading, Row, Trace, Watched
    from restante.domain.registry import Arrival, Identity, Session
    from restante.domain.why import Explanation
    from restante.ports import Clock
    from restante.ports.sessions import Window
    from restante.system.outgoing import Outgoing, Word

# What keeps a sandboxed command from writing, however the mail is kept.
_BARRED = (StorageFailed, PersistenceOff, Unreachable)


class LeavingWindow:
    """A ``ports.sessions.Window`` that leaves posts and acknowledgements where the other one cannot store them.

    Args:
        window: The window of the same caller.
        outgoing: Where to leave things.
        clock: Where time comes from.
        time_to_live: Seconds after which a message expires that gives no earlier time.
    """

    def __init__(self, window: Window, outgoing: Outgoing, *, clock: Clock, time_to_live: float) -> None:
        self._window = window
        self._outgoing = outgoing
        self._clock = clock
        self._time_to_live = timedelta(seconds=time_to_live)

    @property
    def identity(self) -> Identity:
        """Who asks."""
        return self._window.identity

    def register(self, arrival: Arrival) -> Session:
        """See ``Window.register``."""
        return self._window.register(arrival)

    def detach(self, session: str = "") -> Session:
        """See ``Window.detach``."""
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
        """Post to a session, or leave it; a message that is left has no id yet. See ``Window.post``."""
        try:
            return self._window.post(to, draft, allow_warnings=allow_warnings)
        except _BARRED as error:
            self._check_may_be_on_disk()
            target = self._row(to, error)
            now = self._clock.now()
            # Its time runs from now on: carried late, or put there again by somebody, it is an order of long ago.
            draft = draft._replace(expires=draft.expires or now + self._time_to_live)
            fields = {"to": target.session.id, "allow_warnings": allow_warnings, **_of_draft(draft)}
            name = self._leave("post", fields, error)
            try:
                self._check_may_be_on_disk()
            except PersistenceOff:
                # Switched off meanwhile: whoever did so may have looked before this was there.
                self._outgoing.drop(name)
                raise
            message = Message("", 0, target.session.address, now, draft.body, self.identity.sender, draft.priority)
            return Handed(Posted(message), target.session, target.counts, target.presence, is_left=True)

    def read(
        self, session: str = "", *, after: int = 0, limit: int | None = None, wait: float | None = None
    ) -> Reading:
        """See ``Window.read``."""
        return self._window.read(session, after=after, limit=limit, wait=wait)

    def timeline(self, session: str, *, before: int = 0, limit: int = 50, show: Show = Show.ALL) -> Timeline:
        """See ``Window.timeline``."""
        return self._window.timeline(session, before=before, limit=limit, show=show)

    def confirm(self, message_ids: Sequence[str], session: str = "", *, only_noticed: bool = False) -> None:
        """Record that messages were handed over, or leave it to be recorded. See ``Window.confirm``."""
        try:
            self._window.confirm(message_ids, session, only_noticed=only_noticed)
        except _BARRED as error:
            self._leave("confirm", {"ids": list(message_ids), "only_noticed": only_noticed}, error)

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
        """Acknowledge messages, or leave it. See ``Window.acknowledge``."""
        try:
            return self._window.acknowledge(
                message_ids, session, through=through, decision=decision, action=action, summary=summary, late=late
            )
        except _BARRED as error:
            fields = {
                "ids": list(message_ids),
                "through": through,
                "decision": decision,
                "action": action,
                "summary": summary,
            }
            self._leave("acknowledge", fields, error)
            removed, counts = self._after(message_ids, through=through)
            return Cleared(removed, counts, is_left=True)

    def receipts(self, message_ids: Sequence[str] = (), *, limit: int = 100) -> list[Trace]:
        """See ``Window.receipts``."""
        return self._window.receipts(message_ids, limit=limit)

    def withdraw(self, message_id: str) -> Trace:
        """See ``Window.withdraw``."""
        return self._window.withdraw(message_id)

    def why(self, message: str) -> Explanation:
        """See ``Window.why``."""
        return self._window.why(message)

    def watch(self, cursor: str = "", sessions: Sequence[str] = (), *, wait: float | None = None) -> Watched:
        """See ``Window.watch``."""
        return self._window.watch(cursor, sessions, wait=wait)

    def persistence(self) -> Persistence:
        """See ``Window.persistence``."""
        return self._window.persistence()

    def set_persistence(self, is_on: bool) -> Persistence:
        """See ``Window.set_persistence``."""
        return self._window.set_persistence(is_on)

    def _check_may_be_on_disk(self) -> None:
        """Refuse to leave the text of a message where none may be written.

        Raises:
            PersistenceOff: Mail is not kept on disk, or that cannot be told.
        """
        with suppress(RestanteError):
            if self._window.persistence().is_on:
                return
        raise PersistenceOff(
            "this sandbox lets nothing be written but here, and the text of mail may not be written to disk",
            remedy="let the person run restante persist on, or give this command the network and the server",
        )

    def _leave(self, kind: str, fields: dict[str, Any], error: RestanteError) -> str:
        """Leave something to do, and return its name.

        Raises:
            RestanteError: The error that kept it from being done, where it cannot be left either.
        """
        try:
            return self._outgoing.leave(kind, fields)
        except RestanteError:
            raise error from None

    def _row(self, reference: str, error: RestanteError) -> Row:
        rows = self._window.sessions()
        found = [row for row in rows if row.session.id == reference]
        found = found or [row for row in rows if row.session.name == reference]
        found = found or [row for row in rows if reference and row.session.id.startswith(reference)]
        if len(found) != 1:
            raise error
        return found[0]

    def _after(self, message_ids: Sequence[str], *, through: bool) -> tuple[int, Counts]:
        """Return how many of the messages are pending, and the numbers as they will be."""
        try:
            reading = self._window.read()
        except RestanteError:
            return len(message_ids), Counts()
        last = max((one.message.number for one in reading.entries if one.message.id in message_ids), default=0)
        ending = [
            one for one in reading.entries if one.message.id in message_ids or (through and one.message.number <= last)
        ]
        unseen = sum(one.standing.seen_at is None for one in ending)
        counts = reading.counts
        return len(ending), counts._replace(pending=counts.pending - len(ending), unseen=max(0, counts.unseen - unseen))


def carry_on(outgoing: Outgoing, window: Callable[[], Window]) -> list[str]:
    """Do what was left, each thing once, in order; return what an agent has to know of those that cannot be done.

    A thing whose time may still come (a lock, a server that does not answer) stays, and those after it.

    Args:
        outgoing: Where things were left.
        window: Opens the window of the session that left them.
    """
    troubles: list[str] = []
    outgoing.clean()
    begun = datetime.now(UTC)
    for word in outgoing.words():
        try:
            _do(word, window(), begun)
        except (Busy, Unreachable, NoSuchSession, StorageFailed) as error:
            if not isinstance(error, NoSuchSession) or word.kind != "post":
                break
            troubles.append(_told(word, error))
        except (UsageError, NothingThere, Refused) as error:
            troubles.append(_told(word, error))
        except (KeyError, TypeError, ValueError):
            troubles.append(f"what was left as {word.name} cannot be understood")
        outgoing.drop(word.name)
    return troubles


def _told(word: Word, error: RestanteError) -> str:
    what = f"Your message to session {word.fields.get('to')}" if word.kind == "post" else "Your acknowledgement"
    return f"{what}, which was left for this checkpoint, was refused: {error.message}"


def _do(word: Word, window: Window, begun: datetime) -> None:
    fields = word.fields
    if word.kind == "post":
        # Its own name as the client id: carried on twice, it is posted once.
        draft = _draft_from(fields)
        draft = draft if draft.client_id else draft._replace(client_id=word.name)
        window.post(str(fields["to"]), draft, allow_warnings=fields["allow_warnings"] is True)
    elif word.kind == "confirm":
        window.confirm([str(one) for one in fields["ids"]], only_noticed=fields["only_noticed"] is True)
    elif word.kind == "acknowledge":
        decision, action = fields["decision"], fields["action"]
        window.acknowledge(
            [str(one) for one in fields["ids"]],
            through=fields["through"] is True,
            decision=Decision(decision) if decision else None,
            action=Action(action) if action else None,
            summary=str(fields["summary"]),
            # Put there again by somebody it is the word of long ago, and takes back nothing that was said since.
            late=Late(word.said, begun),
        )
    else:
        raise ValueError(word.kind)


def _of_draft(draft: Draft) -> dict[str, Any]:
    texts = {name: getattr(draft, name) for name in ("body", "subject", "type", "conversation", "parent", "client_id")}
    expires = draft.expires.isoformat() if draft.expires else None
    return {**texts, "priority": draft.priority.value, "scope": draft.scope.value, "expires": expires}


def _draft_from(fields: dict[str, Any]) -> Draft:
    return Draft(
        str(fields["body"]),
        priority=Priority(fields["priority"]),
        scope=Scope(fields["scope"]),
        subject=str(fields["subject"]),
        type=str(fields["type"]),
        conversation=str(fields["conversation"]),
        parent=str(fields["parent"]),
        expires=datetime.fromisoformat(fields["expires"]) if fields["expires"] else None,
        client_id=str(fields["client_id"]),
    )
