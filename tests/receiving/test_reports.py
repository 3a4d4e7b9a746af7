"""What went wrong for users of a program of this kind, each as its report says; the number is the report's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.receiving.test_hosts import RUN, host
from tests.receiving.world import Recorder, until

from restante.agents.wake.claude_rewake import ClaudeRewake
from restante.domain.monitor import Target, Wake, Woken
from restante.domain.outlook import Hearing
from restante.system.ears import write_fifo

if TYPE_CHECKING:
    from tests.receiving.world import World


pytestmark = pytest.mark.slow


def spent(pid: int) -> tuple[int, int]:
    """Clock ticks that a process used, and that processes it started used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])


def children_of(pid: int) -> list[str]:
    return [
        one for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split() if one
    ]


def test_127_a_wake_that_did_not_arrive_moves_no_mark(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    with world.hosting(Recorder(Woken(Wake.UNCONFIRMED, "nobody answered"))):
        world.post(alice)
        assert until(lambda: world.monitor(alice).failures)
    kept = world.monitor(alice)
    assert (kept.last_woken, kept.last_delivered) == (0, 0)
    sight = world.host.outlook(alice).sight
    assert sight is not None
    assert (sight.unseen, sight.mark) == (1, 1)


def test_466_what_fails_is_tried_again_after_a_pause_and_not_all_the_time(world: World) -> None:
    alice = world.session("alice-1")
    world.arm(alice)
    recorder = Recorder(Woken(Wake.UNCONFIRMED, "nobody answered"))
    with world.hosting(recorder, watch=0.1):
        world.post(alice)
        assert until(lambda: recorder.woken)
        for _ in range(20):
            world.exchange.ring(alice)
            time.sleep(0.1)
    assert len(recorder.woken) == 1


def test_595_what_ends_later_takes_nothing_from_what_began_meanwhile(world: World) -> None:
    alice = world.session("alice-1", vendor="claude")
    world.arm(alice)
    bells = world.data / "bells"
    before = sorted(os.listdir(bells))
    with world.hosting(Recorder()):
        world.host.stop(alice)
        world.arm(alice)
        time.sleep(0.3)
    assert sorted(os.listdir(bells)) == before
    with world.hosting(Recorder()) as first, world.hosting(recorder := Recorder()):
        first.stop()
        time.sleep(1.5)
        world.post(alice)
        assert until(lambda: recorder.woken)
    assert sorted(os.listdir(bells)) == before


def test_684_a_pipe_that_somebody_holds_open_proves_no_wake(world: World) -> None:
    alice = world.session("alice-1", vendor="claude")
    world.arm(alice)
    fifo = world.data / "bells" / "session.alice-1.fifo"
    reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    lock = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, os, sys, time\n"
            "fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)\n"
            "fcntl.flock(fd, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(600)",
            str(fifo).replace(".fifo", ".lock"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert lock.stdout is not None
    assert lock.stdout.readline() == "held\n"
    waker = ClaudeRewake(str(world.data), write_fifo, patience=0.5)
    woken = waker.wake(Target("alice-1", "claude", "", alice, 1, 1, "a1b2"), "Mail waits")
    assert (woken.wake, "does not answer" in woken.reason) == (Wake.UNCONFIRMED, True)
    lock.kill()
    lock.communicate()
    os.close(reader)


def test_1330_an_idle_host_starts_no_process_and_163_uses_next_to_no_processor(world: World) -> None:
    for number in range(20):
        world.arm(world.session(f"session-{number}"), "command")
    with host(world, RUN) as process:
        assert until(lambda: world.host.outlook("session:session-19").hearing is Hearing.ALIVE)
        time.sleep(1.0)
        own, others = spent(process.pid)
        time.sleep(5.0)
        own_after, others_after = spent(process.pid)
        assert others_after == others
        assert children_of(process.pid) == []
    # Of 500 ticks; an interpreter that looks every 50 ms for each takes far more.
    assert own_after - own < 50
