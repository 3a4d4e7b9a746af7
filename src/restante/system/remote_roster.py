"""The roles of teams that a server keeps: ``ports.roles.Roles`` over HTTP."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from restante.domain import wire, wire_roles
from restante.domain.case import Case, Timeline
from restante.domain.errors import NothingThere, Refused
from restante.domain.team import is_for_everybody, parse_role, parse_team
from restante.system.transport import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from restante.config import Settings
    from restante.domain.lifecycle import Status
    from restante.domain.mailbox import Changes, Entry
    from restante.domain.message import Draft
    from restante.domain.overview import Cleared, Late, Trace
    from restante.domain.receipt import Action, Decision
    from restante.domain.registry import Identity
    from restante.domain.team import Copy, RoleReading, Seat, Tally
    from restante.ports import Clock
    from restante.system.remote import RemoteWindow

_Value = TypeVar("_Value")

# A server tells nobody when mail comes to a role; it is asked so often while somebody waits.
_PAUSE_SECONDS = 1.0
# As many as a server tells at once.
_MOST_HISTORY = 1000


class RemoteRoster:
    """What a caller can ask of the roles that a server keeps.

    Args:
        window: The caller's window onto the same server.
        clock: Where time comes from.
        settings: The values in force here.
    """

    def __init__(self, window: RemoteWindow, clock: Clock, settings: Settings) -> None:
        self._window = window
        self._clock = clock
        self._settings = settings
        self._names: dict[str, str] = {}
        self._knows_roles = True
        self.freed: tuple[str, ...] = ()

    @property
    def identity(self) -> Identity:
        """Who asks, as the server sees it."""
        return self._window.identity

    @property
    def clock(self) -> Clock:
        """Where time comes from."""
        return self._clock

    @property
    def settings(self) -> Settings:
        """The values in force."""
        return self._settings

    def join(self, role: str, *, worktree: str = "") -> Seat:
        """Make a role a member of its team; see ``Roster.join``."""
        return self._ask(wire_roles.seat_from, "POST", f"{_path(role)}/join", body={"workingDir": worktree})

    def leave(self, role: str) -> bool:
        """Take a role out of its team; see ``Roster.leave``."""
        answer = self._ask(dict, "POST", f"{_path(role)}/leave")
        self.freed = tuple(answer.get("automations", ()))
        return answer["left"] is True

    def act_as(self, role: str) -> Seat:
        """Let the calling session hold a role; see ``Roster.act_as``."""
        return self._ask(wire_roles.seat_from, "POST", f"{_path(role)}/act-as")

    def drop(self, role: str) -> str:
        """Let go of a role; see ``Roster.drop``."""
        answer = self._ask(dict, "POST", f"{_path(role)}/drop")
        self.freed = tuple(answer.get("automations", ()))
        return answer["released"] or ""

    def seats(self, team: str = "") -> list[Seat]:
        """Return the roles of a team, or of all; see ``Roster.seats``."""
        query: dict[str, str | int] = {"team": parse_team(team)} if team else {}
        return self._ask(
            lambda value: [wire_roles.seat_from(one) for one in value["roles"]], "GET", "/teams", query=query
        )

    def mine(self) -> list[str]:
        """Return the addresses of the roles that the calling session holds; none of a server that knows no roles."""
        return [reading.role for reading in self.readings(limit=1)]

    def post(self, to: str, draft: Draft, *, allow_warnings: bool = False) -> list[Copy]:
        """Post to a role or a team; see ``Roster.post``. Always under a client id: a lost answer is asked for again."""
        path = f"/teams/{quoted(parse_team(to))}/*" if is_for_everybody(to) else _path(to)
        body = wire.of_draft(draft, allow_warnings=allow_warnings)
        if not draft.client_id:
            from os import urandom

            body["clientMessageId"] = f"auto-{urandom(16).hex()}"
        return self._ask(
            lambda value: [wire_roles.copy_from(one) for one in value["copies"]], "POST", f"{path}/inbox", body=body
        )

    def read(self, role: str, *, after: int = 0, limit: int | None = None) -> RoleReading:
        """Return the pending mail of a role; see ``Roster.read``."""
        query = {name: value for name, value in (("after", after), ("limit", limit)) if value}
        return self._ask(self._reading_from, "GET", f"{_path(role)}/inbox", query=query)

    def wait(self, role: str, seconds: float) -> bool:
        """Wait until something in a role's mailbox is unseen; see ``Roster.wait``."""
        end = time.monotonic() + seconds
        while not self.read(role, limit=1).counts.unseen:
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _PAUSE_SECONDS))
        return True

    def readings(self, *, limit: int | None = None) -> list[RoleReading]:
        """Return the pending mail of the calling session's roles; none of a server that knows no roles."""
        if not self._knows_roles or not self.identity.session:
            return []
        query = {"limit": limit} if limit else {}
        try:
            return self._ask(
                lambda value: [self._reading_from(one) for one in value["readings"]], "GET", "/roles/mail", query=query
            )
        except NothingThere:
            self._knows_roles = False
            return []

    def confirm(self, role: str, message_ids: Sequence[str], *, only_noticed: bool = False) -> None:
        """Record that messages were handed over whole; see ``Roster.confirm``."""
        body = {"ids": list(message_ids), "noticed": only_noticed}
        self._ask(wire.counts_from, "POST", f"{_path(role)}/inbox/seen", body=body)

    def acknowledge(
        self,
        role: str,
        message_ids: Sequence[str],
        *,
        through: bool = False,
        decision: Decision | None = None,
        action: Action | None = None,
        summary: str = "",
        late: Late | None = None,
    ) -> Cleared:
        """Acknowledge messages of a role; see ``Roster.acknowledge``."""
        given = {
            "decision": decision.value if decision else None,
            "action": action.value if action else None,
            "summary": summary or None,
            "saidAt": wire.of_time(late.said) if late else None,
            "carriedAt": wire.of_time(late.begun) if late else None,
        }
        which: dict[str, object] = {"through": message_ids[0]} if through else {"ids": list(message_ids)}
        body = {**which, **{field: value for field, value in given.items() if value is not None}}
        return self._ask(wire.cleared_from, "POST", f"{_path(role)}/inbox/ack", body=body)

    def locate(self, message_ids: Sequence[str]) -> dict[str, str]:
        """Return in which of the caller's roles messages are; see ``Roster.locate``."""
        return self._places(message_ids, refuses=False)

    def check_not_of_others(self, message_ids: Sequence[str]) -> None:
        """Refuse to act on mail of a role that the calling session does not hold."""
        self._places(message_ids, refuses=True)

    def _places(self, message_ids: Sequence[str], *, refuses: bool) -> dict[str, str]:
        if not self._knows_roles or not message_ids:
            return {}
        query: dict[str, str | int] = {"ids": ",".join(message_ids), **({"refuse": 1} if refuses else {})}
        try:
            return self._ask(lambda value: dict(value["places"]), "GET", "/roles/places", query=query)
        except NothingThere:
            self._knows_roles = False
            return {}

    def receipts(self, message_ids: Sequence[str] = (), *, limit: int = 100) -> list[Trace]:
        """Return nothing: the server tells of posts to sessions and to roles together."""
        del message_ids, limit
        return []

    def withdraw(self, message_id: str) -> Trace:
        """Take back what the caller posted."""
        return self._window.withdraw(message_id)

    def history(self, what: str, *, limit: int = 20) -> tuple[list[Entry], int]:
        """Return the newest messages of a role or a team; see ``Roster.history``."""
        is_team = "/" not in what or is_for_everybody(what)
        path = f"/teams/{quoted(parse_team(what))}/*" if is_team else _path(what)

        def read(value: Any) -> tuple[list[Entry], int]:  # noqa: ANN401
            self._learn(value["messages"])
            return [wire.entry_from(one) for one in value["messages"]], value["older"]

        return self._ask(read, "GET", f"{path}/history", query={"limit": min(limit, 1000)})

    def timeline(self, role: str, *, before: int, limit: int, fits: Callable[[Status], bool]) -> Timeline:
        """Return the newest messages of a role; a server tells how far each came, and not what was said of it."""
        entries, _ = self.history(role, limit=_MOST_HISTORY)
        found = [
            Case(one, (), ())
            for one in reversed(entries)
            if fits(one.standing.status) and (not before or one.message.number < before)
        ]
        shown = tuple(found[:limit])
        return Timeline(shown, shown[-1].entry.message.number if len(found) > limit else 0, dict(self._names))

    def tally(self, role: str) -> Tally:
        """Return how far the mail of a role got."""
        return self._ask(wire_roles.tally_from, "GET", f"{_path(role)}/tally")

    def name_of(self, sender: str) -> str:
        """Return what the session of a sender is called, as far as an answer told it."""
        return self._names.get(sender, "")

    def tip(self, role: str) -> str:
        """Refuse: a server does not tell what happens in a role's mailbox."""
        raise self._untold(role)

    def follow(self, role: str, cursor: str, seconds: float | None = None) -> Iterator[Changes]:
        """Refuse: a server does not tell what happens in a role's mailbox."""
        del cursor, seconds
        raise self._untold(role)

    def changes(self, role: str, cursor: str) -> Changes:
        """Refuse: a server does not tell what happens in a role's mailbox."""
        del cursor
        raise self._untold(role)

    def _untold(self, role: str) -> Refused:
        return Refused(
            f"what happens in {role} is not told by a server",
            remedy=f"restante inbox {role} --wait, or run it on the server's machine",
        )

    def _reading_from(self, value: Any) -> RoleReading:  # noqa: ANN401
        self._learn(value["messages"])
        return wire_roles.role_reading_from(value)

    def _learn(self, messages: Sequence[Any]) -> None:
        for one in messages:
            if one.get("fromName"):
                self._names[f"session:{one['from']}"] = str(one["fromName"])

    def _ask(
        self,
        reader: Callable[[Any], _Value],
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        query: dict[str, Any] | None = None,
    ) -> _Value:
        return self._window.understood(reader, self._window.ask(method, path, body=body, query=query))


def _path(role: str) -> str:
    team, _, name = parse_role(role).partition("/")
    return f"/teams/{quoted(team)}/{quoted(name)}"
