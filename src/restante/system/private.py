"""Directories and files of the data directory that are nobody else's: modes, and no link is followed."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from restante.domain.errors import StorageFailed, Unsafe

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_NAME = 64


def name_of(session_id: str) -> str:
    """Return the name of a session's file: its id where that is a plain name, else a digest of it."""
    if is_plain(session_id):
        return session_id
    import hashlib

    return hashlib.sha256(session_id.encode(errors="surrogatepass")).hexdigest()[:32]


def is_plain(session_id: str) -> bool:
    """Tell whether an id is 1 to 64 ASCII letters, digits, ``-`` and ``_``; the guard of the hooks knows no others."""
    letters = session_id.replace("-", "a").replace("_", "a")
    return session_id.isascii() and letters.isalnum() and len(session_id) <= _LONGEST_NAME


def make_private(directory: str) -> None:
    """Make a directory and those above it that are missing, with mode 0700.

    Raises:
        StorageFailed: One cannot be made, or something else is there.
        Unsafe: A symbolic link is in its place, or it is another user's.
    """
    with translated(directory):
        try:
            # The mode of makedirs counts for the last one only.
            above = os.path.dirname(directory)
            if not os.path.isdir(above):
                make_private(above)
            os.mkdir(directory, 0o700)
        except FileExistsError:
            found = os.lstat(directory)
            if stat.S_ISLNK(found.st_mode):
                raise Unsafe(f"{directory} is a symbolic link", remedy="put the real directory there") from None
            if not stat.S_ISDIR(found.st_mode):
                raise StorageFailed(f"{directory} is not a directory", remedy="move it out of the way") from None
            # Root could read it anyway, and often makes it for somebody.
            if os.geteuid() and found.st_uid not in (0, os.geteuid()):
                raise Unsafe(
                    f"{directory} belongs to another user",
                    remedy="let RESTANTE_DATA name a directory of your own",
                ) from None


def open_private(path: str, flags: int) -> int:
    """Open a regular file of our own without following a link; what is created gets mode 0600.

    Raises:
        OSError: As ``os.open``.
        StorageFailed: Something else than a regular file is there.
    """
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise StorageFailed(f"{path} is not a regular file", remedy="move it out of the way")
    return fd


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn any ``OSError`` of the block into our error about the path."""
    try:
        yield
    except OSError as error:
        raise StorageFailed(f"{path}: {error.strerror or error}", remedy=_remedy(error)) from error


def _remedy(error: OSError) -> str:
    import errno

    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "make it writable for you, or set RESTANTE_DATA to a directory that is"
    return "make room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
