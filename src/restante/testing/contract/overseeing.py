"""Overseeing: many mailboxes asked at once say what each says itself, and to nobody else."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import MailboxDeleted, MailboxFull
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Counts, Mark
from restante.domain.message import Sender
from restante.domain.overview import Fate, Flow
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Arrival
from restante.testing.contract.base import refused_with
from restante.testing.contract.parts import ANN, UNKNOWN, SessionsBase
from restante.testing.fakes import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.domain.message import Message
    from restante.domain.overview import Trace


class Overseeing(SessionsBase):
    """Tests of ``Boxes``."""

    def test_s59_events_of_owners_are_their_own_and_without_gaps_in_telling(self, tmp_path: Path) -> None:
        """Whoever asks with the last number he was told misses nothing; a foreign change moves no number of his."""
        with self.opened(tmp_path) as (sessions, boxes, clock):
            for owner in ("ann", "bob"):
                for name in ("one", "two", "three"):
                    sessions.attach(Arrival(f"{owner}-{name}"), owner, clock.now(), is_proven=False)
                    boxes.box(f"{owner}-{name}", owner).post(make_draft("text"))
            assert (sessions.tip("ann")[1], boxes.tip("ann")[1]) == (3, 3)
            changed, _ = sessions.changed_since(1, "ann")
            assert [(one.id, one.event) for one in changed] == [("ann-two", 2), ("ann-three", 3)]
            assert boxes.changed_since(1, "ann") == ["ann-two", "ann-three"]
            boxes.box("ann-one", "ann").post(make_draft("again"))
            assert boxes.changed_since(3, "ann") == ["ann-one"]
            assert boxes.changed_since(0, "ann") == ["ann-two", "ann-three", "ann-one"]
            assert boxes.tip("bob")[1] == 3
            assert sessions.tip("ann") == (sessions.tip("ann")[0], 3)

    def test_what_was_posted_since_a_time_is_counted_by_sender_and_session(self, tmp_path: Path) -> None:
        """Of that owner, whatever became of it since; what is older is left out."""
        with self.opened(tmp_path) as (_, boxes, clock):
            assert boxes.flows("", clock.now()) == {}
            boxes.box("one", "").post(make_draft("old", sender=ANN))
            clock.advance(60)
            since = clock.now()
            mine = [boxes.box(name, "").post(make_draft("new", sender=ANN)).message for name in ("one", "one", "two")]
            boxes.box("one", "").acknowledge([Acknowledgement(mine[0].id, Decision.ACCEPTED)], "reader")
            boxes.box("two", "").post(make_draft("by a person"))
            boxes.box("other", "bob").post(make_draft("foreign", sender=ANN))
            assert boxes.flows("", since) == {
                (ANN.name, "one"): Flow(2, 1),
                (ANN.name, "two"): Flow(1, 1),
                ("human", "two"): Flow(1, 1),
            }
            assert boxes.flows("bob", since) == {(ANN.name, "other"): Flow(1, 1)}

    def test_every_change_of_a_mailbox_is_an_event_and_looking_is_none(self, tmp_path: Path) -> None:
        """Posts, marks, words, withdrawals, expiry once it is recorded, and the end of it."""
        with self.opened(tmp_path) as (_, boxes, clock):
            box = boxes.box("one", "")
            first, second, third = (
                box.post(make_draft(str(n), sender=ANN, expires=clock.now() + timedelta(minutes=1))).message
                for n in range(3)
            )
            acts: list[Callable[[], object]] = [
                lambda: box.mark([first.id], Mark.SEEN, "reader"),
                lambda: box.acknowledge([Acknowledgement(first.id, Decision.ACCEPTED)], "reader"),
                lambda: box.withdraw(second.id),
                lambda: box.reply(first.id, "words", "reader"),
            ]
            for number, act in enumerate(acts, start=4):
                act()
                act()
                expected = number if number < 7 else 8
                assert boxes.tip("")[1] == expected
            tip = boxes.tip("")
            box.entries()
            boxes.counts("")
            boxes.traces(ANN.name, "")
            box.mark([first.id, UNKNOWN], Mark.SEEN, "reader")
            assert boxes.tip("") == tip
            clock.advance(60)
            assert boxes.box("one", "").counts().pending == 0
            box.mark([third.id], Mark.SEEN, "reader")
            assert boxes.changed_since(tip[1], "") == ["one"]
            tip = boxes.tip("")
            box.delete()
            assert boxes.changed_since(tip[1], "") == ["one"]

    def test_s35_s36_s40_counts_of_many_are_those_of_each(self, tmp_path: Path) -> None:
        """One look gives for each mailbox what it says itself; the oldest unseen time follows what is unseen."""
        with self.opened(tmp_path) as (_, boxes, clock):
            posted: dict[str, list[Message]] = {}
            for name in ("a", "b", "c"):
                for number in range(3):
                    clock.advance(1)
                    draft = make_draft(f"{name} {number}", expires=clock.now() + timedelta(minutes=number + 1))
                    posted.setdefault(name, []).append(boxes.box(name, "").post(draft).message)
            boxes.box("a", "").mark([posted["a"][0].id], Mark.SEEN, "a")
            boxes.box("b", "").acknowledge([Acknowledgement(one.id, Decision.REJECTED) for one in posted["b"]], "b")
            for seconds in (0, 61, 60, 60):
                clock.advance(seconds)
                counts = boxes.counts("")
                assert counts == {name: boxes.box(name, "").counts() for name in posted}
                assert boxes.counts("", ["a", "c", "nobody"]) == {name: counts[name] for name in ("a", "c")}
                many = [f"nobody-{number}" for number in range(100)]
                assert boxes.counts("", [*many, "b"]) == {"b": counts["b"]}
                if not seconds:
                    assert counts["a"] == Counts(3, 2, 3, 3, posted["a"][1].created)
                    assert counts["b"] == Counts(3, 0, 0, 3, None)
            assert {one.pending for one in boxes.counts("").values()} == {0}

    def test_nothing_that_expired_comes_back_when_the_clock_is_set_back(self, tmp_path: Path) -> None:
        """Also where it was only counted among others; mail that comes then has its whole time."""
        with self.opened(tmp_path) as (_, boxes, clock):
            for name in ("a", "b"):
                draft = make_draft("text", sender=ANN, expires=clock.now() + timedelta(minutes=1))
                boxes.box(name, "").post(draft)
            clock.advance(120)
            assert {one.pending for one in boxes.counts("").values()} == {0}
            clock.advance(-110)
            new = boxes.box("b", "").post(make_draft("new", sender=ANN, expires=clock.now() + timedelta(minutes=1)))
            assert {name: one.pending for name, one in boxes.counts("").items()} == {"a": 0, "b": 1}
            assert boxes.counts("", ["a"])["a"].pending == 0
            assert boxes.debts("") == {"ann": {"b"}}
            assert [entry.message for entry in boxes.box("b", "").entries(pending_only=True)] == [new.message]

    def test_owners_and_who_works_in_a_worktree_are_told_across_owners(self, tmp_path: Path) -> None:
        """Upkeep and the bell of a worktree are about all of them; who was detached works nowhere."""
        with self.opened(tmp_path) as (sessions, boxes, clock):
            assert (sessions.owners(), sessions.at("/w"), boxes.owners()) == ([], [], [])
            for name, owner, worktree in (("one", "", "/w"), ("two", "ann", "/w"), ("three", "ann", "/v")):
                sessions.attach(Arrival(name, worktree=worktree), owner, clock.now(), is_proven=False)
            boxes.box("two", "ann").post(make_draft("text"))
            boxes.box("left", "bob").post(make_draft("of a session that was deleted"))
            assert (sessions.owners(), boxes.owners()) == (["", "ann"], ["ann", "bob"])
            assert {one.id for one in sessions.at("/w")} == {"one", "two"}
            sessions.detach("two", "ann", clock.now())
            assert [one.id for one in sessions.at("/w")] == ["one"]
            sessions.delete("one", "", clock.now())
            assert (sessions.owners(), sessions.at("/w"), sessions.at("\ud800")) == (["ann"], [], [])

    def test_debts_are_pending_mail_between_sessions(self, tmp_path: Path) -> None:
        """Seen mail is one too; what was answered, withdrawn or expired is none, nor what a person wrote."""
        with self.opened(tmp_path) as (_, boxes, clock):
            bob = Sender("session:bob")
            first = boxes.box("x", "").post(make_draft("1", sender=ANN)).message
            boxes.box("x", "").post(make_draft("2", sender=bob))
            boxes.box("y", "").post(make_draft("3", sender=ANN, expires=clock.now() + timedelta(minutes=1)))
            boxes.box("y", "").post(make_draft("4", sender=Sender("human", verified=True)))
            boxes.box("z", "other").post(make_draft("5", sender=ANN))
            assert boxes.debts("") == {"ann": {"x", "y"}, "bob": {"x"}}
            boxes.box("x", "").mark([first.id], Mark.SEEN, "x")
            assert boxes.debts("") == {"ann": {"x", "y"}, "bob": {"x"}}
            boxes.box("x", "").acknowledge([Acknowledgement(first.id, Decision.ACCEPTED)], "x")
            clock.advance(60)
            assert boxes.debts("") == {"bob": {"x"}}

    def test_a_sender_can_ask_what_became_of_each_message(self, tmp_path: Path) -> None:
        """s25, s54: every way in which a message leaves has its word and its time; there is no text in it."""
        with self.opened(tmp_path) as (_, boxes, clock):
            box, at = boxes.box("x", ""), clock.now()
            lives = at + timedelta(seconds=30)
            names = ("unseen", "seen", "acknowledged", "withdrawn", "expired", "late")
            posted = [
                box.post(make_draft(name, sender=ANN, expires=lives if name in ("expired", "late") else None)).message
                for name in names
            ]
            box.post(make_draft("of another", sender=Sender("session:bob")))
            clock.advance(10)
            box.mark([posted[1].id], Mark.SEEN, "x")
            box.acknowledge([Acknowledgement(posted[2].id, Decision.ACCEPTED)], "x")
            clock.advance(5)
            box.acknowledge([Acknowledgement(posted[2].id, None, Action.APPLIED)], "x")
            box.withdraw(posted[3].id)
            clock.advance(45)
            box.acknowledge([Acknowledgement(posted[5].id, Decision.REJECTED)], "x")
            expected = [
                (Fate.UNSEEN, None, None, None),
                (Fate.SEEN, 10, None, None),
                (Fate.ACKNOWLEDGED, 15, Decision.ACCEPTED, Action.APPLIED),
                (Fate.WITHDRAWN, 15, None, None),
                (Fate.EXPIRED, 30, None, None),
                (Fate.ACKNOWLEDGED, 60, Decision.REJECTED, None),
            ]
            traces = boxes.traces(ANN.name, "")
            assert [trace.message_id for trace in traces] == [one.id for one in reversed(posted)]
            assert _told(traces, at) == expected
            assert {(trace.to, trace.created) for trace in traces} == {("x", at)}
            assert boxes.traces(ANN.name, "", limit=2) == traces[:2]
            wanted = [posted[4].id, UNKNOWN, posted[0].id, posted[4].id, "\u00e9"]
            assert boxes.traces(ANN.name, "", message_ids=wanted) == [traces[1], traces[5]]
            assert boxes.traces("session:bob", "", message_ids=[posted[0].id]) == []
            clock.advance(40)
            box.delete()
            gone = [(Fate.DELETED, 100, None, None)]
            assert _told(boxes.traces(ANN.name, ""), at) == gone * 2 + expected[2:]
            assert [trace.message_id for trace in boxes.traces(ANN.name, "", message_ids=[posted[0].id])] == [
                posted[0].id
            ]

    def test_s54_deleting_a_mailbox_leaves_only_its_ids(self, tmp_path: Path) -> None:
        """The text is gone, the ids answer that they were deleted, numbers go on."""
        with self.opened(tmp_path) as (_, boxes, _clock):
            box = boxes.box("x", "")
            message = box.post(make_draft("text", sender=ANN)).message
            box.delete()
            box.delete()
            assert (box.entries(), boxes.counts("")["x"].pending) == ([], 0)
            with refused_with(MailboxDeleted):
                box.entry(message.id)
            assert box.post(make_draft("next")).message.number == 2

    def test_s21_s22_s25_caps_hold_for_each_mailbox(self, tmp_path: Path) -> None:
        """The limits that the boxes were made with; a full one refuses, another one does not."""
        with self.opened(tmp_path, Limits(pending_messages=4, sender_share=0.5)) as (_, boxes, _clock):
            for number in range(2):
                boxes.box("x", "").post(make_draft(str(number), sender=ANN))
            with refused_with(MailboxFull):
                boxes.box("x", "").post(make_draft("over", sender=ANN))
            boxes.box("y", "").post(make_draft("fits", sender=ANN))
            assert [entry.message.body for entry in boxes.box("x", "").entries()] == ["0", "1"]


def _told(traces: list[Trace], at: datetime) -> list[tuple[Fate, float | None, Decision | None, Action | None]]:
    """Return what traces say, the oldest first, with times as seconds since one."""
    return [
        (one.fate, None if one.at is None else (one.at - at).total_seconds(), one.decision, one.action)
        for one in reversed(traces)
    ]
