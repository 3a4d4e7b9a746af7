"""A scheduled task of the agent program itself asks whether mail waits: there is nothing to call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.monitor import Wake, Woken

if TYPE_CHECKING:
    from restante.domain.monitor import Target

_REASON = "the agent program's own task looks by itself, at its next time"


class Scheduled:
    """A ``ports.monitoring.Waker`` that leaves it to the agent program."""

    name = "scheduled"
    is_default = False

    def can_wake(self, _: Target) -> str:
        """Return why it wakes nobody; see ``Waker``."""
        return _REASON

    def wake(self, _: Target, __: str) -> Woken:
        """Do nothing, and say why; see ``Waker``."""
        return Woken(Wake.IMPOSSIBLE, _REASON)
