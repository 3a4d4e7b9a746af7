"""The floorboard of the file rooms: writes that a crash cannot halve, opens that follow no link, locks.

Whatever these functions do is either done and durable, or not done and told as an error of ``domain.errors``.
Nothing here follows a symbolic link in the last part of a path; who wants to allow one resolves it first.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, RestanteError, StorageFailed, Unsafe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.stores.kept import Kept

    # A file's status before and after an append, and the size of that.
    Appended = tuple[os.stat_result, os.stat_result, int]

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
CUT = b" (cut)"
LINES = os.O_RDWR | os.O_APPEND | os.O_CREAT

# Far longer than any writer takes between making its temporary file and renaming it.
_STALE_SECONDS = 3600.0
_TEMPORARY = re.compile(r"\.[0-9]+\.[0-9a-f]{8}\.tmp")

# O_NONBLOCK: opening a FIFO that someone put in a file's place must not hang.
_ALWAYS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_REMEDIES = {
    errno.ENOSPC: "free some space on that disk",
    errno.EDQUOT: "free some of your quota on that disk",
    errno.EFBIG: "raise the limit on file sizes, or shorten the file",
    errno.EROFS: "that disk is read-only for this process; work from where it can be written",
    errno.EACCES: "give yourself permission to that path, or work from where you have it",
    errno.EPERM: "give yourself permission to that path, or work from where you have it",
    errno.EBUSY: "the file is a mount point of its own and cannot be replaced; mount its directory instead",
}


def failure(path: str, error: OSError) -> RestanteError:
    """Return our error for one of the operating system's, naming the path."""
    if error.errno == errno.ELOOP:
        return Unsafe(f"{path} is a symbolic link", remedy="put the real file or directory there")
    reason = error.strerror or str(error)
    return StorageFailed(f"{path}: {reason}", remedy=_REMEDIES.get(error.errno or 0, ""))


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn any ``OSError`` of the block into our error about the path."""
    try:
        yield
    except OSError as error:
        raise failure(path, error) from error


def open_file(path: str, flags: int) -> int:
    """Open a regular file without following a link; what is created gets mode 0600.

    Raises:
        OSError: As ``os.open``; ``ELOOP`` for a symbolic link.
        StorageFailed: Something else than a regular file is there.
    """
    return open_known(path, flags)[0]


def open_known(path: str, flags: int) -> tuple[int, os.stat_result]:
    """Open a file as ``open_file`` does, and return what was asked of it to know that it is one."""
    fd = os.open(path, flags | _ALWAYS, FILE_MODE)
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise StorageFailed(f"{path} is not a regular file", remedy="move it out of the way")
    return fd, status


def read_at(fd: int, size: int, offset: int) -> bytes:
    """Read ``size`` bytes from an offset; fewer only at the end of the file."""
    parts: list[bytes] = []
    while size > 0 and (part := os.pread(fd, size, offset)):
        parts.append(part)
        size -= len(part)
        offset += len(part)
    return b"".join(parts) if len(parts) != 1 else parts[0]


def read_file(path: str, *, most: int | None = None) -> bytes | None:
    """Return the bytes of a file, ``None`` where there is none.

    Args:
        path: The file.
        most: Read no more than so many bytes.

    Raises:
        Unsafe: It is a symbolic link.
        StorageFailed: It cannot be read.
    """
    with translated(path):
        try:
            fd, status = open_known(path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            size = status.st_size
            return read_at(fd, size if most is None else min(size, most), 0)
        finally:
            os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write everything; a short write goes on, so that the system names the reason if it cannot.

    Raises:
        OSError: As ``os.write``; a part may have been written.
    """
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, data[written:])


def sync(fd: int) -> None:
    """Return when what was written is on the disk and not only in a cache of it.

    Raises:
        OSError: As ``os.fsync``.
    """
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        # macOS: fsync hands the data to the drive, which may keep it in a cache that a power loss empties.
        with suppress(OSError):
            fcntl.fcntl(fd, full)
            return
    os.fsync(fd)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable.

    Raises:
        OSError: As ``os.fsync``; filesystems that cannot sync a directory are passed over.
    """
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(fd)


def make_directory(path: str) -> bool:
    """Make a directory with mode 0700, durably; return whether it was made now.

    Raises:
        StorageFailed: It cannot be made, or something else is there.
        Unsafe: A symbolic link is there.
    """
    with translated(path):
        try:
            os.mkdir(path, DIRECTORY_MODE)
        except FileExistsError:
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                raise Unsafe(f"{path} is a symbolic link", remedy="put the real directory there") from None
            if not stat.S_ISDIR(mode):
                raise StorageFailed(f"{path} is not a directory", remedy="move it out of the way") from None
            return False
        sync_directory(os.path.dirname(path))
    return True


def replace(path: str, data: bytes, *, durable: bool = True) -> None:
    """Put new content in a file's place in one step: readers see all of the old or all of the new.

    An existing file's permissions are kept; a new file gets mode 0600.

    Args:
        path: The file.
        data: Its new content.
        durable: Whether it must survive power loss; not needed for what can be made again.

    Raises:
        StorageFailed: The file is as it was before.
        Unsafe: A symbolic link is there.
    """
    with translated(path), _temporary(path) as (fd, temporary):
        with suppress(FileNotFoundError):
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            os.fchmod(fd, stat.S_IMODE(mode))
        write_all(fd, data)
        if durable:
            sync(fd)
        os.rename(temporary, path)
        if durable:
            sync_directory(os.path.dirname(path))


def create(path: str, data: bytes, *, durable: bool = True) -> bool:
    """Make a file that must not exist yet, whole or not at all; return whether it was made now.

    Raises:
        StorageFailed: It could not be made.
    """
    with translated(path):
        if os.path.lexists(path):
            return False
        with _temporary(path) as (fd, temporary):
            write_all(fd, data)
            if durable:
                sync(fd)
            try:
                os.link(temporary, path)
            except FileExistsError:
                return False
            except OSError as error:
                # Filesystems without hard links: a rename is not exclusive, but what it could replace is as new.
                if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                    raise
                os.rename(temporary, path)
            if durable:
                sync_directory(os.path.dirname(path))
    return True


@contextmanager
def _temporary(path: str) -> Iterator[tuple[int, str]]:
    """Open a file of a fresh name beside ``path``; on leaving, nothing of that name is left."""
    _sweep(path)
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    fd = open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        yield fd, temporary
    finally:
        os.close(fd)
        with suppress(OSError):
            os.unlink(temporary)


def _sweep(path: str) -> None:
    """Remove what killed writers left beside ``path``: by age, since a process of another container cannot be seen."""
    directory, name = os.path.split(path)
    oldest = time.time() - _STALE_SECONDS
    with suppress(OSError):
        for other in os.listdir(directory):
            if other.startswith(name + ".") and _TEMPORARY.fullmatch(other, len(name)):
                left = os.path.join(directory, other)
                with suppress(OSError):
                    if os.lstat(left).st_mtime < oldest:
                        os.unlink(left)


def sweep(path: str) -> None:
    """Remove what killed processes left of replacing a file; the caller sees to it that nobody is replacing it."""
    directory, name = os.path.split(path)
    with suppress(OSError):
        for one in os.listdir(directory):
            if one.startswith(name + ".") and one.endswith(".tmp"):
                os.unlink(os.path.join(directory, one))


def append_line(path: str, data: bytes, *, durable: bool) -> Appended:
    """Add whole lines to a file of lines with one write; needs no lock among writers that do the same.

    A torn line that a killed writer left is ended first, and marked with ``CUT`` so that no reader takes it for whole.

    Args:
        path: The file.
        data: The lines.
        durable: Whether to wait for the disk.

    Returns:
        What the file was before and after, and how many bytes were added.

    Raises:
        StorageFailed: Nothing a reader takes for whole was written.
    """
    with translated(path):
        fd, before = open_known(path, LINES)
        try:
            return add_lines(fd, before, data, path=path, durable=durable)
        finally:
            os.close(fd)


def add_lines(fd: int, before: os.stat_result, data: bytes, *, path: str, durable: bool) -> Appended:
    """Do what ``append_line`` does to a file that is open.

    Raises:
        OSError: Nothing a reader takes for whole was written.
    """
    size = before.st_size
    if size > 0 and os.pread(fd, 1, size - 1) != b"\n":
        data = CUT + b"\n" + data
    write_all(fd, data)
    if durable:
        sync(fd)
        if size == 0:
            sync_directory(os.path.dirname(path))
    return before, os.fstat(fd), len(data)


def remove(path: str) -> None:
    """Remove a file; removing what is gone changes nothing.

    Raises:
        StorageFailed: It is there and cannot be removed.
    """
    with translated(path), suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(path)


def is_same(one: os.stat_result, other: os.stat_result) -> bool:
    """Tell whether two statuses are of the same file, with the same rights."""
    # Mode, inode, device, links, owner, group; links may change.
    return one[:3] == other[:3] and one[4:6] == other[4:6]


class flocked:  # noqa: N801 - it is used like a function
    """Hold the kernel's lock on a file, which is made where it is missing.

    The kernel queues those who wait and frees the lock of a process that was killed. Yields whether there is a
    lock at all: some network filesystems have none.

    Args:
        path: The file; its content means nothing.
        wait: Most seconds to wait.
        kept: Where the file stays open for the next time.

    Raises:
        Busy: Another process held it for longer than that.
        StorageFailed: The file cannot be made.
    """

    def __init__(self, path: str, wait: float, kept: Kept | None = None) -> None:
        self._path = path
        self._wait = wait
        self._kept = kept

    def __enter__(self) -> bool:
        return self.take()

    def __exit__(self, *_: object) -> None:
        self.free()

    def take(self) -> bool:
        """Take the lock; return whether there is one."""
        try:
            self._fd, self._status, self._is_locked = _take(self._path, self._wait, self._kept)
        except OSError as error:
            raise failure(self._path, error) from error
        return self._is_locked

    def free(self) -> None:
        """Free it."""
        if self._kept and self._is_locked:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            self._kept.keep(self._path, self._fd, self._status)
        else:
            os.close(self._fd)


def _take(path: str, wait: float, kept: Kept | None) -> tuple[int, os.stat_result, bool]:
    """Return an open file with the lock, its status, and whether the filesystem has locks."""
    fd, status = kept.unseen(path) if kept else (-1, None)
    while True:
        if status is None:
            fd, status = open_known(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _queue_up(fd, path, wait)
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                return fd, status, False
            os.close(fd)
            raise
        # Whoever held it may have removed the file meanwhile; a lock on a file without a name excludes nobody.
        try:
            if is_same(status, os.lstat(path)):
                return fd, status, True
        except FileNotFoundError:
            pass
        os.close(fd)
        status = None


def _queue_up(fd: int, path: str, wait: float) -> None:
    """Wait for the lock in the kernel's queue, in a thread because that call cannot be given a time.

    Raises:
        Busy: The time is over; the file is closed, or will be.
    """
    busy = Busy(f"{path} was held by another process for {wait:g} s", remedy="try again")
    if wait <= 0:
        os.close(fd)
        raise busy
    import threading

    guard = threading.Lock()
    taken = threading.Event()
    given_up = False

    def block() -> None:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        with guard:
            taken.set()
            if given_up:
                os.close(fd)

    threading.Thread(target=block, daemon=True).start()
    if taken.wait(wait):
        return
    with guard:
        if taken.is_set():
            return
        given_up = True
    raise busy
