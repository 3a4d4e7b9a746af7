"""The contract fails a home of teams that breaks it: each fault here was put into the SQL home on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from restante.domain.errors import RestanteError
from restante.domain.mailbox import Mark
from restante.domain.registry import Presence
from restante.stores.sql.in_memory import open_memory
from restante.stores.sql.monitors import SqlMonitors
from restante.stores.sql.role_boxes import SqlRoleBoxes
from restante.stores.sql.sights import SqlSights
from restante.stores.sql.subscriptions import SqlSubscriptions
from restante.stores.sql.teams import SqlTeams
from restante.testing import TeamsContract, lease_machine
from restante.testing.contract.team_parts import TeamParts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from restante.domain.mailbox import Posted
    from restante.domain.message import Draft
    from restante.domain.monitor import Sight, Signal, Subscription
    from restante.domain.team import Lease, Member
    from restante.stores.sql.role_boxes import RoleMailbox
    from restante.testing import FakeClock


class TakesFromTheLiving(SqlTeams):
    def take(self, role: str, owner: str, now: datetime, **words: Any) -> Lease:
        return super().take(role, owner, now, **words | {"presence": lambda _: Presence.GONE})


class NeverFollowsTheDead(SqlTeams):
    def take(self, role: str, owner: str, now: datetime, **words: Any) -> Lease:
        return super().take(role, owner, now, **words | {"presence": lambda _: Presence.UNKNOWN})


class CountsEveryRenewal(SqlTeams):
    def take(self, role: str, owner: str, now: datetime, **words: Any) -> Lease:
        self.release(role, owner, now, session=words["session"])
        return super().take(role, owner, now, **words)


class ForgivesOldGenerations(SqlTeams):
    def beat(self, role: str, owner: str, now: datetime, *, session: str, generation: int | None = None) -> Lease:
        return super().beat(role, owner, now, session=session)


class ReleasesForAnybody(SqlTeams):
    def release(self, role: str, owner: str, now: datetime, *, session: str, generation: int | None = None) -> bool:
        found = self.member(role, owner)
        holder = found.lease.session if found and found.lease else session
        return super().release(role, owner, now, session=holder)


class CountsAnewAfterLeaving(SqlTeams):
    def leave(self, role: str, owner: str, now: datetime) -> Member | None:
        left = super().leave(role, owner, now)
        with self._database.writing() as run:
            if run:
                run.raw("UPDATE members SET generation = 0 WHERE role = :role", [{"role": role}])  # type: ignore[attr-defined]
        return left


class HearsOfNobody(SqlTeams):
    def beat(self, role: str, owner: str, now: datetime, *, session: str, generation: int | None = None) -> Lease:
        before = self.member(role, owner)
        lease = super().beat(role, owner, now, session=session, generation=generation)
        if before and before.lease:
            super().beat(role, owner, before.lease.heartbeat, session=session)
        return lease


class ForgetsOwners(SqlTeams):
    def members(self, team: str, owner: str) -> list[Member]:
        return [*super().members(team, owner), *(super().members(team, "bob") if owner == "ann" else [])]


class HasNoFence(SqlRoleBoxes):
    def fenced(self, role: str, owner: str, session: str, generation: int | None = None) -> RoleMailbox:
        return self.box(role, owner)


class FencesOnceOnly(SqlRoleBoxes):
    def fenced(self, role: str, owner: str, session: str, generation: int | None = None) -> RoleMailbox:
        box = super().fenced(role, owner, session, generation)
        try:
            box.sweep()
        except RestanteError:
            return box
        return self.box(role, owner)


class SharesMailOfOwners(SqlRoleBoxes):
    def box(self, role: str, owner: str) -> RoleMailbox:
        return super().box(role, "")


class SignalsEveryCopy(SqlRoleBoxes):
    def post(self, role: str, owner: str, draft: Draft, signal: Signal | None = None) -> Posted:
        try:
            return super().post(role, owner, draft, signal)
        finally:
            if signal:
                super().post(role, owner, draft._replace(client_id="", body="copy"), signal)


class MarksWhatItSees(SqlSights):
    def look(self, mailbox: str, owner: str, *, whole: bool = False) -> Sight:
        found = super().look(mailbox, owner, whole=whole)
        box = self._database.mailbox(mailbox, owner=owner)  # type: ignore[attr-defined]
        box.mark(box.ids(), Mark.NOTICED, "whoever looked")
        return found


class MarkNeverFalls(SqlSights):
    def look(self, mailbox: str, owner: str, *, whole: bool = False) -> Sight:
        found = super().look(mailbox, owner, whole=whole)
        box = self._database.mailbox(mailbox, owner=owner)  # type: ignore[attr-defined]
        return found._replace(mark=box.counts().high_water)


class KeepsHalfAStep(SqlMonitors):
    def change(self, mailbox: str, owner: str, step: Any) -> Any:
        found = self.monitor(mailbox, owner)
        try:
            return super().change(mailbox, owner, step)
        except RestanteError:
            super().change(mailbox, owner, lambda *_: (found and found._replace(failures=1), None))
            raise


class GivesAgain(SqlSubscriptions):
    def take_matching(self, mailbox: str, owner: str, signals: Sequence[Signal]) -> list[Subscription]:
        taken = super().take_matching(mailbox, owner, signals)
        for one in taken:
            self.add(one)
        return taken


class WakesForAnyState(SqlSubscriptions):
    def take_matching(self, mailbox: str, owner: str, signals: Sequence[Signal]) -> list[Subscription]:
        return super().take_matching(mailbox, owner, [one._replace(state="done") for one in signals])


FAULTS: dict[type, str] = {
    TakesFromTheLiving: "test_c1_a_second_session_is_refused_and_told_who_holds_it",
    NeverFollowsTheDead: "test_c3_a_dead_holder_is_followed_and_fenced",
    CountsEveryRenewal: "test_taking_what_one_holds_renews_it_under_the_same_generation",
    ForgivesOldGenerations: "test_an_old_generation_is_fenced_from_the_same_session_too",
    ReleasesForAnybody: "test_c3_a_dead_holder_is_followed_and_fenced",
    CountsAnewAfterLeaving: "test_leaving_ends_the_hold_and_a_role_that_comes_back_goes_on_counting",
    HearsOfNobody: "test_a_silent_holder_is_followed_when_its_time_is_over_and_not_before",
    ForgetsOwners: "test_c4_the_same_role_of_another_team_or_owner_is_another_role",
    HasNoFence: "test_b4_whoever_does_not_hold_the_role_changes_nothing_of_its_mail",
    FencesOnceOnly: "test_b4_whoever_does_not_hold_the_role_changes_nothing_of_its_mail",
    SharesMailOfOwners: "test_c4_a_role_of_another_owner_has_another_mailbox",
    SignalsEveryCopy: "test_i1_a_signal_is_kept_with_its_message_or_not_at_all",
    MarksWhatItSees: "test_b1_looking_tells_how_far_mail_has_come_and_changes_nothing",
    MarkNeverFalls: "test_d4_what_was_read_out_of_order_leaves_the_mark_where_unread_mail_is",
    KeepsHalfAStep: "test_what_a_step_raises_is_raised_and_nothing_is_changed",
    GivesAgain: "test_i1_i2_a_subscription_ends_with_the_first_signal_that_it_waits_for",
    WakesForAnyState: "test_i1_i2_a_subscription_ends_with_the_first_signal_that_it_waits_for",
}

MACHINE_FINDS = (
    TakesFromTheLiving,
    NeverFollowsTheDead,
    CountsEveryRenewal,
    ForgivesOldGenerations,
    ReleasesForAnybody,
    CountsAnewAfterLeaving,
    HearsOfNobody,
    HasNoFence,
)


class _Faulty(TeamsContract):
    persistent: ClassVar[bool] = False

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def make_team_parts(self, tmp_path: Path, clock: FakeClock) -> TeamParts:
        database = open_memory(clock, self.ids)
        return TeamParts(
            self._or(SqlTeams)(database),
            self._or(SqlRoleBoxes)(database, clock, self.ids),
            self._or(SqlMonitors)(database, clock),
            self._or(SqlSights)(database, clock),
            self._or(SqlSubscriptions)(database),
        )

    def _or(self, kind: type) -> Any:
        return self.kind if issubclass(self.kind, kind) else kind


@pytest.mark.parametrize("kind", FAULTS, ids=lambda kind: kind.__name__)
def test_a_fault_is_found_by_the_test_of_that_promise(kind: type, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, RestanteError)):
        getattr(_Faulty(kind), FAULTS[kind])(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MACHINE_FINDS, ids=lambda kind: kind.__name__)
def test_a_fault_is_found_by_the_state_machine(kind: type, tmp_path: Path) -> None:
    only_look = settings(
        max_examples=400,
        stateful_step_count=40,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        deadline=None,
        report_multiple_bugs=False,
    )
    with pytest.raises((AssertionError, RestanteError)):
        run_state_machine_as_test(lease_machine(_Faulty(kind), tmp_path), settings=only_look)
