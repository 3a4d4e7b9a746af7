"""Locks of the shared files, in two steps.

First the kernel's lock on ``.restante/<file>.flock``: those of us who wait stand in a queue, and whoever is killed
loses it at once. Then the original program's protocol: a directory ``<real path of the file>.lock``, made to take
the lock and removed to give it back; whoever holds it renews its time every few seconds, and one that was not
renewed for 10 s counts as left behind. Readers need neither.

Whoever has the kernel's lock knows that no other process of ours holds the directory. One that is ours all the same
was left by a killed process and is removed at once: ours are known by their mode, 0500, or by the write-ahead record.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, StorageFailed
from restante.stores.files import flocked, open_file, sweep, sync, sync_directory, translated, write_all
from restante.stores.worktree.record import (
    WriteRecord,
    read_record,
    recover,
    settle,
    write_record,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.stores.files import Appended
    from restante.stores.worktree.layout import Layout

WAIT_SECONDS = 10.0
STALE_SECONDS = 10.0
RENEW_SECONDS = 2.0

_OUR_MODE = 0o500
_POLL_SECONDS = (0.002, 0.05)


class Held:
    """A lock that is held, and the writing that needs it.

    Attributes:
        path: The file.
        directory: The lock directory.
    """

    def __init__(self, layout: Layout, name: str, path: str) -> None:
        self.path = path
        self.directory = path + ".lock"
        self.inode = os.lstat(self.directory).st_ino
        self._layout = layout
        self._name = name
        self._spare = layout.own(f"{name}.spare")

    def give_back(self) -> None:
        """Give the lock back, if it still is ours.

        The directory is moved away, which is as good as removing it and cannot wait for the disk: on some
        systems removing a directory takes as long as making a write durable. The next append removes it meanwhile.
        """
        with suppress(OSError):
            if self.is_ours():
                try:
                    os.rename(self.directory, self._spare)
                except OSError:
                    os.rmdir(self.directory)

    def is_ours(self) -> bool:
        """Tell whether the lock is still ours, and renew it: one that went stale may have been taken over."""
        try:
            status = os.lstat(self.directory)
            # A directory of somebody else's can be given the number that ours had; the mode tells them apart.
            if status.st_ino != self.inode or stat.S_IMODE(status.st_mode) != _OUR_MODE:
                return False
            os.utime(self.directory)
        except FileNotFoundError:
            return False
        return True

    def append(self, data: bytes, *, header: bytes) -> Appended:
        """Append a block durably, whole or not at all.

        Args:
            data: The block.
            header: What an empty file begins with.

        Returns:
            What the file was before and after, and how many bytes were added.

        Raises:
            StorageFailed: The file is as it was before.
        """
        with translated(self.path):
            fd = open_file(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                return self._append(fd, data, header)
            finally:
                os.close(fd)

    def _append(self, fd: int, data: bytes, header: bytes) -> Appended:
        status = os.fstat(fd)
        size = status.st_size
        if size == 0:
            data = header + data
        elif os.pread(fd, 1, size - 1) != b"\n":
            # A rule glued to a line of text would make that line a heading.
            data = b"\n" + data
        intent = WriteRecord(os.getpid(), self.inode, status.st_ino, size, data)
        record = write_record(self._layout, self._name, intent)
        appended = None
        try:
            write_all(fd, data)
            appended = status, os.fstat(fd), len(data)
            with _removed_meanwhile(self._spare):
                sync(fd)
        except OSError:
            with suppress(OSError):
                if size < os.fstat(fd).st_size <= size + len(data):
                    os.ftruncate(fd, size)
            appended = None
            raise
        finally:
            with suppress(OSError):
                settle(record, appended)
        if size == 0:
            sync_directory(os.path.dirname(self.path))
        return appended


@contextmanager
def locked(layout: Layout, name: str, *, wait: float = WAIT_SECONDS, long: bool = False) -> Iterator[Held]:
    """Hold the lock of one of the shared files; the mailbox's directories are made where they are missing.

    Args:
        layout: The mailbox.
        name: The file, which need not exist yet.
        wait: Most seconds to wait.
        long: Whether it may be held for seconds; then a thread renews it.

    Raises:
        Busy: Another program held it for longer than that; it is named.
        StorageFailed: The mailbox cannot be written, or what a killed writer left cannot be mended.
        Unsafe: The file is a symbolic link that leads out of the worktree.
    """
    layout.make()
    path = layout.shared(name)
    deadline = time.monotonic() + wait
    with flocked(layout.own(f"{name}.flock"), wait) as is_alone:
        record = read_record(layout, name)
        with translated(path + ".lock"):
            was_left = _take(path + ".lock", deadline, record.lock_inode if record else 0, is_alone=is_alone, wait=wait)
            held = Held(layout, name, path)
        try:
            if record:
                recover(layout, name, record)
            if was_left:
                sweep(path)
            with _renewed(held) if long else nullcontext():
                yield held
        finally:
            held.give_back()


def _take(directory: str, deadline: float, left_inode: int, *, is_alone: bool, wait: float) -> bool:
    """Make the lock directory, as soon as it can be; return whether somebody had left it behind."""
    pause = _POLL_SECONDS[0]
    was_left = False
    while True:
        try:
            os.mkdir(directory, _OUR_MODE)
        except FileExistsError:
            pass
        else:
            return was_left
        if _remove_if_left(directory, left_inode, is_alone=is_alone):
            was_left = True
            continue
        if time.monotonic() >= deadline:
            raise Busy(
                f"{directory} was held by another program for {wait:g} s",
                remedy="try again; if no program is writing there, remove that directory",
            )
        time.sleep(pause)
        pause = min(pause * 1.5, _POLL_SECONDS[1])


def _remove_if_left(directory: str, left_inode: int, *, is_alone: bool) -> bool:
    """Remove a lock directory that nobody holds; return whether it is worth trying again at once."""
    try:
        status = os.lstat(directory)
    except FileNotFoundError:
        return True
    if not stat.S_ISDIR(status.st_mode):
        raise StorageFailed(f"{directory} is not a directory", remedy="move it out of the way")
    is_ours = status.st_ino == left_inode or (
        stat.S_IMODE(status.st_mode) == _OUR_MODE and status.st_uid == os.geteuid()
    )
    if not (is_alone and is_ours) and time.time() - status.st_mtime <= STALE_SECONDS:
        return False
    with suppress(FileNotFoundError):
        # Looking twice leaves another program that takes over the same lock the least room.
        if os.path.samestat(status, os.lstat(directory)):
            os.rmdir(directory)
    return True


@contextmanager
def _removed_meanwhile(directory: str) -> Iterator[None]:
    """Remove a directory, if there is one, while the block waits for something else."""
    if not os.path.lexists(directory):
        yield
        return
    # Not ``threading``: its way of starting a thread waits until the thread runs.
    import _thread

    done = _thread.allocate_lock()

    def remove() -> None:
        with done, suppress(OSError):
            os.rmdir(directory)

    _thread.start_new_thread(remove, ())
    try:
        yield
    finally:
        # Nothing of ours goes on when the caller is told that its mail is safe; a thread that did not begin is none.
        with done:
            pass


@contextmanager
def _renewed(held: Held) -> Iterator[None]:
    """Renew a lock from a thread for as long as the block takes."""
    import threading

    done = threading.Event()

    def renew() -> None:
        while not done.wait(RENEW_SECONDS):
            with suppress(OSError):
                held.is_ours()

    keeper = threading.Thread(target=renew, daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()
