"""Claude Code: its ``asyncRewake`` hook. A waiter of the session stands at a pipe; a line ends it, and that wakes.

scripts/restante-waiter is what waits; ``system.doorbells`` says what lies where. A waiter that takes a line writes the
wake's word down, which confirms it, and leaves the text to Claude Code, which shows it and starts a turn.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.monitor import Wake, Woken

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.monitor import Target

# Lines for the waiter: (w)ake with a word and a text, (p)ing.
METHODS = ("w", "p")

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PATIENCE = 3.0
_LOOK_SECONDS = 0.02
# What fits a pipe in one piece everywhere (POSIX: 512).
_LONGEST = 500
# What a pipe holds at most.
_MOST = 65_536


class ClaudeRewake:
    """A ``ports.monitoring.Waker`` by the waiter of a Claude Code session.

    Args:
        data_directory: Where the bells are.
        write: Writes a line to a FIFO that somebody reads, and tells whether it was; never waits, never raises.
        patience: Seconds to wait for the waiter's answer.
    """

    name = "claude-rewake"
    is_default = True

    def __init__(
        self, data_directory: str, write: Callable[[str, bytes], bool], *, patience: float = _PATIENCE
    ) -> None:
        self._directory = os.path.join(data_directory, "bells")
        self._write = write
        self._patience = patience

    def can_wake(self, target: Target) -> str:
        """Return why it cannot wake this session; see ``Waker``."""
        if not _PLAIN.fullmatch(target.session):
            return f"{target.session!r} is no id of a Claude Code session"
        if not os.path.exists(self._path(target.session, ".fifo")):
            return "the session was not armed with a waiter"
        if not self.waits(target.session):
            return "no waiter of the session waits: it begins with the session's next stop, where hooks are installed"
        return ""

    def wake(self, target: Target, text: str) -> Woken:
        """Let the waiter wake its session; see ``Waker``."""
        reason = self.can_wake(target)
        if reason:
            return Woken(Wake.IMPOSSIBLE, reason)
        line = f"w {target.nonce} {' '.join(text.split())}"[:_LONGEST] + "\n"
        if not self._write(self._path(target.session, ".fifo"), line.encode("ascii", "replace")):
            return Woken(Wake.UNCONFIRMED, "the waiter takes nothing: its pipe is full")
        end = time.monotonic() + self._patience
        while time.monotonic() < end:
            if self._said(target.session) == target.nonce:
                return Woken(Wake.CONFIRMED, receipt=target.nonce)
            time.sleep(_LOOK_SECONDS)
        # A waiter that goes on later must not wake for what was collected meanwhile.
        self._take_back(target.session, line.encode("ascii", "replace"))
        if self._said(target.session) == target.nonce:
            return Woken(Wake.CONFIRMED, receipt=target.nonce)
        return Woken(Wake.UNCONFIRMED, "the session's waiter does not answer: it may be stopped")

    def waits(self, session: str) -> bool:
        """Tell whether a process holds the lock of a session's waiter."""
        try:
            fd = os.open(self._path(session, ".lock"), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False

    def ping(self, session: str) -> None:
        """Ask a waiter for a sign of life; it touches its file."""
        self._write(self._path(session, ".fifo"), b"p\n")

    def heard(self, session: str) -> float:
        """Return when a waiter last gave a sign of life, in seconds of the epoch; 0 for never."""
        with suppress(OSError):
            return os.lstat(self._path(session, ".pid")).st_mtime
        return 0.0

    def _said(self, session: str) -> str:
        with suppress(OSError):
            fd = os.open(self._path(session, ".woken"), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                return os.read(fd, 200).decode("ascii", "replace").strip()
            finally:
                os.close(fd)
        return ""

    def _take_back(self, session: str, line: bytes) -> None:
        """Take a line out of a waiter's pipe that was not taken yet; what others wrote stays there."""
        with suppress(OSError):
            fd = os.open(self._path(session, ".fifo"), os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if stat.S_ISFIFO(os.fstat(fd).st_mode):
                    others = os.read(fd, _MOST).replace(line, b"", 1)
                    if others:
                        os.write(fd, others)
            finally:
                os.close(fd)

    def _path(self, session: str, end: str) -> str:
        return os.path.join(self._directory, f"session.{session}{end}")
