"""The ways to wake a session, made when the first mailbox that uses one has to wake."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from restante.agents.wake import ADAPTERS
from restante.domain.registry import Presence
from restante.exchange import Exchange
from restante.programs import PROGRAMS
from restante.system.ears import write_fifo
from restante.system.places import data_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.ports.monitoring import Waker
    from restante.wiring.monitors import MonitorParts

# What names the session of an agent program, and what opencode's server is asked with.
_KEPT_BACK = frozenset(
    {"OPENCODE_SERVER_PASSWORD", *(name for one in PROGRAMS.values() for name in (one.session_variable, one.marker))}
)


class Wakers:
    """Makes the adapters of ``agents.wake``, each imported when a mailbox that uses it has to wake.

    Args:
        environment: Where programs and places come from.
        parts: Who lives, and what is set.
    """

    def __init__(self, environment: Mapping[str, str], parts: MonitorParts) -> None:
        self._environment = environment
        # Whoever began this may be a session itself; what is started to wake another one must not speak as it.
        self._outward = {name: value for name, value in environment.items() if name not in _KEPT_BACK}
        self._parts = parts
        self._exchange = Exchange(parts)

    def __call__(self, name: str) -> Waker | None:
        """Return the adapter of a name; ``None`` where there is none."""
        if name not in ADAPTERS:
            return None
        module, made = ADAPTERS[name]
        settings, environment, outward = self._parts.settings, self._environment, self._outward
        arguments: dict[str, tuple[object, ...]] = {
            "codex-queue": (outward, self._presence),
            "claude-rewake": (data_directory(environment), write_fifo),
            "opencode": (settings.wake_opencode, environment),
            "gemini": (),
            "command": (settings.wake_command, outward),
            "scheduled": (),
        }
        waker: Waker = getattr(import_module(f"restante.agents.wake.{module}"), made)(*arguments.get(name, (outward,)))
        return waker

    def _presence(self, session_id: str) -> Presence:
        sessions = self._parts.sessions
        found = (sessions.session(session_id, owner) for owner in sessions.owners())
        session = next((one for one in found if one is not None), None)
        return Presence.UNKNOWN if session is None else self._exchange.presence(session)
