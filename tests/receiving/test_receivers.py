"""A host of receivers: hears a bell, wakes once, leaves sessions alone that work, and mends what was missed."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import pytest
from tests.receiving.world import Recorder, until

from restante.domain.monitor import MonitorState, Wake, Woken
from restante.domain.outlook import Hearing, Mode
from restante.domain.registry import Identity
from restante.system.turns import TurnFiles

if TYPE_CHECKING:
    from tests.receiving.world import World


def test_a1_a_post_wakes_the_session_that_is_armed_and_nobody_else(world: World) -> None:
    alice, bob = world.session("alice-1"), world.session("bob-1")
    world.arm(alice)
    recorder = Recorder()
    with world.hosting(recorder):
        world.post(bob)
        world.post(alice)
        assert until(lambda: recorder.woken)
        time.sleep(0.3)
    ((target, text),) = recorder.woken
    assert (target.session, target.mailbox, target.mark, target.unseen) == ("alice-1", alice, 1, 1)
    assert text.startswith(f"Mail waits for {alice}. Run: ")
    assert text.endswith("restante inbox")


def test_a2_neither_the_wake_nor_what_is_said_holds_a_word_of_the_mail(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder(Woken(Wake.UNCONFIRMED, "it did not answer"))
    with world.hosting(recorder):
        world.post(alice, "token-7f3a the parser")
        assert until(lambda: world.said and recorder.woken)
    said = "\n".join([*world.said, recorder.woken[0][1], repr(recorder.woken[0][0]), repr(world.monitor(alice))])
    assert "token-7f3a" not in said
    assert "parser" not in said


def test_a4_an_empty_inbox_wakes_nobody_and_a_ring_for_nothing_neither(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder()
    with world.hosting(recorder, watch=0.2):
        time.sleep(0.5)
        world.exchange.ring(alice)
        time.sleep(1.0)
    assert recorder.woken == []


def test_d2_two_hosts_wake_once(world: World) -> None:
    addresses = [world.session(f"session-{number}") for number in range(6)]
    for one in addresses:
        world.arm(one)
    first, second = Recorder(), Recorder()
    with world.hosting(first, watch=0.3), world.hosting(second, watch=0.3):
        for one in addresses:
            world.post(one)
        assert until(lambda: len(first.marks) + len(second.marks) >= 6)
        time.sleep(1.0)
    assert sorted(first.marks + second.marks) == sorted((one, 1) for one in addresses)


@pytest.mark.slow
def test_d3_a_burst_makes_at_most_two_wakes(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder()
    with world.hosting(recorder):
        world.post(alice)
        assert until(lambda: recorder.marks == [(alice, 1)])
        for _ in range(7):
            world.post(alice)
        # What came after the first wake is gathered for a while, and told then.
        assert until(lambda: len(recorder.woken) == 2, 30.0)
        time.sleep(0.5)
    assert recorder.marks == [(alice, 1), (alice, 8)]


def test_465_mail_whose_bell_was_lost_is_found_by_the_watchdog_and_wakes_once(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder()
    with world.hosting(recorder, watch=0.1):
        assert until(lambda: world.said)
        time.sleep(0.3)
        with world.deaf():
            world.post(alice)
        assert until(lambda: recorder.woken)
        time.sleep(2.0)
    assert recorder.marks == [(alice, 1)]


def test_mail_of_a_poster_who_was_killed_before_the_ring_wakes_with_the_next_round(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder()
    looks = 2.0
    with world.hosting(recorder, watch=looks):
        assert until(lambda: world.monitor(alice).last_checked)
        with world.deaf():
            world.post(alice)
        # Of ten rounds one decides about every mailbox; it is one of the others here.
        assert until(lambda: recorder.woken, 5 * looks)
    assert recorder.marks == [(alice, 1)]


def test_the_first_arming_of_a_machine_is_heard_of_also_where_it_was_killed_before_its_bell(world: World) -> None:
    alice = world.session("alice-1")
    recorder = Recorder()
    with world.hosting(recorder, watch=0.3):
        world.arm(alice)
        # As it was left, from before whoever listens could look.
        shutil.rmtree(world.data / "bells")
        assert until(lambda: world.said)
        world.post(alice)
        assert until(lambda: recorder.woken)
    assert recorder.marks == [(alice, 1)]


def test_107_mail_that_came_while_no_host_ran_wakes_once_when_one_runs_again(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    world.post(alice)
    for _ in range(3):
        recorder = Recorder()
        with world.hosting(recorder, watch=0.2):
            time.sleep(0.7)
        assert recorder.marks in ([(alice, 1)], [])
        world.said.append(repr(recorder.marks))
    assert [one for one in world.said if one.startswith("[")] == [f"[('{alice}', 1)]", "[]", "[]"]


def test_f6_wakes_that_fail_end_in_an_error_that_status_shows(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder(Woken(Wake.UNCONFIRMED, "its terminal did not answer"))
    with world.hosting(recorder):
        world.post(alice)
        assert until(lambda: world.monitor(alice).failures == 1)
    assert world.monitor(alice).last_error == "its terminal did not answer"
    assert world.monitor(alice).state is MonitorState.ACTIVE


def test_a3_where_no_visible_way_leads_the_mail_stays_unread_and_the_mode_is_turn_with_the_reason(
    world: World,
) -> None:
    alice = world.session("alice-1", vendor="gemini")
    world.arm(alice)
    with world.hosting():
        world.post(alice)
        assert until(lambda: world.monitor(alice).hindrance)
    outlook = world.host.outlook(alice)
    assert outlook.mode is Mode.TURN
    assert "Gemini CLI has no way" in outlook.reason
    assert outlook.sight is not None
    assert outlook.sight.unseen == 1
    assert world.monitor(alice).tries == 0


def test_a_session_in_a_turn_is_left_alone_until_its_turn_ends(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    turns = TurnFiles(str(world.data))
    turns.expect("alice-1")
    turns.sign("alice-1", has_ended=False)
    recorder = Recorder()
    with world.hosting(recorder):
        world.post(alice)
        time.sleep(1.5)
        assert recorder.woken == []
        turns.sign("alice-1", has_ended=True)
        assert until(lambda: recorder.woken, 5.0)


def test_a_session_that_collects_within_its_turn_is_never_woken(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    turns = TurnFiles(str(world.data))
    turns.expect("alice-1")
    turns.sign("alice-1", has_ended=False)
    recorder = Recorder()
    with world.hosting(recorder):
        world.post(alice)
        time.sleep(0.5)
        window = world.exchange.window(Identity("", "alice-1", verified=True))
        window.confirm([one.message.id for one in window.read().entries])
        turns.sign("alice-1", has_ended=True)
        time.sleep(2.5)
    assert recorder.woken == []


def test_g3_a_host_tells_what_it_listens_for_and_hears_an_arming_while_it_runs(world: World) -> None:
    alice, bob = world.session("alice-1"), world.session("bob-1")
    recorder = Recorder()
    with world.hosting(recorder):
        world.arm(alice)
        assert until(lambda: f"listening for {alice}, by codex-queue" in world.said)
        world.post(alice)
        assert until(lambda: recorder.marks == [(alice, 1)])
        world.host.stop(alice)
        world.post(alice)
        assert until(lambda: f"no longer listening for {alice}" in world.said)
        world.arm(bob)
        world.post(bob)
        assert until(lambda: (bob, 1) in recorder.marks)
    assert recorder.marks == [(alice, 1), (bob, 1)]


def test_1236_a_receiver_is_called_alive_by_what_was_heard_of_it_and_not_by_its_process(world: World) -> None:
    from datetime import timedelta

    alice = world.session("alice-1")
    world.arm(alice)
    with world.hosting(Recorder(), watch=0.2):
        assert until(lambda: world.monitor(alice).heartbeat)
        assert world.host.outlook(alice).hearing is Hearing.ALIVE
    later = world.exchange.clock.now() + timedelta(minutes=5)
    assert world.host.outlook(alice, now=later).hearing is Hearing.STALE


def test_a_host_ends_soon_when_told_to_also_where_nothing_is_armed(world: World) -> None:
    began = time.monotonic()
    with world.hosting(Recorder()):
        pass
    assert time.monotonic() - began < 10
    assert not (world.data / "bells").exists()
    assert not (world.data / "teams.db").exists()


def test_a_host_whose_database_is_out_of_reach_says_so_once_and_goes_on(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    (world.data / "teams.db").rename(world.data / "aside")
    for end in ("-wal", "-shm"):
        (world.data / f"teams.db{end}").unlink(missing_ok=True)
    (world.data / "teams.db").write_bytes(b"this is no database" * 400)
    with world.hosting(Recorder(), watch=0.1):
        assert until(lambda: world.said)
        time.sleep(1.0)
    (said,) = world.said
    assert said.startswith("nobody is woken until this is over: ")
    assert "teams.db" in said
