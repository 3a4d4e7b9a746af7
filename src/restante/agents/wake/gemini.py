"""Gemini CLI: nothing of it can wake an idle session from outside (looked for in 0.61.0), and this says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.monitor import Wake, Woken

if TYPE_CHECKING:
    from restante.domain.monitor import Target

_REASON = "Gemini CLI has no way to wake an idle session from outside: mail is shown with its next turn"


class Gemini:
    """A ``ports.monitoring.Waker`` that cannot."""

    name = "gemini"
    is_default = True

    def can_wake(self, _: Target) -> str:
        """Return why it cannot wake this session; see ``Waker``."""
        return _REASON

    def wake(self, _: Target, __: str) -> Woken:
        """Do nothing, and say why; see ``Waker``."""
        return Woken(Wake.IMPOSSIBLE, _REASON)
