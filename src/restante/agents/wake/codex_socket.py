"""Codex: a turn of a thread that an open terminal has loaded, by the control socket they share. By name only.

The turn appears in the terminal as it runs. The App Server takes a new turn of a thread that is in one as words in
between; whoever calls makes sure that the thread is idle, by the hooks' turn latch.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from restante.agents.codex import home_of
from restante.domain.errors import RestanteError
from restante.domain.monitor import Wake, Woken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.monitor import Target

METHODS = ("initialize", "initialized", "thread/loaded/list", "turn/start")

_SECONDS = 10.0


class CodexSocket:
    """A ``ports.monitoring.Waker`` by the control socket of Codex.

    Args:
        environment: Where ``CODEX_HOME`` comes from.
        timeout: Seconds that each answer may take.
    """

    name = "codex-socket"
    is_default = False

    def __init__(self, environment: Mapping[str, str], *, timeout: float = _SECONDS) -> None:
        self._environment = environment
        self._timeout = timeout

    def can_wake(self, target: Target) -> str:
        """Return why it cannot wake this session; see ``Waker``."""
        try:
            path = _socket_of(self._environment)
            found = os.stat(path)
        except RestanteError as error:
            return error.message
        except OSError:
            return "no Codex terminal shares its server: there is no control socket"
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
            return f"{path} is not a socket of yours"
        return "" if target.session else "no thread is named"

    def wake(self, target: Target, text: str) -> Woken:
        """Start a turn of the thread; see ``Waker``."""
        from restante.agents.wake.codex_wire import Wire

        reason = self.can_wake(target)
        if reason:
            return Woken(Wake.IMPOSSIBLE, reason)
        try:
            wire = Wire(_socket_of(self._environment), self._timeout)
            try:
                loaded = wire.ask("thread/loaded/list", {}).get("data")
                if not isinstance(loaded, list) or target.session not in loaded:
                    return Woken(Wake.IMPOSSIBLE, "no open Codex terminal has the thread loaded")
                words = [{"type": "text", "text": text, "text_elements": []}]
                params = {"threadId": target.session, "input": words, "clientUserMessageId": target.nonce}
                turn = wire.ask("turn/start", params).get("turn")
            finally:
                wire.close()
        except RestanteError as error:
            return Woken(Wake.UNCONFIRMED, error.message)
        turn_id = turn.get("id") if isinstance(turn, dict) else None
        return Woken(Wake.CONFIRMED, receipt=str(turn_id)) if turn_id else Woken(Wake.UNCONFIRMED, "no turn was told")


def _socket_of(environment: Mapping[str, str]) -> str:
    return os.path.join(home_of(environment), "app-server-control", "app-server-control.sock")
