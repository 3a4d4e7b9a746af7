"""The person's own command (``wake.command``): told by its environment which mailbox, and never a word of mail."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from restante.agents.wake.running import last_line, start
from restante.domain.monitor import Wake, Woken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.monitor import Target

# Whatever the person wrote down, and nothing beside it.
STARTS = ("wake.command",)

_SECONDS = 30.0


class OwnCommand:
    """A ``ports.monitoring.Waker`` by a command of the person's.

    Args:
        words: The command as a JSON list of words, the first an absolute path; empty for none.
        environment: What it is given beside what it is told.
    """

    name = "command"
    is_default = False

    def __init__(self, words: str, environment: Mapping[str, str]) -> None:
        self._words = words
        self._environment = environment

    def can_wake(self, _: Target) -> str:
        """Return why it cannot be run; see ``Waker``."""
        if not self._words:
            return "wake.command names no command"
        words = self._split()
        if not words or not os.path.isabs(words[0]):
            return 'wake.command is not a list of words as in ["/path/to/program", "word"]'
        return "" if os.access(words[0], os.X_OK) else f"{words[0]} cannot be run"

    def wake(self, target: Target, _: str) -> Woken:
        """Run the command; success is its word for it; see ``Waker``."""
        reason = self.can_wake(target)
        if reason:
            return Woken(Wake.IMPOSSIBLE, reason)
        program, *words = self._split()
        told = {
            "RESTANTE_MAILBOX": target.mailbox,
            "RESTANTE_MARK": str(target.mark),
            "RESTANTE_UNSEEN": str(target.unseen),
            "RESTANTE_SESSION": target.session,
        }
        ran = start(words, program, words, {**self._environment, **told}, _SECONDS)
        if ran.code == 0:
            return Woken(Wake.CONFIRMED, receipt="exit code 0")
        why = f"exit code {ran.code}" if ran.code is not None else last_line(ran.said)
        return Woken(Wake.UNCONFIRMED, f"{program} failed: {why}")

    def _split(self) -> list[str]:
        try:
            words = json.loads(self._words)
        except (ValueError, RecursionError):
            return []
        return words if isinstance(words, list) and all(isinstance(one, str) for one in words) else []
