"""Who holds a role. The statements B4 and C1 to C4, and the reports, are those of the specification of the monitor."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import BadAddress, Forbidden, NothingThere, RoleHeld
from restante.domain.message import Draft
from restante.domain.registry import Arrival, Identity, Presence, Process
from restante.domain.team import LEASE, Lease, Standing, parse_role, parse_team, standing
from restante.roster import Roster
from restante.system.bells import is_ringing
from restante.wiring.sessions import SessionParts

from .conftest import ALICE, BOB, CAROL, ROLE, Town

if TYPE_CHECKING:
    from pathlib import Path

    from restante.testing import FakeClock


def test_a_persons_join_registers_a_role_and_a_sessions_join_takes_it_too(town: Town) -> None:
    assert town.by().join(ROLE).standing is None
    assert town.by(ALICE).join("parser/writer", worktree="/there").is_held
    seats = town.by().seats("parser")
    assert [(seat.member.role, seat.is_held, seat.name) for seat in seats] == [
        ("parser/reviewer", False, ""),
        ("parser/writer", True, "alice"),
    ]
    assert (seats[1].member.worktree, seats[1].member.vendor, seats[1].presence) == ("/there", "codex", Presence.ALIVE)


def test_joining_and_taking_again_change_nothing_but_the_heartbeat(town: Town, clock: FakeClock) -> None:
    first = town.by(ALICE).join(ROLE)
    clock.advance(60)
    second = town.by(ALICE).join(ROLE)
    third = town.by(ALICE).act_as(ROLE)
    assert first.member.joined == second.member.joined == third.member.joined
    assert first.member.generation == second.member.generation == third.member.generation == 1
    assert third.member.lease
    assert third.member.lease.heartbeat == clock.now()


def test_c1_a_second_session_is_refused_with_who_holds_the_role_and_nothing_changes(town: Town) -> None:
    before = town.by(ALICE).join(ROLE)
    for act in (town.by(BOB).join, town.by(BOB).act_as, town.by(BOB).leave, town.by(BOB).drop):
        with pytest.raises(RoleHeld, match=f"held by session alice .{ALICE}.") as refused:
            act(ROLE)
        assert (refused.value.exit_code, refused.value.code) == (4, "role_held")
        assert refused.value.details == ({"role": ROLE, "session": ALICE, "generation": 1},)
    assert town.by().seat(ROLE) == before


def test_a_join_that_cannot_take_the_role_leaves_nothing_behind_of_it(town: Town) -> None:
    town.by(ALICE).join(ROLE, worktree="/a")
    with pytest.raises(RoleHeld):
        town.by(BOB).join(ROLE, worktree="/b")
    assert town.by().seat(ROLE).member.worktree == "/a"


def test_c3_the_role_of_a_crashed_holder_may_be_taken_and_everything_it_does_later_is_refused(town: Town) -> None:
    town.by(ALICE).join(ROLE)
    message = town.post("text")
    held = town.window_of(ALICE)
    assert [one.message.id for one in held.read().entries] == [message]
    town.kill(ALICE)
    assert town.by().seat(ROLE).standing is Standing.DEAD
    assert town.by(BOB).act_as(ROLE).member.generation == 2
    for act in (
        lambda: town.by(ALICE).check_holder(ROLE),
        lambda: town.by(ALICE).read(ROLE),
        lambda: town.by(ALICE).confirm(ROLE, [message]),
        lambda: town.by(ALICE).acknowledge(ROLE, [message]),
        lambda: town.by(ALICE).act_as(ROLE),
        lambda: town.by(ALICE).drop(ROLE),
        lambda: town.by(ALICE).leave(ROLE),
        lambda: held.acknowledge([message]),
        lambda: town.window_of(ALICE).acknowledge([message], through=True),
    ):
        with pytest.raises(RoleHeld, match="held by session bob"):
            act()
    assert town.window_of(ALICE).read().entries == ()
    (entry,) = town.entries()
    assert (entry.standing.seen_at, entry.standing.is_pending) == (None, True)
    assert [one.message.id for one in town.window_of(BOB).read().entries] == [message]


def test_report_677_and_683_what_was_read_before_a_takeover_cannot_be_marked_after_it(town: Town) -> None:
    """Between the look and the mark the role moves on, and comes back under another lease."""
    town.by(ALICE).join(ROLE)
    message = town.post("text")
    reader = town.by(ALICE)
    reader.read(ROLE)
    town.by().drop(ROLE)
    town.by(BOB).act_as(ROLE)
    town.by(BOB).drop(ROLE)
    town.by(ALICE).act_as(ROLE)
    for act in (reader.confirm, reader.acknowledge):
        with pytest.raises(RoleHeld, match="generation 3, not 1"):
            act(ROLE, [message])
    assert town.entries()[0].standing.status == "unseen"


def test_c4_a_role_of_the_same_name_in_another_team_is_another_one(town: Town) -> None:
    town.by(ALICE).join("parser/reviewer")
    assert town.by(BOB).join("lexer/reviewer").is_held
    town.post("to the lexer", "lexer/reviewer")
    assert town.window_of(ALICE).read().entries == ()
    assert len(town.window_of(BOB).read().entries) == 1
    with pytest.raises(RoleHeld):
        town.by(BOB).act_as("parser/reviewer")


def test_roles_of_another_owner_are_other_roles(town: Town) -> None:
    town.by(ALICE).join(ROLE)
    assert town.by(owner="somebody").seats() == []
    with pytest.raises(NothingThere):
        town.by(owner="somebody").post(ROLE, Draft("text"))


def test_b4_and_report_300_nobody_but_the_holder_is_shown_a_roles_mail_or_marks_it(town: Town) -> None:
    town.by(ALICE).join(ROLE)
    town.by(BOB).join("parser/writer")
    message = town.post("for the reviewer")
    other = town.window_of(BOB)
    assert other.read().entries == ()
    other.confirm([message])
    other.confirm([message], only_noticed=True)
    for act in (lambda: other.acknowledge([message]), lambda: town.by(BOB).check_not_of_others([message[-8:]])):
        with pytest.raises(RoleHeld, match=f"{message} is mail of {ROLE}, which you do not hold"):
            act()
    with pytest.raises(RoleHeld):
        town.by(BOB).read(ROLE)
    assert town.by(BOB).history(ROLE) == ([], 0)
    (entry,) = town.entries()
    assert (entry.standing.noticed_at, entry.standing.seen_at, entry.standing.is_pending) == (None, None, True)
    assert [one.message.body for one in town.by(ALICE).read(ROLE).entries] == ["for the reviewer"]


def test_a_person_looks_and_marks_nothing(town: Town) -> None:
    town.by(ALICE).join(ROLE)
    message = town.post("text")
    reading = town.by().read(ROLE)
    assert (reading.is_peek, [one.message.id for one in reading.entries]) == (True, [message])
    for act in (town.by().confirm, town.by().acknowledge):
        with pytest.raises(Forbidden):
            act(ROLE, [message])
    assert town.entries()[0].standing.status == "unseen"


@pytest.mark.parametrize("session", ["", ALICE])
def test_report_982_a_claim_alone_reads_nothing_and_takes_nothing(town: Town, session: str) -> None:
    """Fail closed: whoever dropped the claim of being a session is nobody in particular."""
    town.by(ALICE).join(ROLE)
    message = town.post("text")
    claimed = town.by(session, verified=False)
    for act in (claimed.act_as, claimed.read, claimed.history, lambda role: claimed.acknowledge(role, [message])):
        with pytest.raises((Forbidden, RoleHeld)):
            act(ROLE)
    assert claimed.mine() == []
    with pytest.raises(RoleHeld if not session else Forbidden):
        claimed.leave(ROLE) if not session else claimed.join(ROLE)
    assert town.entries()[0].standing.status == "unseen"


def test_report_693_a_holder_without_a_process_that_can_be_looked_at_does_not_hold_for_ever(
    town: Town, clock: FakeClock
) -> None:
    town.session("far-away-session", name="far", host="elsewhere")
    town.by("far-away-session").join(ROLE)
    clock.advance(LEASE.total_seconds() - 1)
    with pytest.raises(RoleHeld, match="held by session far"):
        town.by(BOB).act_as(ROLE)
    clock.advance(1)
    assert town.by().seat(ROLE).standing is Standing.EXPIRED
    assert town.by(BOB).act_as(ROLE).member.generation == 2


def test_a_holder_that_is_stopped_is_over_by_its_age_although_its_process_lives(town: Town, clock: FakeClock) -> None:
    town.by(ALICE).join(ROLE)
    clock.advance(LEASE.total_seconds())
    assert town.by(BOB).act_as(ROLE).is_held
    with pytest.raises(RoleHeld, match="held by session bob"):
        town.by(ALICE).check_holder(ROLE)


def test_what_the_holder_does_keeps_the_role(town: Town, clock: FakeClock) -> None:
    town.by(ALICE).join(ROLE)
    for _ in range(4):
        clock.advance(LEASE.total_seconds() / 2)
        town.window_of(ALICE).read()
    with pytest.raises(RoleHeld):
        town.by(BOB).act_as(ROLE)
    assert town.by().seat(ROLE).member.generation == 1


def test_a_holder_that_comes_back_before_anybody_took_its_role_holds_it_as_before(town: Town, clock: FakeClock) -> None:
    town.by(ALICE).join(ROLE)
    town.post("text")
    clock.advance(2 * LEASE.total_seconds())
    assert len(town.window_of(ALICE).read().entries) == 1
    seat = town.by().seat(ROLE)
    assert (seat.is_held, seat.member.generation) == (True, 1)


def test_report_149_a_session_that_ended_holds_nothing_and_has_it_again_when_it_is_resumed(town: Town) -> None:
    town.by(ALICE).join(ROLE)
    town.by(ALICE).join("parser/writer")
    town.window(ALICE).detach()
    assert [seat.standing for seat in town.by().seats("parser")] == [Standing.DEAD, Standing.DEAD]
    assert town.by(BOB).act_as(ROLE).is_held
    town.pids += 1
    resumed = Arrival(ALICE, "codex", process=Process("here", town.pids, "later"))
    town.window(ALICE).register(resumed)
    assert [one.role for one in town.window_of(ALICE)._readings("", None)] == ["parser/writer"]
    held = {seat.member.role: seat.name for seat in town.by().seats() if seat.is_held}
    assert held == {"parser/reviewer": "bob", "parser/writer": "alice"}
    lease = town.by().seat("parser/writer").member.lease
    assert lease
    assert lease.process == resumed.process


def test_a_deleted_session_holds_nothing_and_the_mail_of_its_roles_stays(town: Town) -> None:
    town.by(ALICE).join(ROLE)
    message = town.post("text")
    town.person.delete(ALICE)
    assert town.by().holder(ROLE) is None
    assert town.by(BOB).act_as(ROLE).counts.pending == 1
    assert [one.message.id for one in town.window_of(BOB).read().entries] == [message]


def test_report_93_the_second_of_two_programs_that_go_by_one_session_acts_as_none_of_its_roles(
    town: Town, clock: FakeClock
) -> None:
    town.by(ALICE).join(ROLE)
    town.post("text")

    class Second(SessionParts):
        def is_ours(self, process: Process) -> bool:
            return False

    parts = Second(town.environment, clock=clock)
    parts.processes = town.processes
    second = Roster(parts, lambda: Identity("", ALICE, verified=True))
    assert second.mine() == []
    for act in (second.read, second.act_as, second.check_holder):
        with pytest.raises(Forbidden, match="another process of it asks"):
            act(ROLE)
    assert second.readings() == []
    with pytest.raises(Forbidden, match="another process of it asks"):
        second.drop(ROLE)
    with pytest.raises(Forbidden, match="another process of it asks"):
        second.leave(ROLE)
    holder = town.by().holder(ROLE)
    assert holder is not None
    assert holder.id == ALICE, "whoever names its id takes no role away from it"
    parts.close()


@pytest.mark.parametrize("session", ["", BOB])
def test_whoever_proves_nothing_takes_no_role_out_of_its_team_though_nobody_holds_it(town: Town, session: str) -> None:
    town.by().join(ROLE)
    with pytest.raises(Forbidden, match="nothing proved"):
        town.by(session, verified=False).leave(ROLE)
    assert [seat.member.role for seat in town.by().seats()] == [ROLE]
    assert town.by(BOB).leave(ROLE)


def test_report_1071_what_cannot_be_told_is_no_reason_to_take_a_role(town: Town) -> None:
    town.session("no-process", name="", host="elsewhere")
    town.by("no-process").join(ROLE)
    assert town.by().seat(ROLE).presence is Presence.UNKNOWN
    with pytest.raises(RoleHeld):
        town.by(BOB).act_as(ROLE)


def test_report_656_a_role_can_always_be_let_go_of_by_its_holder_or_a_person_and_again(town: Town) -> None:
    town.by(ALICE).join(ROLE)
    assert town.by(ALICE).drop(ROLE) == ALICE
    assert town.by(ALICE).drop(ROLE) == ""
    town.by(BOB).act_as(ROLE)
    assert town.by().drop(ROLE) == BOB
    assert town.by().drop(ROLE) == ""
    with pytest.raises(RoleHeld, match="nobody holds"):
        town.by(BOB).read(ROLE)


def test_a_role_that_left_has_no_holder_and_keeps_its_mail_and_its_count(town: Town) -> None:
    town.by(ALICE).join(ROLE)
    message = town.post("text")
    assert town.by(ALICE).leave(ROLE)
    assert not town.by(ALICE).leave(ROLE)
    assert town.by().seats() == []
    assert town.window_of(ALICE).read().entries == ()
    with pytest.raises(NothingThere):
        town.by().post(ROLE, Draft("text"))
    assert [one.message.id for one in town.entries()] == [message]
    assert town.by(BOB).join(ROLE).member.generation == 2
    assert [one.message.id for one in town.window_of(BOB).read().entries] == [message]


def test_only_a_session_holds_a_role(town: Town) -> None:
    town.by().join(ROLE)
    with pytest.raises(Forbidden, match="only a session holds a role"):
        town.by().act_as(ROLE)


@pytest.mark.parametrize(
    ("meant", "near"), [("parser/Reviewer", "parser/reviewer"), ("parsr/reviewer", "parser/reviewer"), ("parser/x", "")]
)
def test_an_unknown_role_is_told_with_what_may_be_meant(town: Town, meant: str, near: str) -> None:
    town.by().join("parser/reviewer")
    town.by().join("parser/writer")
    for act in (town.by().seat, town.by(ALICE).act_as, lambda role: town.by().post(role, Draft("text"))):
        with pytest.raises(NothingThere, match=f"no role {meant}; there is {near}"):
            act(meant)
    with pytest.raises(NothingThere, match="no team parsr; there is parser"):
        town.by().seats("parsr")


@pytest.mark.parametrize(
    "role", ["", "/", "a/", "/b", "a", "a/b/c", "-a/b", "a b/c", "ä/b", "a/b\n", "session:a/b", "../b"]
)
def test_what_is_no_roles_name_is_refused(town: Town, role: str) -> None:
    with pytest.raises(BadAddress):
        parse_role(role)
    with pytest.raises(BadAddress):
        town.by().join(role)


def test_a_team_is_named_with_or_without_a_sign_for_all() -> None:
    assert {parse_team(text) for text in ("a", "a/", "a/*")} == {"a"}
    for text in ("", "*", "/", "a/b", "a*", "a/**"):
        with pytest.raises(BadAddress):
            parse_team(text)


def test_a_heartbeat_in_the_future_proves_nothing(clock: FakeClock) -> None:
    lease = Lease(1, ALICE, None, clock.now(), clock.now(), LEASE)
    for back in (timedelta(minutes=1), timedelta(days=400)):
        assert standing(lease, Presence.UNKNOWN, clock.now() - back) is Standing.HELD
        assert standing(lease, Presence.GONE, clock.now() - back) is Standing.DEAD
    assert standing(lease, Presence.ALIVE, clock.now() + LEASE) is Standing.EXPIRED


def test_taking_a_role_rings_for_the_mail_that_waited(town: Town, tmp_path: Path) -> None:
    town.by().join(ROLE)
    town.post("text")
    assert not is_ringing(str(tmp_path / "carol"))
    town.by(CAROL).act_as(ROLE)
    assert is_ringing(str(tmp_path / "carol"))
