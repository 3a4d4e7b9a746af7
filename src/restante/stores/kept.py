"""Files that stay open from one append to the next."""

from __future__ import annotations

import os
from contextlib import suppress

from restante.stores.files import is_same, open_known

# All owners together keep no more open.
_MOST_KEPT = 32


class Kept:
    """Files that stay open from one use to the next, for an owner who uses them again and again.

    One is opened anew where its name leads to another file by now, or to one with other rights, and in a process that
    was forked: a lock of the kernel belongs to what was opened, and would hold for both. Whoever has one has it alone.
    """

    _everywhere = 0

    def __init__(self) -> None:
        self._files: dict[str, tuple[int, os.stat_result, int]] = {}

    def take(self, path: str, flags: int) -> tuple[int, os.stat_result]:
        """Return an open file and its status as of now, as ``open_known`` does; ``keep`` or close it."""
        return self.again(path) or open_known(path, flags)

    def again(self, path: str) -> tuple[int, os.stat_result] | None:
        """Return the same for a file that was kept; ``None`` where it was not, or is not the one that is there."""
        fd, known = self.unseen(path)
        if known is None:
            return None
        with suppress(OSError):
            status = os.lstat(path)
            if is_same(known, status):
                return fd, status
        os.close(fd)
        return None

    def unseen(self, path: str) -> tuple[int, os.stat_result | None]:
        """Return a file that was kept, and its status when it was opened; nobody looked whether it still is there."""
        kept = self._files.pop(path, None)
        if kept is None:
            return -1, None
        Kept._everywhere -= 1
        fd, status, process = kept
        if process != os.getpid():
            os.close(fd)
            return -1, None
        return fd, status

    def keep(self, path: str, fd: int, status: os.stat_result) -> None:
        """Keep an open file for the next use, or close it."""
        if path in self._files or Kept._everywhere >= _MOST_KEPT:
            os.close(fd)
            return
        Kept._everywhere += 1
        self._files[path] = fd, status, os.getpid()

    def __del__(self) -> None:
        Kept._everywhere -= len(self._files)
        for fd, _, _ in self._files.values():
            os.close(fd)
