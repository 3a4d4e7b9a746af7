"""The ways to wake a session, made when the first mailbox that uses one has to wake."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from restante.agents.wake import ADAPTERS
from restante.domain.registry import Presence
from restante.exchange import Exchange
from restante.system.places import data_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.ports.monitoring import Waker
    from restante.wiring.monitors import MonitorParts


class Wakers:
    """Makes the adapters of ``agents.wake``, each imported when a mailbox that uses it has to wake.

    Args:
        environment: Where programs and places come from.
        parts: Who lives, and what is set.
    """

    def __init__(self, environment: Mapping[str, str], parts: MonitorParts) -> None:
        self._environment = environment
        self._parts = parts
        self._exchange = Exchange(parts)

    def __call__(self, name: str) -> Waker | None:
        """Return the adapter of a name; ``None`` where there is none."""
        if name not in ADAPTERS:
            return None
        module, made = ADAPTERS[name]
        settings, environment = self._parts.settings, self._environment
        arguments: dict[str, tuple[object, ...]] = {
            "codex-queue": (environment, self._presence),
            "claude-rewake": (data_directory(environment),),
            "opencode": (settings.wake_opencode, environment),
            "gemini": (),
            "command": (settings.wake_command, environment),
            "scheduled": (),
        }
        waker: Waker = getattr(import_module(f"restante.agents.wake.{module}"), made)(
            *arguments.get(name, (environment,))
        )
        return waker

    def _presence(self, session_id: str) -> Presence:
        sessions = self._parts.sessions
        found = (sessions.session(session_id, owner) for owner in sessions.owners())
        session = next((one for one in found if one is not None), None)
        return Presence.UNKNOWN if session is None else self._exchange.presence(session)
