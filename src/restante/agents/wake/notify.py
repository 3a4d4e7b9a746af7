"""A desktop notification for the person, who then decides; no turn is started. By name only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from restante.agents.wake.running import found, last_line, start
from restante.domain.monitor import Wake, Woken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.monitor import Target

# What each program is given first. The text travels as an argument of the script, never as a part of it.
STARTS = {
    "notify-send": ("--app-name=Restante", "--", "Restante"),
    "osascript": (
        *("-e", "on run words", "-e", 'display notification (item 1 of words) with title "Restante"'),
        *("-e", "end run", "--"),
    ),
}

_SECONDS = 10.0


class Notify:
    """A ``ports.monitoring.Waker`` of the person.

    Args:
        environment: Where the program comes from, and the desktop that it notifies at.
    """

    name = "notify"
    is_default = False

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._program = "osascript" if sys.platform == "darwin" else "notify-send"

    def can_wake(self, _: Target) -> str:
        """Return why it cannot notify; see ``Waker``."""
        return "" if found(self._program, self._environment) else f"there is no program {self._program}"

    def wake(self, target: Target, text: str) -> Woken:
        """Notify the person; see ``Waker``."""
        reason = self.can_wake(target)
        if reason:
            return Woken(Wake.IMPOSSIBLE, reason)
        allowed = STARTS[self._program]
        program = found(self._program, self._environment)
        ran = start(allowed, program, [*allowed, text], self._environment, _SECONDS)
        if ran.code == 0:
            return Woken(Wake.CONFIRMED, receipt="notified")
        return Woken(Wake.UNCONFIRMED, f"{self._program} failed: {last_line(ran.said)}")
