"""The SQL home on SQLite keeps the contract, in both journal modes, and so does a second mailbox of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.stores.sql.in_memory import open_memory
from restante.stores.sql.sqlite import SqliteDatabase, SqliteMailbox
from restante.testing import FakeClock, MailboxContract, SharingContract

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.limits import Limits
    from restante.ports import Mailbox


class TestSqlite(MailboxContract, SharingContract):
    filesystem = "ext4"

    def make_mailbox(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> SqliteMailbox:
        database = SqliteDatabase(
            str(tmp_path / "restante.db"), clock=clock, ids=self.ids, fs_type=lambda path: self.filesystem
        )
        return database.mailbox("team/reviewer", limits=limits)

    def close(self, mailbox: Mailbox) -> None:
        assert isinstance(mailbox, SqliteMailbox)
        mailbox.close()

    def contents(self, tmp_path: Path) -> dict[str, bytes]:
        # The -shm file is memory that WAL's readers and writers share: it holds their locks, and no mail.
        return {name: data for name, data in super().contents(tmp_path).items() if not name.endswith("-shm")}


class TestSqliteOnANetworkFilesystem(TestSqlite):
    filesystem = "nfs4"


class TestSqliteInMemory(MailboxContract, SharingContract):
    persistent = False

    def make_mailbox(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> Mailbox:
        return open_memory(clock, self.ids).mailbox("team/reviewer", limits=limits)
