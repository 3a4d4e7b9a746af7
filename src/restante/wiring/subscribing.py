"""How a caller of this machine gets at subscriptions: they are kept with roles, beside the monitors that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import Refused
from restante.roster import Roster
from restante.wiring.sessions import SessionParts, open_window

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_subscriptions(environment: Mapping[str, str], directory: str = ".") -> Roster:
    """Open the roster of whoever calls, where roles are kept on this machine or in the database that is configured.

    Args:
        environment: Where settings and the caller's identity come from.
        directory: Any directory of the worktree that the caller works in.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
        Refused: A server is configured; subscriptions are in its machine's data.
    """
    parts = SessionParts(environment)
    if parts.settings.server_url:
        raise Refused(
            "subscriptions are kept with the roles, and server.url names a server that keeps those",
            remedy="run it on the server's machine; for several machines set database.url instead of server.url",
        )
    return Roster(parts, lambda: open_window(environment, directory).identity)
