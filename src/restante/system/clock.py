"""Real time, and a clock that stands still for whoever asks for it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.ports import Clock


class SystemClock:
    """The machine's wall clock."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class FixedClock(SystemClock):
    """A clock that always tells the same time; waiting is real."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        """Return the fixed time."""
        return self._now


def clock_for(environment: Mapping[str, str]) -> Clock:
    """Return the clock a process goes by: ``RESTANTE_NOW`` (ISO 8601 with a zone) where it is set, else real time.

    Raises:
        UsageError: ``RESTANTE_NOW`` is no such time.
    """
    text = environment.get("RESTANTE_NOW")
    if not text:
        return SystemClock()
    try:
        now = datetime.fromisoformat(text)
        if now.tzinfo is not None:
            return FixedClock(now.astimezone(UTC))
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"RESTANTE_NOW={text!r} is not a time with a zone", remedy="write 2026-05-20T15:30:00Z")
