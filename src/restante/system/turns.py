"""What the hooks leave behind about turns without starting a program: one file for each session.

``<data>/turns/<session id>`` has one line for each sign: ``s`` when a turn started, ``e`` when one ended. The guard of
the hooks adds to it where it is there, and nothing else. How many ends it holds is the number of the turn, its time
that of the last sign. ``<session id>.blocked`` has text in it while a dialog waits for the person.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from restante.domain.errors import StorageFailed
from restante.domain.registry import Latch, TurnSource
from restante.system.private import is_plain, make_private, open_private, translated

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCKED = ".blocked"
_LONGEST_WORD = 32


class TurnFiles:
    """``ports.sessions.Turns`` over the data directory. Remembers what it counted: a look costs what is new.

    Args:
        data_directory: Where Restante keeps what belongs to no worktree.
    """

    def __init__(self, data_directory: str) -> None:
        self._directory = os.path.join(data_directory, "turns")
        self._refusal = os.path.join(data_directory, "no-sessions")
        self._counted: dict[str, tuple[int, int, int, bool]] = {}
        self._told: dict[str, tuple[tuple[int, int, int], Latch | None]] = {}

    @property
    def is_in_use(self) -> bool:
        """Whether sessions are used at all: where they are, the guard reports starts and ends of them."""
        return os.path.isdir(self._directory)

    @property
    def is_refused(self) -> bool:
        """Whether a person decided that sessions are not used."""
        return os.path.exists(self._refusal)

    def enable(self) -> None:
        """Let the guard report starts and ends of sessions from now on.

        Raises:
            StorageFailed: The directory cannot be made.
        """
        make_private(self._directory)
        with translated(self._refusal), suppress(FileNotFoundError):
            os.unlink(self._refusal)

    def disable(self) -> None:
        """Let the guard report nothing any more, whichever program registers a session.

        Raises:
            StorageFailed: That cannot be written down, or what is there cannot be removed.
        """
        make_private(os.path.dirname(self._directory))
        with translated(self._refusal):
            os.close(open_private(self._refusal, os.O_WRONLY | os.O_CREAT))
        with translated(self._directory), suppress(FileNotFoundError, NotADirectoryError):
            for name in os.listdir(self._directory):
                os.unlink(os.path.join(self._directory, name))
            os.rmdir(self._directory)
        self._counted.clear()
        self._told.clear()

    def expect(self, session_id: str) -> None:
        """Let the hooks of a session leave their signs; what they left is kept.

        An id that cannot be a file's name gets no file: its turns are then unknown.

        Raises:
            StorageFailed: The file cannot be made.
        """
        if not is_plain(session_id) or self.is_refused:
            return
        make_private(self._directory)
        path = self._path(session_id)
        with translated(path):
            os.close(open_private(path, os.O_WRONLY | os.O_CREAT))

    def lacks(self, session_id: str) -> bool:
        """Tell whether a session should have a file and has none: the guard then starts Python at each prompt."""
        return is_plain(session_id) and not os.path.isfile(self._path(session_id))

    def forget(self, session_id: str) -> None:
        """Take the signs of a session away; forgetting twice changes nothing."""
        if not is_plain(session_id):
            return
        for path in (self._path(session_id), self._path(session_id) + _BLOCKED):
            with translated(path), suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(path)
        self._counted.pop(session_id, None)
        self._told.pop(session_id, None)

    def sign(self, session_id: str, *, has_ended: bool) -> None:
        """Leave a sign as the guard does: a turn started, or ended. Without the session's file nothing is left."""
        self._put(session_id, b"e\n" if has_ended else b"s\n")
        self.unblock(session_id)

    def block(self, session_id: str, kind: str) -> None:
        """Note that a dialog waits for the person, in a word; only where the session's file is."""
        if is_plain(session_id) and os.path.isfile(self._path(session_id)):
            path = self._path(session_id) + _BLOCKED
            with suppress(OSError, StorageFailed):
                fd = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.write(fd, kind[:_LONGEST_WORD].encode() + b"\n")
                os.close(fd)

    def unblock(self, session_id: str) -> None:
        """Note that no dialog waits any more."""
        with suppress(OSError):
            if is_plain(session_id) and os.lstat(self._path(session_id) + _BLOCKED).st_size:
                os.truncate(self._path(session_id) + _BLOCKED, 0)

    def latches(self, session_ids: Sequence[str]) -> dict[str, Latch]:
        """Return the latches that the signs of these sessions say; those without signs are left out."""
        found = {}
        there = self._names()
        for session_id in session_ids:
            latch = self._as_told(session_id) if session_id in there and is_plain(session_id) else None
            if latch:
                found[session_id] = latch
        return found

    def last_sign(self, session_id: str) -> datetime | None:
        """Return when the hooks of a session last told that a turn began or ended; ``None`` for never."""
        if not is_plain(session_id):
            return None
        try:
            stat = os.lstat(self._path(session_id))
        except OSError:
            return None
        return datetime.fromtimestamp(stat.st_mtime_ns // 1_000_000 / 1000, UTC) if stat.st_size else None

    def blocked(self, session_ids: Sequence[str]) -> dict[str, str]:
        """Return what a dialog of these sessions waits for, ``permission`` or ``question``; empty for nothing.

        Only sessions whose hooks report it are in the answer.
        """
        found = {}
        # Most never had a dialog, and there are many.
        there = self._names()
        for session_id in session_ids:
            if session_id + _BLOCKED in there and is_plain(session_id):
                word = self._word(self._path(session_id) + _BLOCKED)
                if word is not None:
                    found[session_id] = word
        return found

    def _names(self) -> frozenset[str]:
        try:
            return frozenset(os.listdir(self._directory))
        except OSError:
            return frozenset()

    def _path(self, session_id: str) -> str:
        return f"{self._directory}{os.sep}{session_id}"

    def _put(self, session_id: str, line: bytes) -> None:
        if not is_plain(session_id):
            return
        with suppress(OSError, StorageFailed):
            fd = open_private(self._path(session_id), os.O_WRONLY | os.O_APPEND)
            try:
                os.write(fd, line)
            finally:
                os.close(fd)

    def _as_told(self, session_id: str) -> Latch | None:
        """Return what a file says, without opening it where nothing was added: there are many, and most rest."""
        try:
            seen = _signature(os.lstat(self._path(session_id)))
        except OSError:
            return None
        told = self._told.get(session_id)
        return told[1] if told and told[0] == seen else self._latch(session_id)

    def _latch(self, session_id: str) -> Latch | None:
        try:
            fd = open_private(self._path(session_id), os.O_RDONLY)
        except (OSError, StorageFailed):
            return None
        try:
            stat = os.fstat(fd)
            inode, size, ends, has_ended = self._counted.get(session_id, (stat.st_ino, 0, 0, False))
            if inode != stat.st_ino or size > stat.st_size:
                size, ends, has_ended = 0, 0, False
            while part := os.pread(fd, 65_536, size):
                size += len(part)
                ends += part.count(b"e")
                has_ended = part.rfind(b"e") > part.rfind(b"s") or (has_ended and b"s" not in part)
        except OSError:
            return None
        finally:
            os.close(fd)
        if len(self._counted) > 10_000:
            self._counted.clear()
            self._told.clear()
        self._counted[session_id] = (stat.st_ino, size, ends, has_ended)
        ended = datetime.fromtimestamp(stat.st_mtime_ns // 1_000_000 / 1000, UTC) if has_ended else None
        latch = Latch(ends, ended, TurnSource.HOOK if ended else None) if size else None
        self._told[session_id] = (_signature(stat), latch)
        return latch

    def _word(self, path: str) -> str | None:
        try:
            fd = open_private(path, os.O_RDONLY)
        except (OSError, StorageFailed):
            return None
        try:
            return os.read(fd, _LONGEST_WORD).decode("ascii", "replace").strip()
        except OSError:
            return None
        finally:
            os.close(fd)


def _signature(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
