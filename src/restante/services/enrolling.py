"""How sessions come and go: registered, attached again, described, detached, deleted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from restante.domain.errors import Forbidden, UsageError
from restante.domain.message import choose
from restante.domain.naming import check_apart, check_id, check_name, unknown
from restante.domain.registry import Latch, Presence, TurnSource

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from restante.domain.registry import Arrival, Identity, Session
    from restante.ports.sessions import Boxes, Processes, SessionBell, Sessions, Turns

_DIGEST = re.compile("[0-9a-f]{64}")


def register(
    arrival: Arrival, identity: Identity, sessions: Sessions, turns: Turns, processes: Processes, now: datetime
) -> Session:
    """Register a session, or attach it again under its id: it finds its mail.

    A second process that says the same id while the first one lives is one more reader; the session stays what it was.

    Raises:
        UsageError: The id, the name or the digest is none.
        Forbidden: Another session than itself or its parent wants to attach it again.
        NoSuchSession: The id is another owner's.
    """
    check_id(arrival.id)
    check_name(arrival.name)
    if arrival.secret_digest and not _DIGEST.fullmatch(arrival.secret_digest):
        raise UsageError("a secret's digest is 64 hexadecimal digits", remedy="send its SHA-256")
    check_apart(arrival.id, arrival.name, called(arrival.id, arrival.name, identity.owner, sessions))
    known = sessions.session(arrival.id, identity.owner)
    if known and identity.session and identity.session not in (known.id, known.parent):
        raise Forbidden(f"session {known.title} is another one", remedy="register under your own id")
    if known and known.process and not known.detached and processes.presence(known.process) is Presence.ALIVE:
        arrival = arrival._replace(process=None)
    is_proven = identity.verified and identity.session in ("", arrival.id)
    attached = sessions.attach(arrival, identity.owner, now, is_proven=is_proven)
    turns.expect(attached.id)
    return attached


def called(session_id: str, name: str, owner: str, sessions: Sessions) -> list[Session]:
    """Return the owner's sessions that are named as this id, or have an id that begins with this name."""
    return [*sessions.named(session_id, owner), *(sessions.named(name, owner) if name else ())]


def set_turn(
    session: Session, sessions: Sessions, turns: Turns, now: datetime, *, has_ended: bool, source: str
) -> None:
    """Record that a turn of a session began or ended.

    Raises:
        UsageError: The source is none of ``hook``, ``heuristic`` and ``exit``.
    """
    how = choose(TurnSource, source, what="source")
    # The signs of the hooks are what counts turns where there are any, so what is told otherwise leaves one too.
    turns.sign(session.id, has_ended=has_ended)
    told = turns.latches([session.id]).get(session.id, Latch())
    latch = Latch(max(told.turn, session.latch.turn))
    if has_ended:
        latch = Latch(max(told.turn, session.latch.turn + 1), told.ended or now, how)
    sessions.latch(session.id, session.owner, latch, now)


def detach(session: Session, sessions: Sessions, turns: Turns, now: datetime) -> None:
    """Record that a session's process ended; a turn that ran ended with it. Its mail stays."""
    with sessions.together():
        # What is dead waits for nothing. Written first, so that nobody else can write between the look and the rest.
        sessions.park(session.id, session.owner, None, None)
        again = sessions.session(session.id, session.owner)
        # Whoever found a process dead must not detach the one that took its place meanwhile.
        if again is None or again.process != session.process or again.detached:
            return
        if again.latch.ended is None:
            set_turn(again, sessions, turns, now, has_ended=True, source=TurnSource.EXIT)
        sessions.detach(session.id, session.owner, now)


def delete(
    session: Session, sessions: Sessions, turns: Turns, bell: SessionBell, boxes: Boxes | None, now: datetime
) -> None:
    """End a session for good, with its mail; the ids stay as a trace for its senders and for who watches."""
    # The session first: whoever posts from now on is told that there is none.
    sessions.delete(session.id, session.owner, now)
    if boxes:
        boxes.box(session.id, session.owner).delete()
    turns.forget(session.id)
    rest(session, sessions, bell, boxes)


def rest(session: Session, sessions: Sessions, bell: SessionBell, boxes: Boxes | None) -> None:
    """Let the bell of a session's worktree rest, unless mail waits for one of those that work there, of any owner."""
    if session.worktree:
        bell.hush(session.worktree, lambda: boxes is not None and waits_for(sessions.at(session.worktree), boxes))


def waits_for(sessions: Iterable[Session], boxes: Boxes) -> bool:
    """Tell whether mail waits for one of these sessions, whoever owns them."""
    ids: dict[str, list[str]] = {}
    for one in sessions:
        ids.setdefault(one.owner, []).append(one.id)
    return any(one.pending for owner, here in ids.items() for one in boxes.counts(owner, here).values())


def check_is_there(session_id: str, owner: str, sessions: Sessions) -> Session:
    """Return a session as it is now.

    Raises:
        NoSuchSession: It was deleted meanwhile.
    """
    found = sessions.session(session_id, owner)
    if found is None:
        raise unknown(session_id)
    return found
