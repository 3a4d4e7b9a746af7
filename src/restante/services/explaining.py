"""Why was a message not answered? Gathers what is known at this moment; the answer is ``domain.why``'s.

Nothing is marked and nothing is written by asking. Of mail that is somebody else's, only what still waits is told of,
as by a look into the mailbox; the words of an answer are told where the mailbox tells them to its sender.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.address import Home
from restante.domain.errors import Damaged, MailboxDeleted, NoSuchMessage
from restante.domain.facts import Facts, Lookup, Reader, Tenure
from restante.domain.ids import is_well_formed, resolve
from restante.domain.mailbox import Mark
from restante.domain.overview import Fate
from restante.domain.registry import Presence
from restante.domain.team import standing
from restante.domain.why import Explanation, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from restante.domain.errors import RestanteError
    from restante.domain.mailbox import Entry
    from restante.domain.overview import Row
    from restante.domain.registry import Identity, Session
    from restante.ports import Mailbox
    from restante.ports.explaining import Surroundings
    from restante.ports.sessions import Boxes, Sessions

_MOST_TRACES = 1000


def unknown(message: str, trouble: RestanteError | None, now: datetime, *, is_kept: bool = True) -> Explanation:
    """Return the answer about a message that was not found.

    Args:
        message: What was asked for.
        trouble: Why it was not found; ``None`` where nobody could say more.
        now: The time.
        is_kept: Whether mail of sessions is kept anywhere.
    """
    lookup = Lookup.NOWHERE if is_kept else Lookup.NOT_KEPT
    if isinstance(trouble, MailboxDeleted):
        lookup = Lookup.DELETED
    elif isinstance(trouble, Damaged):
        lookup = Lookup.DAMAGED
    return explain(Facts(message, now, lookup, trouble.message if trouble else f"no message has the id {message!r}"))


# -- the mail of a worktree --------------------------------------------------------------------------------------


class Worktree(NamedTuple):
    """A worktree's mailbox and who could read it.

    Attributes:
        address: The mailbox's address.
        root: The worktree's top level.
        reader_of: Tells who gave a mark of a message; empty for nobody.
        is_ringing: Tells whether checkpoints look into the mailbox.
        sessions: The sessions that work there; ``None`` where none are registered at all.
    """

    address: str
    root: str
    reader_of: Callable[[str, Mark], str]
    is_ringing: Callable[[], bool]
    sessions: Sequence[Row] | None


def of_worktree(entry: Entry, place: Worktree, around: Surroundings, now: datetime, owner: str = "") -> Explanation:
    """Explain a message of a worktree's mailbox."""
    course = entry.standing
    marked = Mark.SEEN if course.seen_at else Mark.NOTICED
    by = place.reader_of(entry.message.id, marked) if course.noticed_at or course.seen_at else ""
    facts = _base(entry, Home.WORKTREE, place.address, now)._replace(by=by)
    if not course.is_pending:
        return explain(facts)
    known = [_reader(row.session, row.presence, around) for row in place.sessions or ()]
    live = [one for one in known if one.is_live]
    reader = _most_likely(live, by, now)
    facts = facts._replace(
        has_register=place.sessions is not None,
        ended=len(known) - len(live),
        reader=reader,
        hooks=around.hooks(place.root, reader.session.vendor if reader else ""),
        is_silent=not place.is_ringing(),
        watch=around.watch(facts.address, owner),
    )
    return explain(facts)


def _most_likely(readers: Iterable[Reader], by: str, now: datetime) -> Reader | None:
    """Return the session that will answer first: who was shown it, waits for it, works, or was last heard of."""

    def rank(one: Reader) -> tuple[bool, bool, bool, bool, datetime]:
        session = one.session
        is_waiting = session.parked_until is not None and session.parked_until > now
        return (
            by.endswith(session.id),
            is_waiting,
            not session.blocked and not one.is_elsewhere,
            session.latch.ended is None,
            one.last_sign or session.heartbeat,
        )

    return max(readers, key=rank, default=None)


# -- the mail of sessions and roles ------------------------------------------------------------------------------


class Register(NamedTuple):
    """What is asked about mail between sessions, and by whom.

    Attributes:
        identity: Who asks.
        sessions: The register.
        mail: Where the mail of sessions is; ``None`` for nowhere.
        refreshed: Returns a session as it is now, after what its hooks say was taken in.
        presence: Tells what is proven of a session.
        around: What the machine knows besides.
    """

    identity: Identity
    sessions: Sessions
    mail: Boxes | None
    refreshed: Callable[[Session], Session]
    presence: Callable[[Session], Presence]
    around: Surroundings


def of_posted(message: str, register: Register, now: datetime) -> Explanation:
    """Explain a message that was posted to a session or to a role.

    Raises:
        NoSuchMessage: There is none that the caller may ask about.
    """
    owner = register.identity.owner
    try:
        whole = message if is_well_formed(message, "msg") else resolve(message, _ids(register))
    except NoSuchMessage:
        if register.mail is None:
            return unknown(message, None, now, is_kept=False)
        raise
    for home, target, box in _boxes(whole, register):
        with suppress(NoSuchMessage):
            try:
                entry = box.entry(whole)
            except (MailboxDeleted, Damaged) as error:
                return unknown(whole, error, now)
            if not _may_ask(entry, home, target, register):
                continue
            if home is Home.ROLE:
                return _of_role(entry, target, register, now)
            session = register.sessions.session(target, owner)
            if session is None:
                return unknown(whole, MailboxDeleted(f"{whole} went with its session, which was deleted"), now)
            return _of_session(entry, session, register, now)
    if register.mail is None:
        return unknown(whole, None, now, is_kept=False)
    raise NoSuchMessage(
        f"no message {whole!r} that you posted, or that waits for one of your sessions", remedy="restante receipts"
    )


def _may_ask(entry: Entry, home: Home, target: str, register: Register) -> bool:
    """Whether the caller posted the message, is its addressee or a proven person; what waits, anybody may look at."""
    identity = register.identity
    is_person = identity.verified and not identity.session
    is_sender = entry.message.sender.name == identity.sender.name
    is_addressee = home is Home.SESSION and identity.session == target
    return is_person or is_sender or is_addressee or entry.standing.is_pending


def _ids(register: Register) -> list[str]:
    """Return the ids that a part may stand for: of what the caller posted, and of what waits."""
    owner, mail, roles = register.identity.owner, register.mail, register.around.roles()
    sender = register.identity.sender.name
    found: list[str] = []
    boxes: list[Mailbox] = []
    if mail:
        found += [trace.message_id for trace in mail.traces(sender, owner, limit=_MOST_TRACES)]
        boxes += [mail.box(one, owner) for one, counts in mail.counts(owner).items() if counts.pending]
    if roles:
        found += [trace.message_id for trace in roles[1].traces(sender, owner, limit=_MOST_TRACES)]
        boxes += [roles[1].box(member.role, owner) for member in roles[0].members("", owner)]
    found += [entry.message.id for box in boxes for entry in box.entries(pending_only=True)]
    return list(dict.fromkeys(found))


def _boxes(message: str, register: Register) -> Iterable[tuple[Home, str, Mailbox]]:
    """Yield the mailboxes in which a message may be; where the caller posted it to comes first."""
    owner, mail, roles = register.identity.owner, register.mail, register.around.roles()
    sender = register.identity.sender.name
    if mail:
        for trace in mail.traces(sender, owner, message_ids=[message]):
            if trace.fate is Fate.DELETED or "/" not in trace.to:
                yield Home.SESSION, trace.to, mail.box(trace.to, owner)
    if roles:
        for trace in roles[1].traces(sender, owner, message_ids=[message]):
            yield Home.ROLE, trace.to, roles[1].box(trace.to, owner)
        for member in roles[0].members("", owner):
            yield Home.ROLE, member.role, roles[1].box(member.role, owner)
    if mail:
        for one in mail.counts(owner):
            yield Home.SESSION, one, mail.box(one, owner)


def _of_session(entry: Entry, session: Session, register: Register, now: datetime) -> Explanation:
    facts = _base(_without_words(entry), Home.SESSION, session.address, now)
    return explain(_with_reader(facts, session, register))


def _of_role(entry: Entry, role: str, register: Register, now: datetime) -> Explanation:
    facts = _base(_without_words(entry), Home.ROLE, role, now)
    roles, owner = register.around.roles(), register.identity.owner
    member = roles[0].member(role, owner) if roles else None
    if member is None or member.lease is None:
        return explain(facts._replace(tenure=Tenure(member)))
    session = register.sessions.session(member.lease.session, owner)
    # A session that is not registered any more, or ended, holds nothing.
    presence = register.presence(session) if session else Presence.GONE
    is_over = presence in (Presence.GONE, Presence.DETACHED)
    hold = standing(member.lease, Presence.GONE if is_over else presence, now)
    facts = facts._replace(tenure=Tenure(member, hold))
    return explain(_with_reader(facts, session, register) if session else facts)


def _sees_files(identity: Identity) -> bool:
    """Tell whether somebody is of this machine: no account, and proven."""
    return identity.verified and not identity.owner


def _with_reader(facts: Facts, session: Session, register: Register) -> Facts:
    """Return the facts with what is known of the session from which an answer is expected."""
    if not facts.course.is_pending:
        return facts
    around = register.around
    session = register.refreshed(session)
    reader = _reader(session, register.presence(session), around)
    # Where it works is what a session says of itself: whoever made it up would be told of any file of this machine.
    may_look = session.worktree and not reader.is_elsewhere and _sees_files(register.identity)
    return facts._replace(
        reader=reader,
        hooks=around.hooks(session.worktree, session.vendor) if may_look else None,
        watch=around.watch(facts.address, register.identity.owner),
    )


# -- helpers -----------------------------------------------------------------------------------------------------


def _base(entry: Entry, home: Home, address: str, now: datetime) -> Facts:
    message = entry.message
    return Facts(
        message.id,
        now,
        home=home,
        address=address,
        number=message.number,
        posted=message.created,
        course=entry.standing,
    )


def _without_words(entry: Entry) -> Entry:
    """Return an entry as its sender may know it: a session is told states and times, and words only by a reply."""
    return entry._replace(standing=entry.standing._replace(summary=""))


def _reader(session: Session, presence: Presence, around: Surroundings) -> Reader:
    is_elsewhere = presence is Presence.UNKNOWN and around.is_elsewhere(session.process)
    return Reader(session, presence, is_elsewhere, around.last_sign(session.id))
