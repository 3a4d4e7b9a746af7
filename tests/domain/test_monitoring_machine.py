"""Whatever happens in whatever sequence: no wake too many, for no old mark and not after the end; no mark made up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.domain.monitored import Mailbox, wanted

from restante.domain import arming, tending
from restante.domain.errors import UsageError
from restante.domain.monitor import MonitorState, Plan
from restante.domain.monitoring import RULES, Proof, Word, stands

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.monitoring import Answer

_WAITS = st.sampled_from([0, 1, 9, 10, 30, 89, 90, 115, 120, 300, 900, 40_000])


class Watched(RuleBasedStateMachine):
    """A mailbox with its monitor, and what was told of it so far."""

    box: Mailbox

    @initialize(plan=st.sampled_from(list(Plan)))
    def begin(self, plan: Plan) -> None:
        self.plan = plan
        self.box = Mailbox(plan)
        self.wakes: Counter[int] = Counter()
        self.told: set[int] = set()
        self.highest = 0
        self.last_wake: datetime | None = None
        self.marks = (0, 0)

    def recovered(self) -> None:
        """Take note that whatever was tried before may be tried again."""
        self.wakes.clear()
        self.highest = 0
        self.last_wake = None

    # -- mail ----------------------------------------------------------------------------------------------

    @rule(count=st.integers(1, 4))
    def post(self, count: int) -> None:
        self.box.post(count)

    @precondition(lambda self: self.box.unread)
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        numbers = data.draw(st.sets(st.sampled_from(sorted(self.box.unread)), min_size=1))
        was_error = self.box.monitor is not None and self.box.monitor.state is MonitorState.ERROR
        answer = self.box.read(*numbers)
        if answer.word is Word.DELIVERED:
            # What was collected makes no wake any more, and newer mail may make one at once.
            self.last_wake = None
            if was_error:
                self.wakes.clear()

    @precondition(lambda self: self.box.unread)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        self.box.unread.discard(data.draw(st.sampled_from(sorted(self.box.unread))))

    # -- time ----------------------------------------------------------------------------------------------

    @rule(seconds=_WAITS)
    def wait(self, seconds: int) -> None:
        self.box.wait(seconds)

    @rule(seconds=st.sampled_from([1, 100, 5000]))
    def set_back(self, seconds: int) -> None:
        self.box.wait(-seconds)
        self.last_wake = self.last_wake and min(self.last_wake, self.box.now)

    # -- looking -------------------------------------------------------------------------------------------

    @rule(is_forced=st.booleans(), proof=st.sampled_from([Proof(), Proof("", "session-1"), Proof("", "session-2")]))
    def check(self, is_forced: bool, proof: Proof) -> None:
        before = self.box.monitor
        answer = self.box.check(proof, is_forced=is_forced)
        if answer.mark:
            self.told.add(answer.mark)
        if answer.word is Word.WAKE:
            assert before
            self._woken(answer, is_owed=before.failures > 0)
        elif self.box.monitor and not self.box.monitor.pending:
            self.last_wake = None

    def _woken(self, answer: Answer, *, is_owed: bool) -> None:
        monitor = answer.monitor
        assert monitor
        assert monitor.state is MonitorState.ACTIVE
        assert self.box.unread
        assert answer.mark in self.box.unread or is_owed
        assert answer.mark == monitor.pending, "what is told of it has to name it"
        if self.last_wake is not None:
            assert self.box.now - self.last_wake >= RULES.settle
        assert self.box.sight.mark >= self.highest or is_owed, "an old mark"
        self.wakes[monitor.pending] += 1
        assert self.wakes[monitor.pending] <= RULES.wakes, "a wake too many"
        self.highest = max(self.highest, answer.mark)
        self.last_wake = self.box.now

    # -- being told ----------------------------------------------------------------------------------------

    @rule(mark=st.integers(-1, 40))
    def delivered(self, mark: int) -> None:
        kept = self.box.monitor
        try:
            answer = self.box.delivered(mark)
        except UsageError:
            assert self.box.monitor == kept
            return
        if answer.word is Word.DELIVERED:
            assert mark in self.told or mark == (kept and kept.last_seen)
            if self.box.kept.pending == 0:
                self.last_wake = None
                self.wakes.clear()

    @rule(mark=st.integers(1, 40), reason=st.sampled_from(["", "gone"]))
    def failed(self, mark: int, reason: str) -> None:
        kept = self.box.monitor
        try:
            self.box.failed(mark, reason)
        except UsageError:
            assert self.box.monitor == kept
            assert kept
            assert mark not in kept.offered
        if self.box.monitor and self.box.monitor.failures >= RULES.failures and self.plan is Plan.EVENT:
            assert self.box.monitor.state is not MonitorState.ACTIVE

    @rule()
    def confirmed(self) -> None:
        if self.box.monitor:
            self.box.do(tending.confirmed(self.box.monitor, self.box.monitor.pending, self.box.monitor.token))

    @rule()
    def hindered(self) -> None:
        self.box.do(tending.hindered(self.box.monitor, "no way", self.box.monitor.pending if self.box.monitor else 0))
        self.recovered()

    @rule()
    def heartbeat(self) -> None:
        was_error = self.box.monitor is not None and self.box.monitor.state is MonitorState.ERROR
        self.box.do(tending.heartbeat(self.box.monitor, self.box.now, Proof()))
        if was_error:
            self.wakes.clear()

    @rule()
    def beat(self) -> None:
        self.box.do(tending.beat(self.box.monitor, self.box.now, None))

    # -- beginning and ending ------------------------------------------------------------------------------

    @rule()
    def arm(self) -> None:
        is_anew = self.box.monitor is None or not arming.is_standing(self.box.monitor, self.box.now)
        was_error = self.box.monitor is not None and self.box.monitor.state is MonitorState.ERROR
        self.box.do(arming.arm(self.box.monitor, self.box.now, wanted(plan=self.plan)))
        if is_anew:
            self.recovered()
            self.marks = (0, 0)
        elif was_error:
            self.wakes.clear()

    @rule(is_end=st.booleans())
    def stop(self, is_end: bool) -> None:
        step = arming.deactivate(self.box.monitor, "session-1") if is_end else arming.disarm(self.box.monitor, Proof())
        self.box.do(step)
        assert not stands(self.box.monitor)
        assert self.box.check(is_forced=True).word in (Word.INACTIVE, Word.EXPIRED)

    @rule()
    def expire(self) -> None:
        answer = self.box.do(arming.expire(self.box.monitor, self.box.now))
        if answer.word is Word.EXPIRED:
            assert self.box.check(is_forced=True).word is Word.EXPIRED

    # -- always --------------------------------------------------------------------------------------------

    @invariant()
    def marks_only_grow(self) -> None:
        monitor = getattr(self, "box", None) and self.box.monitor
        if monitor and stands(monitor):
            assert monitor.last_seen >= self.marks[0]
            assert monitor.last_delivered >= self.marks[1]
            self.marks = (monitor.last_seen, monitor.last_delivered)

    @invariant()
    def it_hangs_together(self) -> None:
        monitor = getattr(self, "box", None) and self.box.monitor
        if not monitor:
            return
        # A wake that failed is owed: pending, and due at the next look.
        assert monitor.pending or monitor.pending_at is None
        assert monitor.pending in (0, *monitor.offered[-1:])
        assert monitor.tries <= RULES.wakes
        if not stands(monitor):
            assert (monitor.pending, monitor.offered, monitor.receiver) == (0, (), None)


TestWatched = Watched.TestCase
