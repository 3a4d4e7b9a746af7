"""The window of a caller onto an exchange that a server keeps: ``ports.sessions.Window`` over HTTP.

What is read is asked for as a look: mail counts as seen when ``confirm`` says so, after it was shown whole. Waits go in
slices, because what stands between a client and a server ends requests that take long.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from restante.domain import wire
from restante.domain.account import Dismissed
from restante.domain.errors import NoSuchSession, Unauthorized, Unreachable, UsageError
from restante.domain.lifecycle import Show
from restante.domain.limits import Limits, check_text
from restante.domain.naming import meant
from restante.system.transport import Transport, basic_header, place_of, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from restante.domain.case import Timeline
    from restante.domain.message import Draft, Message
    from restante.domain.overview import Cleared, Handed, Late, Persistence, Reading, Row, Trace, Watched
    from restante.domain.receipt import Action, Decision
    from restante.domain.registry import Arrival, Claim, Identity, Session
    from restante.domain.why import Explanation

_Value = TypeVar("_Value")

SLICE_SECONDS = 50.0
# How client ids begin that nobody chose.
_MADE_UP = "auto-"
_NO_LIMIT = Limits(message_bytes=2**62)
# A server holds shorter waits for mistakes, and makes them this long.
_LEAST_WAIT_MS = 1000
_MOST_IDS = 200
# A wait that is answered at once with nothing must not become a loop without a pause.
_PAUSE_SECONDS = 0.2


class RemoteWindow:
    """What a caller can ask of a server.

    Args:
        url: Where it answers, with a name and a password where it has accounts: ``https://NAME:PASSWORD@HOST``.
        claim: What the caller shows of itself.
        slice_seconds: How long one request of a wait takes at most.
        remedy: What to do when nobody answers there.

    Raises:
        UsageError: The URL is none.
    """

    def __init__(self, url: str, claim: Claim, *, slice_seconds: float = SLICE_SECONDS, remedy: str = "") -> None:
        place = place_of(url)
        headers = basic_header(place)
        # A person whose name and password are in the URL is who these say; a session is itself by its secret.
        if claim.secret and (claim.session or not headers):
            headers = {"Authorization": f"Bearer {claim.secret}"}
        if claim.session:
            headers["X-Restante-Session"] = claim.session
        # Whoever is not known to a server yet proves the owner by a password, and from then on itself by its secret.
        self._first_headers = basic_header(place)
        self._transport = Transport(place, headers, remedy=remedy)
        self._url = place.url
        self._slice = slice_seconds
        self._identity: Identity | None = None

    @property
    def identity(self) -> Identity:
        """Who asks, as the server sees it."""
        if self._identity is None:
            self._identity = self.understood(wire.identity_from, self._transport.ask("GET", "/whoami"))
        return self._identity

    def ask(
        self, method: str, path: str, *, body: dict[str, Any] | None = None, query: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401
        """Ask the server something else in the caller's name; return what its answer holds."""
        return self._transport.ask(method, path, body=body, query=query or {})

    # -- sessions ------------------------------------------------------------------------------------------

    def register(self, arrival: Arrival) -> Session:
        """Register a session, or attach it again; see ``Window.register``."""
        headers = {} if self._is_known() else self._first_headers
        self._identity = None
        body = wire.of_arrival(arrival)
        return self._session_in(self._transport.ask("POST", "/sessions", body=body, headers=headers))

    def _is_known(self) -> bool:
        """Tell whether the server knows the caller by its secret, which says more than the owner's password does."""
        try:
            return self._first_headers != {} and self.identity.session != "" and self.identity.verified
        except Unauthorized:
            return False

    def detach(self, session: str = "") -> Session:
        """Record that a session's process ended; see ``Window.detach``."""
        return self._session_in(self._transport.ask("POST", f"{self._path(session)}/detach"))

    def delete(self, session: str) -> Session:
        """End a session for good, with its mail; see ``Window.delete``."""
        return self._session_in(self._transport.ask("DELETE", self._path(session), is_safe=False))

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
        given = {"name": name, "blocked": blocked, "openTodos": open_todos, "totalTodos": total_todos}
        body = {field: value for field, value in given.items() if value is not None}
        return self._session_in(self._transport.ask("PATCH", self._path(session), body=body))

    def turn(self, session: str = "", *, has_ended: bool, source: str = "hook") -> Session:
        """Set the turn latch; see ``Window.turn``."""
        body = {"ended": has_ended, "source": source}
        return self._session_in(self._transport.ask("POST", f"{self._path(session)}/turn", body=body, is_safe=False))

    def sessions(self) -> list[Row]:
        """Return every session of the owner with the numbers of its mailbox; see ``Window.sessions``.

        Of a server that knows no such numbers, rows that say so.
        """
        answer = self._transport.ask("GET", "/sessions", query={"inbox": 1})
        return self.understood(lambda value: [wire.row_from(one) for one in _listed(value, "sessions")], answer)

    # -- mail ----------------------------------------------------------------------------------------------

    def post(self, to: str, draft: Draft, *, allow_warnings: bool = False) -> Handed:
        """Post to a session; see ``Window.post``. Always under a client id: a lost answer is asked for again."""
        if not draft.body.strip():
            raise UsageError("the message is empty", remedy="give the text as an argument, or - to read it from stdin")
        # What is no text has no form in JSON that a server could take for what it is.
        check_text(draft.body, _NO_LIMIT)
        body = wire.of_draft(draft._replace(type="guidance"), allow_warnings=allow_warnings)
        if not draft.client_id:
            from os import urandom

            body["clientMessageId"] = f"{_MADE_UP}{urandom(16).hex()}"
        answer = self._transport.ask("POST", f"{self._path(to)}/inbox", body=body)
        handed = self.understood(wire.handed_from, answer)
        return handed._replace(posted=handed.posted._replace(message=_as_named(handed.posted.message)))

    def read(
        self, session: str = "", *, after: int = 0, limit: int | None = None, wait: float | None = None
    ) -> Reading:
        """Return pending messages; see ``Window.read``."""
        began = time.monotonic()
        # What an answer that was lost showed is seen, and ends no wait: a plain look comes first.
        reading = self._look(session, after, limit, None)
        if wait is None or _has_unseen(reading, after):
            return reading
        deadline = began + wait
        while (left := deadline - time.monotonic()) > 0:
            asked = time.monotonic()
            reading = self._look(session, after, limit, min(left, self._slice))
            if _has_unseen(reading, after):
                return reading._replace(timed_out=False, waited=time.monotonic() - began)
            if not reading.timed_out and time.monotonic() - asked < _PAUSE_SECONDS:
                time.sleep(_PAUSE_SECONDS)
        return reading._replace(timed_out=True, waited=time.monotonic() - began)

    def _look(self, session: str, after: int, limit: int | None, wait: float | None) -> Reading:
        query: dict[str, str | int] = {"peek": 1}
        if after:
            query["after"] = after
        if limit is not None:
            query["limit"] = limit
        if wait is not None:
            query["wait"] = max(_LEAST_WAIT_MS, int(wait * 1000))
        answer = self._transport.ask("GET", f"{self._path(session)}/inbox", query=query, seconds=wait or 0.0)
        reading = self.understood(wire.reading_from, answer)
        return reading._replace(entries=tuple(one._replace(message=_as_named(one.message)) for one in reading.entries))

    def timeline(self, session: str, *, before: int = 0, limit: int = 50, show: Show = Show.ALL) -> Timeline:
        """Return the newest messages of a mailbox, answered ones too; see ``Window.timeline``."""
        from restante.domain.wire_letters import timeline_from

        query: dict[str, str | int] = {"before": before, "limit": limit, "show": show.value}
        return self.understood(
            timeline_from, self._transport.ask("GET", f"{self._path(session)}/timeline", query=query)
        )

    def confirm(self, message_ids: Sequence[str], session: str = "", *, only_noticed: bool = False) -> None:
        """Record that messages were handed over whole; see ``Window.confirm``."""
        for ids in _portions(message_ids):
            body = {"ids": ids, "noticed": only_noticed}
            self._transport.ask("POST", f"{self._path(session)}/inbox/seen", body=body)

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
        if not message_ids or (through and len(message_ids) != 1):
            raise UsageError("which messages?", remedy="name at least one; with through, exactly one")
        given = {
            "decision": decision.value if decision else None,
            "action": action.value if action else None,
            "summary": summary or None,
        }
        words: dict[str, object] = {field: value for field, value in given.items() if value}
        if late:
            words |= {"saidAt": wire.of_time(late.said), "carriedAt": wire.of_time(late.begun)}
        path = f"{self._path(session)}/inbox/ack"
        removed = 0
        for ids in _portions(message_ids):
            which: dict[str, object] = {"through": ids[0]} if through else {"ids": ids}
            cleared = self.understood(wire.cleared_from, self._transport.ask("POST", path, body={**which, **words}))
            removed += cleared.removed
        return cleared._replace(removed=removed)

    def receipts(self, message_ids: Sequence[str] = (), *, limit: int = 100) -> list[Trace]:
        """Return what became of what the caller posted; see ``Window.receipts``."""
        found: list[Trace] = []
        for ids in _portions(message_ids) if message_ids else [[]]:
            query: dict[str, str | int] = {"limit": limit}
            if ids:
                query["ids"] = ",".join(ids)
            answer = self._transport.ask("GET", "/receipts", query=query)
            found += self.understood(lambda value: [wire.trace_from(one) for one in _listed(value, "receipts")], answer)
        return found[:limit]

    def withdraw(self, message_id: str) -> Trace:
        """Take back what the caller posted; see ``Window.withdraw``."""
        answer = self._transport.ask("POST", f"/receipts/{quoted(message_id)}/withdraw")
        return self.understood(wire.trace_from, answer)

    def why(self, message: str) -> Explanation:
        """Return why a message was not answered; see ``Window.why``."""
        return self.understood(wire.explanation_from, self._transport.ask("GET", f"/messages/{quoted(message)}/why"))

    # -- overseeing ----------------------------------------------------------------------------------------

    def watch(self, cursor: str = "", sessions: Sequence[str] = (), *, wait: float | None = None) -> Watched:
        """Return every session that changed since a cursor; see ``Window.watch``."""
        deadline = time.monotonic() + (wait or 0.0)
        while True:
            left = max(0.0, deadline - time.monotonic())
            query: dict[str, str | int] = {}
            if cursor:
                query["since"] = cursor
            if sessions:
                query["sessions"] = ",".join(sessions)
            if wait is not None:
                query["wait"] = max(_LEAST_WAIT_MS, int(min(left, self._slice) * 1000))
            asked = time.monotonic()
            answer = self._transport.ask("GET", "/watch", query=query, seconds=min(left, self._slice))
            watched = self.understood(wire.watched_from, answer)
            if wait is None or watched.rows or watched.gone:
                return watched
            cursor = watched.cursor
            if time.monotonic() >= deadline:
                return watched._replace(timed_out=True)
            if not watched.timed_out and time.monotonic() - asked < _PAUSE_SECONDS:
                time.sleep(_PAUSE_SECONDS)

    def persistence(self) -> Persistence:
        """Return whether the mail of sessions is kept on disk; see ``Window.persistence``."""
        return self.understood(wire.persistence_from, self._transport.ask("GET", "/persistence"))

    def set_persistence(self, is_on: bool) -> Persistence:
        """Switch it; see ``Window.set_persistence``."""
        answer = self._transport.ask("PUT", "/persistence", body={"on": is_on})
        return self.understood(wire.persistence_from, answer)

    # -- accounts ------------------------------------------------------------------------------------------

    def accounts(self) -> list[str]:
        """Return the names of the server's accounts."""
        answer = self._transport.ask("GET", "/accounts")
        return self.understood(lambda value: [str(one["name"]) for one in _listed(value, "accounts")], answer)

    def add_account(self, name: str, password: str) -> None:
        """Add an account.

        Raises:
            UsageError: The name or the password is none.
            Refused: There is one of this name.
        """
        self._transport.ask("POST", "/accounts", body={"name": name, "password": password}, is_safe=False)

    def delete_account(self, name: str, *, ends_sessions: bool = False) -> Dismissed:
        """Delete an account; its sessions stay, shut out, or end with their mail.

        Raises:
            NothingThere: There is none of this name.
        """
        query = {"sessions": 1} if ends_sessions else None
        answer = self._transport.ask("DELETE", f"/accounts/{quoted(name)}", query=query, is_safe=False)
        return self.understood(lambda value: Dismissed(value["sessionsEnded"], value["sessionsLeft"]), answer)

    # -- helpers -------------------------------------------------------------------------------------------

    def _path(self, session: str) -> str:
        """Return the path of a session; of the caller's own where none is named.

        Raises:
            NoSuchSession: The caller claims to be one, and there is none.
            UsageError: The caller is none.
        """
        if session:
            # A name may hold what parts of a path may not.
            if "/" in session or session in {".", ".."}:
                session = meant(session, [row.session for row in self.sessions()]).id
            return f"/sessions/{quoted(session)}"
        identity = self.identity
        if identity.session:
            return f"/sessions/{quoted(identity.session)}"
        if identity.claimed:
            raise NoSuchSession(
                f"{identity.claimed!r} is no live session, so this is a user (unverified)",
                remedy="register it: restante session start, or give at least 8 characters of its id",
            )
        raise UsageError("you are no session: say which one is meant", remedy="restante ls")

    def _session_in(self, answer: Any) -> Session:  # noqa: ANN401
        return self.understood(lambda value: wire.session_from(value["session"]), answer)

    def understood(self, reader: Callable[[Any], _Value], answer: Any) -> _Value:  # noqa: ANN401
        """Return what an answer says, by its reader.

        Raises:
            Unreachable: It says nothing that this version understands.
        """
        try:
            return reader(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unreachable(
                f"what answers at {self._url} speaks another version ({type(error).__name__}: {error})",
                remedy="run the same version of Restante here and there",
            ) from None


def _as_named(message: Message) -> Message:
    """Return a message under its sender's own name for it; one that was made up here is none."""
    return message._replace(client_id="") if message.client_id.startswith(_MADE_UP) else message


def _listed(value: Mapping[str, Any] | list[Any], name: str) -> list[Any]:
    """Return a list that stands under a name, or bare, as servers of other versions tell it."""
    found = value if isinstance(value, list) else value[name]
    if not isinstance(found, list):
        raise TypeError(f"{name} is no list")
    return found


def _has_unseen(reading: Reading, after: int) -> bool:
    if not after:
        return reading.counts.unseen > 0
    return any(one.standing.seen_at is None and one.message.number > after for one in reading.entries)


def _portions(ids: Sequence[str]) -> list[list[str]]:
    return [list(ids[start : start + _MOST_IDS]) for start in range(0, len(ids), _MOST_IDS)]
