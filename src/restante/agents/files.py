"""Reading and writing other people's files: no link is followed, and a set of changes is made whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Conflict, RestanteError, StorageFailed, Unreadable, Unsafe
from restante.domain.setup import FileChange

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

# What others share or read as part of a repository; everything else of ours is the person's own.
_PUBLIC = frozenset({"AGENTS.md", "exclude"})
# Directories that installing may have made, and removing may take along when nothing else is in them.
_OURS = frozenset(
    {".restante", ".codex-mailbox", ".codex", ".claude", ".agents", "skills", "restante", "info", ".gemini"}
)
# Far more than settings or guidance are; what is larger is no such file.
_MOST_BYTES = 16 * 1024 * 1024


def read_plain(path: str, top: str) -> bytes | None:
    """Return the bytes of a regular file, or ``None`` when there is none.

    Args:
        path: The file, somewhere under ``top``.
        top: A directory that is taken as it is; below it, no part of the path may be a symbolic link.

    Raises:
        Unsafe: The file, or a directory on the way, is a symbolic link.
        Unreadable: It is no regular file, may not be read, or is larger than any settings.
    """
    walked = top
    parts = os.path.relpath(path, top).split(os.sep)
    for index, part in enumerate(parts):
        walked = os.path.join(walked, part)
        try:
            mode = os.lstat(walked).st_mode
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(walked, error) from None
        if stat.S_ISLNK(mode):
            raise Unsafe(
                f"{walked} is a symbolic link", remedy="replace it by a real file or directory; nothing was changed"
            )
        wants_directory = index < len(parts) - 1
        if wants_directory != stat.S_ISDIR(mode) or not (wants_directory or stat.S_ISREG(mode)):
            kind = "directory" if wants_directory else "regular file"
            raise Unreadable(f"{walked} is not a {kind}", remedy="move it out of the way; nothing was changed")
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from None
    if len(data) > _MOST_BYTES:
        raise Unreadable(f"{path} is over {_MOST_BYTES:,} bytes", remedy="look at what it is; nothing was changed")
    return data


def _unreadable(path: str, error: OSError) -> Unreadable:
    return Unreadable(f"{path}: {error.strerror}", remedy="make it readable for you; nothing was changed")


def joined(changes: Iterable[FileChange]) -> list[FileChange]:
    """Return changes with one for each file: those of the same file, each of which goes on from the one before."""
    found: dict[str, FileChange] = {}
    for change in changes:
        earlier = found.get(change.path)
        if earlier is None:
            found[change.path] = change
        elif change.before != change.after:
            what = change.what if earlier.before == earlier.after else f"{earlier.what}, {change.what}"
            found[change.path] = FileChange(change.path, earlier.before, change.after, what)
    return list(found.values())


def apply_changes(changes: Sequence[FileChange], *, keep: Collection[str] = ()) -> None:
    """Make all changes or none. Each file is replaced in one step; a reader never sees half of it.

    Args:
        changes: What to change, in this order.
        keep: Directories that are never removed, even when a removal leaves them empty.

    Raises:
        Conflict: A file is not as it was when the changes were worked out.
        StorageFailed: A file cannot be written; all are as before.
    """
    for change in changes:
        _verify(change)
    done: list[tuple[FileChange, int]] = []
    made: list[str] = []
    try:
        for change in changes:
            _verify(change)
            mode = _mode_of(change.path)
            # Noted before the attempt: what failed half-way has to be put back too.
            done.append((change, mode))
            _write(change, change.after, mode, made)
    except BaseException as error:
        left = _undo(done, made)
        if isinstance(error, OSError):
            raise _failed(error, done[-1][0].path, left) from error
        raise
    for change in changes:
        if change.after is None:
            _prune(os.path.dirname(change.path), keep)


def _verify(change: FileChange) -> None:
    if _current(change.path) != change.before:
        raise Conflict(f"{change.path} has changed since it was looked at", remedy="run the command again")


def _current(path: str) -> bytes | None:
    try:
        return read_plain(path, os.path.dirname(path))
    except RestanteError:
        raise Conflict(f"{path} has changed since it was looked at", remedy="run the command again") from None


def _failed(error: OSError, path: str, left: list[str]) -> StorageFailed:
    state = f"could not be put back: {', '.join(left)}" if left else "all files are as before"
    if error.errno == errno.EBUSY:
        state = "it is a mount point; " + state
    return StorageFailed(
        f"{path}: {error.strerror}; {state}", remedy="make room or correct the permissions, then try again"
    )


def _undo(done: list[tuple[FileChange, int]], made: list[str]) -> list[str]:
    """Put back what was changed, newest first; return the files where that failed."""
    left = []
    for change, mode in reversed(done):
        try:
            if _current(change.path) != change.before:
                _write(change, change.before, mode, [])
        except (OSError, RestanteError):
            left.append(change.path)
    for directory in reversed(made):
        with suppress(OSError):
            os.rmdir(directory)
    return left


def _mode_of(path: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except OSError:
        return 0o644 if os.path.basename(path) in _PUBLIC else 0o600


def _write(change: FileChange, data: bytes | None, mode: int, made: list[str]) -> None:
    directory = os.path.dirname(change.path)
    if data is None:
        os.unlink(change.path)
        _sync_directory(directory)
        return
    _make_directories(directory, made)
    _replace(change.path, data, mode)


def _make_directories(directory: str, made: list[str]) -> None:
    if os.path.isdir(directory):
        return
    _make_directories(os.path.dirname(directory), made)
    os.mkdir(directory, 0o700)
    made.append(directory)
    _sync_directory(os.path.dirname(directory))


def _replace(path: str, data: bytes, mode: int) -> None:
    directory, name = os.path.split(path)
    beside = os.path.join(directory, f".{name}.restante-{secrets.token_hex(4)}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            _keep_owner(file.fileno(), path)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.rename(beside, path)
        except OSError as error:
            # A single file that is bind-mounted, as containers do it, cannot be replaced.
            if error.errno != errno.EBUSY:
                raise
            _overwrite(path, data, beside)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(beside)
    _sync_directory(directory)


def _keep_owner(descriptor: int, path: str) -> None:
    with suppress(OSError):
        old, new = os.lstat(path), os.fstat(descriptor)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.fchown(descriptor, old.st_uid, old.st_gid)


def _overwrite(path: str, data: bytes, beside: str) -> None:
    """Write into a file that cannot be replaced, with its old bytes kept on disk until the new ones are."""
    with open(path, "r+b") as file:
        old = file.read()
        with open(beside, "r+b") as backup:
            _fill(backup.fileno(), old)
        try:
            _fill(file.fileno(), data)
        except OSError:
            _fill(file.fileno(), old)
            raise


def _fill(descriptor: int, data: bytes) -> None:
    at = 0
    while at < len(data):
        at += os.pwrite(descriptor, data[at:], at)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


def _sync_directory(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prune(directory: str, keep: Collection[str]) -> None:
    while os.path.basename(directory) in _OURS and directory not in keep:
        try:
            os.rmdir(directory)
        except OSError:
            return
        directory = os.path.dirname(directory)
