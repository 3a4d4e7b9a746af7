"""Whoever looks at sessions sees the mail of the roles that they hold, without a word of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from restante.domain.listing import footer, row_line
from restante.domain.message import Draft
from restante.domain.overview import Reason
from restante.domain.registry import Identity
from restante.domain.urgency import most_urgent_first
from restante.domain.wire import of_row, of_summary, row_from

from .conftest import ALICE, BOB, CAROL, ROLE, Town

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.overview import Row
    from restante.testing import FakeClock

CANARY = "token-7f3a"


@pytest.fixture
def team(town: Town) -> Town:
    """Alice holds two roles, bob one; alice is idle."""
    return manned(town)


def manned(town: Town) -> Town:
    town.by(ALICE).join(ROLE)
    town.by(ALICE).join("parser/tester")
    town.by(BOB).join("parser/writer")
    town.window(ALICE).turn(has_ended=True)
    return town


def rows(town: Town, owner: str = "") -> dict[str, Row]:
    return {row.session.id: row for row in town.exchange.window(Identity(owner, verified=True)).sessions()}


def held(row: Row) -> list[tuple[str, int, int]]:
    return [(one.role, one.counts.pending, one.counts.unseen) for one in row.roles]


def test_an_idle_holder_with_role_mail_that_it_has_not_read_is_idle_with_unread_mail(team: Town) -> None:
    assert rows(team)[ALICE].reason is Reason.DONE
    first = team.post(f"{CANARY} 1")
    team.post(f"{CANARY} 2", "parser/tester")
    found = rows(team)
    assert held(found[ALICE]) == [(ROLE, 1, 1), ("parser/tester", 1, 1)]
    assert held(found[BOB]) == [("parser/writer", 0, 0)]
    assert held(found[CAROL]) == []
    row = found[ALICE]
    assert (row.reason, row.counts.unseen, row.role_unseen, row.role_pending) == (Reason.INBOX_UNREAD, 0, 2, 2)
    assert row.oldest_unseen == team.entries()[0].message.created
    now = team.exchange.clock.now()
    (line,) = [one for one in footer(list(found.values()), now) if one.startswith("idle with unread mail: ")]
    assert "alice (a11ce000) (1 unseen for parser/reviewer, oldest " in line
    assert "; 1 unseen for parser/tester, oldest " in line
    assert "1 pending, 1 unseen for parser/reviewer" in row_line(row, now)
    assert most_urgent_first(found.values())[0] == row
    team.by(ALICE).confirm(ROLE, [first])
    team.by(ALICE).confirm("parser/tester", [team.entries("parser/tester")[0].message.id])
    assert rows(team)[ALICE].reason is Reason.INBOX_UNACKED
    assert CANARY not in repr((found, line))


def test_what_is_told_over_the_wire_comes_back_and_who_holds_none_is_told_of_as_before(team: Town) -> None:
    team.post(CANARY)
    found = rows(team)
    assert row_from(of_row(found[ALICE])).roles == found[ALICE].roles
    summary = of_summary(list(found.values()))["sessions"]
    assert [(one["role"], one["unseen"]) for one in summary[ALICE]["roles"]] == [(ROLE, 1), ("parser/tester", 0)]
    assert "roles" not in summary[CAROL]
    assert CANARY not in repr((summary, of_row(found[ALICE])))


def test_no_text_is_read_for_it(team: Town) -> None:
    team.post(CANARY)
    with closing(sqlite3.connect(team.data / "teams.db")) as database:
        database.execute("UPDATE messages SET body = CAST(x'ff' AS TEXT), subject = CAST(x'ff' AS TEXT)")
        database.commit()
    assert held(rows(team)[ALICE])[0] == (ROLE, 1, 1)


def test_roles_of_another_owner_are_not_seen(team: Town) -> None:
    team.by(owner="ada").join(ROLE)
    team.by(owner="ada").post(ROLE, Draft(CANARY))
    assert held(rows(team)[ALICE])[0] == (ROLE, 0, 0)
    assert rows(team, "ada") == {}


def test_mail_goes_on_with_the_role_and_not_with_who_held_it(team: Town) -> None:
    team.post(CANARY)
    team.by(ALICE).drop(ROLE)
    assert held(rows(team)[ALICE]) == [("parser/tester", 0, 0)]
    team.by(CAROL).act_as(ROLE)
    assert held(rows(team)[CAROL]) == [(ROLE, 1, 1)]


def test_a_watch_tells_the_holder_when_role_mail_comes_is_read_and_goes(team: Town) -> None:
    window = team.exchange.window(Identity("", verified=True))
    cursor = window.watch().cursor
    assert window.watch(cursor).rows == ()
    message = team.post(CANARY)
    watched = window.watch(cursor)
    assert [held(row)[0] for row in watched.rows] == [(ROLE, 1, 1)]
    team.by(ALICE).confirm(ROLE, [message])
    watched = window.watch(watched.cursor)
    assert [held(row)[0] for row in watched.rows] == [(ROLE, 1, 0)]
    team.by(ALICE).acknowledge(ROLE, [message])
    watched = window.watch(watched.cursor)
    assert [held(row)[0] for row in watched.rows] == [(ROLE, 0, 0)]
    assert window.watch(watched.cursor).rows == ()
    assert window.watch(watched.cursor, wait=0.2).timed_out


def test_a_cursor_from_before_there_were_roles_is_gone_on_with(town: Town) -> None:
    window = town.exchange.window(Identity("", verified=True))
    cursor = window.watch().cursor
    assert cursor.count(".") == 4
    town.by(ALICE).join(ROLE)
    town.post(CANARY)
    watched = window.watch(cursor)
    assert ALICE in [row.session.id for row in watched.rows]
    assert window.watch(watched.cursor).rows == ()


def test_many_sessions_are_told_of_like_a_few(team: Town) -> None:
    team.post(CANARY)
    for number in range(25):
        team.session(f"0199{number:04x}-0000-7000-8000-000000000000", name=f"crowd-{number}")
    assert held(rows(team)[ALICE]) == [(ROLE, 1, 1), ("parser/tester", 0, 0)]


@pytest.mark.slow
def test_on_postgresql_where_all_mail_is_in_one_database_a_watch_tells_the_same(
    tmp_path: Path, clock: FakeClock, postgres_url: str
) -> None:
    town = Town(tmp_path, clock, holds_mail=False, RESTANTE_DATABASE_URL=postgres_url)
    try:
        for session, name in ((ALICE, "alice"), (BOB, "bob")):
            town.session(session, name=name, worktree=str(tmp_path / name))
        manned(town)
        window = town.exchange.window(Identity("", verified=True))
        cursor = window.watch().cursor
        message = town.post(CANARY)
        watched = window.watch(cursor)
        assert [held(row)[0] for row in watched.rows] == [(ROLE, 1, 1)]
        assert (watched.rows[0].reason, held(rows(town)[ALICE])[0]) == (Reason.INBOX_UNREAD, (ROLE, 1, 1))
        town.by(ALICE).acknowledge(ROLE, [message])
        assert [held(row)[0] for row in window.watch(watched.cursor).rows] == [(ROLE, 0, 0)]
    finally:
        town.exchange.close()
