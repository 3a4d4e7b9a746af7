"""Fresh ids, in order within one process."""

from __future__ import annotations

import os
from _thread import allocate_lock
from datetime import UTC, datetime

from restante.domain.ids import compose, milliseconds

# A command makes no more.
_FEW = 4


class MonotonicIds:
    """ULIDs that sort in the order they were made, also within one millisecond (the ULID specification's rule)."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._last = datetime.min.replace(tzinfo=UTC)
        self._last_ms = milliseconds(self._last)
        self._randomness = 0
        self._made = 0

    def new(self, kind: str, at: datetime) -> str:
        """Return a fresh id of the kind."""
        with self._lock:
            now = milliseconds(at)
            if now > self._last_ms:
                # The top bit stays clear, so that counting up within the millisecond cannot overflow.
                self._randomness = int.from_bytes(os.urandom(10)) >> 1
                self._last, self._last_ms = at, now
            else:
                # The same millisecond, or a clock that was set back: counting on keeps the order.
                self._randomness += 1
            self._made += 1
            return compose(kind, self._last, self._randomness, is_one_of_many=self._made > _FEW)
