"""The SQL home on a real PostgreSQL server keeps the contract, alone and with many processes at once."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import pytest
from tests.contract import test_processes as processes

from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.postgres import open_postgres
from restante.stores.sql.sessions import SqlSessions
from restante.stores.sql.store import SqlMailbox
from restante.testing import FakeClock, MailboxContract, SessionsContract

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.postgres import Server

    from restante.domain.limits import Limits
    from restante.ports import Mailbox
    from restante.ports.sessions import Boxes, Sessions

_TABLES = ("messages", "changes", "receipts", "replies", "shown", "deleted")


@pytest.fixture(scope="module")
def shared_url(postgres_server: Server) -> str:
    """The URL of a database that many tests share: each has a place of its own in it."""
    postgres_server.run("CREATE DATABASE contract")
    return postgres_server.url("contract")


class TestPostgres(MailboxContract):
    @pytest.fixture(autouse=True)
    def _database(self, shared_url: str) -> Iterator[None]:
        self.database = open_postgres(shared_url, clock=FakeClock(), ids=self.ids)
        yield
        self.database.close()

    def make_mailbox(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> SqlMailbox:
        return SqlMailbox(self.database, f"worktree:{tmp_path}", clock=clock, ids=self.ids, limits=limits)

    def close(self, mailbox: Mailbox) -> None:
        self.database.close()

    def contents(self, tmp_path: Path) -> dict[str, bytes]:
        with self.database.reading() as run:
            row = run and run.one("box", address=f"worktree:{tmp_path}", owner="")
            if not (run and row):
                return {}
            found = {"mailboxes": repr(row).encode()}
            for table in _TABLES:
                rows = run.link.execute(f"SELECT * FROM {table} WHERE mailbox = %s", (row[0],)).fetchall()
                found[table] = repr(sorted(map(repr, rows))).encode()
            return found

    @pytest.mark.slow
    def test_any_history_gives_what_the_twin_gives(self, tmp_path: Path) -> None:
        """It takes longest here, and SQLite's histories go through the same home."""
        super().test_any_history_gives_what_the_twin_gives(tmp_path)


class TestPostgresSessions(SessionsContract):
    @pytest.fixture(autouse=True)
    def _url(self, shared_url: str) -> None:
        self.url = shared_url

    def make_parts(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> tuple[Sessions, Boxes]:
        schema = f"at_{zlib.crc32(bytes(tmp_path)):08x}"
        self.database = open_postgres(self.url, clock=clock, ids=self.ids, schema=schema)
        return SqlSessions(self.database), SqlBoxes(self.database, clock, self.ids, limits)

    def close_parts(self, sessions: Sessions, boxes: Boxes) -> None:
        self.database.close()

    @pytest.mark.slow
    def test_any_history_gives_what_the_model_gives(self, tmp_path: Path) -> None:
        """It takes longest here, and SQLite's histories go through the same home."""
        super().test_any_history_gives_what_the_model_gives(tmp_path)


@pytest.fixture
def location(postgres_url: str, tmp_path: Path) -> Path:
    (tmp_path / "url").write_text(postgres_url)
    return tmp_path


@pytest.mark.slow
def test_sixteen_processes_at_once_lose_double_and_fail_nothing(location: Path) -> None:
    processes.test_many_processes_at_once_lose_double_and_fail_nothing("postgres", 16, 12, location)


@pytest.mark.slow
def test_a_kill_at_any_instant_loses_nothing_and_blocks_nobody(location: Path) -> None:
    processes.test_a_kill_at_any_instant_loses_nothing_and_blocks_nobody("postgres", 120, location)
