"""Hints that files of a directory changed: from the kernel where the extra ``watch`` is installed, else by looking."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    _Signature = tuple[tuple[str, int, int, int], ...]

_POLL_SECONDS = 1.0
_KERNEL_SLICE_MS = 250


class DirectoryWatcher:
    """Ticks when a directory, which need not exist yet, may have changed.

    Args:
        directory: What to watch.
        poll: Look once a second instead of asking the kernel.
    """

    def __init__(self, directory: str, *, poll: bool = False) -> None:
        self._directory = directory
        self._poll = poll

    def ticks(self, timeout: float | None = None) -> Iterator[None]:
        """Yield once at the start, whenever something may have changed, and once before the time is over.

        Args:
            timeout: End after so many seconds; ``None`` to go on until stopped.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        # Before the first look of whoever asked: what changes while they look must not be missed.
        before = self._signature()
        yield
        kernel = None if self._poll else _kernel_watch()
        while kernel and not os.path.isdir(self._directory):
            if not _wait(deadline):
                return
            if os.path.isdir(self._directory):
                yield
        yield from (self._from_kernel(deadline) if kernel else self._by_looking(deadline, before))

    def _from_kernel(self, deadline: float | None) -> Iterator[None]:
        from watchfiles import watch

        began = False
        for changes in watch(
            self._directory,
            watch_filter=None,
            debounce=50,
            step=10,
            rust_timeout=_KERNEL_SLICE_MS,
            yield_on_timeout=True,
            raise_interrupt=True,
        ):
            # The first answer also stands for whatever happened before the kernel began to watch.
            if changes or not began:
                began = True
                yield
            if deadline is not None and time.monotonic() >= deadline:
                yield
                return

    def _by_looking(self, deadline: float | None, before: _Signature) -> Iterator[None]:
        while _wait(deadline):
            now = self._signature()
            if now != before:
                before = now
                yield
        yield

    def _signature(self) -> _Signature:
        found: list[tuple[str, int, int, int]] = []
        for place in (self._directory, os.path.join(self._directory, ".restante")):
            try:
                with os.scandir(place) as entries:
                    for entry in entries:
                        stat = entry.stat(follow_symlinks=False)
                        found.append((entry.path, stat.st_ino, stat.st_mtime_ns, stat.st_size))
            except OSError:
                continue
        return tuple(sorted(found))


def _kernel_watch() -> bool:
    from importlib.util import find_spec

    return find_spec("watchfiles") is not None


def _wait(deadline: float | None) -> bool:
    """Wait for the next look; return whether there is time for one."""
    left = _POLL_SECONDS if deadline is None else deadline - time.monotonic()
    if left <= 0:
        return False
    time.sleep(min(_POLL_SECONDS, left))
    return True
