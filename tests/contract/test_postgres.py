"""The SQL home on a real PostgreSQL server keeps the contract, alone and with many processes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.contract import test_processes as processes

from restante.stores.sql.postgres import open_postgres
from restante.stores.sql.store import SqlMailbox
from restante.testing import FakeClock, MailboxContract

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.limits import Limits
    from restante.ports import Mailbox

_TABLES = ("messages", "changes", "receipts", "replies", "shown", "deleted")


class TestPostgres(MailboxContract):
    @pytest.fixture(autouse=True)
    def _database(self, postgres_url: str) -> object:
        self.database = open_postgres(postgres_url, clock=FakeClock(), ids=self.ids)
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


@pytest.fixture
def location(postgres_url: str, tmp_path: Path) -> Path:
    (tmp_path / "url").write_text(postgres_url)
    return tmp_path


@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_sixteen_processes_at_once_lose_double_and_fail_nothing(count: int, location: Path) -> None:
    processes.test_sixteen_processes_at_once_lose_double_and_fail_nothing("postgres", count, location)


@pytest.mark.parametrize("rounds", [10, pytest.param(150, marks=pytest.mark.slow)])
def test_a_kill_at_any_instant_loses_nothing_and_blocks_nobody(rounds: int, location: Path) -> None:
    processes.test_a_kill_at_any_instant_loses_nothing_and_blocks_nobody("postgres", rounds, location)
