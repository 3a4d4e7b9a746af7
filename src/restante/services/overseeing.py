"""What sessions do, told without a word of their mail: who lives, who is idle, what waits, what changed since.

A cursor is ``w1.<tag>.<event>.<tag>.<event>``: the register's last event and that of the place where mail is; where
there are roles, a third pair is that of the place of their mail. It is taken before the look that it stands for, so a
change may be told twice and none is left out. A tag that is not known any more (memory that was lost, another file)
means that every session is told again.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Busy, StorageFailed, UsageError
from restante.domain.mailbox import Counts
from restante.domain.overview import RoleMail, Row, Watched
from restante.domain.registry import Latch, Presence, TurnSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from restante.domain.registry import Session
    from restante.ports.sessions import Boxes, Sessions
    from restante.ports.teams import RoleBoxes, Teams

_PAIR = r"\.([0-9A-Za-z-]{1,64})\.([0-9]{1,18})"
_CURSOR = re.compile(rf"w1{_PAIR}{_PAIR}(?:{_PAIR})?")
_NOWHERE = "-"
# Up to so many are asked about one by one.
_FEW = 20
# What a place says of itself before the first mail, and what stands for no place.
_NO_MAIL = ("0", _NOWHERE)


class _Place(NamedTuple):
    """A place in the histories of the register, of the mail, and of the mail of roles."""

    register: str
    register_event: int
    mail: str
    mail_event: int
    roles: str = _NOWHERE
    roles_event: int = 0

    def __str__(self) -> str:
        pairs = self[:4] if self.roles == _NOWHERE else self
        return "w1." + ".".join(map(str, pairs))


def take_signs(
    known: Session, sessions: Sessions, now: datetime, *, latch: Latch | None, blocked: str | None
) -> Session:
    """Take what hooks left behind about a session into the register, and return the session as it is then.

    Args:
        known: The session, as registered.
        sessions: The register; where it cannot be written the answer is the same.
        now: The time.
        latch: What the signs say of turns; ``None`` without signs.
        blocked: What they say of dialogs; ``None`` without signs.
    """
    later = _merged(known.latch, latch) if latch else known.latch
    with suppress(StorageFailed, Busy):
        if later != known.latch:
            sessions.latch(known.id, known.owner, later, now)
        if blocked not in (None, known.blocked):
            sessions.describe(known.id, known.owner, now, blocked=blocked)
    return known._replace(latch=later, blocked=known.blocked if blocked is None else blocked)


def _merged(known: Latch, told: Latch) -> Latch:
    """Return the latch after a look at the signs, whose count may have begun anew; the number only ever grows."""
    if told.ended is None:
        # Whatever ended a turn also left a sign, so that a start is newer; an exit that could not is an exit still.
        has_started = known.ended is not None and (told.turn >= known.turn or known.source is TurnSource.HOOK)
        return Latch(max(told.turn, known.turn)) if has_started or told.turn > known.turn else known
    if told.turn > known.turn:
        return told
    if known.ended is None or told.ended > known.ended:
        return Latch(known.turn + (told.turn < known.turn), told.ended, told.source)
    return known


def rows(
    found: Iterable[Session],
    boxes: Boxes | None,
    owner: str,
    now: datetime,
    presence_of: Callable[[Session], Presence],
    grace: float,
    *,
    with_debts: bool = True,
    roles: tuple[Teams, RoleBoxes] | None = None,
) -> list[Row]:
    """Return a row for each session.

    Args:
        found: The sessions.
        boxes: Where mail is; ``None`` for nowhere.
        owner: Whose.
        now: The time.
        presence_of: Tells what is proven of a session.
        grace: Seconds after the end of a wait in which a session still counts as waiting.
        with_debts: Whether to tell whose word each waits for.
        roles: Where roles are, and their mail; ``None`` for nowhere.
    """
    found = list(found)
    few = [one.id for one in found] if len(found) <= _FEW else None
    counts = boxes.counts(owner, few) if boxes else {}
    debts = boxes.debts(owner) if boxes and with_debts else {}
    held = _role_mail(few, owner, roles) if roles and found else {}
    return [
        _row(one, presence_of(one), counts.get(one.id, Counts()), debts.get(one.id, set()), now, grace)._replace(
            roles=tuple(held.get(one.id, ()))
        )
        for one in found
    ]


def _role_mail(few: list[str] | None, owner: str, roles: tuple[Teams, RoleBoxes]) -> dict[str, list[RoleMail]]:
    """Return the mail of the roles that sessions hold, without a word of it; with ``None``, those of all sessions."""
    teams, boxes = roles
    members = teams.members("", owner) if few is None else chain(*(teams.held_by(one, owner) for one in few))
    held: dict[str, list[RoleMail]] = {}
    for member in members:
        if member.lease is not None:
            counts = boxes.box(member.role, owner).counts()
            held.setdefault(member.lease.session, []).append(RoleMail(member.role, counts))
    return held


def _row(session: Session, presence: Presence, counts: Counts, debts: set[str], now: datetime, grace: float) -> Row:
    # A post ends a wait: with something unseen, whoever waited is being freed at this moment.
    is_parked = (
        session.parked_since is not None
        and session.parked_until is not None
        and session.parked_until + timedelta(seconds=grace) > now
        and not counts.unseen
        and presence not in (Presence.GONE, Presence.DETACHED)
    )
    oldest = counts.oldest_unseen if counts.unseen else None
    return Row(session, presence, counts._replace(oldest_unseen=oldest), is_parked, tuple(sorted(debts)))


def check_cursor(cursor: str) -> None:
    """Refuse what is no cursor.

    Raises:
        UsageError: It is none.
    """
    _parsed(cursor)


def watch(
    cursor: str,
    only: Sequence[str],
    sessions: Sessions,
    boxes: Boxes | None,
    owner: str,
    tell: Callable[[list[Session]], list[Row]],
    *,
    only_news: bool = False,
    roles: tuple[Teams, RoleBoxes] | None = None,
) -> Watched:
    """Return what changed since a cursor.

    Args:
        cursor: From an earlier answer, or empty.
        only: Whole ids; empty for all.
        sessions: The register, with the signs of hooks taken in.
        boxes: Where mail is; ``None`` for nowhere.
        owner: Whose sessions.
        tell: Makes rows of sessions.
        only_news: Leave out who was gone at the cursor already: told with it, and never again a reason to answer.
        roles: Where roles are, and their mail; ``None`` for nowhere.

    Raises:
        UsageError: It is no cursor.
    """
    since = _parsed(cursor)
    # Before the look: what happens between the two is told with the next cursor.
    tip = _Place(
        *sessions.tip(owner),
        *(boxes.tip(owner) if boxes else (_NOWHERE, 0)),
        *(roles[1].tip(owner) if roles else (_NOWHERE, 0)),
    )
    known: dict[str, Session] | None = None
    deleted: list[str] = []
    goes_on = since and _goes_on((since.register, since.register_event), (tip.register, tip.register_event))
    if since and goes_on:
        found, deleted = sessions.changed_since(since.register_event, owner)
        # Where there was no mail at all, everything that there is now came since.
        mail = (tip.mail, 0) if since.mail in _NO_MAIL else (since.mail, since.mail_event)
        if _goes_on(mail, (tip.mail, tip.mail_event)):
            # Whatever changed, and no others: mostly nothing did, and there may be many.
            known = {one.id: one for one in found}
            addressees = boxes.changed_since(mail[1], owner) if boxes else []
            for one in chain(addressees, _holders_since(since, tip, owner, roles)):
                _add_known(known, one, owner, sessions)
    if known is None:
        known = {one.id: one for one in sessions.all(owner)}
    changed = set(known)
    for one in only or deleted:
        _add_known(known, one, owner, sessions)
    wanted = set(only) or changed | set(deleted)
    gone = [one for one in dict.fromkeys(only or deleted) if one not in known]
    if only_news and goes_on:
        gone = [one for one in gone if one in deleted]
    here = sorted(known.values(), key=lambda one: (one.created, one.id))
    told = [one for one in here if one.id in changed and one.id in wanted]
    return Watched(tuple(tell(told) if told else ()), tuple(gone), str(tip))


def _holders_since(since: _Place, tip: _Place, owner: str, roles: tuple[Teams, RoleBoxes] | None) -> list[str]:
    """Return the sessions that hold roles whose mail changed since a cursor; all holders where that cannot be told."""
    if roles is None or (since.roles, since.roles_event) == (tip.roles, tip.roles_event):
        return []
    known = (tip.roles, 0) if since.roles in _NO_MAIL else (since.roles, since.roles_event)
    event = known[1] if _goes_on(known, (tip.roles, tip.roles_event)) else 0
    teams, boxes = roles
    members = (teams.member(one, owner) for one in boxes.changed_since(event, owner))
    return [one.lease.session for one in members if one and one.lease]


def _add_known(known: dict[str, Session], session_id: str, owner: str, sessions: Sessions) -> None:
    if session_id not in known and (found := sessions.session(session_id, owner)):
        known[session_id] = found


def _goes_on(since: tuple[str, int], tip: tuple[str, int]) -> bool:
    """Tell whether a place belongs to a history as it is, and is not ahead of one that was put back."""
    return since[0] == tip[0] and since[1] <= tip[1]


def _parsed(cursor: str) -> _Place | None:
    if not cursor:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise UsageError(f"{cursor!r} is no cursor of a watch", remedy="begin without one")
    return _Place(match[1], int(match[2]), match[3], int(match[4]), match[5] or _NOWHERE, int(match[6] or 0))
