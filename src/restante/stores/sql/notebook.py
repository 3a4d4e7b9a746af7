"""What checkpoints showed, per session, in the database: the ``ports.Notebook`` of a mailbox there."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from restante.domain.checkpoint import Shown
from restante.domain.errors import BadText
from restante.stores import files
from restante.stores.sql.ledger import open_ledger
from restante.stores.sql.rows import to_ms, to_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.ports import Clock
    from restante.stores.sql.ledger import Ledger
    from restante.stores.sql.transaction import Database


class SqlNotebook:
    """A ``ports.Notebook`` for one mailbox.

    While a page is open its session is locked, and the database is not: whoever shows mail may take its time.

    Args:
        database: Where it is kept.
        address: The mailbox.
        clock: Where time comes from.
        locks: A directory for the locks; it is made when the first page is opened.
        wait: Most seconds to wait for a page that is open elsewhere.
        owner: Whose mailbox it is.
    """

    def __init__(
        self, database: Database, address: str, *, clock: Clock, locks: str, wait: float, owner: str = ""
    ) -> None:
        self._database = database
        self._address = address
        self._clock = clock
        self._locks = locks
        self._wait = wait
        self._owner = owner

    @contextmanager
    def page(self, session: str) -> Iterator[Shown]:
        """Open a session's page, alone; it is saved on leaving without an error. See ``ports.Notebook.page``."""
        lock = self._lock_of(session)
        make_directories(self._locks)
        with files.flocked(lock, self._wait):
            before = self._load(session)
            shown = Shown(dict(before.times), set(before.held))
            yield shown
            if shown != before:
                self._save(session, before, shown)

    def tear_out(self, session: str) -> None:
        """Forget a session; forgetting twice changes nothing."""
        lock = self._lock_of(session)
        if not os.path.exists(lock) and self._load(session) == Shown():
            return
        make_directories(self._locks)
        with files.flocked(lock, self._wait):
            if self._load(session) != Shown():
                with self._database.writing() as run:
                    ledger = open_ledger(run, self._address, self._clock.now(), None, owner=self._owner)
                    if ledger:
                        ledger.run.do("tear_out", box=ledger.box, session=session)
            files.remove(lock)

    def _lock_of(self, session: str) -> str:
        import hashlib

        try:
            name = hashlib.sha256(f"{self._address}\0{session}".encode()).hexdigest()[:32]
        except UnicodeEncodeError:
            raise BadText(f"session {session!r} is not text", remedy="use an id that is valid UTF-8") from None
        return os.path.join(self._locks, name + ".flock")

    def _load(self, session: str) -> Shown:
        with self._database.reading() as run:
            ledger = open_ledger(run, self._address, self._clock.now(), None, owner=self._owner)
            rows = ledger.run.all("shown", box=ledger.box, session=session) if ledger else []
        times = {message_id: to_time(at) for message_id, at, _ in rows if at is not None}
        return Shown(times, {message_id for message_id, _, held in rows if held})

    def _save(self, session: str, before: Shown, shown: Shown) -> None:
        with self._database.writing(create=True) as run:
            ledger = open_ledger(run, self._address, self._clock.now(), None, owner=self._owner, create=True)
            assert ledger is not None
            ids = set(before.times) | before.held | set(shown.times) | shown.held
            for message_id in sorted(ids):
                _save_one(ledger, session, message_id, before, shown)


def _save_one(ledger: Ledger, session: str, message_id: str, before: Shown, shown: Shown) -> None:
    at, held = shown.times.get(message_id), message_id in shown.held
    if at == before.times.get(message_id) and held == (message_id in before.held):
        return
    key = {"box": ledger.box, "session": session, "message_id": message_id}
    if at is None and not held:
        ledger.run.do("drop_shown", **key)
    else:
        ledger.run.do("keep_shown", **key, shown_ms=None if at is None else to_ms(at), held=int(held))


def make_directories(path: str) -> None:
    """Make a directory and those above it that are missing, with mode 0700.

    Raises:
        StorageFailed: One cannot be made.
    """
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above != path:
        make_directories(above)
    files.make_directory(path)
