"""Fresh ids, in order within one process."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from restante.domain.ids import compose

if TYPE_CHECKING:
    from datetime import datetime


class MonotonicIds:
    """ULIDs that sort in the order they were made, also within one millisecond (the ULID specification's rule)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = -1
        self._randomness = 0

    def new(self, kind: str, at: datetime) -> str:
        """Return a fresh id of the kind."""
        with self._lock:
            ms = int(at.timestamp() * 1000)
            if ms == self._last_ms:
                self._randomness += 1
            else:
                # The top bit stays clear, so that counting up within the millisecond cannot overflow.
                self._randomness = int.from_bytes(os.urandom(10)) >> 1
                self._last_ms = ms
            return compose(kind, at, self._randomness)
