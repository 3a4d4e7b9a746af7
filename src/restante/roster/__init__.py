"""Teams, their roles and the mail of those: the public Python API beside ``office`` and ``exchange``.

    >>> from restante import Draft
    >>> from restante.wiring.teams import open_roster
    >>> roster = open_roster({"RESTANTE_DATA": "data"})
    >>> roster.join("parser/reviewer").member.role
    'parser/reviewer'
    >>> [copy.posted.message.mailbox for copy in roster.post("parser/reviewer", Draft("Look at the lexer, please."))]
    ['parser/reviewer']
    >>> roster.seats("parser")[0].counts.unseen
    1

A roster serves one caller. A role is held by one session at a time; only that one reads and acknowledges its mail, a
person may look. Everything that the holder changes is fenced: it is refused once another session has taken the role.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import (
    Forbidden,
    MailboxDeleted,
    MailboxFull,
    NoSuchMessage,
    NothingThere,
    RoleHeld,
    UsageError,
)
from restante.domain.ids import is_well_formed, resolve
from restante.domain.limits import Limits, check_head
from restante.domain.team import (
    Copy,
    RoleReading,
    is_for_everybody,
    parse_role,
    parse_team,
    tally,
    team_of,
)
from restante.roster.awaiting import Awaiting
from restante.roster.seats import RosterParts
from restante.services import corresponding, holding, monitoring, mustering, posting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from restante.domain.case import Timeline
    from restante.domain.finding import Finding
    from restante.domain.lifecycle import Status
    from restante.domain.mailbox import Changes, Counts, Entry
    from restante.domain.message import Draft
    from restante.domain.monitor import Signal
    from restante.domain.overview import Cleared, Late, Trace
    from restante.domain.receipt import Action, Decision
    from restante.domain.registry import Identity
    from restante.domain.team import Member, Tally
    from restante.ports import Mailbox

__all__ = ["Roster", "RosterParts"]

_PAGE = 200


class Roster(Awaiting):
    """Keeps who holds the roles of teams, and their mail, for one caller. Errors are those of ``domain.errors``.

    Args:
        parts: What it is made of.
        identify: Tells who asks; asked when it is first needed.
    """

    def __init__(self, parts: RosterParts, identify: Callable[[], Identity]) -> None:
        super().__init__(parts, identify)
        # Under which lease the caller read each role: what it then says of that mail is said under this one.
        self._read_under: dict[str, int] = {}

    def drop(self, role: str) -> str:
        """Let go of a role; see ``Seats.drop``."""
        self._read_under.pop(role, None)
        return super().drop(role)

    def post(self, to: str, draft: Draft, *, allow_warnings: bool = False, signal: Signal | None = None) -> list[Copy]:
        """Post to a role, or with ``TEAM/*`` or ``TEAM/`` to all roles of a team but the caller's own: a copy for each.

        The copies of one post to a team belong to one conversation. A copy that a full mailbox refuses is told, and
        keeps no other from being posted; posting again under the same client id posts what is missing.

        Args:
            to: Whom.
            draft: What; whatever it says, it is from who asks.
            allow_warnings: Post although screening found something.
            signal: What it says of an action.

        Raises:
            NothingThere: No such role, or team, has joined; near names are told.
            UsageError: The text is empty, or a session posts to itself.
            TooLarge: It is over the limit of a message.
            MailboxFull: The mailbox of the one role is full.
            Conflict: The client id was used for another text.
            Screened: Screening found something, and warnings were not allowed.
        """
        parts, identity = self._parts, self.identity
        now = parts.clock.now()
        members, is_broadcast = self._recipients(to)
        limits = Limits(message_bytes=parts.settings.message_bytes)
        check_head(draft, limits)
        posting.check_expiry(draft.expires, now)
        posting.check_draft(draft, limits, self._screen, allow_warnings=allow_warnings)
        draft = mustering.stamped(draft, identity)
        if is_broadcast:
            name = mustering.conversation(draft, team_of(members[0].role), parts.ids, now)
            draft = draft._replace(conversation=draft.conversation or name)
        copies: list[Copy] = []
        for member in members:
            try:
                posted = self._post(member, draft, signal)
            except MailboxFull as error:
                if not is_broadcast:
                    raise
                copies.append(Copy(member.role, None, problem=error))
                continue
            holder = self._holder(member)
            counts = parts.role_boxes.box(member.role, identity.owner).counts()
            copies.append(Copy(member.role, posted, holder, counts))
            self._ring(member.role, holder)
        return copies

    def read(self, role: str, *, after: int = 0, limit: int | None = None) -> RoleReading:
        """Return the pending mail of a role: to its holder, and to a person as a look. Marks nothing: see ``confirm``.

        Raises:
            NothingThere: No such role has joined.
            RoleHeld: The calling session does not hold it.
            Forbidden: Nothing proves who asks.
        """
        role = parse_role(role)
        if self.identity.session:
            generation = self.check_holder(role).generation
        else:
            self._member(role)
            self._check_may_look()
            generation = 0
        return self._read(role, generation, after, limit)

    def wait(self, role: str, seconds: float) -> bool:
        """Wait until something in a role's mailbox is unseen, and tell whether it is; raises as ``read``."""
        return any(self.read(role, limit=1).counts.unseen for _ in self._parts.watcher.ticks(seconds))

    def readings(self, *, limit: int | None = None) -> list[RoleReading]:
        """Return the pending mail of all roles that the calling session holds, and record that it was heard of."""
        parts = self._parts
        found: list[RoleReading] = []
        self.notice_expiries()
        members = self._held()
        if not members:
            return []
        session = self.session()
        for member in members:
            lease = holding.renew(member, session, parts.teams, parts.sessions, parts.processes, parts.clock.now())
            if lease:
                found.append(self._read(member.role, lease.generation, 0, limit))
        return found

    def confirm(self, role: str, message_ids: Sequence[str], *, only_noticed: bool = False) -> None:
        """Record that messages of a role were handed over whole to its holder.

        Raises:
            RoleHeld: The calling session holds it no longer.
        """
        box = self._fenced(role)
        corresponding.confirm(box, message_ids, self.identity, only_noticed=only_noticed)
        self._note_collected(role, box.counts)

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
        """Acknowledge messages of a role; see ``ports.sessions.Window.acknowledge``.

        Raises:
            RoleHeld: The calling session does not hold it, or no longer.
        """
        box = self._fenced(role)
        cleared = corresponding.acknowledge(
            box,
            message_ids,
            self.identity,
            through=through,
            decision=decision,
            action=action,
            summary=summary,
            late=late,
        )
        self._note_collected(role, lambda: cleared.counts)
        self._come_by()
        return cleared

    def locate(self, message_ids: Sequence[str]) -> dict[str, str]:
        """Return in which of the caller's roles messages are, by whole ids; those that are in none are left out."""
        return self._locate(message_ids, self.mine())

    def _locate(self, message_ids: Sequence[str], roles: Sequence[str]) -> dict[str, str]:
        owner = self.identity.owner
        found: dict[str, str] = {}
        for role in roles:
            box = self._parts.role_boxes.box(role, owner)
            for one in message_ids:
                with suppress(NoSuchMessage, MailboxDeleted):
                    if one not in found and box.entry(one):
                        found[one] = role
        return found

    def check_not_of_others(self, message_ids: Sequence[str]) -> None:
        """Refuse to act on mail of a role that the calling session does not hold, or no longer.

        Args:
            message_ids: Whole ids, or parts of them.

        Raises:
            RoleHeld: One of the messages is such.
        """
        mine = set(self.mine())
        others = [one for one in self._parts.teams.members("", self.identity.owner) if one.role not in mine]
        found = self._locate([self._whole(one, others) for one in message_ids], [member.role for member in others])
        for message_id, role in found.items():
            error = holding.held_by(
                next(one for one in others if one.role == role), self.identity.owner, self._parts.sessions
            )
            raise RoleHeld(
                f"{message_id} is mail of {role}, which you do not hold: {error.message}",
                remedy=error.remedy,
                details=error.details,
            )

    def receipts(self, message_ids: Sequence[str] = (), *, limit: int = 100) -> list[Trace]:
        """Return what became of what the caller posted to roles, the newest first."""
        sender, owner = self.identity.sender.name, self.identity.owner
        return self._parts.role_boxes.traces(sender, owner, message_ids=message_ids, limit=limit)

    def withdraw(self, message_id: str) -> Trace:
        """Take back what the caller posted to a role; see ``ports.sessions.Window.withdraw``."""
        from restante.services import withdrawing

        return withdrawing.withdraw(message_id, self.identity, self._parts.role_boxes)

    def history(self, what: str, *, limit: int = 20) -> tuple[list[Entry], int]:
        """Return the newest messages of a role or a whole team, the oldest of them first, and how many are older.

        A person is told everything; a session what is in the roles that it holds, and what it posted to the others.

        Args:
            what: ``TEAM/ROLE``, or ``TEAM``.
            limit: At most so many.

        Raises:
            NothingThere: No such role or team has joined, and none has mail.
        """
        from heapq import nlargest

        roles, may_be_told, count = self._roles_of(what), self._may_be_told(), 0

        def told() -> Iterator[Entry]:
            nonlocal count
            for role in roles:
                for entry in _all_of(self._parts.role_boxes.box(role, self.identity.owner)):
                    if may_be_told(entry):
                        count += 1
                        yield entry

        # Never all at once: a team's mail may be far more than fits into memory.
        newest = nlargest(max(limit, 1), told(), key=lambda entry: (entry.message.created, entry.message.id))
        shown = newest[: max(limit, 0)]
        return shown[::-1], count - len(shown)

    def timeline(
        self, role: str, *, before: int, limit: int, fits: Callable[[Status], bool], find: str = ""
    ) -> Timeline:
        """Return the newest messages of a role, with all that was said of each, to the person; it marks nothing.

        Raises:
            Forbidden: A session asks, or nobody in particular.
        """
        from restante.services.looking import timeline

        self._check_may_look()
        if self.identity.session:
            raise Forbidden("what became of a role's mail is told to the person", remedy=f"restante history {role}")
        box = self._parts.role_boxes.box(parse_role(role), self.identity.owner)
        found = timeline(box, before=before, limit=limit, fits=fits, find=find)
        senders = {case.entry.message.sender.name for case in found.cases}
        return found._replace(names={one: name for one in senders if (name := self.name_of(one))})

    def tally(self, role: str) -> Tally:
        """Return how far the mail of a role got.

        Raises:
            NothingThere: No such role has joined.
        """
        member = self._member(parse_role(role))
        return tally(self._parts.sights.look(member.role, self.identity.owner, whole=True))

    def follow(self, role: str, cursor: str, seconds: float | None = None) -> Iterator[Changes]:
        """Yield what happens in a role's mailbox from a cursor on, to its holder or a person.

        Args:
            role: ``TEAM/ROLE``.
            cursor: From an earlier answer, or empty for the beginning.
            seconds: End after so long; ``None`` to go on until stopped.

        Raises:
            RoleHeld: The calling session does not hold it.
        """
        box = self._parts.role_boxes.box(self.read(role, limit=1).role, self.identity.owner)
        for _ in self._parts.watcher.ticks(seconds):
            changes = box.changes_since(cursor)
            if changes.changes:
                if self.identity.session:
                    self.check_holder(role)
                yield changes
            cursor = changes.cursor

    def changes(self, role: str, cursor: str) -> Changes:
        """Return what happened since a cursor in the mailbox of a role that the calling session holds.

        Raises:
            RoleHeld: It does not hold it.
        """
        self.check_holder(role)
        return self._parts.role_boxes.box(parse_role(role), self.identity.owner).changes_since(cursor)

    def tip(self, role: str) -> str:
        """Return the cursor after which only what happens from now on in a role's mailbox is told."""
        return self._parts.role_boxes.box(parse_role(role), self.identity.owner).tip()

    def name_of(self, sender: str) -> str:
        """Return what the session of a sender is called; empty for nothing, or where it is no session."""
        if not sender.startswith("session:"):
            return ""
        found = self._parts.sessions.session(sender.removeprefix("session:"), self.identity.owner)
        return found.name if found else ""

    # -- helpers -------------------------------------------------------------------------------------------

    def _recipients(self, to: str) -> tuple[list[Member], bool]:
        if not is_for_everybody(to):
            member = self._member(parse_role(to))
            mustering.check_other(member, self.identity)
            return [member], False
        team = parse_team(to)
        members = self._parts.teams.members(team, self.identity.owner)
        if not members:
            raise holding.unknown_team(team, self._parts.teams.members("", self.identity.owner))
        others = [one for one in members if not mustering.is_own(one, self.identity)]
        if not others:
            raise NothingThere(f"team {team} has no roles but yours", remedy=f"restante team {team}")
        return others, True

    def _roles_of(self, what: str) -> list[str]:
        teams, owner = self._parts.teams, self.identity.owner
        if "/" not in what or is_for_everybody(what):
            return [seat.member.role for seat in self.seats(what)]
        role = parse_role(what)
        if teams.member(role, owner) is None and not self._parts.role_boxes.box(role, owner).counts().total:
            raise holding.unknown_role(role, teams.members("", owner))
        return [role]

    def _whole(self, message_id: str, members: Sequence[Member]) -> str:
        """Return the whole id that a part of one means in some roles' mailboxes; as it is where it means none."""
        if is_well_formed(message_id, "msg"):
            return message_id
        boxes, owner = self._parts.role_boxes, self.identity.owner
        with suppress(NothingThere, UsageError):
            return resolve(message_id, [one for member in members for one in boxes.box(member.role, owner).ids()])
        return message_id

    def _may_be_told(self) -> Callable[[Entry], bool]:
        self._check_may_look()
        if not self.identity.session:
            return lambda _: True
        mine, name = set(self.mine()), self.identity.sender.name
        return lambda entry: entry.message.mailbox in mine or entry.message.sender.name == name

    def _check_may_look(self) -> None:
        """Refuse the mail of a role to whoever dropped the claim of being a session, or never was the person.

        Raises:
            Forbidden: Nothing proves who asks.
        """
        if not self.identity.verified:
            raise Forbidden(
                "nothing proved who asks; a role's mail is for its holder, and a person may look at it",
                remedy="run it in the session that holds the role, or yourself at a terminal",
            )

    def _read(self, role: str, generation: int, after: int, limit: int | None) -> RoleReading:
        box = self._parts.role_boxes.box(role, self.identity.owner)
        here = corresponding.read(box, after=after, limit=limit, is_addressee=generation > 0)
        if generation:
            self._read_under[role] = generation
        return RoleReading(role, here.entries, here.counts, generation, here.left_out)

    def _fenced(self, role: str) -> Mailbox:
        role = parse_role(role)
        lease = self.check_holder(role)
        generation = self._read_under.get(role, lease.generation)
        return self._parts.role_boxes.fenced(role, self.identity.owner, lease.session, generation)

    def _note_collected(self, role: str, counts: Callable[[], Counts]) -> None:
        """Let nobody be woken for what the holder read."""
        parts, identity = self._parts, self.identity
        if parts.monitors:
            monitoring.note_collected(role, identity.owner, identity.session, counts, parts.monitors, parts.clock)

    def _screen(self, text: str) -> list[Finding]:
        from restante.services.screening import RuleScanner, screen

        return screen(text, (RuleScanner(), *self._parts.scanners))


def _all_of(box: Mailbox) -> Iterator[Entry]:
    """Yield all messages of a mailbox, a page at a time."""
    after = 0
    while page := box.entries(after=after, limit=_PAGE):
        yield from page
        after = page[-1].message.number
