"""A state machine that drives a register of sessions and a dictionary through the same history."""

from __future__ import annotations

import itertools
import os
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from restante.domain.errors import NoSuchSession
from restante.domain.limits import Limits
from restante.domain.registry import Arrival, Latch, Process, Session, TurnSource
from restante.testing.fakes import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.ports.sessions import Sessions
    from restante.testing.contract.parts import SessionsBase

_IDS = st.sampled_from(["aaaaaaaa-1", "aaaaaaaa-2", "bbbbbbbb", "B\0\u00e9", "'; DROP TABLE sessions; --"])
_OWNERS = st.sampled_from(["", "ann", "bob"])
_WORDS = st.sampled_from(["", "", "x", "aaaaaaaa-1", "\u00e9 \U0001f600"])
_PROCESSES = st.none() | st.builds(Process, st.just("host"), st.integers(1, 9), st.sampled_from(["1", "2"]))


class _Model:
    """What ``ports.sessions.Sessions`` says, in a few dictionaries."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.secrets: dict[str, str] = {}
        self.ended: dict[tuple[str, str], int] = {}
        self.events: dict[str, int] = {}
        self.settings: dict[str, str] = {}

    def copy(self) -> _Model:
        other = _Model()
        for name, value in vars(self).items():
            setattr(other, name, dict(value))
        return other

    def event(self, owner: str) -> int:
        self.events[owner] = self.events.get(owner, 0) + 1
        return self.events[owner]

    def mine(self, session_id: str, owner: str) -> Session | None:
        session = self.sessions.get(session_id)
        return session if session and session.owner == owner else None

    def attach(self, arrival: Arrival, owner: str, now: datetime, *, is_proven: bool) -> Session:
        before = self.sessions.get(arrival.id)
        if before and before.owner != owner:
            raise NoSuchSession("foreign")
        event = self.event(owner)
        if before is None:
            self.ended.pop((owner, arrival.id), None)
            before = Session(arrival.id, owner, "", "", "", "", None, now, now)
            self.secrets[arrival.id] = ""
        is_believed = is_proven or not self.secrets[arrival.id]
        words = ("vendor", "name", "worktree", "parent", "process") if is_believed else ("process",)
        said = {word: getattr(arrival, word) or getattr(before, word) for word in words}
        if arrival.secret_digest and is_believed:
            self.secrets[arrival.id] = arrival.secret_digest
        self.sessions[arrival.id] = before._replace(**said, heartbeat=now, detached=None, event=event)
        return self.sessions[arrival.id]

    def change(self, session_id: str, owner: str, *, is_event: bool, **changes: object) -> None:
        session = self.mine(session_id, owner)
        if session:
            event = self.event(owner) if is_event else session.event
            self.sessions[session_id] = session._replace(event=event, **cast("dict[str, Any]", changes))

    def delete(self, session_id: str, owner: str) -> None:
        if self.mine(session_id, owner):
            del self.sessions[session_id]
            del self.secrets[session_id]
            self.ended[owner, session_id] = self.event(owner)


class _RegisterMachine(RuleBasedStateMachine):
    """The rules; ``register_machine`` gives it a home."""

    contract: SessionsBase
    directory: str
    rounds = itertools.count()

    @initialize()
    def open(self) -> None:
        self.place = Path(self.directory, f"round-{next(self.rounds)}")
        os.mkdir(self.place)
        self.clock = FakeClock()
        self.home, self.boxes = self.contract.make_parts(self.place, self.clock, Limits())
        self.model = _Model()
        self.saved: _Model | None = None
        self.group = ExitStack()

    def both(self, act: Callable[[Sessions], object], model: Callable[[], object]) -> None:
        """Do the same to both: both refuse, or both give the same answer."""
        answers: list[object] = []
        acts: list[Callable[[], object]] = [partial(act, self.home), model]
        for one in acts:
            try:
                answers.append(one())
            except NoSuchSession:
                answers.append(NoSuchSession)
        assert answers[0] == answers[1]

    @rule(
        session_id=_IDS,
        owner=_OWNERS,
        words=st.tuples(_WORDS, _WORDS, _WORDS, _WORDS),
        process=_PROCESSES,
        secret=st.sampled_from(["", "s1", "s2"]),
        is_proven=st.booleans(),
    )
    def attach(
        self,
        session_id: str,
        owner: str,
        words: tuple[str, str, str, str],
        process: Process | None,
        secret: str,
        is_proven: bool,
    ) -> None:
        # A secret is one session's alone.
        digest = secret and f"{secret} of {session_id}"
        arrival, now = Arrival(session_id, *words, process, digest), self.clock.now()
        self.both(
            lambda home: home.attach(arrival, owner, now, is_proven=is_proven),
            lambda: self.model.attach(arrival, owner, now, is_proven=is_proven),
        )

    @rule(session_id=_IDS, owner=_OWNERS, turn=st.integers(0, 3), has_ended=st.booleans())
    def latch(self, session_id: str, owner: str, turn: int, has_ended: bool) -> None:
        now = self.clock.now()
        latch = Latch(turn, now if has_ended else None, TurnSource.HOOK if has_ended else None)
        session = self.model.mine(session_id, owner)
        self.home.latch(session_id, owner, latch, now)
        if session and latch.turn >= session.latch.turn and latch != session.latch:
            self.model.change(session_id, owner, is_event=True, latch=latch, heartbeat=now)

    @rule(
        session_id=_IDS,
        owner=_OWNERS,
        name=st.none() | _WORDS,
        blocked=st.none() | st.sampled_from(["", "question"]),
        open_todos=st.none() | st.integers(0, 3),
    )
    def describe(
        self, session_id: str, owner: str, name: str | None, blocked: str | None, open_todos: int | None
    ) -> None:
        now = self.clock.now()
        self.home.describe(session_id, owner, now, name=name, blocked=blocked, open_todos=open_todos)
        session = self.model.mine(session_id, owner)
        given = {"name": name, "blocked": blocked, "open_todos": open_todos}
        changes: dict[str, Any] = {word: value for word, value in given.items() if value is not None}
        if session and session != session._replace(**changes):
            self.model.change(session_id, owner, is_event=True, **changes, heartbeat=now)

    @rule(session_id=_IDS, owner=_OWNERS, seconds=st.none() | st.integers(1, 90))
    def beat_and_park(self, session_id: str, owner: str, seconds: int | None) -> None:
        now = self.clock.now()
        since, until = (None, None) if seconds is None else (now, now + timedelta(seconds=seconds))
        self.home.beat(session_id, owner, now)
        self.home.park(session_id, owner, since, until)
        self.model.change(session_id, owner, is_event=False, heartbeat=now, parked_since=since, parked_until=until)

    @rule(session_id=_IDS, owner=_OWNERS)
    def detach(self, session_id: str, owner: str) -> None:
        self.home.detach(session_id, owner, self.clock.now())
        session = self.model.mine(session_id, owner)
        if session and session.detached is None:
            self.model.change(session_id, owner, is_event=True, detached=self.clock.now())

    @rule(session_id=_IDS, owner=_OWNERS)
    def delete(self, session_id: str, owner: str) -> None:
        self.home.delete(session_id, owner, self.clock.now())
        self.model.delete(session_id, owner)

    @rule(value=_WORDS)
    def set_setting(self, value: str) -> None:
        self.home.set_setting("one", value)
        self.model.settings["one"] = value

    @rule(seconds=st.sampled_from([0.001, 1, 60]))
    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @precondition(lambda self: self.saved is None)
    @rule()
    def begin_together(self) -> None:
        self.group.enter_context(self.home.together())
        self.saved = self.model.copy()

    @precondition(lambda self: self.saved is not None)
    @rule(is_undone=st.booleans())
    def end_together(self, is_undone: bool) -> None:
        if is_undone and self.saved:
            self.group.__exit__(KeyError, KeyError(), None)
            self.model = self.saved
        else:
            self.group.close()
        self.saved = None

    @precondition(lambda self: self.saved is None and self.contract.persistent)
    @rule()
    def reopen(self) -> None:
        self.contract.close_parts(self.home, self.boxes)
        self.home, self.boxes = self.contract.make_parts(self.place, self.clock, Limits())

    @invariant()
    def both_say_the_same(self) -> None:
        for owner in ("", "ann", "bob"):
            mine = [one for one in self.model.sessions.values() if one.owner == owner]
            assert sorted(self.home.all(owner)) == sorted(mine)
            assert self.home.tip(owner)[1] == self.model.events.get(owner, 0)
            for event in (0, self.model.events.get(owner, 0) - 2):
                changed, gone = self.home.changed_since(event, owner)
                assert changed == sorted((one for one in mine if one.event > event), key=lambda one: one.event)
                ended = {number: one for (whose, one), number in self.model.ended.items() if whose == owner}
                assert gone == [one for number, one in sorted(ended.items()) if number > event]
            for reference in ("aaaaaaaa", "aaaaaaaa-1", "b", "x"):
                found = [one for one in mine if one.name == reference or one.id.startswith(reference)]
                assert sorted(self.home.named(reference, owner)) == sorted(found)
        for session_id, digest in self.model.secrets.items():
            if digest:
                assert self.home.proven_by(digest) == self.model.sessions[session_id]
        assert self.home.setting("one") == self.model.settings.get("one")

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.group.close()
            self.contract.close_parts(self.home, self.boxes)


def register_machine(contract: SessionsBase, directory: str | os.PathLike[str]) -> type[RuleBasedStateMachine]:
    """Return a machine for a home.

    Args:
        contract: The home, as it joined the contract.
        directory: Where the machine may make a directory for each of its runs.
    """
    return type("RegisterMachine", (_RegisterMachine,), {"contract": contract, "directory": os.fspath(directory)})
