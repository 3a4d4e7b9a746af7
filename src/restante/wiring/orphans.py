"""Processes that a host started to wake somebody and could not end, because it was killed: the next host ends them.

``<data>/hosts/<number>.wake`` is there as long as such a process runs: a line for it and one for its host, each with
the machine, the process's number and when it began.
"""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import StorageFailed, Unsafe
from restante.domain.registry import Presence, Process
from restante.system.places import data_directory
from restante.system.private import make_private, open_private
from restante.system.processes import LocalProcesses, process_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_END = ".wake"
_LARGEST = 4096


class Orphans:
    """Writes down what runs, and ends what a killed host left.

    Args:
        environment: Where the data directory comes from.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._directory = os.path.join(data_directory(environment), "hosts")

    def began(self, pid: int) -> None:
        """Write down that a process of ours runs; where that cannot be, it is ended by us or by nobody."""
        lines = "".join(json.dumps(process_of(one)) + "\n" for one in (pid, os.getpid()))
        with suppress(OSError, StorageFailed, Unsafe):
            make_private(self._directory)
            fd = open_private(self._path(pid), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                os.write(fd, lines.encode())
            finally:
                os.close(fd)

    def ended(self, pid: int) -> None:
        """Forget a process of ours that ended."""
        with suppress(OSError):
            os.unlink(self._path(pid))

    def end(self) -> int:
        """End, with whatever they started, the processes whose host is gone; return how many were."""
        count, processes = 0, LocalProcesses()
        try:
            names = [name for name in os.listdir(self._directory) if name.endswith(_END)]
        except OSError:
            return 0
        for name in names:
            path = os.path.join(self._directory, name)
            child, host = _read(path)
            if host is not None and processes.presence(host) is not Presence.GONE:
                continue
            # By its beginning, too: its number may be another's since.
            if child is not None and processes.presence(child) is Presence.ALIVE:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
                    count += 1
            with suppress(OSError):
                os.unlink(path)
        return count

    def _path(self, pid: int) -> str:
        return os.path.join(self._directory, f"{pid}{_END}")


def _read(path: str) -> tuple[Process | None, Process | None]:
    """Return a process and its host; nothing of what cannot be read: it was being written when its host was killed."""
    with suppress(OSError, StorageFailed, ValueError, TypeError):
        fd = open_private(path, os.O_RDONLY)
        try:
            child, host = (Process(*json.loads(line)) for line in os.read(fd, _LARGEST).splitlines())
        finally:
            os.close(fd)
        if child.pid > 1 and host.pid > 1:
            return child, host
    return None, None
