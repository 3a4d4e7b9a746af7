"""What a home of teams supplies to join their contract, and what its tests share."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from restante.domain.monitor import Monitor, MonitorState, Plan, Subscription
from restante.domain.registry import Presence, Process
from restante.testing.fakes import FakeClock, SequentialIds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from restante.domain.team import Lease
    from restante.ports import Ids
    from restante.ports.monitoring import Monitors, Sights, Subscriptions
    from restante.ports.teams import RoleBoxes, Teams

ROLE = "team/alice"
HOURS = timedelta(hours=12)


class TeamParts(NamedTuple):
    """All that is kept of teams, in one place."""

    teams: Teams
    boxes: RoleBoxes
    monitors: Monitors
    sights: Sights
    subscriptions: Subscriptions


class TeamsBase:
    """What a home supplies.

    Attributes:
        ids: Ids to build mailboxes with.
        persistent: Whether it outlives the objects.
    """

    ids: ClassVar[Ids] = SequentialIds()
    persistent: ClassVar[bool] = True

    def make_team_parts(self, tmp_path: Path, clock: FakeClock) -> TeamParts:
        """Open the parts under a directory; the first time they are empty."""
        raise NotImplementedError

    def close_team_parts(self, parts: TeamParts) -> None:
        """Let go of them, as the end of a process would."""

    @contextmanager
    def opened(self, tmp_path: Path) -> Iterator[tuple[TeamParts, FakeClock]]:
        """Open empty parts with a clock of their own, for one test."""
        clock = FakeClock()
        parts = self.make_team_parts(tmp_path, clock)
        try:
            yield parts, clock
        finally:
            self.close_team_parts(parts)


def process(pid: int, started: str = "1") -> Process:
    """Return a process of a machine that is not this one."""
    return Process("machine", pid, started)


def take(
    teams: Teams,
    clock: FakeClock,
    session: str,
    *,
    role: str = ROLE,
    owner: str = "",
    at: Process | None = None,
    dead: Collection[Process | None] = (),
    time_to_live: timedelta = HOURS,
) -> Lease:
    """Let a session take a role, where it is proven of some processes that they are gone and of no other."""

    def presence(one: Process | None) -> Presence:
        return Presence.GONE if one in dead else Presence.UNKNOWN

    now = clock.now()
    return teams.take(role, owner, now, session=session, process=at, time_to_live=time_to_live, presence=presence)


def make_monitor(clock: FakeClock, mailbox: str = ROLE, owner: str = "", session: str = "one") -> Monitor:
    """Return a monitor that was armed now."""
    now = clock.now()
    return Monitor(
        mailbox=mailbox,
        owner=owner,
        session=session,
        vendor="codex",
        generation=1,
        token="task-1",  # noqa: S106  it proves nothing here
        plan=Plan.EVENT,
        adapter="codex-queue",
        state=MonitorState.ACTIVE,
        armed=now,
        cycle_started=now,
        time_to_live=HOURS,
        expires=now + HOURS,
    )


def make_subscription(clock: FakeClock, id_: str, owner: str = "", *, seconds: float = 60) -> Subscription:
    """Return a subscription to the end of one run, which is over after some seconds."""
    return Subscription(
        id=id_,
        mailbox=ROLE,
        owner=owner,
        action="review",
        correlation="42",
        states=("done", "failed"),
        session="",
        report_only=True,
        created=clock.now(),
        expires=clock.now() + timedelta(seconds=seconds),
        reports_expiry=True,
    )
