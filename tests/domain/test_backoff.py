"""How often a scheduled task looks, at the clock values of agmsg's published tests (statement H)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from restante.domain.arming import Arming, arm
from restante.domain.backoff import is_due, rule_of, schedule
from restante.domain.errors import UsageError
from restante.domain.monitor import Monitor, Plan, Sight
from restante.domain.monitoring import Answer, Proof, Word, check
from restante.domain.tending import scheduled

PROOF = Proof("task-1")


def at(seconds: float) -> datetime:
    """Return a time by its seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


class Task:
    """A scheduled task that checks one mailbox."""

    def __init__(self) -> None:
        wanted = Arming("team/alice", "", "session-1", "codex", 1, Plan.SCHEDULED, "scheduled", "task-1", is_given=True)
        self.monitor, _ = arm(None, at(1000), wanted)
        self.mark = 0

    def check(self, seconds: float, *, is_forced: bool = False) -> Answer:
        sight = Sight(self.mark, self.mark and 1, self.mark and 1)
        self.monitor, answer = check(self.monitor, sight, at(seconds), PROOF, is_forced=is_forced)
        return answer

    def tell(self, interval: int) -> None:
        self.monitor, answer = scheduled(self.monitor, PROOF, interval)
        assert answer.word is Word.SCHEDULED

    @property
    def kept(self) -> Monitor:
        assert self.monitor
        return self.monitor


def test_h_the_schedule_holds_at_the_published_clock_values() -> None:
    task = Task()
    assert task.check(1001).word is Word.NOT_DUE
    assert task.check(2800).word is Word.IDLE
    medium = schedule(task.kept, at(2800))
    assert (medium.stage, medium.interval, medium.rule) == ("medium", 900, "FREQ=MINUTELY;INTERVAL=15")
    assert medium.has_changed
    task.tell(900)
    assert not schedule(task.kept, at(2800)).has_changed
    assert task.check(15400).word is Word.IDLE
    slow = schedule(task.kept, at(15400))
    assert (slow.stage, slow.interval, slow.rule) == ("slow", 3600, "FREQ=HOURLY;INTERVAL=1")
    task.mark = 7
    wake = task.check(20000)
    assert (wake.word, wake.mark, wake.is_new) == (Word.WAKE, 7, True)
    fast = schedule(task.kept, at(20000))
    assert (fast.stage, fast.interval, fast.rule, fast.has_changed) == ("fast", 120, "FREQ=MINUTELY;INTERVAL=2", True)
    assert schedule(task.kept, at(20120)).elapsed == 120
    again = task.check(20120)
    assert (again.word, again.is_new) == (Word.WAITING, False)
    assert fast.expires == at(20000 + 86400)


def test_h_one_more_check_at_exactly_the_limit_and_then_it_is_over() -> None:
    task = Task()
    assert task.check(87400).word is Word.EXPIRED
    assert task.check(87401).word is Word.EXPIRED
    late = Task()
    late.mark = 3
    assert late.check(87400).word is Word.WAKE
    assert late.kept.expires == at(87400 + 86400)
    missed = Task()
    missed.mark = 3
    assert missed.check(87401).word is Word.EXPIRED


@pytest.mark.parametrize(
    ("elapsed", "stage"),
    [
        (0, "fast"),
        (1799, "fast"),
        (1800, "medium"),
        (14399, "medium"),
        (14400, "slow"),
        (86400, "slow"),
        (90000, "slow"),
    ],
)
def test_h_a_stage_begins_at_its_second(elapsed: int, stage: str) -> None:
    assert schedule(Task().kept, at(1000 + elapsed)).stage == stage


def test_a_check_that_fires_a_moment_early_is_not_sent_away() -> None:
    task = Task()
    assert task.check(1114).word is Word.NOT_DUE
    assert task.check(1119).word is Word.IDLE


def test_a_check_may_be_forced_before_it_is_due() -> None:
    assert Task().check(1001, is_forced=True).word is Word.IDLE


def test_new_mail_makes_checks_due_at_the_fast_pace_before_the_task_was_told() -> None:
    task = Task()
    task.tell(3600)
    task.mark = 1
    assert task.check(4601).word is Word.WAKE
    assert not is_due(task.kept, at(4601 + 114))
    assert is_due(task.kept, at(4601 + 120))


def test_a_clock_that_was_set_back_makes_a_check_due_and_puts_no_end_off() -> None:
    task = Task()
    assert task.check(40000).word is Word.IDLE
    assert task.check(500).word is Word.IDLE
    assert task.kept.expires == at(500 + 86400)
    assert schedule(task.kept, at(500)).elapsed == 0
    assert schedule(task.kept, at(500 + 1800)).stage == "medium"


@pytest.mark.parametrize(
    ("interval", "rule"),
    [
        (120, "FREQ=MINUTELY;INTERVAL=2"),
        (3600, "FREQ=HOURLY;INTERVAL=1"),
        (45, "FREQ=SECONDLY;INTERVAL=45"),
    ],
)
def test_an_interval_is_written_as_a_recurrence_rule(interval: int, rule: str) -> None:
    assert rule_of(interval) == rule


def test_a_task_runs_at_one_of_the_intervals_of_the_schedule() -> None:
    with pytest.raises(UsageError, match="77"):
        scheduled(Task().kept, PROOF, 77)
