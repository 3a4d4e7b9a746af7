"""Small files of keys and trust: read whole and bounded, replaced in one step, under locks that other programs know."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, StorageFailed, Unsafe
from restante.system.private import make_private, open_private

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 1_048_576
_WAIT_SECONDS = 10.0
_PAUSE_SECONDS = 0.01


@contextmanager
def told(path: str) -> Iterator[None]:
    """Turn any ``OSError`` of the block into our error about the path."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unsafe(f"{path} is a symbolic link", remedy="put the real file there") from None
        raise StorageFailed(f"{path}: {error.strerror or error}") from error


def read_small(path: str) -> bytes | None:
    """Return a file's bytes, ``None`` where there is none.

    Raises:
        Unsafe: It is a symbolic link.
        StorageFailed: It cannot be read, or is larger than 1 MiB.
    """
    with told(path):
        try:
            fd = open_private(path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with os.fdopen(fd, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise StorageFailed(f"{path} has more than {MOST_BYTES:,} bytes", remedy="shorten it")
    return data


def put(path: str, data: bytes, *, mode: int = 0o600) -> None:
    """Put new content in a file's place in one durable step; an existing file keeps its permissions.

    Raises:
        Unsafe: A symbolic link is in its place.
        StorageFailed: The file is as it was.
    """
    with told(path):
        with suppress(FileNotFoundError):
            found = os.lstat(path).st_mode
            if stat.S_ISLNK(found):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            mode = stat.S_IMODE(found)
        temporary = _written(path, data, mode)
        try:
            os.rename(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise
        _sync_directory(os.path.dirname(path))


def put_new(path: str, data: bytes, *, mode: int = 0o600) -> bool:
    """Make a file whole and durably, unless one is there; return whether it was made now.

    Raises:
        StorageFailed: It cannot be made.
    """
    with told(path):
        if os.path.lexists(path):
            return False
        temporary = _written(path, data, mode)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary)
        _sync_directory(os.path.dirname(path))
    return True


def _written(path: str, data: bytes, mode: int) -> str:
    """Write a temporary file beside ``path`` to the disk; return its name."""
    directory, name = os.path.split(path)
    temporary = os.path.join(directory, f".{name}.{os.urandom(6).hex()}.tmp")
    fd = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, mode)
            file.write(data)
            file.flush()
            os.fsync(fd)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary


def _sync_directory(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock file at a path, which stays: other programs that keep the format lock the same one.

    Raises:
        Busy: It was not free within ten seconds.
        StorageFailed: It cannot be made.
    """
    make_private(os.path.dirname(path))
    with told(path):
        fd = open_private(path, os.O_RDWR | os.O_CREAT)
    try:
        _wait_for(fd, path)
        yield
    finally:
        os.close(fd)


def _wait_for(fd: int, path: str) -> None:
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise Busy(f"{path} was held by another process", remedy="try again") from None
            time.sleep(_PAUSE_SECONDS)
        except OSError as error:
            raise StorageFailed(f"{path}: {error.strerror}") from error
        else:
            return
