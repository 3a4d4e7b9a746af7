"""Monitors and subscriptions: kept as they are given, changed in one step, given to one caller only."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import BadText, IllegalStep
from restante.domain.monitor import Monitor, MonitorState, Plan, Sight, Signal
from restante.testing.contract.base import refused_with
from restante.testing.contract.team_parts import ROLE, TeamsBase, make_monitor, make_subscription, process
from restante.testing.fakes import make_draft

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.monitor import Subscription
    from restante.testing.contract.team_parts import TeamParts

_DONE = Signal("review", "42", "done")


def _keep(parts: TeamParts, monitor: Monitor) -> None:
    parts.monitors.change(monitor.mailbox, monitor.owner, lambda *_: (monitor, None))


def _swap(parts: TeamParts, owner: str, after: Monitor | None) -> Monitor | None:
    """Keep something else, and return what was kept before."""
    before: Monitor | None = parts.monitors.change(ROLE, owner, lambda *seen: (after, seen[0]))
    return before


def _fail(*_: object) -> tuple[None, None]:
    raise IllegalStep("no such step")


def _count(before: Monitor | None, _: Sight) -> tuple[Monitor | None, None]:
    return before and before._replace(tries=before.tries + 1), None


class Monitoring(TeamsBase):
    """Tests of ``Monitors`` and ``Subscriptions``."""

    def test_a_monitor_comes_back_as_it_was_kept(self, tmp_path: Path) -> None:
        """With everything set, and with nothing."""
        with self.opened(tmp_path) as (parts, clock):
            now = clock.now()
            bare = make_monitor(clock)
            full = bare._replace(
                mailbox="session:x",
                owner="ann",
                plan=Plan.SCHEDULED,
                state=MonitorState.ERROR,
                last_checked=now,
                heartbeat=now - timedelta(milliseconds=1),
                last_seen=2**53,
                pending=3,
                pending_at=now,
                failures=3,
                last_error="the \0 door is shut \ud800",
                interval=900,
                automations=("a", "\u00e9", "\0"),
                receiver=process(7, "\0"),
            )
            for monitor in (bare, full):
                _keep(parts, monitor)
                assert parts.monitors.monitor(monitor.mailbox, monitor.owner) == monitor
            assert parts.monitors.all() == [full, bare]
            assert parts.monitors.all("ann") == [full]
            assert parts.monitors.of_session("one") == [full, bare]
            assert parts.monitors.monitor(ROLE, "ann") is None

    def test_g1_nothing_is_made_where_nothing_was_armed(self, tmp_path: Path) -> None:
        """Neither by looking nor by a step that keeps nothing."""
        with self.opened(tmp_path) as (parts, clock):
            before = set(tmp_path.iterdir())
            assert parts.monitors.monitor(ROLE, "") is None
            assert parts.monitors.all() == parts.monitors.all("") == parts.monitors.of_session("one") == []
            assert parts.monitors.change(ROLE, "", lambda monitor, sight: (None, (monitor, sight))) == (None, Sight())
            assert parts.sights.look(ROLE, "") == Sight()
            assert parts.subscriptions.all("") == parts.subscriptions.take_matching(ROLE, "", [_DONE]) == []
            assert parts.subscriptions.take_expired(clock.now()) == []
            assert not parts.subscriptions.remove("none", "")
            assert set(tmp_path.iterdir()) == before

    def test_a_step_sees_what_is_kept_and_the_mail_of_the_same_moment(self, tmp_path: Path) -> None:
        """What it keeps is there for the next one; what it forgets is gone; its answer is given back."""
        with self.opened(tmp_path) as (parts, clock):
            parts.boxes.post(ROLE, "ann", make_draft("text"))
            monitor = make_monitor(clock, owner="ann")
            assert parts.monitors.change(ROLE, "ann", lambda one, sight: (monitor, (one, sight))) == (
                None,
                Sight(1, 1, 1),
            )
            later = monitor._replace(last_seen=1, session="two")
            assert _swap(parts, "ann", later) == monitor
            assert parts.monitors.of_session("one") == []
            assert parts.monitors.of_session("two") == [later]
            assert _swap(parts, "ann", None) == later
            assert _swap(parts, "ann", None) is None
            assert parts.monitors.all() == []

    def test_what_a_step_raises_is_raised_and_nothing_is_changed(self, tmp_path: Path) -> None:
        """The same holds for what cannot be kept."""
        with self.opened(tmp_path) as (parts, clock):
            monitor = make_monitor(clock)
            _keep(parts, monitor)
            with refused_with(IllegalStep):
                parts.monitors.change(ROLE, "", _fail)
            with refused_with(BadText):
                _keep(parts, monitor._replace(session="\ud800"))
            assert parts.monitors.all() == [monitor]

    def test_d2_steps_of_many_threads_do_not_miss_each_other(self, tmp_path: Path) -> None:
        """Each sees what the one before it kept."""
        with self.opened(tmp_path) as (parts, clock):
            _keep(parts, make_monitor(clock))

            def count() -> None:
                for _ in range(10):
                    parts.monitors.change(ROLE, "", _count)

            threads = [threading.Thread(target=count) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            found = parts.monitors.monitor(ROLE, "")
            assert found
            assert found.tries == 40

    def test_i1_i2_a_subscription_ends_with_the_first_signal_that_it_waits_for(self, tmp_path: Path) -> None:
        """Another run, another action, another state, another role, another owner end nothing."""
        with self.opened(tmp_path) as (parts, clock):
            first, second = make_subscription(clock, "sub1"), make_subscription(clock, "sub2", "ann")
            third = make_subscription(clock, "sub3")._replace(states=("failed\0",), session="x", report_only=False)
            for one in (first, second, third):
                parts.subscriptions.add(one)
            assert parts.subscriptions.all("") == [first, third]
            others = [_DONE._replace(correlation="43"), _DONE._replace(action="build"), _DONE._replace(state="begun")]
            assert parts.subscriptions.take_matching(ROLE, "", others) == []
            assert parts.subscriptions.take_matching("team/bob", "", [_DONE]) == []
            assert parts.subscriptions.take_matching(ROLE, "bob", [_DONE]) == []
            assert parts.subscriptions.take_matching(ROLE, "", []) == []
            assert parts.subscriptions.take_matching(ROLE, "", [*others, _DONE, _DONE]) == [first]
            assert parts.subscriptions.take_matching(ROLE, "", [_DONE]) == []
            assert parts.subscriptions.take_matching(ROLE, "", [_DONE._replace(state="failed\0")]) == [third]
            assert parts.subscriptions.all("ann") == [second]
            assert not parts.subscriptions.remove("sub2", "")
            assert parts.subscriptions.remove("sub2", "ann")
            assert not parts.subscriptions.remove("sub2", "ann")

    def test_i3_a_subscription_that_is_over_is_given_out_once(self, tmp_path: Path) -> None:
        """Of all owners, and only from its time on."""
        with self.opened(tmp_path) as (parts, clock):
            early, late = make_subscription(clock, "sub1", "bob"), make_subscription(clock, "sub2", seconds=61)
            other = make_subscription(clock, "sub3", "ann")
            for one in (early, late, other):
                parts.subscriptions.add(one)
            clock.advance(59.999)
            assert parts.subscriptions.take_expired(clock.now()) == []
            clock.advance(0.001)
            assert parts.subscriptions.take_expired(clock.now()) == [other, early]
            assert parts.subscriptions.take_expired(clock.now()) == []
            assert parts.subscriptions.all("") == [late]

    def test_i1_of_many_threads_one_is_given_a_subscription(self, tmp_path: Path) -> None:
        """By whatever it ends."""
        with self.opened(tmp_path) as (parts, clock):
            for number in range(20):
                parts.subscriptions.add(make_subscription(clock, f"sub{number}"))
            clock.advance(60)
            taken: list[Subscription] = []
            barrier = threading.Barrier(4)

            def act(number: int) -> None:
                barrier.wait()
                if number % 2:
                    taken.extend(parts.subscriptions.take_matching(ROLE, "", [_DONE]))
                else:
                    taken.extend(parts.subscriptions.take_expired(clock.now()))

            threads = [threading.Thread(target=act, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(one.id for one in taken) == sorted(f"sub{number}" for number in range(20))
