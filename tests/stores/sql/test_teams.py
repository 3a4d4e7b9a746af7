"""Teams, monitors and sights in SQL beyond their contract: what they touch, what they cost, what is damaged."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.stores.sql.test_sessions import _plan as plan_of
from tests.stores.sql.test_sessions import _work as work_of

from restante.domain.errors import Damaged, RestanteError, RoleHeld
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.monitor import Monitor, Sight, Signal
from restante.domain.receipt import Decision
from restante.domain.registry import Presence
from restante.stores.sql.addressing import address_at, is_role, place_of
from restante.stores.sql.in_memory import open_memory
from restante.stores.sql.monitors import SqlMonitors, decode, encode
from restante.stores.sql.role_boxes import SqlRoleBoxes
from restante.stores.sql.sights import SqlSights
from restante.stores.sql.statements import STATEMENTS
from restante.stores.sql.subscriptions import SqlSubscriptions
from restante.stores.sql.teams import SqlTeams
from restante.testing import make_draft
from restante.testing.contract.team_parts import make_monitor, make_subscription

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.domain.team import Lease
    from restante.stores.sql.engine import Engine
    from restante.stores.sql.sqlite import SqliteDatabase
    from restante.testing import FakeClock, SequentialIds

    Open = Callable[..., SqliteDatabase]

ROLE = "team/alice"
_TEXTS = {"body", "subject", "conversation", "parent"}
_WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
_ASKED = {
    *("member", "members", "members_of_team", "members_held", "leases", "move_member", "leave_team", "take_role"),
    *("beat_role", "release_role", "monitor", "monitors_of_owner", "monitors_of_session", "drop_monitor"),
    *("subscriptions_to", "subscriptions_expired", "drop_subscription"),
    *("sight", "whole_sight", "signals", "delete_signals"),
}


def _take(teams: SqlTeams, clock: FakeClock, session: str, owner: str = "") -> Lease:
    return teams.take(
        ROLE,
        owner,
        clock.now(),
        session=session,
        process=None,
        time_to_live=timedelta(hours=12),
        presence=lambda _: Presence.UNKNOWN,
    )


def _forbid(database: Engine, *, writes: bool) -> list[str]:
    """Deny the texts of messages to a database's connection from here on, and writing; return what was read."""
    connection = database._connection
    assert connection
    read: list[str] = []

    def judge(act: int, one: str | None, two: str | None, *_: object) -> int:
        if act == sqlite3.SQLITE_READ:
            read.append(f"{one}.{two}")
            is_denied = one == "messages" and two in _TEXTS
        else:
            is_denied = writes and act in _WRITES
        return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK

    connection.set_authorizer(judge)
    return read


def _bytes_below(path: Path) -> dict[str, str]:
    # The index of the log is shared memory, in which readers too say that they are there.
    files = [one for one in path.iterdir() if one.is_file() and not one.name.endswith("-shm")]
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


def test_b2_a_look_touches_no_text_of_a_message_and_writes_nothing(
    open_database: Open, clock: FakeClock, ids: SequentialIds, tmp_path: Path
) -> None:
    database = open_database(str(tmp_path / "teams.db"))
    boxes, sights = SqlRoleBoxes(database, clock, ids), SqlSights(database, clock)
    message = boxes.post(ROLE, "", make_draft("secret", subject="secret")).message
    boxes.post(ROLE, "", make_draft("secret"))
    boxes.box(ROLE, "").mark([message.id], Mark.NOTICED, "one")
    before = _bytes_below(tmp_path)
    read = _forbid(database, writes=True)
    assert sights.look(ROLE, "") == Sight(2, 2, 2, 1)
    assert sights.look(ROLE, "", whole=True) == Sight(2, 2, 2, 1, 0)
    assert "messages.unseen" in read
    assert not {f"messages.{name}" for name in _TEXTS} & set(read)
    assert _bytes_below(tmp_path) == before
    # What denies must bite, or this proves nothing.
    with pytest.raises(RestanteError):
        boxes.box(ROLE, "").entries()
    with pytest.raises(RestanteError):
        boxes.post(ROLE, "", make_draft("more"))


def test_b2_a_step_of_a_monitor_touches_no_text_of_a_message(
    open_database: Open, clock: FakeClock, ids: SequentialIds
) -> None:
    database = open_database()
    boxes, monitors, teams = SqlRoleBoxes(database, clock, ids), SqlMonitors(database, clock), SqlTeams(database)
    boxes.post(ROLE, "", make_draft("secret"), Signal("review", "42", "done"))
    teams.join(ROLE, "", clock.now(), worktree="", vendor="")
    monitor = make_monitor(clock)
    read = _forbid(database, writes=False)
    assert monitors.change(ROLE, "", lambda _, sight: (monitor, sight)) == Sight(1, 1, 1)
    assert monitors.all() == [monitor]
    assert _take(teams, clock, "one").generation == 1
    assert boxes.signals(ROLE, "") == [(1, Signal("review", "42", "done"))]
    assert "monitors.record" in read


def test_no_statement_of_a_collector_names_a_text_of_a_message() -> None:
    """On PostgreSQL there is nothing that could deny it."""
    for name in ("sight", "whole_sight", "monitor", "member", "signals", "subscriptions_to"):
        assert not re.search(rf"\b({'|'.join(_TEXTS)})\b", STATEMENTS[name]), name


@pytest.mark.parametrize("name", sorted(_ASKED))
def test_every_question_goes_by_an_index(name: str, clock: FakeClock, ids: SequentialIds) -> None:
    database = open_memory(clock, ids)
    database.mailbox("x").post(make_draft())
    plan = plan_of(database, STATEMENTS[name])
    assert plan
    assert [line for line in plan if line.startswith("SCAN")] == []
    if name in {"sight", "whole_sight"}:
        assert any("INDEX messages_pending (mailbox=?" in line for line in plan), plan
    if name == "whole_sight":
        assert any("COVERING INDEX messages_lost (mailbox=?" in line for line in plan), plan


def _figures(history: int, clock: FakeClock, ids: SequentialIds) -> dict[str, int]:
    """Return what each act costs after so many acknowledged messages, holders and steps, and as many other roles."""
    database = open_memory(clock, ids)
    boxes, teams = SqlRoleBoxes(database, clock, ids, Limits(pending_messages=200)), SqlTeams(database)
    monitors, sights, subscriptions = (
        SqlMonitors(database, clock),
        SqlSights(database, clock),
        SqlSubscriptions(database),
    )
    teams.join(ROLE, "", clock.now(), worktree="", vendor="")
    signal = Signal("review", "42", "done")
    with database.together():
        for number in range(history):
            message = boxes.post(ROLE, "", make_draft(), Signal("review", "41", "done")).message
            boxes.box(ROLE, "").acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "one")
            _take(teams, clock, f"s{number}")
            teams.release(ROLE, "", clock.now(), session=f"s{number}")
            teams.join(f"other/r{number}", "", clock.now(), worktree="", vendor="")
            monitor = make_monitor(clock, f"other/r{number}", session=f"s{number}")
            monitors.change(f"other/r{number}", "", lambda *_, kept=monitor: (kept, None))
        for _ in range(5):
            boxes.post(ROLE, "", make_draft())
    monitor = make_monitor(clock)
    acts: dict[str, Callable[[], object]] = {
        "take": lambda: _take(teams, clock, "one"),
        "beat": lambda: teams.beat(ROLE, "", clock.now(), session="one"),
        "held": lambda: teams.held_by("one", ""),
        "members": lambda: teams.members("team", ""),
        "leases": teams.leases,
        "look": lambda: sights.look(ROLE, ""),
        "whole": lambda: sights.look(ROLE, "", whole=True),
        "change": lambda: monitors.change(ROLE, "", lambda *_: (monitor, None)),
        "of_session": lambda: monitors.of_session("one"),
        "post": lambda: boxes.post(ROLE, "", make_draft(), signal),
        "read": lambda: boxes.fenced(ROLE, "", "one").entries(pending_only=True),
        "signals": lambda: boxes.signals(ROLE, "", after=history),
        "subscribe": lambda: subscriptions.add(make_subscription(clock, "sub1")),
        "match": lambda: subscriptions.take_matching(ROLE, "", [signal]),
        "expired": lambda: subscriptions.take_expired(clock.now()),
        "release": lambda: teams.release(ROLE, "", clock.now(), session="one"),
    }
    return {name: work_of(database, act) for name, act in acts.items()}


def test_no_cost_grows_with_history(clock: FakeClock, ids: SequentialIds) -> None:
    few, many = _figures(20, clock, ids), _figures(2000, clock, ids)
    assert {name: many[name] <= few[name] * 1.3 + 3 for name in few} == dict.fromkeys(few, True), (few, many)


def _statements(database: Engine, act: Callable[[], object]) -> list[str]:
    connection = database._connection
    assert connection
    seen: list[str] = []
    connection.set_trace_callback(seen.append)
    act()
    connection.set_trace_callback(None)
    return [one for one in seen if not one.startswith("PRAGMA")]


def test_an_act_is_one_transaction_of_few_statements(open_database: Open, clock: FakeClock, ids: SequentialIds) -> None:
    database = open_database()
    teams, monitors, boxes = SqlTeams(database), SqlMonitors(database, clock), SqlRoleBoxes(database, clock, ids)
    teams.join(ROLE, "", clock.now(), worktree="", vendor="")
    boxes.post(ROLE, "", make_draft())
    monitor = make_monitor(clock)
    acts: dict[str, tuple[int, Callable[[], object]]] = {
        "take": (3, lambda: _take(teams, clock, "one")),
        "beat": (2, lambda: teams.beat(ROLE, "", clock.now(), session="one")),
        "change": (3, lambda: monitors.change(ROLE, "", lambda *_: (monitor, None))),
        "no change": (2, lambda: monitors.change(ROLE, "", lambda before, _: (before, None))),
        "look": (1, lambda: SqlSights(database, clock).look(ROLE, "")),
        "signals": (2, lambda: boxes.signals(ROLE, "")),
    }
    for name, (most, act) in acts.items():
        seen = _statements(database, act)
        begun = [one for one in seen if one.startswith("BEGIN")]
        assert len(begun) == 1, (name, seen)
        inner = [one for one in seen if one.split()[0] in {"SELECT", "INSERT", "UPDATE", "DELETE"}]
        assert len(inner) <= most, (name, inner)


def test_a_role_that_is_lost_in_the_middle_of_a_group_undoes_that_step_alone(
    clock: FakeClock, ids: SequentialIds
) -> None:
    database = open_memory(clock, ids)
    teams, boxes = SqlTeams(database), SqlRoleBoxes(database, clock, ids)
    teams.join(ROLE, "", clock.now(), worktree="", vendor="")
    _take(teams, clock, "one")
    message = boxes.post(ROLE, "", make_draft()).message
    with database.together():
        boxes.fenced(ROLE, "", "one").reply(message.id, "first", "one")
        teams.release(ROLE, "", clock.now(), session="one")
        with pytest.raises(RoleHeld):
            boxes.fenced(ROLE, "", "one").reply(message.id, "second", "one")
    assert [one.body for one in boxes.box(ROLE, "").replies()] == ["first"]
    assert teams.held_by("one", "") == []


def test_a_monitor_that_cannot_be_understood_is_told_and_can_be_armed_again(
    clock: FakeClock, ids: SequentialIds
) -> None:
    database = open_memory(clock, ids)
    monitors, monitor = SqlMonitors(database, clock), make_monitor(clock)
    monitors.change(ROLE, "", lambda *_: (monitor, None))
    for record in ("{", "[]", "null", '{"state":"active"}', encode(monitor).replace("active", "odd")):
        with database.writing() as run:
            assert run
            run.raw("UPDATE monitors SET record = :record", [{"record": record}])
        with pytest.raises(Damaged, match=ROLE):
            monitors.monitor(ROLE, "")
        assert monitors.all() == monitors.of_session("one") == []
    assert monitors.change(ROLE, "", lambda before, _: (monitor, before)) is None
    assert monitors.all() == [monitor]


def test_a_record_of_another_version_is_read_as_far_as_it_is_known(clock: FakeClock) -> None:
    monitor = make_monitor(clock)._replace(tries=3)
    record = encode(monitor)
    assert decode(ROLE, "", record.replace('"tries":3', '"unheard_of":{"x":[1]}')) == monitor._replace(tries=0)
    assert record.isascii()
    assert set(Monitor._fields) - {"mailbox", "owner"} == set(re.findall(r'"([a-z_]+)":', record))


@pytest.mark.parametrize("owner", ["", "ann", "a@b", "bob:x", "@"])
@pytest.mark.parametrize(
    "address", ["team/role", "session:a/b", "worktree:/x@ann", "worktree:/x@a@b", "oacp:a/b", "session:x@ann"]
)
def test_a_place_stands_for_one_address(address: str, owner: str) -> None:
    place = place_of(address, owner)
    assert address_at(place, owner) == address
    assert (place != address) == bool(owner and address == "team/role")
    assert is_role(place) == is_role(address) == (address == "team/role")
