"""How long mail to an owner's sessions lasts: what the configuration says, until the owner decides otherwise."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import Forbidden, UsageError

if TYPE_CHECKING:
    from restante.domain.registry import Identity
    from restante.ports.sessions import Sessions

_LEAST, _MOST = timedelta(minutes=1), timedelta(days=365)


def time_to_live(sessions: Sessions, owner: str, usual: float) -> float:
    """Return the seconds after which mail to an owner's sessions expires.

    Args:
        sessions: The register, which holds what was decided.
        owner: Whose sessions.
        usual: What the configuration says.
    """
    return float(sessions.setting(_name(owner)) or usual)


def is_chosen(sessions: Sessions, owner: str) -> bool:
    """Tell whether the owner decided it."""
    return bool(sessions.setting(_name(owner)))


def choose(identity: Identity, sessions: Sessions, length: timedelta | None) -> None:
    """Decide it for mail that is posted from now on; ``None`` goes back to what the configuration says.

    Raises:
        Forbidden: Who asks is a session, or nobody in particular.
        UsageError: It is too short, or too long.
    """
    if identity.session or not identity.verified:
        raise Forbidden("how long mail lasts is decided by the person whose sessions it is for", remedy="ask them")
    if length is not None and not _LEAST <= length <= _MOST:
        raise UsageError("mail lasts from one minute to 365 days", remedy="write for example 12h or 7d")
    sessions.set_setting(_name(identity.owner), f"{length.total_seconds():g}" if length else "")


def _name(owner: str) -> str:
    return f"time_to_live:{owner}" if owner else "time_to_live"
