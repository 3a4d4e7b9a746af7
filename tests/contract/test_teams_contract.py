"""Teams, monitors and subscriptions in the SQL home: in a file, in memory, and on a real PostgreSQL server."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import pytest

from restante.stores.sql.in_memory import open_memory
from restante.stores.sql.monitors import SqlMonitors
from restante.stores.sql.postgres import open_postgres
from restante.stores.sql.role_boxes import SqlRoleBoxes
from restante.stores.sql.sights import SqlSights
from restante.stores.sql.sqlite import SqliteDatabase
from restante.stores.sql.subscriptions import SqlSubscriptions
from restante.stores.sql.teams import SqlTeams
from restante.testing import TeamsContract
from restante.testing.contract.team_parts import TeamParts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgres import Server

    from restante.stores.sql.engine import Engine
    from restante.stores.sql.postgres import PostgresDatabase
    from restante.testing import FakeClock


class TestFile(TeamsContract):
    def make_database(self, tmp_path: Path, clock: FakeClock) -> Engine | PostgresDatabase:
        return SqliteDatabase(str(tmp_path / "teams.db"), clock=clock, ids=self.ids)

    def make_team_parts(self, tmp_path: Path, clock: FakeClock) -> TeamParts:
        self.database = self.make_database(tmp_path, clock)
        return TeamParts(
            SqlTeams(self.database),
            SqlRoleBoxes(self.database, clock, self.ids),
            SqlMonitors(self.database, clock),
            SqlSights(self.database, clock),
            SqlSubscriptions(self.database),
        )

    def close_team_parts(self, parts: TeamParts) -> None:
        self.database.close()


class TestMemory(TestFile):
    persistent = False

    def make_database(self, tmp_path: Path, clock: FakeClock) -> Engine | PostgresDatabase:
        return open_memory(clock, self.ids)


class TestPostgres(TestFile):
    @pytest.fixture(autouse=True)
    def _url(self, shared_teams_url: str) -> None:
        self.url = shared_teams_url

    def make_database(self, tmp_path: Path, clock: FakeClock) -> Engine | PostgresDatabase:
        schema = f"at_{zlib.crc32(bytes(tmp_path)):08x}"
        return open_postgres(self.url, clock=clock, ids=self.ids, schema=schema)

    @pytest.mark.slow
    def test_any_history_of_leases_gives_what_the_model_gives(self, tmp_path: Path) -> None:
        super().test_any_history_of_leases_gives_what_the_model_gives(tmp_path)


@pytest.fixture(scope="module")
def shared_teams_url(postgres_server: Server) -> str:
    """The URL of a database that these tests share: each has a place of its own in it."""
    postgres_server.run("CREATE DATABASE teams_contract")
    return postgres_server.url("teams_contract")
