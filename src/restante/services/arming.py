"""Watching a mailbox for a session that asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.arming import Arming, arm, prepare
from restante.domain.errors import Forbidden, NoSuchSession, UsageError

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.monitoring import Answer
    from restante.domain.registry import Identity, Session
    from restante.ports.monitoring import Monitors
    from restante.ports.sessions import Sessions


def session_to_wake(reference: str, identity: Identity, sessions: Sessions) -> Session:
    """Return the session that is to be woken: the one that asks, or the one that a person names.

    Raises:
        UsageError: A person named none.
        NoSuchSession: There is none, or it ended.
        Forbidden: A session names another one.
    """
    wanted = reference or identity.session
    if not wanted:
        raise UsageError(
            "which session is to be woken? you are none", remedy="name it with --session; restante ls lists them"
        )
    found = sessions.session(wanted, identity.owner)
    if found is None:
        near = sessions.named(wanted, identity.owner)
        found = near[0] if len(near) == 1 else None
    if found is None or found.detached is not None:
        raise NoSuchSession(f"no session {wanted!r} is there to be woken", remedy="restante ls")
    if identity.session not in ("", found.id):
        raise Forbidden(
            f"session {identity.session} arms nothing for another one", remedy="let that session or a person do it"
        )
    return found


def keep(arming: Arming, now: datetime, monitors: Monitors, *, only_prepares: bool) -> Answer:
    """Arm a mailbox in one step.

    Args:
        arming: What.
        now: The time.
        monitors: Where monitors are kept.
        only_prepares: Leave it exactly as it is where it is armed in the same way.

    Raises:
        RoleHeld: It is watched for another session.
    """
    step = prepare if only_prepares else arm
    return monitors.change(arming.mailbox, arming.owner, lambda monitor, _: step(monitor, now, arming))
