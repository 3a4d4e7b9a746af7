"""Role mail: mailboxes like any other, which only the holder of the role changes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import BadText, Conflict, MailboxDeleted, RoleHeld
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.message import Sender
from restante.domain.monitor import Sight, Signal
from restante.domain.overview import Fate
from restante.domain.receipt import Decision
from restante.testing.contract.base import refused_with
from restante.testing.contract.team_parts import ROLE, TeamsBase, take
from restante.testing.fakes import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DONE = Signal("review", "42", "done")
ANN = Sender("session:ann", verified=True)


class RoleMail(TeamsBase):
    """Tests of ``RoleBoxes`` and ``Sights``."""

    def test_mail_waits_for_a_role_that_nobody_holds_and_outlives_its_holders(self, tmp_path: Path) -> None:
        """The mailbox is the role's: joining, holding, leaving change nothing in it."""
        with self.opened(tmp_path) as (parts, clock):
            assert parts.boxes.box(ROLE, "").entries() == []
            message = parts.boxes.post(ROLE, "", make_draft("text")).message
            assert (message.mailbox, message.number) == (ROLE, 1)
            parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            take(parts.teams, clock, "one")
            parts.teams.leave(ROLE, "", clock.now())
            assert parts.boxes.post(ROLE, "", make_draft("more")).message.number == 2
            assert [one.message.body for one in parts.boxes.box(ROLE, "").entries()] == ["text", "more"]

    def test_c4_a_role_of_another_owner_has_another_mailbox(self, tmp_path: Path) -> None:
        """Both are called alike, and each is told of under its own address."""
        with self.opened(tmp_path) as (parts, _):
            for owner in ("", "ann", "bob:x@y"):
                message = parts.boxes.post(ROLE, owner, make_draft(f"of {owner}", sender=ANN), DONE).message
                assert (message.mailbox, message.number) == (ROLE, 1)
            parts.boxes.post("team/other", "ann", make_draft("other", sender=ANN))
            for owner in ("", "ann", "bob:x@y"):
                (entry,) = parts.boxes.box(ROLE, owner).entries()
                assert (entry.message.body, entry.message.mailbox) == (f"of {owner}", ROLE)
                assert parts.sights.look(ROLE, owner) == Sight(1, 1, 1)
                assert parts.boxes.signals(ROLE, owner) == [(1, DONE)]
                assert {one.to for one in parts.boxes.traces(ANN.name, owner)} == (
                    {ROLE, "team/other"} if owner == "ann" else {ROLE}
                )
            assert parts.boxes.box(ROLE, "carl").entries() == []
            assert parts.sights.look(ROLE, "carl") == Sight()

    def test_b4_whoever_does_not_hold_the_role_changes_nothing_of_its_mail(self, tmp_path: Path) -> None:
        """Every act is refused by itself, whatever was held when the mailbox was asked for."""
        with self.opened(tmp_path) as (parts, clock):
            parts.teams.join(ROLE, "", clock.now(), worktree="", vendor="")
            take(parts.teams, clock, "one", time_to_live=timedelta(seconds=60))
            first, second = (parts.boxes.post(ROLE, "", make_draft(str(number))).message.id for number in range(2))
            own = parts.boxes.fenced(ROLE, "", "one")
            own.mark([first], Mark.SEEN, "one")
            clock.advance(60)
            take(parts.teams, clock, "two")
            acts: list[Callable[[], object]] = [
                lambda: own.mark([second], Mark.SEEN, "one"),
                lambda: own.acknowledge([Acknowledgement(second, Decision.ACCEPTED)], "one"),
                lambda: own.reply(second, "words", "one"),
                lambda: own.withdraw(second),
                lambda: own.post(make_draft("new")),
                lambda: parts.boxes.fenced(ROLE, "", "two", 1).mark([second], Mark.SEEN, "two"),
                lambda: parts.boxes.fenced(ROLE, "ann", "two").post(make_draft("new")),
                lambda: parts.boxes.fenced("team/nobody", "", "two").post(make_draft("new")),
            ]
            before = parts.boxes.box(ROLE, "").entries(), parts.boxes.box(ROLE, "").tip()
            for act in acts:
                with refused_with(RoleHeld):
                    act()
            assert (parts.boxes.box(ROLE, "").entries(), parts.boxes.box(ROLE, "").tip()) == before
            assert parts.boxes.box("team/nobody", "").entries() == []
            assert own.entries() == before[0]
            parts.boxes.fenced(ROLE, "", "two", 2).mark([second], Mark.SEEN, "two")
            assert parts.boxes.box(ROLE, "").counts().unseen == 0

    def test_i1_a_signal_is_kept_with_its_message_or_not_at_all(self, tmp_path: Path) -> None:
        """A message that is there already keeps what it said; what is refused leaves none."""
        with self.opened(tmp_path) as (parts, _):
            parts.boxes.post(ROLE, "", make_draft("without"))
            parts.boxes.post(ROLE, "", make_draft("text", client_id="c"), DONE)
            again = parts.boxes.post(ROLE, "", make_draft("text", client_id="c"), DONE._replace(state="failed"))
            assert again.duplicate
            with refused_with(Conflict):
                parts.boxes.post(ROLE, "", make_draft("other", client_id="c"), DONE)
            with refused_with(BadText):
                parts.boxes.post(ROLE, "", make_draft("text"), DONE._replace(state="\ud800"))
            odd = Signal("a\0", "\1", "'")
            parts.boxes.post(ROLE, "", make_draft("odd"), odd)
            assert parts.boxes.signals(ROLE, "") == [(2, DONE), (3, odd)]
            assert parts.boxes.signals(ROLE, "", after=2) == [(3, odd)]
            assert parts.boxes.signals("team/nobody", "") == []

    def test_s61_a_sender_is_told_what_became_of_mail_to_roles(self, tmp_path: Path) -> None:
        """The newest first, and by id."""
        with self.opened(tmp_path) as (parts, _):
            ids = [parts.boxes.post(ROLE, "", make_draft(str(n), sender=ANN)).message.id for n in range(3)]
            box = parts.boxes.box(ROLE, "")
            box.mark(ids[:1], Mark.SEEN, "one")
            box.acknowledge([Acknowledgement(ids[1], Decision.ACCEPTED)], "one")
            told = [(one.message_id, one.fate) for one in parts.boxes.traces(ANN.name, "")]
            assert told == [(ids[2], Fate.UNSEEN), (ids[1], Fate.ACKNOWLEDGED), (ids[0], Fate.SEEN)]
            assert [one.message_id for one in parts.boxes.traces(ANN.name, "", limit=1)] == [ids[2]]
            assert [one.to for one in parts.boxes.traces(ANN.name, "", message_ids=[ids[0], "none"])] == [ROLE]
            assert parts.boxes.traces(ANN.name, "ann") == parts.boxes.traces("session:bob", "") == []

    def test_b1_looking_tells_how_far_mail_has_come_and_changes_nothing(self, tmp_path: Path) -> None:
        """Queued, made known, read, answered: and the mark is that of the newest unread one alone."""
        with self.opened(tmp_path) as (parts, clock):
            assert parts.sights.look(ROLE, "", whole=True) == Sight()
            box = parts.boxes.box(ROLE, "")
            ids = [
                box.post(make_draft(str(n), expires=clock.now() + timedelta(minutes=1) if n == 9 else None)).message.id
                for n in range(10)
            ]
            assert parts.sights.look(ROLE, "", whole=True) == Sight(10, 10, 10)
            box.mark(ids[:6], Mark.NOTICED, "one")
            box.mark(ids[:4], Mark.SEEN, "one")
            box.acknowledge([Acknowledgement(ids[0], Decision.ACCEPTED), Acknowledgement(ids[1])], "one")
            box.withdraw(ids[8])
            clock.advance(60)
            tip = box.tip()
            for _ in range(2):
                assert parts.sights.look(ROLE, "") == Sight(mark=8, unseen=4, pending=7, noticed=2)
                whole = parts.sights.look(ROLE, "", whole=True)
                assert whole == Sight(mark=8, unseen=4, pending=7, noticed=2, acknowledged=1)
            assert box.tip() == tip
            box.post(make_draft("sweeps"))
            assert parts.sights.look(ROLE, "", whole=True) == Sight(11, 5, 8, 2, 1)
            box.mark([*ids, box.ids()[-1]], Mark.SEEN, "one")
            assert parts.sights.look(ROLE, "", whole=True) == Sight(0, 0, 8, 0, 1)

    def test_d4_what_was_read_out_of_order_leaves_the_mark_where_unread_mail_is(self, tmp_path: Path) -> None:
        """Reading the newest lets the mark fall back to the newest that is still unread."""
        with self.opened(tmp_path) as (parts, _):
            box = parts.boxes.box(ROLE, "")
            ids = [box.post(make_draft(str(number))).message.id for number in range(3)]
            box.mark([ids[1]], Mark.SEEN, "one")
            assert parts.sights.look(ROLE, "") == Sight(3, 2, 3)
            box.mark([ids[2]], Mark.SEEN, "one")
            assert parts.sights.look(ROLE, "") == Sight(1, 1, 3)

    def test_a_mailbox_that_is_deleted_takes_its_signals_with_it(self, tmp_path: Path) -> None:
        """What is posted next has a new number, and so no old signal."""
        with self.opened(tmp_path) as (parts, _):
            posted = parts.boxes.post(ROLE, "", make_draft("text"), DONE).message
            box = parts.boxes.box(ROLE, "")
            delete = getattr(box, "delete", None)
            assert delete
            delete()
            assert parts.boxes.signals(ROLE, "") == []
            assert parts.sights.look(ROLE, "", whole=True) == Sight()
            with refused_with(MailboxDeleted):
                box.entry(posted.id)
