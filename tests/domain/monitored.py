"""A mailbox whose monitor a test drives: marks and steps, without any store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from restante.domain import arming, monitoring, tending
from restante.domain.arming import Arming
from restante.domain.monitor import Monitor, Plan, Sight
from restante.domain.monitoring import Answer, Proof

if TYPE_CHECKING:
    from restante.domain.monitoring import Step

T0 = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
MAILBOX = "team/alice"


def wanted(session: str = "session-1", *, generation: int = 1, plan: Plan = Plan.EVENT, **changes: object) -> Arming:
    """Return what arms the mailbox for a session."""
    made = Arming(MAILBOX, "", session, "codex", generation, plan, "codex-queue", f"token of {session}")
    return made._replace(**changes)  # type: ignore[arg-type]


class Mailbox:
    """A mailbox with its monitor, at a time that the test sets.

    Attributes:
        monitor: What is kept.
        unread: Numbers of the unseen messages.
        now: The time.
    """

    def __init__(self, plan: Plan = Plan.EVENT) -> None:
        self.now = T0
        self.unread: set[int] = set()
        self.last = 0
        self.monitor: Monitor | None = None
        self.do(arming.arm(None, T0, wanted(plan=plan)))

    @property
    def kept(self) -> Monitor:
        """The monitor."""
        assert self.monitor
        return self.monitor

    @property
    def sight(self) -> Sight:
        """What is to be seen."""
        return Sight(max(self.unread, default=0), len(self.unread), len(self.unread))

    def do(self, step: Step) -> Answer:
        """Take a step."""
        self.monitor, answer = step
        return answer

    def post(self, count: int = 1) -> int:
        """Post so many messages and return the number of the last."""
        for _ in range(count):
            self.last += 1
            self.unread.add(self.last)
        return self.last

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    def check(self, proof: Proof = Proof(), **options: object) -> Answer:  # noqa: B008 - a plain value
        """Look."""
        return self.do(monitoring.check(self.monitor, self.sight, self.now, proof, **options))  # type: ignore[arg-type]

    def delivered(self, mark: int, proof: Proof = Proof()) -> Answer:  # noqa: B008 - a plain value
        """Say that a mark was collected."""
        return self.do(tending.delivered(self.monitor, self.now, proof, mark))

    def failed(self, mark: int, reason: str = "") -> Answer:
        """Say that a wake failed."""
        return self.do(tending.failed(self.monitor, self.now, Proof(), mark, reason))

    def read(self, *numbers: int) -> Answer:
        """Let the session read messages; all without numbers."""
        self.unread -= set(numbers or self.unread)
        return self.do(tending.collected(self.monitor, self.now, "session-1", self.sight.mark))
