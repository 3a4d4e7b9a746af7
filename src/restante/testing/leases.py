"""A state machine that drives leases and a few dictionaries through the same history."""

from __future__ import annotations

import itertools
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from restante.domain.errors import NothingThere, RoleHeld
from restante.domain.mailbox import Mark
from restante.domain.registry import Presence, Process
from restante.testing.fakes import FakeClock, make_draft

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.testing.contract.team_parts import TeamsBase

# Nearly everything happens to one role, so that much happens to it; the others are there to stay as they are.
_ROLES = st.sampled_from(["team/alice", "team/alice", "team/alice", "team/bob"])
_OWNERS = st.sampled_from(["", "", "", "ann"])
_SESSIONS = st.sampled_from(["one", "two"])
_GENERATIONS = st.sampled_from([None, None, 1, 2, 3])
_SECONDS = st.sampled_from([0.001, 1, 30, 59.999, 60, 3600, -1, -60, -3600])
_Key = tuple[str, str]


class _Hold(NamedTuple):
    session: str
    pid: int
    beat: datetime
    seconds: int


class _Model:
    """What ``ports.teams.Teams`` says, in a few dictionaries."""

    def __init__(self) -> None:
        self.members: set[_Key] = set()
        self.generations: dict[_Key, int] = {}
        self.holds: dict[_Key, _Hold] = {}
        self.pids = {"one": 1, "two": 2}
        self.dead: set[int] = set()

    def may_take(self, key: _Key, session: str, now: datetime) -> bool:
        hold = self.holds.get(key)
        if hold is None or hold.session == session or hold.pid in self.dead:
            return True
        return (now - hold.beat).total_seconds() >= hold.seconds

    def holds_it(self, key: _Key, session: str, generation: int | None) -> bool:
        hold = self.holds.get(key)
        return bool(hold and hold.session == session and generation in (None, self.generations[key]))


class _LeaseMachine(RuleBasedStateMachine):
    """The rules; ``lease_machine`` gives it a home."""

    contract: TeamsBase
    directory: str
    rounds = itertools.count()

    @initialize()
    def open(self) -> None:
        self.place = Path(self.directory, f"round-{next(self.rounds)}")
        os.mkdir(self.place)
        self.clock = FakeClock()
        self.parts = self.contract.make_team_parts(self.place, self.clock)
        self.model = _Model()
        self.join("team/alice", "")

    def presence(self, process: Process | None) -> Presence:
        """Say of the model's dead that they are gone, whoever asks."""
        return Presence.GONE if process and process.pid in self.model.dead else Presence.UNKNOWN

    def refused(self, act: Callable[[], object], error: type[Exception]) -> None:
        """See to it that something is refused."""
        try:
            act()
        except error:
            return
        raise AssertionError(f"not refused with {error.__name__}")

    @rule(role=_ROLES, owner=_OWNERS)
    def join(self, role: str, owner: str) -> None:
        self.parts.teams.join(role, owner, self.clock.now(), worktree="/w", vendor="codex")
        self.model.members.add((owner, role))
        self.model.generations.setdefault((owner, role), 0)

    @rule(role=_ROLES, owner=_OWNERS)
    def leave(self, role: str, owner: str) -> None:
        left = self.parts.teams.leave(role, owner, self.clock.now())
        assert (left is not None) == ((owner, role) in self.model.members)
        self.model.members.discard((owner, role))
        self.model.holds.pop((owner, role), None)

    @rule(role=_ROLES, owner=_OWNERS, session=_SESSIONS, seconds=st.sampled_from([1, 60]))
    def take(self, role: str, owner: str, session: str, seconds: int) -> None:
        key, now, model = (owner, role), self.clock.now(), self.model
        process = Process("machine", model.pids[session], "1")

        def act() -> int:
            return self.parts.teams.take(
                role,
                owner,
                now,
                session=session,
                process=process,
                time_to_live=timedelta(seconds=seconds),
                presence=self.presence,
            ).generation

        if key not in model.members:
            self.refused(act, NothingThere)
        elif not model.may_take(key, session, now):
            self.refused(act, RoleHeld)
        else:
            if not model.holds_it(key, session, None):
                model.generations[key] += 1
            assert act() == model.generations[key]
            model.holds[key] = _Hold(session, process.pid, now, seconds)

    @rule(role=_ROLES, owner=_OWNERS, session=_SESSIONS, generation=_GENERATIONS)
    def beat(self, role: str, owner: str, session: str, generation: int | None) -> None:
        key, now = (owner, role), self.clock.now()

        def act() -> object:
            return self.parts.teams.beat(role, owner, now, session=session, generation=generation)

        if self.model.holds_it(key, session, generation):
            act()
            self.model.holds[key] = self.model.holds[key]._replace(beat=now)
        else:
            self.refused(act, RoleHeld)

    @rule(role=_ROLES, owner=_OWNERS, session=_SESSIONS, generation=_GENERATIONS)
    def release(self, role: str, owner: str, session: str, generation: int | None) -> None:
        key = owner, role
        released = self.parts.teams.release(role, owner, self.clock.now(), session=session, generation=generation)
        assert released == self.model.holds_it(key, session, generation)
        if released:
            del self.model.holds[key]

    @rule(role=_ROLES, owner=_OWNERS, session=_SESSIONS, generation=_GENERATIONS)
    def read_its_mail(self, role: str, owner: str, session: str, generation: int | None) -> None:
        posted = self.parts.boxes.post(role, owner, make_draft("text")).message
        box = self.parts.boxes.fenced(role, owner, session, generation)
        before = self.parts.sights.look(role, owner)
        assert before.mark == posted.number
        if self.model.holds_it((owner, role), session, generation):
            box.mark([posted.id], Mark.SEEN, session)
            assert self.parts.sights.look(role, owner).unseen == before.unseen - 1
        else:
            self.refused(lambda: box.mark([posted.id], Mark.SEEN, session), RoleHeld)
            assert self.parts.sights.look(role, owner) == before

    @rule(session=_SESSIONS)
    def die(self, session: str) -> None:
        """End a session's process; what it goes on with is another one."""
        self.model.dead.add(self.model.pids[session])
        self.model.pids[session] = max(self.model.pids.values()) + 1

    @rule(seconds=_SECONDS)
    def turn_the_clock(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @precondition(lambda self: self.contract.persistent)
    @rule()
    def reopen(self) -> None:
        self.contract.close_team_parts(self.parts)
        self.parts = self.contract.make_team_parts(self.place, self.clock)

    @invariant()
    def both_say_the_same(self) -> None:
        teams, model = self.parts.teams, self.model
        for owner in ("", "ann"):
            found = teams.members("", owner)
            assert [one.role for one in found] == sorted(role for whose, role in model.members if whose == owner)
            for one in found:
                key, lease = (owner, one.role), one.lease
                assert one.generation == model.generations[key]
                hold = lease and _Hold(
                    lease.session,
                    lease.process.pid if lease.process else 0,
                    lease.heartbeat,
                    round(lease.time_to_live.total_seconds()),
                )
                assert hold == model.holds.get(key)
                assert lease is None or lease.generation == one.generation
            for session in model.pids:
                held = [
                    role for (whose, role), hold in model.holds.items() if (whose, hold.session) == (owner, session)
                ]
                assert [one.role for one in teams.held_by(session, owner)] == sorted(held)
        assert [(owner, one.role) for owner, one in teams.leases()] == sorted(model.holds)

    def teardown(self) -> None:
        if hasattr(self, "parts"):
            self.contract.close_team_parts(self.parts)


def lease_machine(contract: TeamsBase, directory: str | os.PathLike[str]) -> type[RuleBasedStateMachine]:
    """Return a machine for a home.

    Args:
        contract: The home, as it joined the contract.
        directory: Where the machine may make a directory for each of its runs.
    """
    return type("LeaseMachine", (_LeaseMachine,), {"contract": contract, "directory": os.fspath(directory)})
