"""Where the mail of sessions is kept: in a file while persistence is on, else in the memory of a server, else nowhere.

Whoever uses mail holds a shared lock on ``mail.lock`` meanwhile and looks at the setting under it; whoever switches
holds it alone. So nothing is ever written to a file that is being deleted, no late writer makes it again, and what was
told as kept is kept. The setting is looked at each time: another process may have changed it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import contextmanager, nullcontext, suppress
from threading import get_ident
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, Damaged, Refused, StorageFailed, Unreadable
from restante.domain.overview import Persistence
from restante.stores import files
from restante.stores.sql.disposing import delete_database, set_aside
from restante.stores.sql.notebook import make_directories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from restante.ports.sessions import Boxes, Sessions
    from restante.stores.sql.boxes import SqlBoxes
    from restante.stores.sql.in_memory import MemoryDatabase
    from restante.stores.sql.sqlite import SqliteDatabase


SETTING = "persistence"
_WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.005
# Some network filesystems have none; SQLite refuses most of those by itself.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


class FixedKeeping:
    """``ports.sessions.Keeping`` of a database that is durable by nature.

    Args:
        boxes: Where the mail is.
        has_server: Whether this process is a server.
    """

    def __init__(self, boxes: Boxes, *, has_server: bool) -> None:
        self._boxes = boxes
        self._has_server = has_server

    def persistence(self) -> Persistence:
        """Return that it is on."""
        return Persistence(is_on=True, is_fixed=True, has_server=self._has_server)

    @contextmanager
    def held(self, *, at_once: bool = False) -> Iterator[Boxes | None]:  # noqa: ARG002  nobody can switch it
        """Give the place where the mail is."""
        yield self._boxes

    def switch(self, is_on: bool) -> None:
        """Refuse to switch it off; see ``Keeping.switch``."""
        if not is_on:
            raise Refused("mail in this database is always kept", remedy="use SQLite files: unset database.url")

    def mend(self) -> tuple[str, ...]:
        """Nothing to mend from here."""
        return ()


class FileKeeping:
    """``ports.sessions.Keeping`` of the data directory. May be shared between threads.

    Args:
        directory: The data directory.
        sessions: The register, which holds the setting.
        disk: Opens a file.
        memory: Makes a database in memory; ``None`` where this process does not live long enough to hold mail.
        boxes: Makes the boxes of a database.
    """

    def __init__(
        self,
        directory: str,
        sessions: Sessions,
        *,
        disk: Callable[[str], SqliteDatabase],
        memory: Callable[[], MemoryDatabase] | None,
        boxes: Callable[..., SqlBoxes],
    ) -> None:
        self._sessions = sessions
        self._path = os.path.join(directory, "mail.db")
        self._lock = os.path.join(directory, "mail.lock")
        self._make_memory = memory
        self._make_boxes = boxes
        self._file = disk(self._path)
        self._disk = boxes(self._file)
        self._memory: tuple[MemoryDatabase, SqlBoxes] | None = None
        # Set while mail is in memory: a server finds out by it that another process switched.
        self._is_in_memory = False
        self._is_looked_after = False
        self._holders: dict[int, Boxes | None] = {}
        self._begin_memory()

    def persistence(self) -> Persistence:
        """Return whether mail is kept on disk; see ``Keeping.persistence``."""
        return Persistence(is_on=self._is_on(), has_server=self._memory is not None)

    def held(self, *, at_once: bool = False) -> AbstractContextManager[Boxes | None]:
        """Give the place where the mail is; see ``Keeping.held``."""
        me = get_ident()
        return nullcontext(self._holders[me]) if me in self._holders else self._taken(me, at_once=at_once)

    @contextmanager
    def _taken(self, me: int, *, at_once: bool) -> Iterator[Boxes | None]:
        while True:
            with self._locked(fcntl.LOCK_SH, wait=0.0 if at_once else _WAIT_SECONDS):
                is_on = self._is_on()
                is_clean = is_on or self._is_looked_after or not os.path.lexists(self._path)
                if is_clean and not (is_on and self._is_in_memory):
                    self._is_in_memory = not is_on and self._memory is not None
                    self._holders[me] = self._disk if is_on else self._memory[1] if self._memory else None
                    try:
                        yield self._holders[me]
                    finally:
                        del self._holders[me]
                    return
            if at_once:
                raise Busy("session mail has to be put in order first", remedy="try again")
            if not is_clean:
                # What a killed process left is deleted by the first who looks; who cannot must not fail by that.
                self._is_looked_after = True
                with suppress(StorageFailed, Busy, Unreadable):
                    self.mend()
                continue
            with self._locked(fcntl.LOCK_EX):
                if self._is_on():
                    self._take_over()

    def switch(self, is_on: bool) -> None:
        """Keep mail on disk, or no longer; see ``Keeping.switch``."""
        if get_ident() in self._holders:
            raise Busy("mail is in use by this very thread", remedy="switch persistence outside of a common commit")
        with self._locked(fcntl.LOCK_EX):
            if is_on and not self._is_on():
                self._switch_on()
            elif not is_on:
                self._switch_off()

    def mend(self) -> tuple[str, ...]:
        """Set aside a file that cannot be read, delete one that must not be; see ``Keeping.mend``."""
        if not os.path.lexists(self._path):
            return ()
        with self._locked(fcntl.LOCK_EX):
            if not self._is_on():
                # Left behind by a process that was killed while it switched off.
                self._file.close()
                delete_database(self._path)
                return ()
            try:
                self._disk.tip("")
                self._disk.counts("")
            except (Damaged, Unreadable):
                self._file.close()
                new = set_aside(self._path)
                return (new,) if new else ()
        return ()

    def close(self) -> None:
        """Let go of the file, and of what is in memory."""
        self._file.close()
        if self._memory:
            self._memory[0].close()

    def _is_on(self) -> bool:
        word = self._sessions.setting(SETTING)
        # The file is there only while persistence is on, so a register that knows of no choice was lost; its sessions
        # come again, and their mail must be there. Whoever switches says "off" before the file can be.
        return word == "on" or (word is None and os.path.exists(self._path))

    def _switch_on(self) -> None:
        if self._memory is None:
            self._sessions.set_setting(SETTING, "on")
            return
        from restante.stores.sql.moving import move_mail

        self._sessions.set_setting(SETTING, "off")
        try:
            # What a switch that was cut short may have left; what there is is in memory.
            delete_database(self._path)
            move_mail(self._memory[0], self._file)
            self._sessions.set_setting(SETTING, "on")
        except BaseException:
            self._file.close()
            with suppress(StorageFailed):
                delete_database(self._path)
            raise
        self._leave_memory()

    def _switch_off(self) -> None:
        from restante.stores.sql.moving import move_mail

        was_on = self._is_on()
        if was_on and self._memory and not self._is_in_memory and os.path.exists(self._path):
            move_mail(self._file, self._memory[0])
        # The setting first: a file that is left over after that is deleted by whoever looks next.
        self._sessions.set_setting(SETTING, "off")
        self._is_in_memory = self._memory is not None
        self._file.close()
        delete_database(self._path)

    def _take_over(self) -> None:
        """Follow another process that switched persistence on while mail was in our memory."""
        if self._memory:
            from restante.stores.sql.moving import move_mail

            move_mail(self._memory[0], self._file)
            self._leave_memory()

    def _leave_memory(self) -> None:
        self._is_in_memory = False
        if self._memory:
            self._memory[0].close()
        self._begin_memory()

    def _begin_memory(self) -> None:
        if self._make_memory:
            database = self._make_memory()
            self._memory = database, self._make_boxes(database, is_durable=False)

    @contextmanager
    def _locked(self, how: int, *, wait: float = _WAIT_SECONDS) -> Iterator[None]:
        """Hold the lock; where the data directory is not there, or cannot be written, nobody can switch either.

        Raises:
            Busy: It was not free in time.
        """
        fd = self._open_lock(is_alone=how == fcntl.LOCK_EX)
        if fd is None:
            yield
            return
        try:
            end = time.monotonic() + wait
            while True:
                try:
                    fcntl.flock(fd, how | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise Busy("session mail was in use for too long", remedy="try again") from None
                except OSError as error:
                    if error.errno in _NO_LOCKS:
                        break
                    raise files.failure(self._lock, error) from error
                time.sleep(_POLL_SECONDS)
            yield
        finally:
            os.close(fd)

    def _open_lock(self, *, is_alone: bool) -> int | None:
        try:
            return files.open_file(self._lock, os.O_RDONLY)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise files.failure(self._lock, error) from error
        try:
            if not (is_alone or self._memory or self._is_on()):
                return None
            make_directories(os.path.dirname(self._lock))
            return files.open_file(self._lock, os.O_RDONLY | os.O_CREAT)
        except OSError as error:
            if is_alone:
                raise files.failure(self._lock, error) from error
            return None
