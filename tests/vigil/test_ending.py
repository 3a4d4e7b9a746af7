"""Statements C, E, F and G of what was agreed about monitors: one session a role, ends, watchdogs, nobody unasked."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.vigil.station import ALICE, BOB, T1, T2, Station

from restante.domain.errors import Forbidden, NoSuchSession, NothingThere, RoleHeld, StorageFailed, UsageError
from restante.domain.message import Draft
from restante.domain.monitor import MonitorState, Plan, Sight, Wake, Woken
from restante.domain.monitoring import Word
from restante.domain.outlook import Hearing, Mode
from restante.domain.registry import Identity, Process
from restante.domain.team import LEASE
from restante.vigil import Vigil
from restante.wiring import open_office

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.monitor import Monitor


T3 = "0199cccc-0000-7000-8000-00000000000c"


def _kept(station: Station, mailbox: str = ALICE) -> Monitor:
    found = station.parts.monitors.monitor(mailbox, "")
    assert found
    return found


def test_c1_a_second_session_is_refused_and_told_whose_the_role_is(station: Station) -> None:
    station.arm()
    before = _kept(station)
    with pytest.raises(RoleHeld) as refused:
        station.vigil(T2).arm(ALICE)
    assert refused.value.exit_code == 4
    assert refused.value.details[0]["session"] == T1
    assert _kept(station) == before


def test_c1_nor_does_a_person_arm_a_role_for_a_session_that_does_not_hold_it(station: Station) -> None:
    station.arm()
    with pytest.raises(RoleHeld):
        station.vigil().arm(ALICE, session=T2)
    assert station.vigil().arm(ALICE, session=T1).word is Word.ACTIVE


def test_c3_who_lost_the_role_is_fenced_in_everything(station: Station) -> None:
    station.arm()
    station.post()
    station.look()
    station.world.kill(T1)
    station.roster(T2).act_as(ALICE)
    taken = station.vigil(T2).arm(ALICE).monitor
    assert taken
    assert taken.generation == 2
    former = station.vigil(T1)
    assert former.check(ALICE).word is Word.INACTIVE
    assert former.heartbeat(ALICE).word is Word.INACTIVE
    assert former.delivered(ALICE, 1).word is Word.INACTIVE
    assert former.failed(ALICE, 1).word is Word.INACTIVE
    assert former.stop(ALICE).word is Word.INACTIVE
    assert _kept(station) == taken
    assert station.look().word is Word.WAKE, "whoever holds it now is woken for what waits"
    assert station.turns[-1][0] == T2


def test_c3_who_lost_the_role_is_not_woken_although_nobody_else_armed_it(station: Station) -> None:
    station.arm()
    station.world.kill(T1)
    station.roster(T2).act_as(ALICE)
    station.post()
    assert station.looks(3) == [Word.EXPIRED] * 3
    assert station.turns == []


@pytest.mark.parametrize("act", ["check", "heartbeat", "sweep"])
def test_c3_that_the_one_before_is_lost_ends_nothing_of_whoever_armed_meanwhile(
    station: Station, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    station.arm()
    station.post()
    station.world.kill(T1)
    look = Vigil._is_lost

    def then_taken(vigil: Vigil, monitor: Monitor, *, is_itself: bool = False) -> bool:
        found = look(vigil, monitor, is_itself=is_itself)
        monkeypatch.setattr(Vigil, "_is_lost", look)
        # Whoever looked is slow, or was stopped just now.
        station.roster(T2).act_as(ALICE)
        station.vigil(T2).arm(ALICE)
        return found

    monkeypatch.setattr(Vigil, "_is_lost", then_taken)
    if act == "sweep":
        assert station.host.sweep() == []
    else:
        getattr(station.host, act)(ALICE)
    assert (_kept(station).session, _kept(station).state) == (T2, MonitorState.ACTIVE)
    assert len(station.bells()) == 1


def test_c2_of_two_that_found_the_one_before_gone_only_one_watches_a_worktree(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = "worktree:/somewhere/p"
    station.world.session(T3, worktree="/somewhere/p")
    station.arm(mailbox)
    station.world.kill(T1)
    look = Vigil._is_lost

    def then_armed(vigil: Vigil, monitor: Monitor, *, is_itself: bool = False) -> bool:
        monkeypatch.setattr(Vigil, "_is_lost", look)
        station.vigil(T3).arm(mailbox)
        return True

    monkeypatch.setattr(Vigil, "_is_lost", then_armed)
    with pytest.raises(RoleHeld):
        station.vigil(T2).arm(mailbox)
    assert _kept(station, mailbox).session == T3


def test_c4_the_same_name_in_another_team_is_another_role(station: Station) -> None:
    station.arm()
    station.arm("other/alice", T2)
    station.post("other/alice")
    assert station.look().word is Word.IDLE
    assert station.look("other/alice").word is Word.WAKE
    station.vigil(T1).stop(ALICE)
    assert station.rows() == ["other/alice active"]


def test_only_what_can_be_watched_is_armed(station: Station) -> None:
    with pytest.raises(NothingThere, match="no role team/nobody"):
        station.vigil(T1).arm("team/nobody")
    with pytest.raises(UsageError, match="oacp"):
        station.vigil(T1).arm("oacp:project/agent")
    with pytest.raises(UsageError, match="another session's"):
        station.vigil(T1).arm(f"session:{T2}")
    with pytest.raises(Forbidden):
        station.vigil(T1).arm(f"session:{T2}", session=T2)
    with pytest.raises(NoSuchSession):
        station.vigil().arm(f"session:{T2}", session="0199dddd")
    with pytest.raises(UsageError, match="which session"):
        station.vigil().arm(f"session:{T2}")
    with pytest.raises(UsageError, match="no way 'telepathy'"):
        station.vigil(T1).arm(f"session:{T1}", adapter="telepathy")
    assert not (station.data / "teams.db").exists()


def _session_ends(station: Station) -> None:
    station.world.window(T1).detach()


def _lease_expires(station: Station) -> None:
    station.clock.advance(LEASE.total_seconds() + 1)


_ENDS: dict[str, Callable[[Station], object]] = {
    "mode off": lambda station: station.vigil(T1).stop(ALICE),
    "mode turn": lambda station: station.vigil().stop(ALICE),
    "drop": lambda station: station.roster(T1).drop(ALICE),
    "leave": lambda station: station.roster(T1).leave(ALICE),
    "reset": lambda station: station.vigil().reset("/somewhere/p"),
    "SessionEnd": _session_ends,
    "session deleted": lambda station: station.world.person.delete(T1),
    "lease expiry": _lease_expires,
    "thread loss": lambda station: station.world.kill(T1),
}


@pytest.fixture
def in_worktrees(station: Station) -> Station:
    """Each session, which works in a worktree of its own, holds a role and has armed it."""
    station.arm(ALICE, T1)
    station.arm(BOB, T2)
    return station


@pytest.mark.parametrize("way", _ENDS)
def test_e1_after_each_end_nobody_is_woken_and_nothing_is_left(in_worktrees: Station, way: str) -> None:
    station = in_worktrees
    station.post()
    assert station.look().word is Word.WAKE
    bells = station.bells()
    _ENDS[way](station)
    if way in ("lease expiry", "thread loss"):
        station.host.sweep()
    station.post()
    assert set(station.looks(3)) <= {Word.INACTIVE, Word.EXPIRED}
    assert len(station.turns) == 1
    left = [row for row in station.rows() if row.startswith(ALICE)]
    assert left in ([], [f"{ALICE} expired"])
    assert len(station.bells()) < len(bells)
    if way not in ("session deleted", "SessionEnd"):
        _ENDS[way](station)
        assert station.host.sweep() == []


@pytest.mark.parametrize("way", [way for way in _ENDS if way != "lease expiry"])
def test_e2_the_end_of_one_role_leaves_another_one_untouched(in_worktrees: Station, way: str) -> None:
    station = in_worktrees
    before = _kept(station, BOB)
    _ENDS[way](station)
    station.host.sweep()
    assert _kept(station, BOB) == before
    station.post(BOB)
    assert station.look(BOB).word is Word.WAKE
    assert [session for session, _, _ in station.turns] == [T2]


@pytest.mark.parametrize("way", ["mode off", "drop", "SessionEnd"])
def test_e3_a_wake_in_flight_writes_nothing_after_the_end(in_worktrees: Station, way: str) -> None:
    station = in_worktrees
    station.post()
    answer = station.host.check(ALICE)
    assert answer.word is Word.WAKE
    assert answer.monitor
    _ENDS[way](station)
    before = station.rows(), station.bells()
    token = answer.monitor.token
    assert station.host.confirmed(ALICE, answer.mark, token=token).word is Word.INACTIVE
    assert station.host.failed(ALICE, answer.mark, token=token).word is Word.INACTIVE
    assert station.host.hindered(ALICE, "no way").word is Word.INACTIVE
    assert station.host.beat(ALICE).word is Word.INACTIVE
    assert station.vigil(T1).heartbeat(ALICE).word is Word.INACTIVE
    assert (station.rows(), station.bells()) == before


def test_e3_an_end_while_a_check_looks_lets_nobody_be_woken(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = f"session:{T1}"
    station.arm(mailbox)

    class Sights:
        def look(self, mailbox: str, owner: str, *, whole: bool = False) -> Sight:
            station.vigil(T1).stop(mailbox)
            return Sight(mark=1, unseen=1, pending=1)

    monkeypatch.setattr(station.parts, "all_sights", Sights())
    assert station.look(mailbox).word is Word.INACTIVE
    assert (station.turns, station.rows(), station.bells()) == ([], [], [])


def test_an_older_look_decides_nothing_after_a_newer_one(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = f"session:{T1}"
    station.arm(mailbox)
    answers = [Sight(1, 1, 1), Sight(2, 2, 2), Sight(2, 2, 2)]

    class Sights:
        def look(self, mailbox: str, owner: str, *, whole: bool = False) -> Sight:
            sight = answers.pop(0)
            if sight.mark == 1:
                assert station.look(mailbox).mark == 2, "another process looks meanwhile, and later"
            return sight

    monkeypatch.setattr(station.parts, "all_sights", Sights())
    assert station.look(mailbox).word is Word.WAITING
    assert _kept(station, mailbox).pending == 2
    assert len(station.turns) == 1


def test_e4_ids_of_tasks_to_be_removed_are_told_exactly_once(in_worktrees: Station) -> None:
    station = in_worktrees
    station.vigil(T1).automated(ALICE, ["task-a", "task-b"])
    assert station.vigil(T1).stop(ALICE).automations == ("task-a", "task-b")
    assert station.vigil(T1).stop(ALICE).automations == ()


def test_e4_also_by_drop_and_leave(in_worktrees: Station) -> None:
    station = in_worktrees
    station.vigil(T1).automated(ALICE, ["task-a"])
    station.vigil(T2).automated(BOB, ["task-b"])
    dropping, leaving = station.roster(T1), station.roster(T2)
    dropping.drop(ALICE)
    leaving.leave(BOB)
    assert (dropping.freed, leaving.freed) == (("task-a",), ("task-b",))
    assert station.rows() == []


def test_e4_after_a_session_ended_they_are_kept_for_whoever_asks_first(in_worktrees: Station) -> None:
    station = in_worktrees
    station.vigil(T1).automated(ALICE, ["task-a"])
    _session_ends(station)
    assert station.rows() == [f"{ALICE} inactive", f"{BOB} active"]
    assert station.look().word is Word.INACTIVE, "the task learns that it has to go"
    assert station.vigil().stop(ALICE).automations == ("task-a",)
    assert station.vigil().stop(ALICE).automations == ()
    assert station.rows() == [f"{BOB} active"]


def test_f3_with_a_healthy_receiver_the_watchdog_is_silent(station: Station) -> None:
    station.arm()
    station.host.beat(ALICE, Process("here", 1, "then"))
    station.post()
    for _ in range(3):
        assert station.host.check(ALICE, healthy_within=timedelta(seconds=60)).word is Word.HEALTHY
    assert (_kept(station).pending, station.turns) == (0, [])
    station.clock.advance(60)
    assert station.host.check(ALICE, healthy_within=timedelta(seconds=60)).word is Word.WAKE


def test_a_receiver_is_known_to_be_deaf_by_the_age_of_its_beat(station: Station) -> None:
    station.arm()
    assert station.host.outlook(ALICE).hearing is Hearing.NONE
    station.host.beat(ALICE, Process("here", 7, "then"))
    outlook = station.host.outlook(ALICE)
    assert (outlook.hearing, outlook.mode, outlook.reason) == (Hearing.ALIVE, Mode.MONITOR, "")
    station.clock.advance(91)
    stale = station.host.outlook(ALICE)
    assert (stale.hearing, stale.mode) == (Hearing.STALE, Mode.TURN)
    station.processes.dead.add(7)
    assert station.host.outlook(ALICE).hearing is Hearing.GONE


def test_f4_after_a_restart_the_same_session_keeps_what_was_delivered_and_is_woken_once(station: Station) -> None:
    station.arm()
    station.post()
    station.look()
    station.collect()
    station.world.kill(T1)
    station.restart()
    station.post()
    assert station.look().word is Word.EXPIRED
    station.world.session(T1)
    armed = station.vigil(T1).arm(ALICE).monitor
    assert armed
    assert armed.last_delivered == 1
    assert station.looks(2, every=1) == [Word.WAKE, Word.WAITING]
    assert len(station.turns) == 2


def test_f6_three_failed_wakes_stop_until_the_session_is_heard_of(station: Station) -> None:
    station.arm()
    station.woken = Woken(Wake.UNCONFIRMED, "the queue took it, and the thread did not")
    station.post()
    assert station.looks(6) == [Word.WAKE] * 3 + [Word.ERROR] * 3
    kept = _kept(station)
    assert (kept.state, kept.failures, kept.last_error) == (
        MonitorState.ERROR,
        3,
        "the queue took it, and the thread did not",
    )
    station.post()
    station.host.beat(ALICE)
    assert station.look().word is Word.ERROR
    station.vigil(T1).heartbeat(ALICE)
    station.woken = Woken(Wake.CONFIRMED)
    assert station.looks(2, every=1) == [Word.WAKE, Word.WAITING]
    assert (_kept(station).failures, len(station.turns)) == (0, 4)


def test_g1_whoever_did_not_ask_is_neither_looked_at_nor_leaves_a_file(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no(*_: object, **__: object) -> None:
        raise AssertionError("it was looked at")

    monkeypatch.setattr(station.parts.all_sights, "look", no)
    before = sorted(station.data.rglob("*"))
    for mailbox in (ALICE, f"session:{T1}", "worktree:/nowhere"):
        for vigil in (station.host, station.vigil(T1)):
            assert vigil.check(mailbox).word is Word.INACTIVE
            assert vigil.heartbeat(mailbox).word is Word.INACTIVE
            assert vigil.delivered(mailbox, 1).word is Word.INACTIVE
            assert vigil.stop(mailbox).word is Word.INACTIVE
            assert vigil.outlook(mailbox).monitor is None
    assert (station.host.sweep(), station.host.standing(), station.host.outlooks()) == ([], [], [])
    assert sorted(station.data.rglob("*")) == before
    station.post(f"{ALICE}x")
    assert station.bells() == []


def test_what_cannot_be_looked_into_is_told_in_the_status(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = f"session:{T1}"
    station.arm(mailbox, plan=Plan.SCHEDULED)

    class Sights:
        def look(self, mailbox: str, owner: str, *, whole: bool = False) -> Sight:
            raise StorageFailed("the disk is gone")

    monkeypatch.setattr(station.parts, "all_sights", Sights())
    station.clock.advance(120)
    assert station.look(mailbox).word is Word.ERROR
    outlook = station.host.outlook(mailbox)
    assert outlook.monitor
    assert (outlook.sight, outlook.trouble, outlook.monitor.failures) == (None, "the disk is gone", 1)


def test_a_worktree_is_watched_for_the_session_that_works_there(
    station: Station, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("repo")
    (place / ".git").mkdir()
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    mailbox = f"worktree:{place}"
    station.arm(mailbox)
    assert station.look(mailbox).word is Word.IDLE
    open_office(str(place), environment=station.world.environment).send(Draft("Look at the parser."))
    answer = station.look(mailbox)
    assert (answer.word, answer.unseen, answer.mark) == (Word.WAKE, 1, 1)
    assert station.look(mailbox).word is Word.WAITING


@pytest.mark.parametrize("who", [Identity(), Identity("", T1), Identity("", T1, verified=True)])
def test_whoever_proves_nothing_changes_nothing_about_who_is_woken(station: Station, who: Identity) -> None:
    token = station.arm().monitor
    assert token
    station.parts.is_ours = lambda process: process is None  # type: ignore[method-assign]
    thief = Vigil(station.parts, lambda: who)
    before = station.parts.monitors.all()
    for act in (thief.check, thief.heartbeat, thief.stop, partial(thief.arm, session=T1)):
        with pytest.raises(Forbidden):
            act(ALICE)
    with pytest.raises(Forbidden):
        thief.arm(f"session:{T1}", session=T1)
    with pytest.raises(Forbidden):
        thief.reset("/somewhere/p")
    assert station.parts.monitors.all() == before
    assert thief.heartbeat(ALICE, token=token.token).word is Word.ACTIVE, "the arming's own token proves enough"
