"""Bells of monitored mailboxes: a poster rings after its commit, and whoever listens looks for itself.

``<data>/bells/<first 32 hex digits of the address's SHA-256>`` is there as long as the mailbox is armed, and a ring is
its new modification time. It holds the address and, where a waiter of a session is rung too, ``session.<id>``: that
session has a file of this name and a FIFO ``session.<id>.fifo``, to which ``<digest>.fifo`` is a second name; how many
names the FIFO has says how many mailboxes wait by it. ``<data>/hosts/<pid>.<random>.fifo`` is there as long as a host
listens: each ring puts a line into it, so that a host sleeps until one comes. Whoever finds one that nobody reads takes
it away. Nothing here holds a word of mail or follows a link, and no poster waits.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import StorageFailed, Unsafe
from restante.system.private import is_plain, make_private, open_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from restante.system.ears import Ear

FIFO = ".fifo"
WAITER = "session."
# What a session's waiter leaves beside its FIFO; see scripts/restante-waiter.
LEAVINGS = (".pid", ".lock", ".woken", ".hold")
RING = b"r\n"
QUIT = b"q\n"

_LOOK_SECONDS = 1.0
# A look at all bells costs more than a ring: what rings within so long after one is looked at together.
_REST_SECONDS = 0.02
# Digits of a bell's name.
_NAME = 32


class FileDoorbells:
    """A ``ports.monitoring.Doorbells`` in the data directory.

    Args:
        data_directory: Where Restante keeps what belongs to no worktree.
        poll: Look once a second instead of being told, as is done where no FIFO can be made.
    """

    def __init__(self, data_directory: str, *, poll: bool = False) -> None:
        self._directory = os.path.join(data_directory, "bells")
        self._hosts = os.path.join(data_directory, "hosts")
        self._poll = poll
        self._heard: dict[str, int] = {}
        self._ear: Ear | None = None
        self._is_nudged = False
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether nobody listens here any more."""
        return self._is_closed

    def close(self) -> None:
        """Let ``ticks`` end soon, whoever waits there; may be called from a signal handler."""
        self._is_closed = True
        self.nudge()

    def nudge(self) -> None:
        """Let ``ticks`` yield soon although nothing rang; from whatever thread."""
        self._is_nudged = True
        if self._ear is not None:
            self._ear.nudge()

    def leave(self) -> None:
        """Be rung no more, after the last of ``ticks``."""
        ear, self._ear = self._ear, None
        if ear is not None:
            ear.close()
        with suppress(OSError):
            os.rmdir(self._hosts)

    def there(self) -> frozenset[str]:
        """Return which bells there are, by their names, which say nothing of whose they are."""
        return frozenset(name for name, _ in self._signature() if len(name) == _NAME)

    @property
    def looks(self) -> bool:
        """Whether bells are heard by looking once a second, because nothing tells of them."""
        return not self._listening()[1]

    @property
    def are_used(self) -> bool:
        """Whether any mailbox of this machine is, or was, monitored."""
        return os.path.isdir(self._directory)

    def expect(self, mailbox: str, waiter: str = "") -> None:
        """Let bells of a mailbox be heard from now on; see ``ports.monitoring.Doorbells``."""
        path = self._path(mailbox)
        session = WAITER + waiter if is_plain(waiter) else ""
        lines = f"{mailbox}\n{session}\n".encode(errors="surrogateescape")
        # Whoever hosts receivers looks at numbers, too, and puts up what is missing.
        with suppress(OSError, StorageFailed, Unsafe):
            make_private(self._directory)
            if self._waiter_of(mailbox) != session:
                self._leave_waiter(mailbox)
            if session:
                self._open_waiter(session, path + FIFO)
            fd = open_private(path, os.O_RDWR | os.O_CREAT)
            try:
                if os.pread(fd, len(lines) + 1, 0) != lines:
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, lines, 0)
            finally:
                os.close(fd)
            self._tell_hosts()

    def forget(self, mailbox: str) -> None:
        """Take the bell away, and with a session's last one what its waiter waits at; see ``Doorbells``."""
        path = self._path(mailbox)
        self._leave_waiter(mailbox)
        with suppress(OSError):
            os.unlink(path)
            self._tell_hosts()
        self._heard.pop(path, None)

    def has_waiter(self, session: str) -> bool:
        """Tell whether a waiter of a session was heard of; see ``ports.monitoring.Doorbells``."""
        return is_plain(session) and os.path.exists(self._in(WAITER + session + LEAVINGS[0]))

    def ring(self, mailbox: str) -> None:
        """Ring; see ``Doorbells``."""
        # Mostly nothing on this machine is armed; the name of a bell takes a module to work out.
        if not self.are_used:
            return
        path = self._path(mailbox)
        with suppress(OSError):
            # The kernel's own time stands still for milliseconds, in which two rings would look like one.
            now = time.time_ns()
            os.utime(path, ns=(now, now), follow_symlinks=False)
            _write(path + FIFO, RING)
            self._tell_hosts()

    def rung(self, mailboxes: Sequence[str]) -> list[str]:
        """Return those whose bell rang since this was last asked; the first time all of them; see ``Doorbells``."""
        found = []
        for mailbox in mailboxes:
            path = self._path(mailbox)
            with suppress(OSError):
                rang = os.lstat(path).st_mtime_ns
                if self._heard.get(path) != rang:
                    self._heard[path] = rang
                    found.append(mailbox)
        return found

    def missing(self, mailboxes: Sequence[str]) -> list[str]:
        """Return those that have no bell, or none that their session's waiter hears."""
        return [mailbox for mailbox in mailboxes if not self._is_whole(mailbox)]

    def _is_whole(self, mailbox: str) -> bool:
        path, session = self._path(mailbox), self._waiter_of(mailbox)
        try:
            own = os.lstat(self._in(session + FIFO) if session else path)
            return not session or os.path.samestat(own, os.lstat(path + FIFO))
        except OSError:
            return False

    def ticks(self, timeout: float | None = None) -> Iterator[None]:
        """Yield once at the start, whenever a bell may have rung, and once when the time is over; see ``Doorbells``."""
        end = None if timeout is None else time.monotonic() + timeout
        ear, is_told = self._listening()
        # Before the look of whoever asked: what rings while they look must not be missed.
        told = self._signature()
        yield
        while not self._is_closed:
            left = None if end is None else max(0.0, end - time.monotonic())
            ear.wait(left if is_told else min(_LOOK_SECONDS, _LOOK_SECONDS if left is None else left))
            now = self._signature()
            is_over = end is not None and time.monotonic() >= end
            if now != told or self._is_nudged or is_over:
                told, self._is_nudged = now, False
                yield
            if is_over:
                return
            time.sleep(_REST_SECONDS)

    def _listening(self) -> tuple[Ear, bool]:
        """Return what rings are heard by, and whether they are told to it."""
        if self._ear is None:
            from restante.system.ears import Ear

            self._ear = Ear("" if self._poll else self._hosts)
        return self._ear, self._ear.open()

    def _tell_hosts(self) -> None:
        """Let all hosts look at the bells; mostly none listens."""
        if os.path.isdir(self._hosts):
            from restante.system.ears import tell_all

            tell_all(self._hosts)

    def _signature(self) -> tuple[tuple[str, int], ...]:
        try:
            with os.scandir(self._directory) as entries:
                return tuple(sorted((one.name, one.stat(follow_symlinks=False).st_mtime_ns) for one in entries))
        except OSError:
            return ()

    def _open_waiter(self, session: str, second: str) -> None:
        """Have a session's FIFO, with a second name."""
        path = self._in(session)
        os.close(open_private(path, os.O_WRONLY | os.O_CREAT))
        with suppress(FileExistsError):
            os.mkfifo(path + FIFO, 0o600)
        with suppress(FileNotFoundError):
            if not os.path.samestat(os.lstat(path + FIFO), os.lstat(second)):
                os.unlink(second)
        with suppress(FileExistsError):
            os.link(path + FIFO, second, follow_symlinks=False)

    def _waiter_of(self, mailbox: str) -> str:
        """Return the name of the waiter that a bell rings too; empty for none."""
        try:
            fd = open_private(self._path(mailbox), os.O_RDONLY)
        except (OSError, StorageFailed):
            return ""
        try:
            last = os.read(fd, 65_536).decode(errors="replace").rstrip("\n").rpartition("\n")[2]
        except OSError:
            return ""
        finally:
            os.close(fd)
        return last if last.startswith(WAITER) and is_plain(last.removeprefix(WAITER)) else ""

    def _leave_waiter(self, mailbox: str) -> None:
        session = self._waiter_of(mailbox)
        with suppress(OSError):
            os.unlink(self._path(mailbox) + FIFO)
        if not session:
            return
        waiter = self._in(session)
        with suppress(OSError):
            if os.lstat(waiter + FIFO).st_nlink > 1:
                return
        _write(waiter + FIFO, QUIT)
        for end in ("", FIFO, *LEAVINGS):
            with suppress(OSError):
                os.unlink(waiter + end)

    def _path(self, mailbox: str) -> str:
        import hashlib

        data = mailbox.encode(errors="surrogateescape")
        return self._in(hashlib.sha256(data).hexdigest()[:_NAME])

    def _in(self, name: str) -> str:
        return os.path.join(self._directory, name)


def _write(path: str, line: bytes) -> None:
    from restante.system.ears import write_fifo

    write_fifo(path, line)
