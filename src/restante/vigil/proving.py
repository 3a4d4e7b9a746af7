"""Who asks, where that was proven before: what a short command about monitors needs of the register, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.registry import Presence
from restante.services import identifying

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.registry import Claim, Identity
    from restante.ports.sessions import Processes, Sessions


def prove(claim: Claim, sessions: Sessions, processes: Processes, now: datetime, silent: float) -> Identity | None:
    """Return who shows a secret that the register knows; ``None`` where it does not, or its session does not live.

    Args:
        claim: What the caller shows.
        sessions: The register.
        processes: Which processes live here.
        now: The time.
        silent: Seconds without a sign after which a session whose process cannot be looked at counts as detached.
    """
    identity, session = identifying.identify(claim, sessions, lambda _: False)
    if not identity.verified:
        return None
    if session:
        presence = identifying.presence_of(session, processes, now, silent)
        if presence in (Presence.GONE, Presence.DETACHED):
            return None
        identifying.hear_of(session, sessions, now)
    return identity
