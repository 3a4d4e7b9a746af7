"""Sessions and their mail in the SQL home: in one file for all, in two, and in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.in_memory import open_memory
from restante.stores.sql.sessions import SqlSessions
from restante.stores.sql.sqlite import SqliteDatabase
from restante.testing import SessionsContract

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.limits import Limits
    from restante.ports.sessions import Boxes, Sessions
    from restante.stores.sql.engine import Engine
    from restante.testing import FakeClock


class TestTwoFiles(SessionsContract):
    filesystem = "ext4"

    def make_databases(self, tmp_path: Path, clock: FakeClock) -> tuple[Engine, Engine]:
        register, mail = (
            SqliteDatabase(str(tmp_path / name), clock=clock, ids=self.ids, fs_type=lambda path: self.filesystem)
            for name in ("restante.db", "mail.db")
        )
        return register, mail

    def make_parts(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> tuple[Sessions, Boxes]:
        self.databases = self.make_databases(tmp_path, clock)
        return SqlSessions(self.databases[0]), SqlBoxes(self.databases[1], clock, self.ids, limits)

    def close_parts(self, sessions: Sessions, boxes: Boxes) -> None:
        for one in self.databases:
            one.close()


class TestTwoFilesOnANetworkFilesystem(TestTwoFiles):
    filesystem = "nfs4"


class TestOneFile(TestTwoFiles):
    def make_databases(self, tmp_path: Path, clock: FakeClock) -> tuple[Engine, Engine]:
        database, _ = super().make_databases(tmp_path, clock)
        return database, database


class TestMemory(TestTwoFiles):
    persistent = False

    def make_databases(self, tmp_path: Path, clock: FakeClock) -> tuple[Engine, Engine]:
        return open_memory(clock, self.ids), open_memory(clock, self.ids)
