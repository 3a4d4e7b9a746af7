"""Who holds a role, decided between real processes: crowds, kills, stops, clocks, numbers that are given again."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.contract.lease_driver import DONE, ROLE, open_parts

from restante.system.clock import SystemClock
from restante.testing import FakeClock
from restante.testing.contract.team_parts import make_subscription

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.fixtures import FixtureRequest

    from restante.domain.team import Member

HANGS = 60
_DRIVER = os.path.join(os.path.dirname(__file__), "lease_driver.py")

Answer = dict[str, Any]


class Session:
    """A session in a process of its own."""

    def __init__(self, location: Path, name: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-I", _DRIVER, str(location), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, do: str, **words: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"do": do, **words}).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Answer:
        assert self.process.stdout
        answer: Answer = json.loads(self.process.stdout.readline())
        return answer

    def do(self, do: str, **words: object) -> Answer:
        self.ask(do, **words)
        return self.hear()

    def end(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(HANGS)


@contextmanager
def sessions(location: Path, *names: str) -> Iterator[list[Session]]:
    """Start a session for each name, and wait until all are ready."""
    with ExitStack() as stack:
        crowd = []
        for name in names:
            crowd.append(Session(location, name))
            stack.callback(crowd[-1].end)
        assert [one.hear() for one in crowd] == [{"did": "ready"}] * len(names)
        yield crowd


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.slow)])
def location(request: FixtureRequest, tmp_path: Path) -> Path:
    """A place where one role has joined."""
    if request.param == "server":
        (tmp_path / "url").write_text(request.getfixturevalue("postgres_url"))
    with open_parts(str(tmp_path)) as parts:
        parts.teams.join(ROLE, "", SystemClock().now(), worktree="", vendor="")
    return tmp_path


def member(location: Path) -> Member:
    with open_parts(str(location)) as parts:
        found = parts.teams.member(ROLE, "")
    assert found
    return found


def all_at_once(crowd: list[Session], do: str, **words: object) -> list[Answer]:
    """Ask all before any is heard."""
    for one in crowd:
        one.ask(do, **words)
    return [one.hear() for one in crowd]


def is_refused(answer: Answer) -> bool:
    return (answer["did"], answer.get("code")) == ("error", "role_held")


@pytest.mark.parametrize("size", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_c2_of_a_crowd_exactly_one_gets_the_role_and_after_it_stopped_exactly_one_again(
    size: int, location: Path
) -> None:
    with sessions(location, *(f"s{number}" for number in range(size))) as crowd:
        for generation in (1, 2, 3):
            answers = all_at_once(crowd, "take")
            (winner,) = [one for one, answer in zip(crowd, answers, strict=True) if answer["did"] == "take"]
            assert sum(map(is_refused, answers)) == len(crowd) - 1
            found = member(location)
            assert found.lease
            assert (found.generation, found.lease.session) == (generation, winner.name)
            if generation == 1:
                assert winner.do("release") == {"did": "release", "released": True}
            else:
                # It ended without a word.
                winner.process.kill()
                winner.process.wait(HANGS)
                crowd.remove(winner)


def test_d2_i1_steps_of_a_crowd_do_not_miss_each_other_and_one_is_given_a_subscription(location: Path) -> None:
    with open_parts(str(location)) as parts:
        parts.subscriptions.add(make_subscription(FakeClock(), "sub1"))
    with sessions(location, *(f"s{number}" for number in range(6))) as crowd:
        counts = [answer["count"] for answer in all_at_once(crowd, "count", times=20)]
        assert max(counts) == 120
        matched = [answer["matched"] for answer in all_at_once(crowd, "match")]
        assert sorted(matched) == [[]] * 5 + [["sub1"]]
    with open_parts(str(location)) as parts:
        assert [one.tries for one in parts.monitors.all()] == [120]


def test_c3_a_killed_holder_whose_number_another_process_has_is_followed_and_fenced(location: Path) -> None:
    # The other begins when the sessions are there: what began in the same tick could not be told apart.
    with sessions(location, "one", "two", "three") as (one, two, three), subprocess.Popen(["sleep", "600"]) as other:
        try:
            assert one.do("take", pid=other.pid)["generation"] == 1
            one.do("post")
            # The session is there as ever: only the process that its lease names is gone, and its number is another's.
            assert two.do("take").get("generation") == 2
            assert all(map(is_refused, (one.do("beat"), one.do("read"), one.do("take"), three.do("take"))))
            assert one.do("release") == {"did": "release", "released": False}
            assert len(two.do("read")["read"]) == 1
            two.process.kill()
            two.process.wait(HANGS)
            assert three.do("take").get("generation") == 3
            # Who comes back holds it anew, and nothing that it held before.
            assert three.do("release")["released"]
            assert one.do("take", pid=other.pid).get("generation") == 4
        finally:
            other.kill()


def test_f4_a_holder_from_before_the_machine_was_started_is_followed(location: Path) -> None:
    with sessions(location, "one", "two") as (one, two):
        # Even under a number that lives: that of the session itself.
        assert one.do("take", boot="before")["generation"] == 1
        assert two.do("take")["generation"] == 2
        assert is_refused(one.do("beat"))


def test_f2_a_stopped_holder_keeps_the_role_until_its_time_is_over_and_then_is_fenced(location: Path) -> None:
    with sessions(location, "one", "two") as (one, two):
        taken = one.do("take", seconds=60)
        one.do("post")
        one.process.send_signal(signal.SIGSTOP)
        over = taken["beat"] + 60_000
        assert is_refused(two.do("take"))
        assert is_refused(two.do("take", now=over - 1))
        assert two.do("take", now=over)["generation"] == 2
        one.process.send_signal(signal.SIGCONT)
        assert is_refused(one.do("beat"))
        assert is_refused(one.do("read"))
        assert len(two.do("read")["read"]) == 1


def test_a_clock_that_is_set_gives_no_living_holder_away_that_is_heard_of(location: Path) -> None:
    with sessions(location, "one", "two") as (one, two):
        start = one.do("take", seconds=60)["beat"]
        assert is_refused(two.do("take", now=start - 3_600_000))
        assert one.do("beat", now=start + 3_600_000)["beat"] == start + 3_600_000
        # Set back: the beat lies in the future, and the holder lives.
        assert is_refused(two.do("take", now=start))
        assert one.do("beat", now=start)["beat"] == start
        assert is_refused(two.do("take", now=start + 59_999))
        assert two.do("take", now=start + 60_000)["generation"] == 2


@pytest.mark.parametrize("rounds", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_a_kill_at_any_instant_loses_nothing_and_blocks_nobody(rounds: int, location: Path) -> None:
    dice = random.Random()  # the instants differ from run to run
    generation = counted = 0
    read: list[str] = []
    posted: list[str] = []
    for number in range(rounds):
        with sessions(location, f"s{number}") as (one,):
            one.ask("work")
            assert one.process.stdout
            lines = [one.process.stdout.readline() for _ in range(dice.randrange(12))]
            # Not a wait for anything: the instant of the kill is what is drawn by lot.
            time.sleep(dice.random() * 0.01)
            one.process.kill()
            lines += one.process.stdout.readlines()
        reports = [json.loads(line) for line in lines]
        done = Counter(report["did"] for report in reports)
        assert done["error"] == 0, reports
        generations = [report["generation"] for report in reports if report["did"] == "take"]
        # The one before was killed holding it, and so is followed at once, under a new number.
        assert all(one > generation for one in generations)
        assert generations == sorted(generations)
        last = max([generation, *generations])
        generation = member(location).generation
        # One that it had taken and could not tell of any more.
        assert last <= generation <= last + 1
        posted += [report["id"] for report in reports if report["did"] == "post"]
        read += [one for report in reports if report["did"] == "read" for one in report["read"]]
        with open_parts(str(location)) as parts:
            (tries,) = [one.tries for one in parts.monitors.all()] or (0,)
            assert counted + done["count"] <= tries <= counted + done["count"] + 1
            counted = tries
            box = parts.boxes.box(ROLE, "")
            seen = {entry.message.id: entry.standing.seen_at is not None for entry in box.entries()}
            assert set(posted) <= set(seen)
            assert all(seen[one] for one in read)
            assert parts.boxes.signals(ROLE, "") == [(place, DONE) for place in range(1, len(seen) + 1)]
    assert posted
    if (location / "teams.db").exists():
        connection = sqlite3.connect(location / "teams.db")
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
