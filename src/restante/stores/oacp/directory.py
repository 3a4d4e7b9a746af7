"""A directory that is held open: what is done in it is done there, whatever its path leads to meanwhile.

Every part of the way below a tree's home is opened without following a link, and every name is used in the open
directory alone.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from restante.domain.errors import NothingThere, StorageFailed, Unsafe
from restante.stores.files import failure, read_at, sync, write_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO in a message's place must not hang its reader.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
# Far longer than any writer takes between making a hidden file and giving it its name.
_STALE_SECONDS = 3600.0
_KIND = stat.S_IFMT(0xFFFF)
_SHOWN = (stat.S_IFREG, stat.S_IFLNK)
# What ``os.link`` says where a filesystem has no hard links, or a system lets nobody link what is another user's.
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Directory:
    """An open directory. Close it, or use it as a context.

    Attributes:
        path: Where it was, for texts.
        fd: The open directory.
    """

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self.fd = fd

    @classmethod
    def open(cls, home: str, names: Sequence[str]) -> Directory:
        """Open a directory below a home.

        Raises:
            NothingThere: It is not there.
            Unsafe: A part of the way is a symbolic link.
            StorageFailed: It cannot be opened.
        """
        try:
            fd = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise _missing_or(home, error) from error
        directory = cls(home, fd)
        for name in names:
            with directory:
                directory = directory.inside(name)
        return directory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it."""
        os.close(self.fd)

    def at(self, name: str) -> str:
        """Return the path of a name in it, for texts."""
        return os.path.join(self.path, name)

    def inside(self, name: str) -> Directory:
        """Open a directory in it; raises as ``open``."""
        try:
            return Directory(self.at(name), os.open(name, _DIRECTORY, dir_fd=self.fd))
        except OSError as error:
            with suppress(OSError):
                if stat.S_ISLNK(os.lstat(name, dir_fd=self.fd).st_mode):
                    raise Unsafe(f"{self.at(name)} is a symbolic link", remedy="put the real directory there") from None
            raise _missing_or(self.at(name), error) from error

    def make(self, name: str) -> Directory:
        """Open a directory in it that is made where it is missing, as open to others as this one is."""
        with suppress(NothingThere):
            return self.inside(name)
        try:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self.fd)
                self.sync()
            made = self.inside(name)
        except OSError as error:
            raise failure(self.at(name), error) from error
        with suppress(OSError):
            os.fchmod(made.fd, stat.S_IMODE(os.fstat(self.fd).st_mode) if self.is_shared() else 0o700)
        return made

    def is_shared(self) -> bool:
        """Whether several users work in it: it is another user's, or others than its owner may write."""
        status = os.fstat(self.fd)
        return status.st_uid != os.geteuid() or bool(status.st_mode & 0o022)

    def file_mode(self) -> int:
        """Return the mode of a new file: ours alone, or readable to whom the directory is where users share it."""
        if not self.is_shared():
            return 0o600
        # Who may write the directory may write what is in it, as far as reading goes along with it.
        return 0o600 | (stat.S_IMODE(os.fstat(self.fd).st_mode) & 0o066)

    def directories(self) -> list[str]:
        """Return the names of the directories in it that are no links and not hidden."""
        with self._scan() as found:
            return [one.name for one in found if not one.name.startswith(".") and one.is_dir(follow_symlinks=False)]

    def names(self) -> list[str]:
        """Return every name in it that a message may have; what it stands for is not looked at."""
        try:
            return [name for name in os.listdir(self.fd) if _may_be_message(name)]
        except OSError as error:
            raise failure(self.path, error) from error

    def messages(self, names: Iterable[str] | None = None) -> list[tuple[str, os.stat_result]]:
        """Return name and status of every ``*.yaml`` in it that is a file or a link; what vanishes is passed over.

        Args:
            names: Only these are looked at.
        """
        if names is not None:
            found = [(name, status) for name in names if (status := self.status(name))]
            return [one for one in found if one[1].st_mode & _KIND in _SHOWN]
        with self._scan() as entries:
            return _messages(entries)

    def _scan(self) -> os._ScandirIterator[str]:
        try:
            return os.scandir(self.fd)
        except OSError as error:
            raise failure(self.path, error) from error

    def status(self, name: str) -> os.stat_result | None:
        """Return what a name stands for, a link for itself; ``None`` for nothing."""
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failure(self.at(name), error) from error

    def read(self, name: str, most: int) -> tuple[bytes, os.stat_result] | None:
        """Return at most ``most`` bytes of a regular file, and its status; ``None`` where nothing is.

        Raises:
            Unsafe: A symbolic link is there.
            StorageFailed: Something else is, or it cannot be read.
        """
        try:
            fd = os.open(name, _FILE, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failure(self.at(name), error) from error
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise StorageFailed(f"{self.at(name)} is not a regular file", remedy="move it out of the way")
            return read_at(fd, min(most, status.st_size), 0), status
        except OSError as error:
            raise failure(self.at(name), error) from error
        finally:
            os.close(fd)

    def write_new(self, name: str, data: bytes) -> int:
        """Write a new file, durably but for its name, and return it open.

        Raises:
            OSError: Nothing is left of it.
        """
        fd = os.open(name, _NEW, 0o600, dir_fd=self.fd)
        try:
            if (mode := self.file_mode()) != 0o600:
                os.fchmod(fd, mode)
            write_all(fd, data)
            sync(fd)
        except BaseException:
            os.close(fd)
            self.drop(name)
            raise
        return fd

    def link(self, name: str, into: Directory, new: str) -> None:
        """Give a file another name, which must not exist.

        Where the filesystem has no hard links it loses the old one: that is not exclusive, and looked at before.

        Raises:
            OSError: As ``os.link``; ``FileExistsError`` where anything has that name.
        """
        try:
            os.link(name, new, src_dir_fd=self.fd, dst_dir_fd=into.fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            if into.status(new) is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from None
            os.rename(name, new, src_dir_fd=self.fd, dst_dir_fd=into.fd)

    def sweep(self, prefix: str = ".") -> None:
        """Remove hidden files that killed writers left: by age, since a process of another machine cannot be seen."""
        oldest = time.time() - _STALE_SECONDS
        with self._scan() as found:
            for one in found:
                if one.name.startswith(prefix) and one.name.startswith("."):
                    with suppress(OSError):
                        status = one.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode) and (prefix != "." or status.st_mtime < oldest):
                            self.drop(one.name)

    def drop(self, name: str) -> None:
        """Remove a name, if it can be."""
        with suppress(OSError):
            os.unlink(name, dir_fd=self.fd)

    def sync(self) -> None:
        """Make the names in it durable; filesystems that cannot are passed over.

        Raises:
            OSError: As ``os.fsync``.
        """
        try:
            sync(self.fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise


def _may_be_message(name: str) -> bool:
    return name[-5:] == ".yaml" and name[0] != "."


def _messages(entries: Iterator[os.DirEntry[str]]) -> list[tuple[str, os.stat_result]]:
    found = []
    for one in entries:
        name = one.name
        if _may_be_message(name):
            try:
                status = one.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if status.st_mode & _KIND in _SHOWN:
                found.append((name, status))
    return found


def _missing_or(path: str, error: OSError) -> Exception:
    if isinstance(error, FileNotFoundError):
        return NothingThere(f"{path} is not there", remedy="look at the project's and the agent's name")
    return failure(path, error)
