"""Joining: steps made together are all there or none, and everything is there after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import MailboxFull, NoSuchMessage, NoSuchSession
from restante.domain.lifecycle import Status
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.receipt import Decision
from restante.domain.registry import Arrival
from restante.testing.contract.base import refused_with
from restante.testing.contract.parts import ANN, PROCESS, ROOMY, UNKNOWN, SessionsBase, Undone, leave_with_an_error
from restante.testing.fakes import make_draft

if TYPE_CHECKING:
    from pathlib import Path

    from restante.ports.sessions import Boxes, Sessions


class Joining(SessionsBase):
    """Tests of ``together``, and of opening again."""

    def test_s51_everything_is_there_again_after_a_restart(self, tmp_path: Path) -> None:
        """Sessions, settings, numbers, what was seen: closed and opened again they are as they were."""
        if not self.persistent:
            return
        with self.opened(tmp_path) as (sessions, boxes, clock):
            arrival = Arrival("x", "codex", process=PROCESS, secret_digest=_digest("d"))
            sessions.attach(arrival, "", clock.now(), is_proven=False)
            sessions.set_setting("persistence", "on")
            messages = [boxes.box("x", "").post(make_draft(str(n), sender=ANN)).message for n in range(2)]
            boxes.box("x", "").mark([messages[0].id], Mark.SEEN, "x")
            before = _everything(sessions, boxes)
            self.close_parts(sessions, boxes)
            again = self.make_parts(tmp_path, clock, ROOMY)
            assert _everything(*again) == before
            self.close_parts(*again)

    def test_steps_together_see_each_other_and_one_that_fails_is_undone_alone(self, tmp_path: Path) -> None:
        """All that was not refused is there afterwards, as if each step had been made alone."""
        with self.opened(tmp_path, Limits(pending_messages=2)) as (sessions, boxes, clock):
            box = boxes.box("x", "")
            with sessions.together(), boxes.together(), boxes.together():
                first = box.post(make_draft("one", client_id="c")).message
                assert box.post(make_draft("one", client_id="c")).duplicate
                sessions.attach(Arrival("x"), "", clock.now(), is_proven=False)
                second = box.post(make_draft("two")).message
                with refused_with(MailboxFull):
                    box.post(make_draft("three"))
                with refused_with(NoSuchMessage):
                    words = [Acknowledgement(first.id, Decision.ACCEPTED), Acknowledgement(UNKNOWN, Decision.ACCEPTED)]
                    box.acknowledge(words, "x")
                with refused_with(NoSuchSession):
                    sessions.attach(Arrival("x"), "other", clock.now(), is_proven=False)
                assert [entry.standing.status for entry in box.entries()] == [Status.UNSEEN, Status.UNSEEN]
                box.mark([second.id], Mark.SEEN, "x")
                assert boxes.counts("")["x"].unseen == 1
                assert boxes.changed_since(0, "") == ["x"]
            assert [entry.standing.status for entry in box.entries()] == [Status.UNSEEN, Status.SEEN]
            assert [one.id for one in sessions.all("")] == ["x"]
            assert box.faults() == []

    def test_an_error_on_leaving_undoes_every_step(self, tmp_path: Path) -> None:
        """Nothing of the block is there afterwards, and the next step is made as if it had never been."""
        with self.opened(tmp_path) as (sessions, boxes, clock):
            kept = boxes.box("x", "").post(make_draft("kept")).message
            tips = (sessions.tip(""), boxes.tip(""))
            try:
                with sessions.together(), boxes.together():
                    boxes.box("x", "").post(make_draft("undone"))
                    boxes.box("new", "").post(make_draft("undone"))
                    sessions.attach(Arrival("x"), "", clock.now(), is_proven=False)
                    leave_with_an_error()
            except Undone:
                pass
            assert boxes.box("x", "").ids() == [kept.id]
            assert (list(boxes.counts("")), sessions.all("")) == (["x"], [])
            assert (sessions.tip(""), boxes.tip("")) == tips
            assert boxes.box("x", "").post(make_draft("next")).message.number == 2

    def test_an_empty_block_together_is_nothing(self, tmp_path: Path) -> None:
        """Entering and leaving, or only reading, writes nothing."""
        with self.opened(tmp_path) as (sessions, boxes, _clock):
            with sessions.together(), boxes.together():
                assert (sessions.all(""), boxes.counts("")) == ([], {})
                boxes.box("x", "").delete()
            assert boxes.tip("")[1] == 0


def _everything(sessions: Sessions, boxes: Boxes) -> tuple[object, ...]:
    known = (sessions.all(""), sessions.tip(""), sessions.setting("persistence"), sessions.proven_by(_digest("d")))
    return *known, boxes.box("x", "").entries(), boxes.counts(""), boxes.tip(""), boxes.debts("")


def _digest(secret: str) -> str:
    return f"digest of {secret}"
