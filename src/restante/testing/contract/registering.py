"""Registering: sessions are who they were, found by who may, changed by who may; their events tell of it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import BadText, NoSuchMessage, NoSuchSession
from restante.domain.mailbox import Counts
from restante.domain.overview import Fate
from restante.domain.registry import Arrival, Latch, Process, TurnSource
from restante.testing.contract.base import refused_with
from restante.testing.contract.parts import ANN, PROCESS, SessionsBase
from restante.testing.fakes import make_draft

if TYPE_CHECKING:
    from pathlib import Path


class Registering(SessionsBase):
    """Tests of ``Sessions``."""

    def test_looking_into_nothing_finds_nothing_and_makes_nothing(self, tmp_path: Path) -> None:
        """Before the first session and the first message every question has an empty answer."""
        with self.opened(tmp_path) as (sessions, boxes, clock):
            assert (sessions.all(""), sessions.named("one", ""), sessions.session("one", "")) == ([], [], None)
            assert sessions.changed_since(0, "") == ([], [])
            assert (sessions.proven_by("digest"), sessions.proven_by(""), sessions.setting("one")) == (None, None, None)
            assert (boxes.counts(""), boxes.counts("", ["one"]), boxes.debts("")) == ({}, {}, {})
            assert (boxes.traces("human", ""), boxes.changed_since(0, "")) == ([], [])
            box = boxes.box("one", "")
            assert (box.entries(), box.counts()) == ([], Counts())
            box.delete()
            for act in (sessions.detach, sessions.delete, sessions.beat):
                act("one", "", clock.now())
            sessions.describe("one", "", clock.now(), name="x")
            sessions.latch("one", "", Latch(1, clock.now()), clock.now())
            sessions.park("one", "", clock.now(), clock.now())
            assert (sessions.tip("")[1], boxes.tip("")[1]) == (0, 0)
            assert sessions.all("") == []

    def test_a_session_is_kept_as_it_arrived(self, tmp_path: Path) -> None:
        """All that it says of itself is there, with the time and its first event."""
        with self.opened(tmp_path) as (sessions, _, clock):
            arrival = Arrival("one", "codex", "Näme 'x'", "/w \u00e9", "zero", PROCESS, "d" * 64)
            session = sessions.attach(arrival, "", clock.now(), is_proven=False)
            for word in ("id", "vendor", "name", "worktree", "parent", "process"):
                assert getattr(session, word) == getattr(arrival, word)
            assert (session.created, session.heartbeat, session.detached) == (clock.now(), clock.now(), None)
            assert (session.latch, session.blocked, session.event) == (Latch(), "", 1)
            assert sessions.session("one", "") == session
            assert sessions.all("") == [session]
            assert sessions.proven_by("d" * 64) == session

    def test_attaching_again_keeps_what_is_not_said(self, tmp_path: Path) -> None:
        """s56: the same id is the same session: what the arrival leaves empty stays, and it is attached again."""
        with self.opened(tmp_path) as (sessions, _, clock):
            first = sessions.attach(
                Arrival("one", "codex", "name", "/w", "p", PROCESS), "", clock.now(), is_proven=False
            )
            sessions.latch("one", "", Latch(3, clock.now(), TurnSource.HOOK), clock.now())
            sessions.detach("one", "", clock.now())
            clock.advance(60)
            other = Process("host", 78, "99")
            again = sessions.attach(Arrival("one", process=other), "", clock.now(), is_proven=False)
            expected = first._replace(process=other, heartbeat=clock.now(), latch=again.latch, event=again.event)
            assert again == expected
            assert again.latch.turn == 3
            assert again.event > first.event
            renamed = sessions.attach(Arrival("one", name="other"), "", clock.now(), is_proven=False)
            assert (renamed.name, renamed.vendor, renamed.process) == ("other", "codex", other)

    def test_a_secret_is_replaced_only_by_who_is_proven(self, tmp_path: Path) -> None:
        """Whoever merely knows the id cannot take it over."""
        with self.opened(tmp_path) as (sessions, _, clock):
            sessions.attach(Arrival("one"), "", clock.now(), is_proven=False)
            sessions.attach(Arrival("one", secret_digest=_digest("a")), "", clock.now(), is_proven=False)
            told = Arrival("one", "claude", "name", "/w", "parent", secret_digest=_digest("b"))
            again = sessions.attach(told, "", clock.now(), is_proven=False)
            assert (again.vendor, again.name, again.worktree, again.parent) == ("", "", "", "")
            assert sessions.proven_by(_digest("b")) is None
            assert sessions.proven_by(_digest("a")) is not None
            sessions.attach(Arrival("one", secret_digest=_digest("c")), "", clock.now(), is_proven=True)
            assert sessions.proven_by(_digest("a")) is None
            assert sessions.proven_by(_digest("c")) is not None
            sessions.attach(Arrival("one"), "", clock.now(), is_proven=True)
            assert sessions.proven_by(_digest("c")) is not None
            sessions.delete("one", "", clock.now())
            assert sessions.proven_by(_digest("c")) is None

    def test_s32_s37_a_foreign_session_is_an_unknown_one(self, tmp_path: Path) -> None:
        """No question of another owner finds it, no change reaches it, and its id cannot be taken."""
        with self.opened(tmp_path) as (sessions, boxes, clock):
            mine = sessions.attach(Arrival("one", name="name"), "ann", clock.now(), is_proven=False)
            boxes.box("one", "ann").post(make_draft("text", sender=ANN))
            for owner in ("", "bob"):
                assert sessions.session("one", owner) is None
                assert (sessions.named("name", owner), sessions.named("one", owner), sessions.all(owner)) == (
                    [],
                    [],
                    [],
                )
                assert sessions.changed_since(0, owner) == ([], [])
                assert (boxes.counts(owner), boxes.counts(owner, ["one"]), boxes.debts(owner)) == ({}, {}, {})
                assert (boxes.traces(ANN.name, owner), boxes.changed_since(0, owner)) == ([], [])
                foreign = boxes.box("one", owner)
                assert (foreign.entries(), foreign.counts()) == ([], Counts())
                with refused_with(NoSuchSession):
                    foreign.post(make_draft("intruder"))
                with refused_with(NoSuchMessage):
                    foreign.entry(boxes.box("one", "ann").ids()[0])
                foreign.delete()
                with refused_with(NoSuchSession):
                    sessions.attach(Arrival("one", name="mine"), owner, clock.now(), is_proven=True)
                sessions.latch("one", owner, Latch(9, clock.now()), clock.now())
                sessions.describe("one", owner, clock.now(), name="stolen")
                sessions.park("one", owner, clock.now(), clock.now())
                for act in (sessions.detach, sessions.delete, sessions.beat):
                    act("one", owner, clock.now() + timedelta(hours=1))
            assert sessions.session("one", "ann") == mine
            assert boxes.counts("ann")["one"].pending == 1

    def test_s27_s28_names_and_beginnings_of_ids_find_sessions(self, tmp_path: Path) -> None:
        """All that fit are returned, in the order of registration; an empty reference fits none."""
        with self.opened(tmp_path) as (sessions, _, clock):
            for number, (session_id, name) in enumerate(
                [("abcd-2", "x"), ("abcd-1", "abcd"), ("abce", ""), ("zz\U0010fffd", "abc"), ("Abcd", "")]
            ):
                clock.advance(number)
                sessions.attach(Arrival(session_id, name=name), "", clock.now(), is_proven=False)
            found = {
                reference: [one.id for one in sessions.named(reference, "")]
                for reference in ("abcd", "abcd-2", "abc", "zz", "Abcd", "", "abcd-3", "%", "_bcd", "x", "a\0")
            }
            assert found == {
                "abcd": ["abcd-2", "abcd-1"],
                "abcd-2": ["abcd-2"],
                "abc": ["abcd-2", "abcd-1", "abce", "zz\U0010fffd"],
                "zz": ["zz\U0010fffd"],
                "Abcd": ["Abcd"],
                "x": ["abcd-2"],
                **{reference: [] for reference in ("", "abcd-3", "%", "_bcd", "a\0")},
            }
            assert sessions.named("\ud800", "") == []
            assert sessions.session("\ud800", "") is None

    def test_what_is_no_text_is_refused(self, tmp_path: Path) -> None:
        """A lone surrogate cannot be kept, and must not be changed into something else."""
        with self.opened(tmp_path) as (sessions, _, clock):
            for arrival in (Arrival("\ud800"), Arrival("one", name="\ud800"), Arrival("one", worktree="/\udc80")):
                with refused_with(BadText):
                    sessions.attach(arrival, "", clock.now(), is_proven=False)
            sessions.attach(Arrival("one"), "", clock.now(), is_proven=False)
            with refused_with(BadText):
                sessions.describe("one", "", clock.now(), name="\ud800")
            with refused_with(BadText):
                sessions.set_setting("one", "\ud800")
            assert [one.name for one in sessions.all("")] == [""]

    def test_s58_s59_a_turn_number_never_falls_and_every_end_is_an_event(self, tmp_path: Path) -> None:
        """A late sign of an earlier turn changes nothing; the same latch again is no news."""
        with self.opened(tmp_path) as (sessions, _, clock):
            sessions.attach(Arrival("one"), "", clock.now(), is_proven=False)
            ended = Latch(2, clock.now(), TurnSource.HOOK)
            sessions.latch("one", "", ended, clock.now())
            event = sessions.tip("")[1]
            sessions.latch("one", "", ended, clock.now())
            sessions.latch("one", "", Latch(1, clock.now() + timedelta(1), TurnSource.HEURISTIC), clock.now())
            assert sessions.tip("")[1] == event
            session = sessions.session("one", "")
            assert session is not None
            assert session.latch == ended
            sessions.latch("one", "", Latch(2), clock.now())
            sessions.latch("one", "", Latch(3, clock.now(), TurnSource.EXIT), clock.now())
            (changed,), gone = sessions.changed_since(event, "")
            assert (changed.latch, gone) == (Latch(3, clock.now(), TurnSource.EXIT), [])
            assert changed.event == event + 2

    def test_describing_changes_what_is_given(self, tmp_path: Path) -> None:
        """``None`` leaves a thing as it is, an empty text takes it away."""
        with self.opened(tmp_path) as (sessions, _, clock):
            sessions.attach(Arrival("one", name="name"), "", clock.now(), is_proven=False)
            sessions.describe("one", "", clock.now(), blocked="permission", open_todos=2, total_todos=5)
            session = sessions.session("one", "")
            assert session is not None
            assert (session.name, session.blocked, session.open_todos, session.total_todos) == (
                "name",
                "permission",
                2,
                5,
            )
            sessions.describe("one", "", clock.now(), name="", blocked="", open_todos=0)
            session = sessions.session("one", "")
            assert session is not None
            assert (session.name, session.blocked, session.open_todos, session.total_todos) == ("", "", 0, 5)
            assert session.event == 3
            sessions.describe("one", "", clock.now(), name="")
            assert sessions.tip("")[1] == 3

    def test_a_sign_of_life_and_waiting_are_kept_and_are_no_events(self, tmp_path: Path) -> None:
        """They come often and mean nothing to who watches."""
        with self.opened(tmp_path) as (sessions, _, clock):
            first = sessions.attach(Arrival("one"), "", clock.now(), is_proven=False)
            since = clock.advance(10)
            sessions.beat("one", "", since)
            sessions.park("one", "", since, since + timedelta(seconds=90))
            parked = first._replace(heartbeat=since, parked_since=since, parked_until=since + timedelta(seconds=90))
            assert sessions.session("one", "") == parked
            sessions.park("one", "", None, None)
            assert sessions.session("one", "") == first._replace(heartbeat=since)
            assert sessions.tip("")[1] == 1

    def test_s54_s55_detaching_keeps_and_deleting_forgets(self, tmp_path: Path) -> None:
        """Both are events; detaching again keeps the first time; a deleted id is a trace until it comes again."""
        with self.opened(tmp_path) as (sessions, boxes, clock):
            sessions.attach(Arrival("one"), "", clock.now(), is_proven=False)
            boxes.box("one", "").post(make_draft("text"))
            at = clock.now()
            sessions.detach("one", "", at)
            clock.advance(60)
            sessions.detach("one", "", clock.now())
            session = sessions.session("one", "")
            assert session is not None
            assert (session.detached, session.event) == (at, 2)
            assert boxes.counts("")["one"].pending == 1
            sessions.delete("one", "", clock.now())
            sessions.delete("one", "", clock.now())
            assert sessions.session("one", "") is None
            assert sessions.changed_since(2, "") == ([], ["one"])
            assert sessions.changed_since(3, "") == ([], [])
            back = sessions.attach(Arrival("one"), "", clock.now(), is_proven=False)
            assert (back.created, back.latch) == (clock.now(), Latch())
            assert sessions.changed_since(2, "") == ([back], [])

    def test_s57_another_owner_may_use_an_id_that_was_deleted(self, tmp_path: Path) -> None:
        """The new session has an empty mailbox; who watched the old one, or wrote to it, still learns of its end."""
        with self.opened(tmp_path) as (sessions, boxes, clock):
            sessions.attach(Arrival("one"), "ann", clock.now(), is_proven=False)
            old = boxes.box("one", "ann").post(make_draft("old", sender=ANN)).message
            boxes.box("one", "ann").delete()
            sessions.delete("one", "ann", clock.now())
            sessions.attach(Arrival("one"), "bob", clock.now(), is_proven=False)
            box = boxes.box("one", "bob")
            assert (box.entries(), box.counts()) == ([], Counts())
            new = box.post(make_draft("new", sender=ANN)).message
            assert box.ids() == [new.id]
            with refused_with(NoSuchMessage):
                box.entry(old.id)
            assert sessions.changed_since(0, "ann") == ([], ["one"])
            assert [trace.fate for trace in boxes.traces(ANN.name, "ann")] == [Fate.DELETED]
            assert [trace.message_id for trace in boxes.traces(ANN.name, "bob")] == [new.id]

    def test_it_is_known_which_sessions_a_secret_proves(self, tmp_path: Path) -> None:
        """Of that owner, and without the secret."""
        with self.opened(tmp_path) as (sessions, _, clock):
            assert sessions.with_secrets("") == set()
            sessions.attach(Arrival("one", secret_digest="d" * 64), "", clock.now(), is_proven=False)
            sessions.attach(Arrival("two"), "", clock.now(), is_proven=False)
            sessions.attach(Arrival("three", secret_digest="e" * 64), "ann", clock.now(), is_proven=False)
            assert (sessions.with_secrets(""), sessions.with_secrets("ann")) == ({"one"}, {"three"})

    def test_settings_are_kept(self, tmp_path: Path) -> None:
        """The last value counts."""
        with self.opened(tmp_path) as (sessions, _, _clock):
            sessions.set_setting("persistence", "on")
            sessions.set_setting("persistence", "off")
            sessions.set_setting("other", "")
            assert (sessions.setting("persistence"), sessions.setting("other")) == ("off", "")


def _digest(secret: str) -> str:
    return f"digest of {secret}"
