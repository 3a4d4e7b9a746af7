"""What hosts of receivers hear bells by: a FIFO each, at which one sleeps until a ring comes. No poster waits for it.

See ``system.doorbells``.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from contextlib import suppress

from restante.domain.errors import StorageFailed, Unsafe
from restante.system.private import make_private

_END = ".fifo"
_LINE = b"r\n"
_PIECE = 65_536
# What was not given its name by then is of a host that was killed over it.
_MADE_SECONDS = 60.0


class Ear:
    """Hears rings from when it is opened, and nudges of its own process at all times.

    Args:
        directory: Where the FIFO is made, under a name of its own; empty for none.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._path = ""
        self._fifo = -1
        self._nudged, self._nudges = os.pipe()
        for fd in (self._nudged, self._nudges):
            os.set_blocking(fd, False)

    def open(self) -> bool:
        """Have a FIFO that posters find, and tell whether there is one now; opening again mends what was lost."""
        if not self._directory or self._is_there():
            return bool(self._directory)
        self._lose()
        with suppress(OSError, StorageFailed, Unsafe):
            self._make()
        return bool(self._path)

    def wait(self, seconds: float | None) -> None:
        """Sleep until somebody rings or nudges, or the time is over; ``None`` for however long."""
        # A server has more files open than select() can number.
        ready = select.poll()
        for fd in (self._nudged, self._fifo):
            if fd >= 0:
                ready.register(fd, select.POLLIN)
        for fd, _ in ready.poll(None if seconds is None else 1000 * seconds):
            with suppress(BlockingIOError):
                while len(os.read(fd, _PIECE)) == _PIECE:
                    pass

    def nudge(self) -> None:
        """End a sleep; from whatever thread or signal handler."""
        with suppress(OSError):
            os.write(self._nudges, _LINE)

    def close(self) -> None:
        """Hear nothing any more, and leave nothing."""
        self._lose()
        os.close(self._nudged)
        os.close(self._nudges)

    def _is_there(self) -> bool:
        try:
            return bool(self._path) and os.path.samestat(os.lstat(self._path), os.fstat(self._fifo))
        except OSError:
            return False

    def _lose(self) -> None:
        if not self._path:
            return
        with suppress(OSError):
            os.unlink(self._path)
        os.close(self._fifo)
        self._path, self._fifo = "", -1

    def _make(self) -> None:
        """Make the FIFO, which gets the name that posters look for when it is read."""
        make_private(self._directory)
        _tidy(self._directory)
        made = os.path.join(self._directory, f"{os.getpid()}.{os.urandom(4).hex()}")
        os.mkfifo(made, 0o600)
        # For reading and writing: then it has no end when a poster closes its side.
        fd = os.open(made, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not stat.S_ISFIFO(os.fstat(fd).st_mode):
                raise FileExistsError(made)
            os.rename(made, made + _END)
        except OSError:
            os.close(fd)
            raise
        self._path, self._fifo = made + _END, fd


def tell_all(directory: str) -> None:
    """Put a line into the FIFO of each host; one that nobody reads is of a host that was killed, and goes."""
    with suppress(OSError):
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            if name.endswith(_END) and not write_fifo(path, _LINE) and _is_unread(path):
                with suppress(OSError):
                    os.unlink(path)


def write_fifo(path: str, line: bytes) -> bool:
    """Write one short line to a FIFO that somebody reads, and tell whether it was; never waits, never raises."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode) and os.write(fd, line) == len(line)
    except OSError:
        return False
    finally:
        os.close(fd)


def _is_unread(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))
    except OSError as error:
        return error.errno == errno.ENXIO
    return False


def _tidy(directory: str) -> None:
    """Take away what hosts left that were killed."""
    tell_all(directory)
    with os.scandir(directory) as entries:
        for one in entries:
            with suppress(OSError):
                age = time.time() - one.stat(follow_symlinks=False).st_mtime
                if not one.name.endswith(_END) and abs(age) > _MADE_SECONDS:
                    os.unlink(one.path)
