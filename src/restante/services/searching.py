"""Whether an owner allows texts to be searched: only that owner decides it, and until then nobody's are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import Forbidden

if TYPE_CHECKING:
    from restante.domain.registry import Identity
    from restante.ports.sessions import Sessions


def is_allowed(sessions: Sessions, owner: str) -> bool:
    """Tell whether an owner allows it."""
    return sessions.setting(_name(owner)) == "on"


def allow(identity: Identity, sessions: Sessions, *, is_on: bool) -> None:
    """Decide it for the mailboxes of who asks.

    Raises:
        Forbidden: Who asks is a session, or nobody in particular.
    """
    _check_is_owner(identity)
    sessions.set_setting(_name(identity.owner), "on" if is_on else "off")


def check(identity: Identity, sessions: Sessions) -> None:
    """Refuse to search where it is not allowed, or for anybody but the owner.

    Raises:
        Forbidden: See above.
    """
    _check_is_owner(identity)
    if not is_allowed(sessions, identity.owner):
        raise Forbidden("texts are not searched unless you allow it", remedy="allow it in the settings of the page")


def _check_is_owner(identity: Identity) -> None:
    if identity.session or not identity.verified:
        raise Forbidden("texts are searched for the person whose they are", remedy="ask that person")


def _name(owner: str) -> str:
    return f"search:{owner}" if owner else "search"
