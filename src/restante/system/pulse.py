"""Hints that databases and turn files of the data directory changed, by whatever process."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    _Signature = tuple[tuple[str, int, int, int], ...]

# Looking costs a few system calls for each file; whoever waits here waits for a model, not for a frame.
_LOOK_SECONDS = 0.05
# That a process died, or that mail expired, changes no file.
_REST_SECONDS = 1.0
_PLACES = ("", "turns")
_ENDS = (".db", "-wal", "-journal")


class DataWatcher:
    """A ``ports.Watcher`` of the data directory, which need not exist yet.

    Ticks when a database or a turn file changed, and once a second whatever happens.

    Args:
        directory: The data directory.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def ticks(self, timeout: float | None = None) -> Iterator[None]:
        """Yield once at the start, whenever something may have changed, and once when the time is over."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            # Before whoever asked looks: what changes while they look must not be missed.
            before, ticked = self._signature(), time.monotonic()
            yield
            while self._signature() == before and time.monotonic() - ticked < _REST_SECONDS:
                left = _LOOK_SECONDS if end is None else end - time.monotonic()
                if left <= 0:
                    yield
                    return
                time.sleep(min(_LOOK_SECONDS, left))
            if end is not None and time.monotonic() >= end:
                yield
                return

    def _signature(self) -> _Signature:
        found: list[tuple[str, int, int, int]] = []
        for place in _PLACES:
            try:
                with os.scandir(os.path.join(self._directory, place)) as entries:
                    for entry in entries:
                        if place or entry.name.endswith(_ENDS):
                            stat = entry.stat(follow_symlinks=False)
                            found.append((entry.path, stat.st_ino, stat.st_mtime_ns, stat.st_size))
            except OSError:
                continue
        return tuple(sorted(found))
