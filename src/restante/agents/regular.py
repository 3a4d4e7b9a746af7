"""Reading a settings file at a checkpoint: a FIFO that somebody put in its place must not hold up an agent's turn."""

from __future__ import annotations

import os
import stat


def read_regular(path: str, most: int = 4_000_000) -> bytes:
    """Return the beginning of a regular file.

    Args:
        path: The file; symbolic links are followed, as the agent programs do.
        most: Bytes at most.

    Raises:
        OSError: It cannot be read, or is no regular file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read(most)


def read_tail(path: str, most: int) -> bytes:
    """Return the end of a regular file; as ``read_regular`` otherwise."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a regular file")
        file.seek(max(0, found.st_size - most))
        return file.read(most)
