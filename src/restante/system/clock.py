"""Real time."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's wall clock."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
