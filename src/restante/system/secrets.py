"""What proves a caller: a session's secret, and the token of the person. Only their digests go into the register."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Damaged, Unsafe
from restante.system.private import make_private, name_of, open_private, translated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

_BYTES = 32
_DIGITS = frozenset("0123456789abcdef")


def session_secret(data_directory: str, session_id: str) -> str:
    """Return the secret of a session, which is made when it has none yet: 32 random bytes, in hexadecimal digits.

    Raises:
        StorageFailed: It can be neither read nor made.
        Damaged: What is kept is no secret.
        Unsafe: A link is in its place, or others may read it.
    """
    directory = os.path.join(data_directory, "sessions")
    return _kept(directory, os.path.join(directory, name_of(session_id)))


def has_secret(data_directory: str, session_id: str) -> bool:
    """Tell whether a session of this machine has a secret, which it has since it was first registered."""
    return os.path.exists(os.path.join(data_directory, "sessions", name_of(session_id)))


def person_token(data_directory: str) -> str:
    """Return the token of the person whose data directory it is; made when there is none. Raises the same."""
    return _kept(data_directory, os.path.join(data_directory, "person"))


def new_person_token(data_directory: str) -> str:
    """Put another token in the place of the person's, and return it: the old one proves nothing here any more.

    Raises:
        StorageFailed: It cannot be written; then the old one stays.
    """
    path = os.path.join(data_directory, "person")
    make_private(data_directory)
    with translated(path), _written(path) as temporary:
        os.rename(temporary, path)
    return known_person_token(data_directory)


def known_person_token(data_directory: str) -> str:
    """Return the same, and empty when there is none: nothing is made. Raises the same."""
    return _read(os.path.join(data_directory, "person")) or ""


def person_token_time(data_directory: str) -> datetime | None:
    """Return when the person's token was made (UTC); ``None`` where there is none."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(os.stat(os.path.join(data_directory, "person")).st_mtime, UTC)
    except OSError:
        return None


def digest(secret: str) -> str:
    """Return the SHA-256 of a secret, in hexadecimal digits: what may be kept where others can read."""
    from hashlib import sha256

    return sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _kept(directory: str, path: str) -> str:
    secret = _read(path)
    if secret is None:
        make_private(directory)
        _make(path)
        secret = _read(path)
    if secret is None:
        raise Damaged(f"{path} was removed while it was made", remedy="try again")
    return secret


def _read(path: str) -> str | None:
    with translated(path):
        try:
            fd = open_private(path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if os.path.islink(path):
                raise Unsafe(f"{path} is a symbolic link", remedy="remove it") from error
            raise
        try:
            found = os.fstat(fd)
            text = os.read(fd, 4 * _BYTES).decode("ascii", "replace").strip()
        finally:
            os.close(fd)
    if found.st_mode & 0o077 or found.st_uid not in (os.geteuid(), 0):
        raise Unsafe(
            f"{path} holds a secret that others may read or have written",
            remedy=f"remove it; a new one is made: {path}",
        )
    if len(text) != 2 * _BYTES or not _DIGITS.issuperset(text):
        raise Damaged(f"{path} holds no secret", remedy=f"remove {path}; a new one is made")
    return text


def _make(path: str) -> None:
    """Make the file whole under another name and give it its own, which only the first of several can."""
    with translated(path), _written(path) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return
        except OSError:
            # Filesystems without hard links: a rename is not exclusive, but nobody used the other one yet.
            if not os.path.lexists(path):
                os.rename(temporary, path)


@contextmanager
def _written(path: str) -> Iterator[str]:
    """Write a new secret beside a file for the block, durably, and return where."""
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    fd = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        os.write(fd, os.urandom(_BYTES).hex().encode() + b"\n")
        os.fsync(fd)
        yield temporary
    finally:
        os.close(fd)
        with suppress(OSError):
            os.unlink(temporary)
