"""Kills, stops and ends at the very moments between what a host decides, does and writes down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.receiving.world import Recorder, until
from tests.vigil.test_processes import DRIVER

from restante.domain import receiving
from restante.domain.monitor import MonitorState, Wake, Woken
from restante.domain.registry import Identity
from restante.roster import Roster
from restante.wiring.monitors import MonitorParts
from restante.wiring.receiving import Receivers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.receiving.world import World

    from restante.domain.monitor import Sight, Target

HOST = Path(__file__).with_name("seam_host.py")
RUN = [sys.executable, "-I", "-c", "from restante.__main__ import main; main()", "monitor", "run"]


@contextmanager
def process(world: World, words: list[str]) -> Iterator[subprocess.Popen[str]]:
    started = subprocess.Popen(
        words, env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield started
    finally:
        started.send_signal(signal.SIGCONT)
        started.terminate()
        started.communicate(timeout=30)


def seam_host(seam: str, log: Path, shift: float = 0.0) -> list[str]:
    return [sys.executable, "-I", str(HOST), seam, str(log), str(shift)]


def collect(world: World, session: str) -> None:
    window = world.exchange.window(Identity("", session, verified=True))
    window.confirm([entry.message.id for entry in window.read().entries])


@pytest.mark.parametrize(("seam", "woken"), [("claimed", 0), ("woken", 1)])
def test_a_host_that_is_killed_at_a_seam_costs_at_most_one_wake_more_and_none_is_missed(
    world: World, tmp_path: Path, seam: str, woken: int
) -> None:
    log = tmp_path / "wakes"
    log.touch()
    alice = world.session("alice-1")
    world.arm(alice)
    world.post(alice)
    with process(world, seam_host(seam, log)) as host:
        assert host.wait(30) == -signal.SIGKILL
    assert log.read_text().splitlines() == [f"{alice} 1"] * woken
    before = world.monitor(alice)
    assert (before.pending, before.tries, before.last_woken) == (1, 1, 0)
    # Whoever comes next cannot know whether the wake was made, and makes it again when its time is there.
    with process(world, seam_host("", log)):
        assert until(lambda: world.monitor(alice).last_checked != before.last_checked)
        assert log.read_text().splitlines() == [f"{alice} 1"] * woken
    with process(world, seam_host("", log, 95)):
        assert until(lambda: world.monitor(alice).last_woken == 1)
    collect(world, "alice-1")
    checked = world.monitor(alice).last_checked
    with process(world, seam_host("", log, 300)):
        assert until(lambda: world.monitor(alice).last_checked != checked)
    assert log.read_text().splitlines() == [f"{alice} 1"] * (woken + 1)


class Slow:
    """The person's command, which waits until it may end."""

    def __init__(self, world: World, place: Path, code: int = 0) -> None:
        self.log, self.may_end = place / "wakes", place / "end"
        script = place / "wake"
        script.write_text(
            f'#!/bin/sh\necho "$RESTANTE_MAILBOX $RESTANTE_MARK" >>{self.log}\n'
            f"until [ -e {self.may_end} ]; do sleep 0.05; done\nexit {code}\n"
        )
        script.chmod(0o755)
        self.log.touch()
        world.environment["RESTANTE_WAKE_COMMAND"] = json.dumps([str(script)])

    @property
    def wakes(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.mark.parametrize("code", [0, 1])
def test_e3_mode_off_while_a_wake_is_on_its_way_leaves_nothing_when_that_ends(
    world: World, tmp_path: Path, code: int
) -> None:
    command = Slow(world, tmp_path, code)
    alice = world.session("alice-1")
    world.arm(alice, "command")
    with process(world, RUN) as host:
        world.post(alice)
        assert until(lambda: command.wakes)
        off = subprocess.run(
            [*RUN[:-1], "mode", "off", alice], env=world.environment, capture_output=True, text=True, check=False
        )
        assert (off.returncode, off.stdout.split()[0]) == (0, "status=inactive"), off
        assert list((world.data / "bells").iterdir()) == []
        command.may_end.touch()
        world.post(alice)
        world.exchange.ring(alice)
        host.terminate()
        said, _ = host.communicate(timeout=30)
    assert host.returncode == 0, said
    assert command.wakes == [f"{alice} 1"]
    assert world.host.outlook(alice).monitor is None
    assert list((world.data / "bells").iterdir()) == []


@pytest.mark.parametrize("answer", [Wake.CONFIRMED, Wake.UNCONFIRMED, Wake.IMPOSSIBLE])
def test_e3_what_becomes_of_a_wake_says_nothing_of_a_later_arming(world: World, answer: Wake) -> None:
    alice = world.session("alice-1")
    world.arm(alice)

    class ArmedAnew(Recorder):
        def wake(self, target: Target, text: str) -> Woken:
            super().wake(target, text)
            if len(self.woken) > 1:
                return Woken(Wake.CONFIRMED)
            world.host.stop(alice)
            world.arm(alice)
            # Somebody else woke for the new arming before we come back.
            assert world.host.check(alice).mark == 1
            return Woken(answer, "" if answer is Wake.CONFIRMED else "no")

    recorder = ArmedAnew()
    with world.hosting(recorder, watch=0.3):
        world.post(alice)
        assert until(lambda: recorder.woken)
        assert not until(lambda: len(recorder.woken) > 1, 1.5)
    kept = world.monitor(alice)
    assert (kept.pending, kept.tries, kept.failures, kept.last_woken, kept.hindrance) == (1, 1, 0, 0, "")


@pytest.mark.slow
def test_d3_a_ring_that_comes_while_its_mailbox_is_looked_at_is_not_put_off(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder()

    class PostedMeanwhile(MonitorParts):
        """One more message comes just after the first look."""

        def __init__(self) -> None:
            super().__init__(world.environment)
            self.looks = 0
            look = self.all_sights.look

            def then_post(mailbox: str, owner: str, *, whole: bool = False) -> Sight:
                found = look(mailbox, owner, whole=whole)
                if found.unseen:
                    self.looks += 1
                    if self.looks == 1:
                        world.post(alice, "the second")
                        # Until the host has heard it.
                        until(lambda: False, 0.5)
                return found

            self.all_sights.look = then_post  # type: ignore[method-assign]

    import threading

    host = Receivers(world.environment, parts=PostedMeanwhile(), wakers=lambda _: recorder)
    thread = threading.Thread(target=host.run)
    thread.start()
    try:
        world.post(alice)
        # After the time in which newer mail is gathered, and not when the first wake would be made again.
        assert until(lambda: len(recorder.marks) == 2, 40)
    finally:
        host.stop()
        thread.join()
    assert recorder.marks == [(alice, 1), (alice, 2)]


def test_a_wake_that_is_said_to_be_of_the_future_was_missed(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    world.post(alice)
    now = world.exchange.clock.now()
    world.host.check(alice, now=now + timedelta(hours=1))
    assert receiving.was_missed(world.monitor(alice), now)
    # With the clock set back, it is made again after the usual while, and no earlier.
    assert world.host.check(alice, now=now).retry_in == timedelta(seconds=90)
    assert world.host.check(alice, now=now + timedelta(seconds=90)).mark == 1


@pytest.mark.parametrize("count", [6, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mailbox", ["worktree:/somewhere", "team/alice"])
def test_c2_of_many_sessions_that_arm_at_once_one_does_and_again_one_after_it_stopped_or_was_killed(
    world: World, mailbox: str, count: int
) -> None:
    parts = MonitorParts(world.environment)
    roster = Roster(parts, lambda: Identity("", verified=True))
    words = [sys.executable, "-I", str(DRIVER), str(world.data)]
    if mailbox == "team/alice":
        roster.join(mailbox)
    drivers = {}
    try:
        for number in range(count):
            driver = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            drivers[f"session-{number}"] = driver
        assert [drive(one) for one in drivers.values()] == ["ready"] * count
        for session, driver in drivers.items():
            world.session(session, pid=driver.pid)
        for how in ("stopped", "killed", "armed"):
            winner = _winner(mailbox, drivers)
            (kept,) = world.host.standing()
            assert (kept.mailbox, kept.session, kept.state) == (mailbox, winner, MonitorState.ACTIVE)
            assert len(list((world.data / "bells").iterdir())) == 1
            if how == "stopped":
                world.host.stop(mailbox)
                assert list((world.data / "bells").iterdir()) == []
                if mailbox == "team/alice":
                    assert roster.drop(mailbox) == winner
            elif how == "killed":
                one = drivers.pop(winner)
                one.kill()
                one.communicate()
    finally:
        parts.close()
        for driver in drivers.values():
            driver.kill()
            driver.communicate()


def _winner(mailbox: str, drivers: dict[str, subprocess.Popen[str]]) -> str:
    """Let all arm at once, and return who did."""
    for session, driver in drivers.items():
        assert driver.stdin
        driver.stdin.write(f"0 arm {mailbox} {session}\n")
        driver.stdin.flush()
    said = {session: drive(driver) for session, driver in drivers.items()}
    assert sorted(said.values()) == ["active", *["role_held"] * (len(drivers) - 1)], said
    return next(session for session, word in said.items() if word == "active")


def drive(driver: subprocess.Popen[str]) -> str:
    assert driver.stdout
    return driver.stdout.readline().strip()


def test_a_mailbox_whose_bell_is_gone_is_looked_at_and_gets_it_back(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder()
    with world.hosting(recorder, watch=0.3):
        assert until(lambda: world.monitor(alice).heartbeat)
        (bell,) = (world.data / "bells").iterdir()
        # As when whoever armed it was killed before it put the bell up.
        os.unlink(bell)
        world.post(alice)
        assert until(lambda: recorder.marks == [(alice, 1)])
        assert until(bell.exists)
