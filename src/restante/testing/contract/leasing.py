"""Leases: of all sessions one holds a role, and who held it before can do nothing with it any more."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import BadText, NothingThere, RoleHeld
from restante.testing.contract.base import refused_with
from restante.testing.contract.team_parts import HOURS, ROLE, TeamsBase, process, take

if TYPE_CHECKING:
    from pathlib import Path


class Leasing(TeamsBase):
    """Tests of ``Teams``."""

    def test_joining_again_changes_nothing_but_where_the_role_works(self, tmp_path: Path) -> None:
        """A place that is not said stays; the day it joined and who holds it stay in any case."""
        with self.opened(tmp_path) as (parts, clock):
            first = parts.teams.join(ROLE, "", clock.now(), worktree="/a", vendor="codex")
            lease = take(parts.teams, clock, "one")
            clock.advance(60)
            assert parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="") == first._replace(
                generation=1, lease=lease
            )
            moved = parts.teams.join(ROLE, "", clock.now(), worktree="/b", vendor="claude")
            assert moved == first._replace(worktree="/b", vendor="claude", generation=1, lease=lease)
            assert parts.teams.member(ROLE, "") == moved

    def test_reading_creates_nothing_and_knows_nothing_before_the_first_role(self, tmp_path: Path) -> None:
        """Whoever has no teams pays nothing for them."""
        with self.opened(tmp_path) as (parts, clock):
            before = set(tmp_path.iterdir())
            assert parts.teams.member(ROLE, "") is None
            assert parts.teams.members("", "") == parts.teams.members("team", "") == []
            assert parts.teams.held_by("one", "") == []
            assert parts.teams.leases() == []
            assert parts.teams.leave(ROLE, "", clock.now()) is None
            assert not parts.teams.release(ROLE, "", clock.now(), session="one")
            with refused_with(RoleHeld):
                parts.teams.beat(ROLE, "", clock.now(), session="one")
            with refused_with(NothingThere):
                take(parts.teams, clock, "one")
            assert set(tmp_path.iterdir()) == before

    def test_c1_a_second_session_is_refused_and_told_who_holds_it(self, tmp_path: Path) -> None:
        """Nothing is changed by the attempt, and the error says it for programs too."""
        with self.opened(tmp_path) as (parts, clock):
            parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            take(parts.teams, clock, "one", at=process(7))
            before = parts.teams.member(ROLE, "")
            clock.advance(60)
            told: RoleHeld | None = None
            try:
                take(parts.teams, clock, "two")
            except RoleHeld as error:
                told = error
            assert told
            assert "session one" in told.message
            assert told.exit_code == 4
            assert told.details == ({"role": ROLE, "session": "one", "generation": 1},)
            assert parts.teams.member(ROLE, "") == before
            assert parts.teams.held_by("two", "") == []

    def test_taking_what_one_holds_renews_it_under_the_same_generation(self, tmp_path: Path) -> None:
        """A session that goes on in another process is the same holder."""
        with self.opened(tmp_path) as (parts, clock):
            parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            first = take(parts.teams, clock, "one", at=process(7))
            clock.advance(60)
            again = take(parts.teams, clock, "one", time_to_live=timedelta(minutes=1))
            assert again == first._replace(heartbeat=clock.now(), time_to_live=timedelta(minutes=1))
            assert take(parts.teams, clock, "one", at=process(8)) == again._replace(
                process=process(8), time_to_live=HOURS
            )

    def test_c3_a_dead_holder_is_followed_and_fenced(self, tmp_path: Path) -> None:
        """The number is given again to another process: what began at another time is another one."""
        with self.opened(tmp_path) as (parts, clock):
            parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            take(parts.teams, clock, "one", at=process(7, "before"))
            with refused_with(RoleHeld):
                take(parts.teams, clock, "two", dead={process(7, "after")})
            taken = take(parts.teams, clock, "two", at=process(7, "after"), dead={process(7, "before")})
            assert taken.generation == 2
            for generation in (None, 1, 2):
                with refused_with(RoleHeld):
                    parts.teams.beat(ROLE, "", clock.now(), session="one", generation=generation)
                assert not parts.teams.release(ROLE, "", clock.now(), session="one", generation=generation)
            member = parts.teams.member(ROLE, "")
            assert member
            assert member.lease == taken

    def test_an_old_generation_is_fenced_from_the_same_session_too(self, tmp_path: Path) -> None:
        """What was begun under an earlier hold is not finished under a later one."""
        with self.opened(tmp_path) as (parts, clock):
            parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            take(parts.teams, clock, "one")
            assert parts.teams.release(ROLE, "", clock.now(), session="one", generation=1)
            assert not parts.teams.release(ROLE, "", clock.now(), session="one")
            assert take(parts.teams, clock, "one").generation == 2
            with refused_with(RoleHeld):
                parts.teams.beat(ROLE, "", clock.now(), session="one", generation=1)
            assert not parts.teams.release(ROLE, "", clock.now(), session="one", generation=1)
            assert parts.teams.beat(ROLE, "", clock.now(), session="one", generation=2).generation == 2

    def test_a_silent_holder_is_followed_when_its_time_is_over_and_not_before(self, tmp_path: Path) -> None:
        """Each beat begins the time anew."""
        with self.opened(tmp_path) as (parts, clock):
            parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            take(parts.teams, clock, "one", time_to_live=timedelta(seconds=60))
            clock.advance(59)
            assert parts.teams.beat(ROLE, "", clock.now(), session="one").heartbeat == clock.now()
            clock.advance(59.999)
            with refused_with(RoleHeld):
                take(parts.teams, clock, "two")
            clock.advance(0.001)
            assert take(parts.teams, clock, "two").generation == 2

    def test_a_clock_that_is_set_back_gives_no_role_away(self, tmp_path: Path) -> None:
        """A beat from the future holds until it is repeated, or its time has come again."""
        with self.opened(tmp_path) as (parts, clock):
            parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            take(parts.teams, clock, "one", at=process(7), time_to_live=timedelta(seconds=60))
            clock.advance(-3600)
            with refused_with(RoleHeld):
                take(parts.teams, clock, "two")
            assert parts.teams.beat(ROLE, "", clock.now(), session="one").heartbeat == clock.now()
            clock.advance(60)
            assert take(parts.teams, clock, "two").generation == 2
            clock.advance(-3600)
            assert take(parts.teams, clock, "three", dead={None}).generation == 3

    def test_c4_the_same_role_of_another_team_or_owner_is_another_role(self, tmp_path: Path) -> None:
        """A foreign role is an unknown one."""
        with self.opened(tmp_path) as (parts, clock):
            for owner in ("ann", "bob"):
                for role in (ROLE, "team2/alice", "team/bob", "team-x/a", "team.x/a"):
                    parts.teams.join(role, owner, clock.now(), worktree=owner, vendor="")
            take(parts.teams, clock, "one", owner="ann")
            assert take(parts.teams, clock, "two", owner="bob").generation == 1
            assert take(parts.teams, clock, "two", owner="ann", role="team2/alice").generation == 1
            assert [one.role for one in parts.teams.members("team", "ann")] == [ROLE, "team/bob"]
            assert [one.role for one in parts.teams.members("", "bob")] == sorted(
                [ROLE, "team2/alice", "team/bob", "team-x/a", "team.x/a"]
            )
            assert [one.role for one in parts.teams.held_by("two", "ann")] == ["team2/alice"]
            assert [(owner, one.role) for owner, one in parts.teams.leases()] == [
                ("ann", ROLE),
                ("ann", "team2/alice"),
                ("bob", ROLE),
            ]
            assert parts.teams.member(ROLE, "") is None
            assert parts.teams.leave(ROLE, "carl", clock.now()) is None

    def test_leaving_ends_the_hold_and_a_role_that_comes_back_goes_on_counting(self, tmp_path: Path) -> None:
        """So that nobody who held it before can pass for its holder."""
        with self.opened(tmp_path) as (parts, clock):
            parts.teams.join(ROLE, "", clock.now(), worktree="/a", vendor="codex")
            lease = take(parts.teams, clock, "one")
            left = parts.teams.leave(ROLE, "", clock.now())
            assert left
            assert left.lease == lease
            assert parts.teams.leave(ROLE, "", clock.now()) is None
            assert parts.teams.members("", "") == parts.teams.held_by("one", "") == []
            with refused_with(RoleHeld):
                parts.teams.beat(ROLE, "", clock.now(), session="one")
            with refused_with(NothingThere):
                take(parts.teams, clock, "one")
            clock.advance(60)
            back = parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            assert (back.joined, back.worktree, back.vendor, back.lease) == (clock.now(), "", "", None)
            assert take(parts.teams, clock, "one").generation == 2

    def test_what_is_no_text_is_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        """A lone surrogate cannot be kept."""
        with self.opened(tmp_path) as (parts, clock):
            with refused_with(BadText):
                parts.teams.join(ROLE, "", clock.now(), worktree="\ud800", vendor="")
            parts.teams.join(ROLE, "", clock.now(), worktree="/w\0", vendor="")
            with refused_with(BadText):
                take(parts.teams, clock, "\udfff")
            member = parts.teams.member(ROLE, "")
            assert member
            assert (member.worktree, member.lease) == ("/w\0", None)

    def test_any_history_of_leases_gives_what_the_model_gives(self, tmp_path: Path) -> None:
        """Deaths, silence, clocks set forward and back, taking over, leaving: as a few dictionaries say."""
        from hypothesis.stateful import run_state_machine_as_test

        from restante.testing.leases import lease_machine

        run_state_machine_as_test(lease_machine(self, tmp_path))
