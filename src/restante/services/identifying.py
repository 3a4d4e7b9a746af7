"""Who asks: what was proven counts, what was only claimed is believed no further than it must be."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, Forbidden, StorageFailed
from restante.domain.naming import claimed
from restante.domain.registry import Identity, Presence

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.domain.registry import Claim, Session
    from restante.ports.sessions import Processes, Sessions

# Writing down each time that a session was heard of would cost a commit for every question.
_HEARD_OF = timedelta(seconds=60)
_MOST_TOKENS = 32
_SHOWN = 12


def person_setting(owner: str) -> str:
    """Return the name of the setting that holds the digests of a person's tokens."""
    return f"person_digest:{owner}" if owner else "person_digest"


def identify(claim: Claim, sessions: Sessions, is_live: Callable[[Session], bool]) -> tuple[Identity, Session | None]:
    """Return who asks, and as which session. A wrong proof is none; without a live session it is a user, unverified.

    Args:
        claim: What the caller shows.
        sessions: The register.
        is_live: Tells whether a session lives.
    """
    owner = claim.owner or ""
    if claim.secret:
        digest = _digest(claim.secret)
        # Sessions ask far more often than people do.
        proven = sessions.proven_by(digest)
        if proven and claim.owner in (None, proven.owner):
            return Identity(proven.owner, proven.id, verified=True), proven
        if _is_person(digest, sessions, owner):
            return Identity(owner, verified=True), None
    if not claim.session:
        # A password proves the owner, and that is a person; a secret that is wrong beside it proves nothing better.
        return Identity(owner, verified=claim.owner is not None and not claim.secret), None
    found = claimed(claim.session, sessions.named(claim.session, owner), is_live)
    return (Identity(owner, found.id), found) if found else (Identity(owner, claimed=claim.session), None)


def trust_person(token: str, sessions: Sessions, owner: str) -> None:
    """Take a person's token for proof from now on. Each machine on one database has its own; the newest are kept."""
    digest = _digest(token)
    if not _is_person(digest, sessions, owner):
        known = (sessions.setting(person_setting(owner)) or "").split()
        sessions.set_setting(person_setting(owner), " ".join([*known, digest][-_MOST_TOKENS:]))


def tokens(sessions: Sessions, owner: str) -> list[str]:
    """Return by what each token of a person that is taken for proof can be told, the oldest first."""
    return [one[:_SHOWN] for one in (sessions.setting(person_setting(owner)) or "").split()]


def distrust(mark: str, identity: Identity, sessions: Sessions) -> bool:
    """Take a person's token for proof no longer, and tell whether it was.

    Raises:
        Forbidden: Who asks is no person.
    """
    if identity.session or not identity.verified:
        raise Forbidden("whose tokens prove a person is that person's word", remedy="ask them")
    name = person_setting(identity.owner)
    with sessions.together():
        known = (sessions.setting(name) or "").split()
        kept = [one for one in known if one[:_SHOWN] != mark]
        if kept != known:
            sessions.set_setting(name, " ".join(kept))
    return kept != known


def mark_of(token: str) -> str:
    """Return by what a token can be told: the beginning of its digest, from which nobody finds the token."""
    return _digest(token)[:_SHOWN]


def _is_person(digest: str, sessions: Sessions, owner: str) -> bool:
    from hmac import compare_digest

    known = (sessions.setting(person_setting(owner)) or "").split()
    # Every one is compared, whichever fits: how long it takes tells nothing.
    return sum(compare_digest(one, digest) for one in known) > 0


def _digest(secret: str) -> str:
    import hashlib

    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def presence_of(session: Session, processes: Processes, now: datetime, silent: float) -> Presence:
    """Tell what is proven of a session.

    Args:
        session: The session.
        processes: Which processes live here.
        now: The time.
        silent: Seconds without a sign after which one whose process cannot be looked at counts as detached.
    """
    proven = processes.presence(session.process) if session.process else Presence.UNKNOWN
    if proven is Presence.GONE:
        return proven
    if session.detached:
        return Presence.DETACHED
    if proven is Presence.ALIVE:
        return proven
    return Presence.DETACHED if now - session.heartbeat > timedelta(seconds=silent) else Presence.UNKNOWN


def hear_of(session: Session, sessions: Sessions, now: datetime) -> None:
    """Record that a session was heard of, now and then, and only where that can be written."""
    if not -_HEARD_OF < now - session.heartbeat < _HEARD_OF:
        with suppress(StorageFailed, Busy):
            sessions.beat(session.id, session.owner, now)


def check_may_change(identity: Identity, session: Session, *, for_good: bool = False) -> None:
    """Refuse to let anybody but a session itself, its parent or a person say what is true of it.

    A person proves it by the token or, where there are accounts, by the password of the owner. Who merely drops a
    claim is nobody in particular, and must not be allowed more by that.

    Args:
        identity: Who asks.
        session: The session.
        for_good: Whether it is to end with its mail, for which a claim alone is not enough.

    Raises:
        Forbidden: It is somebody else.
    """
    is_person = identity.verified and not identity.session
    if not is_person and (not identity.session or identity.session not in (session.id, session.parent)):
        raise Forbidden(
            f"only session {session.title} itself, its parent or a person with the token may do this",
            remedy="ask them to",
        )
    if for_good and not is_person and not identity.verified:
        # Whoever ended it could register in its place, under a secret of his own, and would be proven to be it.
        raise Forbidden(
            f"nothing proved who wants to end session {session.title} with its mail",
            remedy="send its secret, or its parent's; or detach it",
        )


def check_is_person(identity: Identity) -> None:
    """Refuse anybody but the person whose machine it is, proven by the token.

    Raises:
        Forbidden: It is somebody else.
    """
    if identity.session or identity.owner or not identity.verified:
        raise Forbidden(
            "whether mail is kept on disk is decided by the person whose machine this is, who proves it by the token",
            remedy="let that person run: restante persist on, or off",
        )
