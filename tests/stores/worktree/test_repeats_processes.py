"""Repeats under runners that are real processes: at once, killed, held up."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from restante.domain.message import Priority, Scope
from restante.domain.repeat import Repeat
from restante.domain.text import iso
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.repeats import StateBook
from restante.stores.worktree.store import WorktreeMailbox
from restante.testing import FakeClock, SequentialIds

_RUNNER = str(Path(__file__).with_name("repeat_runner.py"))
_START = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
_DUE = _START + timedelta(minutes=5)


class Runners:
    """Starts runners and lets them go."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / ".git").mkdir()
        worktree = find_worktree(str(root))
        clock = FakeClock(_START)
        self.book = StateBook(worktree, clock)
        self.mailbox = WorktreeMailbox(worktree, clock, SequentialIds())

    def add(self, count: int = 1) -> None:
        for number in range(count):
            self.book.add(
                Repeat(
                    id=f"auto_{number}",
                    active=True,
                    body=f"Repeat {number}.",
                    priority=Priority.NORMAL,
                    scope=Scope.CURRENT_TASK,
                    interval_ms=300_000,
                    created=_START,
                    updated=_START,
                    next_run=_DUE,
                )
            )

    def start(self, mode: str = "plain", now: datetime = _DUE) -> subprocess.Popen[str]:
        runner = subprocess.Popen(
            [sys.executable, _RUNNER, str(self.root), iso(now), mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert runner.stdout is not None
        assert runner.stdout.readline() == "ready\n"
        return runner

    def go(self, runner: subprocess.Popen[str]) -> None:
        assert runner.stdin is not None
        runner.stdin.write("go\n")
        runner.stdin.flush()

    def end(self, runner: subprocess.Popen[str]) -> str:
        answer, _ = runner.communicate(timeout=60)
        return answer.strip()

    def run(self, mode: str = "plain", now: datetime = _DUE) -> str:
        runner = self.start(mode, now)
        self.go(runner)
        return self.end(runner)

    def bodies(self) -> list[str]:
        return sorted(one.message.body for one in self.mailbox.entries())

    def attempts(self) -> list[str]:
        return [line.split()[1] for line in (self.root / "attempts").read_text().splitlines()]

    def settled(self) -> tuple[int, datetime]:
        (repeat,) = self.book.all()
        return repeat.sent_count, repeat.next_run


@pytest.fixture
def runners(tmp_path: Path) -> Runners:
    return Runners(tmp_path)


def test_eight_runners_at_once_post_each_due_repeat_once(runners: Runners) -> None:
    runners.add(5)
    crowd = [runners.start() for _ in range(8)]
    for runner in crowd:
        runners.go(runner)
    posted = sum(int(runners.end(runner)) for runner in crowd)
    assert [runner.returncode for runner in crowd] == [0] * 8
    assert posted == 5
    assert runners.bodies() == [f"Repeat {number}." for number in range(5)]
    # Claims keep runners from even trying what another one does.
    assert len(runners.attempts()) == 5
    assert [one.sent_count for one in runners.book.all()] == [1] * 5


@pytest.mark.parametrize("mode", ["die-before-post", "die-after-post", "die-in-settle"])
def test_a_runner_that_is_killed_neither_loses_nor_doubles(runners: Runners, mode: str) -> None:
    runners.add()
    killed = runners.start(mode)
    runners.go(killed)
    runners.end(killed)
    assert killed.returncode == -signal.SIGKILL
    assert runners.bodies() == ([] if mode == "die-before-post" else ["Repeat 0."])
    assert runners.run() == ("1" if mode == "die-before-post" else "0")
    assert runners.bodies() == ["Repeat 0."]
    assert runners.settled() == (1, _DUE + timedelta(minutes=5))
    assert runners.run(now=_DUE + timedelta(minutes=5)) == "1"
    assert runners.bodies() == ["Repeat 0.", "Repeat 0."]


def test_the_claim_of_a_killed_runner_that_nobody_looked_after_yet_is_given_out(runners: Runners) -> None:
    runners.add()
    killed = runners.start("die-before-post")
    runners.go(killed)
    assert killed.stdout is not None
    assert killed.stdout.read() == ""
    # It is not waited for: until then the system keeps its process id.
    assert runners.run() == "1"
    killed.communicate()


def test_a_runner_that_is_held_between_claim_and_post_doubles_nothing(runners: Runners) -> None:
    runners.add()
    held = runners.start("hold-before-post")
    runners.go(held)
    assert held.stdout is not None
    assert held.stdout.readline() == "claimed\n"
    assert runners.run(now=_DUE + timedelta(seconds=30)) == "0"
    assert runners.bodies() == []
    assert runners.run(now=_DUE + timedelta(seconds=90)) == "1"
    runners.go(held)
    assert runners.end(held) == "0"
    assert runners.bodies() == ["Repeat 0."]
    assert runners.settled() == (1, _DUE + timedelta(seconds=390))


def test_a_repeat_that_is_paused_while_a_runner_is_held_is_posted_once_and_stays_paused(runners: Runners) -> None:
    runners.add()
    held = runners.start("hold-before-post")
    runners.go(held)
    assert held.stdout is not None
    assert held.stdout.readline() == "claimed\n"
    runners.book.set_active("auto_0", False, _DUE)
    runners.go(held)
    assert runners.end(held) == "1"
    assert not runners.book.all()[0].active
    assert runners.run(now=_DUE + timedelta(hours=1)) == "0"
    assert runners.bodies() == ["Repeat 0."]


def test_clocks_that_step_back_and_forth_between_runs_post_each_period_once(runners: Runners) -> None:
    runners.add()
    minutes = [5, -115, 5, 9, 10, 8, 3, 14, 15, 2, 60, 15, 64, 65]
    posted = [runners.run(now=_START + timedelta(minutes=one)) for one in minutes]
    assert posted == ["1", "0", "0", "0", "1", "0", "0", "0", "1", "0", "1", "0", "0", "1"]


@pytest.mark.slow
def test_crowds_of_runners_that_are_killed_at_every_seam_lose_and_double_nothing(runners: Runners) -> None:
    runners.add()
    modes = ["die-before-post", "die-after-post", "die-in-settle", "plain"]
    for period in range(20):
        now = runners.settled()[1]
        crowd = [runners.start(modes[(period + number) % 4], now) for number in range(3)]
        for runner in crowd:
            runners.go(runner)
        for runner in crowd:
            runners.end(runner)
        runners.run(now=now)
        assert len(runners.bodies()) == period + 1
        assert runners.settled()[0] == period + 1
