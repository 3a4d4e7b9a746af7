"""What went wrong for users of a program of this kind, where it touches monitors; the number is the report's."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.vigil.station import ALICE, BOB, T1, T2

from restante.domain.errors import RestanteError, RoleHeld
from restante.domain.monitor import Wake, Woken
from restante.domain.monitoring import RULES, Word
from restante.domain.outlook import Hearing, Mode
from restante.domain.registry import Arrival, Identity, Process
from restante.system.processes import LocalProcesses, process_of

if TYPE_CHECKING:
    from tests.vigil.station import Station

T3 = "0199dddd-0000-7000-8000-00000000000d"
T4 = "0199eeee-0000-7000-8000-00000000000e"


def _hears(station: Station, mailbox: str = ALICE) -> tuple[Hearing, Mode]:
    outlook = station.vigil().outlook(mailbox)
    return outlook.hearing, outlook.mode


def _register(station: Station, session: str) -> None:
    arrival = Arrival(session, "claude", worktree="/somewhere/r", process=Process("here", 4712, "then"))
    station.world.exchange.window(Identity("", verified=True)).register(arrival)


def test_157_whether_a_receiver_is_alive_is_told_of_each_by_what_was_heard_of_it(station: Station) -> None:
    station.arm()
    station.arm(BOB, T2)
    host = Process("here", 4711, "")
    station.host.beat(ALICE, host)
    assert _hears(station) == (Hearing.ALIVE, Mode.MONITOR)
    assert _hears(station, BOB) == (Hearing.NONE, Mode.TURN)
    station.clock.advance(91)
    assert _hears(station) == (Hearing.STALE, Mode.TURN)
    station.host.beat(ALICE, host)
    station.processes.dead.add(4711)
    assert _hears(station) == (Hearing.GONE, Mode.TURN)


def test_159_a_wake_after_days_is_for_what_still_holds_and_that_is_read_oldest_first(station: Station) -> None:
    station.arm(time_to_live=timedelta(days=30))
    station.post(text="Stop the old deployment.", expires=station.clock.now() + timedelta(hours=1))
    station.clock.advance(timedelta(days=3).total_seconds())
    station.roster(T1).act_as(ALICE)
    station.arm(time_to_live=timedelta(days=30))
    assert station.look().word is Word.IDLE
    ids = [station.post(text=f"Step {number}.").id for number in range(3)]
    assert station.look().word is Word.WAKE
    assert station.collect() == ids


def test_197_a_database_that_cannot_be_opened_is_said_and_never_taken_for_an_empty_one(station: Station) -> None:
    station.arm()
    station.post()
    station.close()
    teams = station.data / "teams.db"
    kept = {path: path.read_bytes() for path in station.data.glob("teams.db*")}
    for path in kept:
        path.unlink()
    teams.write_bytes(b"no database at all, " * 500)
    station.restart()
    with pytest.raises(RestanteError) as told:
        station.host.check(ALICE)
    assert "teams.db" in told.value.message
    station.close()
    for path in station.data.glob("teams.db*"):
        path.unlink()
    for path, content in kept.items():
        path.write_bytes(content)
    station.restart()
    assert station.look().word is Word.WAKE


def test_280_taking_and_dropping_a_role_begins_no_monitor(station: Station) -> None:
    roster = station.roster(T1)
    roster.join(ALICE)
    roster.drop(ALICE)
    roster.act_as(ALICE)
    station.post()
    roster.drop(ALICE)
    assert (station.rows(), station.bells(), station.turns) == ([], [], [])


def test_338_what_was_sent_before_a_session_was_there_wakes_it_once_it_is_armed(station: Station) -> None:
    station.roster().join(ALICE)
    station.post()
    station.clock.advance(45 * 60)
    assert station.host.check(ALICE).word is Word.INACTIVE
    station.roster(T1).act_as(ALICE)
    station.arm()
    assert station.looks(2, every=1.0) == [Word.WAKE, Word.WAITING]
    assert [session for session, _, _ in station.turns] == [T1]


def test_350_and_959_wakes_go_to_whoever_holds_the_role_now_and_a_seat_is_taken_by_asking_for_it(
    station: Station,
) -> None:
    station.arm()
    station.world.kill(T1)
    station.post()
    station.look()
    assert station.turns == [], "nobody is bound to a role that did not ask for it"
    station.roster(T2).act_as(ALICE)
    station.vigil(T2).arm(ALICE)
    assert station.look().word is Word.WAKE
    assert [session for session, _, _ in station.turns] == [T2]


def test_558_how_long_a_monitor_lasts_counts_from_its_arming_whenever_it_is_first_looked_at(station: Station) -> None:
    began = station.clock.now()
    armed = station.arm(time_to_live=timedelta(hours=1)).monitor
    assert armed
    assert armed.expires == began + timedelta(hours=1)
    station.clock.advance(3500)
    assert station.look().word is Word.IDLE
    station.clock.advance(200)
    assert station.look().word is Word.EXPIRED


def test_605_a_session_is_not_kept_from_its_own_role(station: Station) -> None:
    first = station.arm().monitor
    again = station.vigil(T1).arm(ALICE).monitor
    assert first
    assert again
    assert (again.session, again.token, again.generation) == (T1, first.token, first.generation)
    station.post()
    assert station.vigil(T1).check(ALICE).word is Word.WAKE


def test_629_whatever_a_session_armed_leaves_no_file(station: Station) -> None:
    station.arm()
    station.arm(f"session:{T1}")
    assert station.bells()
    station.vigil().session_ended(T1)
    assert (station.rows(), station.bells()) == ([], [])


def test_694_who_is_told_in_turns_is_told_whether_or_not_a_receiver_lives(station: Station) -> None:
    station.arm()
    station.host.beat(ALICE, Process("here", 4711, ""))
    station.processes.dead.add(4711)
    message = station.post()
    station.look()
    assert [entry.message.id for entry in station.roster(T1).read(ALICE).entries] == [message.id]


def test_1056_a_file_that_names_a_server_which_is_gone_keeps_nobody_from_looking(station: Station) -> None:
    station.arm(f"session:{T1}")
    dead = {"url": "http://127.0.0.1:9", "host": "here", "pid": 4_000_000, "started": "1"}
    (station.data / "server.json").write_text(json.dumps(dead))
    assert station.look(f"session:{T1}").word is Word.IDLE


def test_134_another_process_under_the_number_of_the_holders_keeps_no_role(station: Station) -> None:
    station.parts.processes = LocalProcesses()
    lives = process_of(os.getpid())
    for session, process in ((T3, lives), (T4, lives._replace(started=lives.started[:-1] + "x"))):
        arrival = Arrival(session, "codex", worktree="/somewhere/r", process=process)
        station.world.exchange.window(Identity("", verified=True)).register(arrival)
    station.arm(ALICE, T3)
    with pytest.raises(RoleHeld):
        station.vigil(T2).arm(ALICE)
    station.arm(BOB, T4)
    assert station.look(BOB).word in (Word.EXPIRED, Word.INACTIVE)
    station.roster(T3).act_as(BOB)
    assert station.vigil(T3).arm(BOB).word is Word.ACTIVE


def test_151_before_a_waiter_was_heard_of_a_session_of_claude_is_said_to_be_told_in_its_turns_only(
    station: Station,
) -> None:
    session = T3
    _register(station, session)
    mailbox = f"session:{session}"
    assert station.vigil(session).arm(mailbox).word is Word.ACTIVE
    outlook = station.vigil(session).outlook(mailbox)
    assert outlook.mode is Mode.TURN
    assert "waiter" in outlook.reason
    assert "restante install" in outlook.reason
    # What a waiter writes when it begins.
    (station.data / "bells" / f"session.{session}.pid").write_text(f"{os.getpid()}\n")
    again = station.vigil(session).arm(mailbox).monitor
    assert again
    assert station.vigil(session).effect(again) == (Mode.MONITOR, "")


def test_466_and_1236_what_fails_again_and_again_ends_in_an_error_that_says_how_often(station: Station) -> None:
    station.arm()
    station.woken = Woken(Wake.UNCONFIRMED, "nobody answered")
    station.post()
    for _ in range(20):
        station.look()
        station.clock.advance(RULES.retry.total_seconds())
    outlook = station.vigil().outlook(ALICE)
    assert outlook.monitor
    assert (outlook.mode, outlook.monitor.failures, outlook.monitor.last_error) == (Mode.TURN, 3, "nobody answered")
    assert len(station.turns) == 3
