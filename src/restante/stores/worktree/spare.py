"""A lock directory that is moved aside instead of removed, and moved back by whoever takes the lock next.

Making a directory and removing it costs the disk about as much as the append between the two; moving it twice costs
a fifth of that. But a plain rename replaces an empty directory, and that is what another program's lock is. Linux has
a move that replaces nothing, which only ``ctypes`` reaches, and loading that costs a short command more than it
gains. So this is for those who take locks again and again; the others make the directory and remove it.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_AT_CWD = -100
_NOREPLACE = 1

_move: Callable[[str, str], bool] | None = None


def take_spare(spare: str, directory: str, mode: int) -> int:
    """Move the spare directory to where the lock is, if nothing is there; return its inode, 0 if not moved."""
    try:
        status = os.lstat(spare)
        if status.st_mode != stat.S_IFDIR | mode:
            return 0
        # Before it is a lock: one with an old time counts as left behind.
        os.utime(spare, follow_symlinks=False)
    except OSError:
        return 0
    return status.st_ino if (_move or _load())(spare, directory) else 0


def put_aside(directory: str, spare: str) -> None:
    """Move a lock directory aside, over the spare one that may be there; remove it where that is not of use.

    Raises:
        OSError: It is still there.
    """
    if _move is not _moves_nothing:
        try:
            os.rename(directory, spare)
        except OSError:
            pass
        else:
            return
    os.rmdir(directory)


def _load() -> Callable[[str, str], bool]:
    global _move  # noqa: PLW0603 - it is found once for a process
    try:
        import ctypes

        rename = ctypes.CDLL(None).renameat2
    except (ImportError, OSError, AttributeError, MemoryError):
        _move = _moves_nothing
        return _move
    rename.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    rename.restype = ctypes.c_int

    def move(old: str, new: str) -> bool:
        return bool(rename(_AT_CWD, os.fsencode(old), _AT_CWD, os.fsencode(new), _NOREPLACE) == 0)

    _move = move
    return move


def _moves_nothing(old: str, new: str) -> bool:  # noqa: ARG001
    return False
