"""Registers an agent program's session under the name its person gave it, as a child of the one that started it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.system.identity import session_around

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.registry import Arrival, Session
    from restante.ports.sessions import Window

_NAME = "RESTANTE_NAME"


def introduce(window: Window, arrival: Arrival, environment: Mapping[str, str]) -> Session:
    """Register a session, with its name and parent where they can be told.

    The name is that of ``RESTANTE_NAME``. Programs hand their environment on, so a child does not take its parent's
    name; a session that has a name keeps it. A parent counts only if it is registered.

    Args:
        window: The session's window.
        arrival: What else is known of it.
        environment: Of the agent program.

    Raises:
        RestanteError: The session cannot be registered.
    """
    name, parent = environment.get(_NAME, ""), session_around(arrival.id, environment)
    if name or parent:
        known = {row.session.id: row.session for row in window.sessions()}
        parent = parent if parent in known else ""
        if _is_named(known.get(arrival.id)) or (parent and known[parent].name == name):
            name = ""
        with suppress(UsageError):
            return window.register(arrival._replace(name=name, parent=parent))
    # Without a name rather than not at all, where it is none that a session may have.
    return window.register(arrival)


def _is_named(session: Session | None) -> bool:
    return session is not None and bool(session.name)
