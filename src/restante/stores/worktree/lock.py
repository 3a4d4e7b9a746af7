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
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, StorageFailed
from restante.stores.files import failure, flocked, sweep, sync, sync_directory, write_all
from restante.stores.worktree.record import Record, WriteRecord, recover

if TYPE_CHECKING:
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
        inode: Its number.
        spare: Where that directory may be moved instead of removing it; empty where it may not.
        record: The file's write-ahead record.
    """

    def __init__(self, layout: Layout, path: str, record: Record) -> None:
        self.path = path
        self.directory = path + ".lock"
        # Moving a directory to another one takes the right to write to it, so the spare one is beside it.
        place, _, name = path.rpartition("/")
        self.spare = f"{place}/.{name}.spare" if layout.kept and place == layout.box else ""
        self.inode = 0
        self._layout = layout
        self.record = record

    def give_back(self) -> None:
        """Give the lock back, if it still is ours."""
        with suppress(OSError):
            if not self._is_there():
                return
            if self.spare:
                from restante.stores.worktree.spare import put_aside

                put_aside(self.directory, self.spare)
            else:
                os.rmdir(self.directory)

    def is_ours(self) -> bool:
        """Tell whether the lock is still ours, and renew it: one that went stale may have been taken over."""
        try:
            if not self._is_there():
                return False
            os.utime(self.directory)
        except FileNotFoundError:
            return False
        return True

    def _is_there(self) -> bool:
        status = os.lstat(self.directory)
        # A directory of somebody else's can be given the number that ours had; the mode tells them apart.
        return status.st_ino == self.inode and stat.S_IMODE(status.st_mode) == _OUR_MODE

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
        try:
            fd, before = self._layout.take(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                appended = self._append(fd, before, data, header)
            except BaseException:
                os.close(fd)
                raise
            self._layout.leave(self.path, fd, before)
        except OSError as error:
            raise failure(self.path, error) from error
        return appended

    def _append(self, fd: int, before: os.stat_result, data: bytes, header: bytes) -> Appended:
        size = before.st_size
        if size == 0:
            data = header + data
        elif os.pread(fd, 1, size - 1) != b"\n":
            # A rule glued to a line of text would make that line a heading.
            data = b"\n" + data
        self.record.begin(WriteRecord(os.getpid(), self.inode, before.st_ino, size, data))
        appended = None
        try:
            write_all(fd, data)
            appended = before, os.fstat(fd), len(data)
            sync(fd)
        except OSError:
            with suppress(OSError):
                if size < os.fstat(fd).st_size <= size + len(data):
                    os.ftruncate(fd, size)
            appended = None
            raise
        finally:
            with suppress(OSError):
                self.record.settle(appended)
        if size == 0:
            sync_directory(os.path.dirname(self.path))
        return appended


class locked:  # noqa: N801 - it is used like a function
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

    def __init__(self, layout: Layout, name: str, *, wait: float = WAIT_SECONDS, long: bool = False) -> None:
        self._layout = layout
        self._name = name
        self._wait = wait
        self._is_long = long

    def __enter__(self) -> Held:
        layout = self._layout
        layout.make()
        path = layout.shared(self._name)
        deadline = time.monotonic() + self._wait
        self._queue = flocked(layout.own(f"{self._name}.flock"), self._wait, layout.kept)
        is_alone = self._queue.take()
        try:
            self._held = self._hold(path, deadline, is_alone=is_alone)
        except BaseException:
            self._queue.free()
            raise
        return self._held

    def _hold(self, path: str, deadline: float, *, is_alone: bool) -> Held:
        record = Record(self._layout, self._name)
        try:
            held = Held(self._layout, path, record)
            try:
                was_left = _take(held, deadline, is_alone=is_alone, wait=self._wait)
            except OSError as error:
                raise failure(held.directory, error) from error
            try:
                if record.left:
                    recover(self._layout, self._name, record)
                if was_left:
                    sweep(path)
                self._keeper = _Keeper(held) if self._is_long else None
            except BaseException:
                held.give_back()
                raise
        except BaseException:
            record.close()
            raise
        return held

    def __exit__(self, *_: object) -> None:
        try:
            if self._keeper:
                self._keeper.stop()
            self._held.give_back()
            self._held.record.close()
        finally:
            self._queue.free()


def _take(held: Held, deadline: float, *, is_alone: bool, wait: float) -> bool:
    """Take a lock as soon as it can be; return whether somebody had left its directory behind."""
    directory = held.directory
    if held.spare:
        from restante.stores.worktree.spare import take_spare

        held.inode = take_spare(held.spare, directory, _OUR_MODE)
        if held.inode:
            return False
    left_inode = held.record.left.lock_inode if held.record.left else 0
    pause = _POLL_SECONDS[0]
    was_left = False
    while True:
        try:
            os.mkdir(directory, _OUR_MODE)
        except FileExistsError:
            pass
        else:
            held.inode = os.lstat(directory).st_ino
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


class _Keeper:
    """Renews a lock from a thread, until it is stopped."""

    def __init__(self, held: Held) -> None:
        import threading

        self._done = threading.Event()
        self._held = held
        self._thread = threading.Thread(target=self._renew, daemon=True)
        self._thread.start()

    def _renew(self) -> None:
        while not self._done.wait(RENEW_SECONDS):
            with suppress(OSError):
                self._held.is_ours()

    def stop(self) -> None:
        """Return when it renews no more."""
        self._done.set()
        self._thread.join()
