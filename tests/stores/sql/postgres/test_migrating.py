"""Moving everything between SQLite and PostgreSQL, as often as it takes, and comparing both."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import BadConfig, Conflict, Damaged, MailboxDeleted, NothingThere, Refused, UsageError
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.message import Sender
from restante.domain.monitor import Monitor, MonitorState, Plan, Signal, Subscription
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Arrival, Latch, Presence, Process
from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.monitors import SqlMonitors
from restante.stores.sql.postgres import PostgresDatabase, open_postgres
from restante.stores.sql.role_boxes import SqlRoleBoxes
from restante.stores.sql.schema import SCHEMA_VERSION
from restante.stores.sql.sessions import SqlAccounts, SqlSessions
from restante.stores.sql.sqlite import SqliteDatabase
from restante.stores.sql.subscriptions import SqlSubscriptions
from restante.stores.sql.tables import COLUMNS, COUNTERS, MAILBOXES, OF_MAILBOX, OF_SITE, OF_TEAMS
from restante.stores.sql.teams import SqlTeams
from restante.system.ids import MonotonicIds
from restante.testing import TRICKY_TEXTS, FakeClock, make_draft
from restante.wiring.migrating import migrate_places
from restante.wiring.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from restante.stores.sql.engine import Engine

ODD = ("plain", "\0", "a\1b\2", "é\U0001f600", "x" * 3_000, *TRICKY_TEXTS)


def _open(path: Path) -> SqliteDatabase:
    return SqliteDatabase(str(path), clock=FakeClock(), ids=MonotonicIds())


def _boxes(database: Engine | PostgresDatabase) -> SqlBoxes:
    return SqlBoxes(database, FakeClock(), MonotonicIds(), Limits(message_bytes=100_000))


def _line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


def fill(place: Path, *, boxes: int = 4, messages: int = 6, seed: int = 7) -> None:
    """Make a data directory in which everything occurs that can be kept."""
    dice = random.Random(seed)
    register, mail = _open(place / "restante.db"), _open(place / "mail.db")
    sessions, accounts, clock = SqlSessions(register), SqlAccounts(register, FakeClock()), FakeClock()
    sessions.set_setting("persistence", "on")
    sessions.set_setting("odd\0name", "odd\1value")
    accounts.add("ada", "hash")
    fill_teams(_open(place / "teams.db"))
    homes = _boxes(mail)
    for number in range(boxes):
        name, owner = f"s{number}", "ada" if number % 2 else ""
        sessions.attach(
            Arrival(name, "codex", _line(ODD[number % len(ODD)]), "/w", process=Process("host", number, "\0began")),
            owner,
            clock.now(),
            is_proven=True,
        )
        sessions.latch(name, owner, Latch(number), clock.now())
        box = homes.box(name, owner)
        with mail.together():
            for turn in range(messages):
                text = ODD[(number + turn) % len(ODD)]
                message = box.post(
                    make_draft(
                        text or "-",
                        subject=_line(text),
                        client_id=f"c{turn}\0" if turn % 2 else "",
                        sender=Sender(f"session:s{dice.randrange(boxes)}", verified=bool(turn % 2)),
                    )
                ).message
                if turn % 3 == 0:
                    box.mark([message.id], Mark.SEEN, "reader\0")
                    word = Acknowledgement(message.id, Decision.DEFERRED, Action.BLOCKED, _line(text), text[:50])
                    box.acknowledge([word], "reader")
                    box.reply(message.id, text or "-", "reader")
                elif turn % 5 == 4:
                    box.withdraw(message.id)
    homes.box("s1", "ada").delete()
    sessions.delete("s1", "ada", clock.now())
    with mail.notebook("session:s0").page("s0") as shown:
        shown.held.add("msg_x")
    register.close()
    mail.close()


def fill_teams(database: SqliteDatabase) -> None:
    """Fill a database with teams, role mail, monitors and subscriptions; close it."""
    clock, ids = FakeClock(), MonotonicIds()
    teams, boxes = SqlTeams(database), SqlRoleBoxes(database, clock, ids, Limits(message_bytes=100_000))
    signal_ = Signal("review\0", "42", "done")
    for owner in ("", "ada"):
        teams.join("team/reviewer", owner, clock.now(), worktree="/w\0", vendor="codex")
        boxes.post("team/reviewer", owner, make_draft(f"to a role of {owner}\0"), signal_)
        boxes.post("team/reviewer", owner, make_draft("without"))
        teams.take(
            "team/reviewer",
            owner,
            clock.now(),
            session="s0",
            process=Process("host", 7, "\0began"),
            time_to_live=timedelta(hours=1),
            presence=lambda process: Presence.UNKNOWN,
        )
        SqlSubscriptions(database).add(
            Subscription(
                f"sub{owner}",
                "team/reviewer",
                owner,
                *signal_[:2],
                ("done",),
                "",
                True,
                clock.now(),
                clock.now(),
                False,
            )
        )
        SqlMonitors(database, clock).change("team/reviewer", owner, lambda monitor, sight: (make_monitor(owner), None))  # noqa: B023
    teams.join("team/left", "", clock.now(), worktree="", vendor="")
    teams.leave("team/left", "", clock.now())
    database.close()


def make_monitor(owner: str) -> Monitor:
    """Return a monitor."""
    now = FakeClock().now()
    return Monitor(
        "team/reviewer",
        owner,
        "s0",
        "codex",
        1,
        "task-1",
        Plan.EVENT,
        "codex-queue",
        MonitorState.ACTIVE,
        now,
        now,
        timedelta(hours=12),
        now + timedelta(hours=12),
        receiver=Process("host", 8, "\0"),
    )


def _teams_in(database: Engine | PostgresDatabase) -> list[object]:
    """Return what a caller can read of teams."""
    clock = FakeClock()
    boxes, monitors = SqlRoleBoxes(database, clock, MonotonicIds()), SqlMonitors(database, clock)
    found: list[object] = [SqlTeams(database).leases(), monitors.all()]
    for owner in ("", "ada"):
        box = boxes.box("team/reviewer", owner)
        found += [
            SqlTeams(database).members("", owner),
            SqlSubscriptions(database).all(owner),
            boxes.signals("team/reviewer", owner),
            box.entries(),
            box.changes_since(""),
        ]
    return found


def _everything(database: Engine | PostgresDatabase) -> dict[str, object]:
    """Return what a caller can read of all sessions' mail."""
    boxes, sessions = _boxes(database), SqlSessions(database)
    found: dict[str, object] = {}
    for owner in ("", "ada"):
        found[f"tip {owner}"] = boxes.tip(owner)
        found[f"changed {owner}"] = boxes.changed_since(0, owner)
        counts = boxes.counts(owner)
        for name in sorted(counts):
            box = boxes.box(name, owner)
            found[name] = (
                box.entries(),
                [box.receipts(one) for one in box.ids()],
                box.replies(),
                box.changes_since(""),
                box.tip().split(".")[:3],
                counts[name],
                boxes.traces(f"session:{name}", owner),
            )
        found[f"sessions {owner}"] = sessions.all(owner)
    return found


@pytest.fixture
def database(postgres_url: str) -> Iterator[PostgresDatabase]:
    one = open_postgres(postgres_url, clock=FakeClock(), ids=MonotonicIds())
    yield one
    one.close()


def _move(source: object, target: object) -> object:
    return migrate_places(str(source), str(target), {})


def test_every_table_is_moved() -> None:
    moved = {table.name for table in (*OF_MAILBOX, *OF_SITE, *OF_TEAMS, MAILBOXES, COUNTERS)}
    assert moved == set(COLUMNS)
    assert SCHEMA_VERSION
    assert all({"mailbox"} == set(COLUMNS[one.name]) - set(one.columns) for one in OF_MAILBOX)
    assert all(set(COLUMNS[one.name]) == set(one.columns) for one in (*OF_SITE, *OF_TEAMS))


def test_there_and_back_again_everything_is_as_it_was(
    tmp_path: Path, postgres_url: str, database: PostgresDatabase
) -> None:
    fill(tmp_path / "one")
    there = migrate_places(str(tmp_path / "one"), postgres_url, {})
    back = migrate_places(postgres_url, str(tmp_path / "two"), {})
    assert (there.mailboxes, there.already, there.messages, there.sessions) == (6, 0, 22, 3)
    assert back == there
    first, second = _open(tmp_path / "one" / "mail.db"), _open(tmp_path / "two" / "mail.db")
    old, new = _open(tmp_path / "one" / "restante.db"), _open(tmp_path / "two" / "restante.db")
    wanted = _everything(first)
    assert _everything(second) == wanted
    assert {name: value for name, value in _everything(database).items() if "sessions" not in name} == {
        name: value for name, value in wanted.items() if "sessions" not in name
    }
    for owner in ("", "ada"):
        assert SqlSessions(new).all(owner) == SqlSessions(old).all(owner) == SqlSessions(database).all(owner)
        assert SqlSessions(new).tip(owner) == SqlSessions(old).tip(owner) == SqlSessions(database).tip(owner)
        assert SqlSessions(new).changed_since(0, owner) == SqlSessions(old).changed_since(0, owner)
    assert SqlAccounts(new, FakeClock()).password_hash("ada") == "hash"
    assert SqlSessions(new).setting("odd\0name") == "odd\1value"
    assert SqlSessions(new).setting("persistence") == "on"
    assert SqlSessions(database).setting("persistence") is None
    for home in (new, database):
        assert not (home is new and home.mailbox("team/reviewer").entries())
    teams = [_open(tmp_path / name / "teams.db") for name in ("one", "two")]
    wanted_teams = _teams_in(teams[0])
    assert [len(part) for part in wanted_teams[:3] if isinstance(part, list)] == [2, 2, 1]
    assert _teams_in(teams[1]) == _teams_in(database) == wanted_teams
    gone = first.mailbox("session:s1", owner="ada")
    for home in (second, database):
        box = home.mailbox("session:s1", owner="ada")
        assert box.tip().split(".")[1] == gone.tip().split(".")[1]
        with home.reading() as run:
            assert run
            (message_id, *_), *_ = run.raw("SELECT id FROM deleted ORDER BY id")
        with pytest.raises(MailboxDeleted):
            box.entry(message_id)
        assert home.mailbox("session:s0").post(make_draft("on")).message.number == 7
    for one in (first, second, old, new, *teams):
        one.close()


def test_no_place_for_teams_is_made_where_there_are_none(tmp_path: Path, postgres_url: str) -> None:
    fill(tmp_path / "one")
    (tmp_path / "one" / "teams.db").unlink()
    migrate_places(str(tmp_path / "one"), postgres_url, {})
    migrate_places(postgres_url, str(tmp_path / "two"), {})
    assert (tmp_path / "two" / "mail.db").exists()
    assert not (tmp_path / "two" / "teams.db").exists()


def test_a_role_without_mail_moves_too(tmp_path: Path, postgres_url: str) -> None:
    fill(tmp_path / "one")
    (tmp_path / "one" / "teams.db").unlink()
    source, target = (_open(tmp_path / place / "teams.db") for place in ("one", "two"))
    SqlTeams(source).join("team/a", "", FakeClock().now(), worktree="", vendor="")
    migrate_places(str(tmp_path / "one"), postgres_url, {})
    migrate_places(postgres_url, str(tmp_path / "two"), {})
    assert [one.role for one in SqlTeams(target).members("team", "")] == ["team/a"]
    source.close()
    target.close()


def test_a_target_with_other_teams_is_refused(tmp_path: Path, postgres_url: str, database: PostgresDatabase) -> None:
    fill(tmp_path)
    SqlTeams(database).join("team/theirs", "", FakeClock().now(), worktree="", vendor="")
    with pytest.raises(Conflict, match="other members"):
        _move(tmp_path, postgres_url)


def test_moving_again_moves_nothing_twice(tmp_path: Path, postgres_url: str) -> None:
    fill(tmp_path)
    first = migrate_places(str(tmp_path), postgres_url, {})
    again = migrate_places(str(tmp_path), postgres_url, {})
    assert again == first._replace(already=first.mailboxes)


def test_what_came_to_the_source_meanwhile_is_moved_the_next_time(tmp_path: Path, postgres_url: str) -> None:
    fill(tmp_path)
    first = migrate_places(str(tmp_path), postgres_url, {})
    mail = _open(tmp_path / "mail.db")
    _boxes(mail).box("s0", "").post(make_draft("late"))
    mail.close()
    again = migrate_places(str(tmp_path), postgres_url, {})
    assert (again.already, again.messages) == (first.mailboxes - 1, first.messages + 1)


def test_a_target_with_other_mail_is_refused_and_stays_as_it_is(
    tmp_path: Path, postgres_url: str, database: PostgresDatabase
) -> None:
    fill(tmp_path)
    other = database.mailbox("session:s0")
    other.post(make_draft("theirs"))
    with pytest.raises(Conflict, match="holds other mail"):
        _move(tmp_path, postgres_url)
    assert [one.message.body for one in other.entries()] == ["theirs"]
    assert SqlSessions(database).all("") == []


def test_a_target_that_was_used_since_is_refused(tmp_path: Path, postgres_url: str, database: PostgresDatabase) -> None:
    fill(tmp_path)
    _move(tmp_path, postgres_url)
    database.mailbox("session:s0").post(make_draft("new"))
    with pytest.raises(Conflict, match="went on"):
        _move(tmp_path, postgres_url)
    assert database.mailbox("session:s0").entries()[-1].message.body == "new"


def test_a_target_with_other_sessions_is_refused(tmp_path: Path, postgres_url: str, database: PostgresDatabase) -> None:
    fill(tmp_path)
    SqlSessions(database).attach(Arrival("theirs"), "", FakeClock().now(), is_proven=False)
    with pytest.raises(Conflict, match="other sessions"):
        _move(tmp_path, postgres_url)


def test_what_is_not_there_or_given_twice_is_refused(tmp_path: Path, postgres_url: str) -> None:
    with pytest.raises(NothingThere):
        _move(tmp_path / "none", postgres_url)
    assert not (tmp_path / "none").exists()
    with pytest.raises(NothingThere):
        _move(postgres_url, tmp_path / "new")
    with pytest.raises(UsageError):
        _move(postgres_url, postgres_url)
    with pytest.raises(BadConfig):
        _move("mysql://somewhere", tmp_path)


def test_a_directory_that_is_served_is_refused(tmp_path: Path, postgres_url: str) -> None:
    fill(tmp_path)
    with serving({"RESTANTE_DATA": str(tmp_path)}), pytest.raises(Refused, match="serves"):
        _move(tmp_path, postgres_url)


def test_a_copy_that_is_not_what_was_copied_is_found_out(
    tmp_path: Path, postgres_url: str, database: PostgresDatabase
) -> None:
    fill(tmp_path)
    database.make()
    with database.writing() as run:
        assert run
        run.raw(
            "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.subject := 'other';"
            " RETURN NEW; END $$"
        )
        run.raw("CREATE TRIGGER spoil BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION spoil()")
    with pytest.raises(Damaged):
        _move(tmp_path, postgres_url)


MOVER = """
import sys
from restante.wiring.migrating import migrate_places
migrate_places(sys.argv[1], sys.argv[2], {}, report=lambda line: print(line, flush=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_a_move_that_is_killed_again_and_again_comes_to_its_end(back: bool, tmp_path: Path, postgres_url: str) -> None:
    fill(tmp_path / "one", boxes=30, messages=60)
    places = str(tmp_path / "one"), postgres_url
    if back:
        whole = migrate_places(*places, {})
        places = postgres_url, str(tmp_path / "two")
    dice = random.Random()
    kills = 0
    for _ in range(6):
        mover = subprocess.Popen([sys.executable, "-c", MOVER, *places], stdout=subprocess.PIPE)
        assert mover.stdout
        for _ in range(dice.randrange(2)):
            mover.stdout.readline()
        # Not a wait for anything: the instant of the kill is what is drawn by lot.
        time.sleep(dice.random() * 0.3)
        mover.kill()
        mover.communicate()
        kills += mover.returncode == -signal.SIGKILL
    assert kills
    done = migrate_places(*places, {})
    if not back:
        whole = migrate_places(postgres_url, str(tmp_path / "three"), {})
    assert done._replace(already=0) == whole._replace(already=0)
