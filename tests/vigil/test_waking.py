"""Statements A, B and D of what was agreed about monitors: a visible turn, by numbers alone, once for a mark."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests.vigil.station import ALICE, BOB, MARKER, T1, Station

from restante.domain.errors import UsageError
from restante.domain.message import Draft, Sender
from restante.domain.monitor import MonitorState, Plan, Wake, Woken
from restante.domain.monitoring import RULES, Word
from restante.domain.outlook import Mode

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a1_a_post_to_an_armed_role_makes_one_wake_of_its_session(station: Station) -> None:
    station.arm()
    assert station.look().word is Word.IDLE
    station.post()
    station.look()
    assert [(session, at) for session, _, at in station.turns] == [(T1, station.clock.now())]


def test_a1_a_scheduled_check_makes_it_within_its_interval(station: Station) -> None:
    token = station.arm(plan=Plan.SCHEDULED, token="task-1").monitor
    assert token
    station.post()
    station.clock.advance(120)
    answer = station.vigil(T1).check(ALICE, token="task-1")
    assert (answer.word, answer.unseen, answer.mark, answer.is_new) == (Word.WAKE, 1, 1, True)


def test_a2_a_wake_names_role_and_inbox_and_holds_no_letter_of_mail(station: Station) -> None:
    station.arm()
    station.post(text=f"body {MARKER}", subject=f"subject {MARKER}", sender=Sender(f"session:{MARKER}", False))
    station.look()
    text = station.turns[0][1]
    assert ALICE in text
    assert "restante inbox" in text
    assert MARKER not in text
    monitor = station.parts.monitors.monitor(ALICE, "")
    assert MARKER not in repr(monitor)
    for path in (station.data / "bells").rglob("*"):
        if path.is_file():
            assert MARKER.encode() not in path.read_bytes()
    with closing(sqlite3.connect(station.data / "teams.db")) as database:
        kept = database.execute("SELECT * FROM monitors").fetchall()
    assert MARKER not in repr(kept)


def test_a3_without_a_visible_way_nothing_is_woken_mail_stays_and_the_mode_is_turn(station: Station) -> None:
    station.arm()
    station.woken = Woken(Wake.IMPOSSIBLE, "no visible way: the session is loaded nowhere")
    station.post()
    assert station.looks(4) == [Word.WAKE] * 4, "looked at anew each time, for a way may have come"
    assert station.turns == []
    assert station.unseen() == 1
    outlook = station.host.outlook(ALICE)
    assert (outlook.mode, outlook.reason) == (Mode.TURN, "no visible way: the session is loaded nowhere")
    station.woken = Woken(Wake.CONFIRMED)
    station.look()
    assert len(station.turns) == 1


def test_a3_a_program_without_any_way_is_said_to_have_none(station: Station) -> None:
    station.arm(adapter="none")
    outlook = station.host.outlook(ALICE)
    assert (outlook.mode, outlook.reason) == (
        Mode.TURN,
        "there is no visible way to wake a session of codex",
    )


def test_a4_an_empty_inbox_wakes_nobody(station: Station) -> None:
    station.arm()
    assert station.looks(50, every=600) == [Word.IDLE] * 50
    assert station.turns == []


_LOOKS: dict[str, Callable[[Station], object]] = {
    "check": lambda station: station.host.check(ALICE),
    "heartbeat": lambda station: station.vigil(T1).heartbeat(ALICE),
    "beat": lambda station: station.host.beat(ALICE),
    "status": lambda station: station.host.outlook(ALICE),
    "statuses": lambda station: station.host.outlooks(),
    "sweep": lambda station: station.host.sweep(),
    "failed": lambda station: station.host.failed(ALICE, 3),
    "delivered": lambda station: station.host.delivered(ALICE, 3),
    "arm again": lambda station: station.vigil(T1).arm(ALICE),
    "stop": lambda station: station.vigil(T1).stop(ALICE),
}


def _mail(station: Station) -> list[list[object]]:
    with closing(sqlite3.connect(station.data / "teams.db")) as database:
        tables = ("messages", "changes", "mailboxes", "shown", "receipts", "counters")
        return [database.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


@pytest.mark.parametrize("name", _LOOKS)
def test_b1_no_act_of_the_collector_changes_anything_of_the_mail(station: Station, name: str) -> None:
    station.arm()
    for _ in range(3):
        station.post()
    station.look()
    before = _mail(station)
    _LOOKS[name](station)
    assert _mail(station) == before


def test_b2_the_collector_works_where_reading_any_text_is_denied(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched: list[str] = []
    connect = sqlite3.connect

    def guarded(*arguments: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)  # type: ignore[call-overload]

        def allow(action: int, table: str | None, column: str | None, *_: str | None) -> int:
            if action == sqlite3.SQLITE_READ and table == "messages" and column in ("body", "subject", "sender"):
                touched.append(str(column))
                return sqlite3.SQLITE_DENY
            return sqlite3.SQLITE_OK

        connection.set_authorizer(allow)
        return connection

    station.arm()
    station.post()
    station.post()
    monkeypatch.setattr(sqlite3, "connect", guarded)
    station.restart()
    assert station.look().word is Word.WAKE
    for name in ("check", "heartbeat", "beat", "status", "statuses", "sweep", "arm again", "stop"):
        _LOOKS[name](station)
    assert touched == []
    with pytest.raises(Exception, match=r"prohibited|denied|authori"):
        station.parts.role_boxes.box(ALICE, "").entries()
    assert touched, "the guard would have seen it"


def test_b3_mail_stays_unread_until_the_session_itself_reads_and_then_delivered_is_believed(station: Station) -> None:
    station.arm()
    for _ in range(4):
        station.post()
    wake = station.look()
    station.looks(2)
    assert station.unseen() == 4
    assert len(station.collect()) == 4
    assert station.unseen() == 0
    assert station.vigil(T1).delivered(ALICE, wake.mark).word is Word.DELIVERED
    assert station.look().word is Word.IDLE


def test_b3_reading_the_inbox_says_by_itself_that_it_was_delivered(station: Station) -> None:
    station.arm()
    station.post()
    station.look()
    station.collect()
    monitor = station.parts.monitors.monitor(ALICE, "")
    assert monitor
    assert (monitor.last_delivered, monitor.pending, monitor.collected) == (1, 0, station.clock.now())


def test_b3_so_does_acknowledging(station: Station) -> None:
    station.arm()
    message = station.post()
    station.look()
    roster = station.roster(T1)
    roster.read(ALICE)
    roster.acknowledge(ALICE, [message.id])
    monitor = station.parts.monitors.monitor(ALICE, "")
    assert monitor
    assert (monitor.last_delivered, monitor.pending) == (1, 0)


def test_b3_so_does_a_session_that_reads_its_own_mailbox(station: Station) -> None:
    mailbox = f"session:{T1}"
    station.arm(mailbox)
    station.world.person.post(T1, Draft("Look at the parser."))
    assert station.look(mailbox).word is Word.WAKE
    window = station.world.window(T1)
    window.confirm([entry.message.id for entry in window.read().entries])
    monitor = station.parts.monitors.monitor(mailbox, "")
    assert monitor
    assert (monitor.last_delivered, monitor.pending) == (1, 0)
    assert station.look(mailbox).word is Word.IDLE


def test_d1_repeated_checks_of_one_mark_wake_once(station: Station) -> None:
    station.arm()
    station.post()
    words = [station.look().word for _ in range(20)]
    assert words == [Word.WAKE] + [Word.WAITING] * 19
    assert len(station.turns) == 1


def test_d1_retries_come_after_a_while_are_few_and_end_in_an_error_that_status_shows(station: Station) -> None:
    station.arm()
    station.post()
    assert station.looks(8) == [Word.WAKE] * RULES.wakes + [Word.ERROR] * (8 - RULES.wakes)
    assert len(station.turns) == RULES.wakes
    outlook = station.host.outlook(ALICE)
    assert outlook.monitor
    assert outlook.monitor.state is MonitorState.ERROR
    assert outlook.reason == "woken 3 times, and no mail was collected"


def test_d3_a_burst_makes_at_most_two_wakes(station: Station) -> None:
    station.arm()
    for _ in range(8):
        station.post()
        station.look()
        station.clock.advance(0.5)
    station.clock.advance(RULES.settle.total_seconds())
    last = station.look()
    assert (last.word, last.mark) == (Word.WAKE, 8)
    station.look()
    assert len(station.turns) == 2


def test_d4_messages_that_are_read_out_of_order_make_no_wake_for_an_old_mark(station: Station) -> None:
    station.arm()
    ids = [station.post().id for _ in range(5)]
    station.look()
    roster = station.roster(T1)
    for number in (4, 2, 0):
        roster.confirm(ALICE, [ids[number]])
        station.clock.advance(1000)
        assert station.look().word is Word.WAITING
    assert len(station.turns) == 1
    station.post()
    assert station.look().word is Word.WAKE


def test_d4_a_mark_that_is_lower_or_was_never_told_is_not_delivered(station: Station) -> None:
    station.arm()
    for _ in range(3):
        station.post()
    station.look()
    for mark in (1, 2, 4, 99):
        with pytest.raises(UsageError):
            station.vigil(T1).delivered(ALICE, mark)
    monitor = station.parts.monitors.monitor(ALICE, "")
    assert monitor
    assert (monitor.pending, monitor.last_delivered) == (3, 0)


def test_d5_after_delivered_no_restart_wakes_again(station: Station) -> None:
    station.arm()
    station.post()
    station.look()
    station.vigil(T1).delivered(ALICE, 1)
    for _ in range(3):
        station.restart()
        station.clock.advance(1000)
        assert station.look().word is Word.WAITING
    station.vigil(T1).arm(ALICE)
    assert station.look().word is Word.WAITING
    assert len(station.turns) == 1


def test_g3_only_the_role_that_was_named_is_looked_at(station: Station, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        station.roster(T1).join(f"team/role{number}")
    station.arm()
    station.roster(T1).join(BOB)
    station.post(BOB)
    looked: list[str] = []
    real = station.parts.monitors.change

    def change(mailbox: str, owner: str, step: object) -> object:
        looked.append(mailbox)
        return real(mailbox, owner, step)  # type: ignore[arg-type]

    monkeypatch.setattr(station.parts.monitors, "change", change)
    station.host.sweep()
    assert [station.look(one.mailbox).word for one in station.host.standing()] == [Word.IDLE]
    assert set(looked) == {ALICE}
