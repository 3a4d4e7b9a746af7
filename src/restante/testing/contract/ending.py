"""How messages end: withdrawal, expiry, archiving; and what survives: reopening, a clock that is set back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import IllegalStep
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Mark
from restante.domain.receipt import Action, Decision
from restante.testing.contract.base import ContractBase, refused_with, say
from restante.testing.fakes import make_draft

if TYPE_CHECKING:
    from pathlib import Path

    from restante.ports import Mailbox


def _statuses(mailbox: Mailbox) -> list[Status]:
    return [entry.standing.status for entry in mailbox.entries()]


class Ending(ContractBase):
    """Tests of ``withdraw``, of expiry, of ``Archive`` where it is offered, and of persistence."""

    def test_a_withdrawn_message_is_never_delivered(self, tmp_path: Path) -> None:
        """Taking back before the answer ends a message, seen or not, and leaves a trace."""
        with self.opened(tmp_path) as (mailbox, clock):
            unseen, seen = (mailbox.post(make_draft(text)).message for text in ("unseen", "seen"))
            mailbox.mark([seen.id], Mark.SEEN, "agent")
            at = clock.advance(30)
            for message in (unseen, seen):
                standing = mailbox.withdraw(message.id)
                assert (standing.status, standing.withdrawn_at) == (Status.WITHDRAWN, at)
                assert mailbox.entry(message.id).standing == standing
            again = self.reopen(mailbox, tmp_path, clock)
            assert again.entries(pending_only=True) == []
            assert [entry.standing.withdrawn_at for entry in again.entries()] == [at, at]
            assert [entry.message for entry in again.entries()] == [unseen, seen]

    def test_withdrawing_again_changes_nothing(self, tmp_path: Path) -> None:
        """Same answer, nothing doubled, the first time stays; expiry does not change it either."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft(expires=clock.now() + timedelta(minutes=1))).message
            first = mailbox.withdraw(message.id)
            clock.advance(3600)
            assert mailbox.withdraw(message.id) == first
            assert mailbox.entry(message.id).standing == first

    def test_what_was_answered_or_expired_cannot_be_withdrawn(self, tmp_path: Path) -> None:
        """``IllegalStep``, and nothing is changed; a bare receipt is no answer."""
        with self.opened(tmp_path) as (mailbox, clock):
            expires = clock.now() + timedelta(seconds=10)
            done, late = (mailbox.post(make_draft(text, expires=expires)).message for text in ("done", "late"))
            bare = mailbox.post(make_draft("bare")).message
            mailbox.acknowledge([say(done, None, Action.BLOCKED), say(bare)], "agent")
            clock.advance(10)
            before = mailbox.entries()
            for message in (done, late):
                with refused_with(IllegalStep):
                    mailbox.withdraw(message.id)
            assert mailbox.entries() == before
            assert mailbox.withdraw(bare.id).status is Status.WITHDRAWN

    def test_a_withdrawn_message_cannot_be_acknowledged(self, tmp_path: Path) -> None:
        """``IllegalStep``, bare or not; it stays withdrawn, and reading it changes nothing."""
        with self.opened(tmp_path) as (mailbox, _):
            message = mailbox.post(make_draft()).message
            mailbox.withdraw(message.id)
            for word in (say(message, Decision.ACCEPTED), say(message)):
                with refused_with(IllegalStep):
                    mailbox.acknowledge([word], "agent")
            mailbox.mark([message.id], Mark.SEEN, "agent")
            assert _statuses(mailbox) == [Status.WITHDRAWN]
            assert mailbox.receipts(message.id) == []

    def test_a_message_expires_at_its_time(self, tmp_path: Path) -> None:
        """Exactly at ``expires`` it stops being pending, seen or not; an answer before that stays."""
        with self.opened(tmp_path) as (mailbox, clock):
            expires = clock.now() + timedelta(seconds=10)
            unseen, seen, done = (
                mailbox.post(make_draft(text, expires=expires)).message for text in ("unseen", "seen", "done")
            )
            mailbox.mark([seen.id], Mark.SEEN, "agent")
            mailbox.acknowledge([say(done, Decision.ACCEPTED)], "agent")
            clock.set(expires - timedelta(milliseconds=1))
            assert _statuses(mailbox) == [Status.UNSEEN, Status.SEEN, Status.ACCEPTED]
            clock.set(expires)
            assert _statuses(mailbox) == [Status.EXPIRED, Status.EXPIRED, Status.ACCEPTED]
            assert mailbox.entry(unseen.id).standing.expired_at == expires
            assert mailbox.entry(done.id).standing.expired_at is None
            assert mailbox.entries(pending_only=True) == []

    def test_a_late_answer_is_still_an_answer(self, tmp_path: Path) -> None:
        """An expired message can be acknowledged; a bare receipt leaves it expired."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft(expires=clock.now() + timedelta(seconds=10))).message
            clock.advance(60)
            mailbox.acknowledge([say(message)], "agent")
            assert _statuses(mailbox) == [Status.EXPIRED]
            mailbox.acknowledge([say(message, Decision.ACCEPTED, Action.APPLIED)], "agent")
            assert _statuses(mailbox) == [Status.APPLIED]

    def test_a_clock_that_is_set_back_breaks_nothing(self, tmp_path: Path) -> None:
        """Order goes by number, the newest word stays the newest, new mail has its whole time to live."""
        with self.opened(tmp_path) as (mailbox, clock):
            first = mailbox.post(make_draft("first")).message
            mailbox.acknowledge([say(first, Decision.REJECTED)], "agent")
            clock.advance(-7200)
            second = mailbox.post(make_draft("second", expires=clock.now() + timedelta(hours=1))).message
            given = mailbox.acknowledge([say(first, Decision.ACCEPTED)], "agent")
            mailbox.mark([second.id], Mark.SEEN, "agent")
            reply = mailbox.reply(second.id, "which?", "agent")
            again = self.reopen(mailbox, tmp_path, clock)
            assert [entry.message for entry in again.entries()] == [first, second]
            assert _statuses(again) == [Status.ACCEPTED, Status.SEEN]
            assert again.receipts(first.id)[1:] == given
            assert again.replies() == [reply]
            assert again.entry(second.id).standing.is_pending
            clock.advance(3600)
            assert _statuses(again) == [Status.ACCEPTED, Status.EXPIRED]

    def test_nothing_unexpires_when_the_clock_is_set_back(self, tmp_path: Path) -> None:
        """What was found expired stays so for whoever found it; what a later record proves stays so for all."""
        with self.opened(tmp_path) as (mailbox, clock):
            start = clock.now()
            old = mailbox.post(make_draft("old", expires=start + timedelta(minutes=1))).message
            clock.advance(120)
            assert mailbox.entry(old.id).standing.status is Status.EXPIRED
            clock.set(start)
            assert mailbox.entry(old.id).standing.status is Status.EXPIRED
            with refused_with(IllegalStep):
                mailbox.withdraw(old.id)
            clock.set(start + timedelta(minutes=3))
            mailbox.post(make_draft("witness"))
            clock.set(start - timedelta(hours=2))
            again = self.reopen(mailbox, tmp_path, clock)
            fresh = again.post(make_draft("fresh", expires=clock.now() + timedelta(minutes=1))).message
            assert _statuses(again) == [Status.EXPIRED, Status.UNSEEN, Status.UNSEEN]
            assert again.counts().pending == 2
            assert again.entry(fresh.id).standing.is_pending

    def test_reopening_sees_everything(self, tmp_path: Path) -> None:
        """All that was reported stored is there for the next process."""
        with self.opened(tmp_path) as (mailbox, clock):
            messages = []
            for number in range(12):
                messages.append(mailbox.post(make_draft(f"body {number}", client_id=f"c{number}")).message)
                clock.advance(1)
            mailbox.mark([one.id for one in messages[:6]], Mark.NOTICED, "agent")
            mailbox.mark([one.id for one in messages[3:9]], Mark.SEEN, "agent")
            mailbox.acknowledge([say(one, Decision.ACCEPTED, summary="s") for one in messages[6:8]], "agent")
            mailbox.withdraw(messages[11].id)
            mailbox.reply(messages[6].id, "reply", "agent")
            before = (mailbox.entries(), mailbox.counts(), mailbox.replies(), mailbox.receipts(messages[6].id))
            again = self.reopen(mailbox, tmp_path, clock)
            assert (again.entries(), again.counts(), again.replies(), again.receipts(messages[6].id)) == before
            assert again.address == mailbox.address
            assert sorted(again.ids()) == sorted(message.id for message in messages)

    def test_archiving_moves_what_is_done_and_loses_nothing(self, tmp_path: Path) -> None:
        """Only what is pending stays; the rest can be asked for by id, answered, and keeps its client id and number."""
        with self.opened(tmp_path) as (mailbox, clock):
            archive = self.archive_of(mailbox)
            if archive is None:
                return
            texts = ("pending", "acked", "taken back", "expired", "seen", "## heading\r\n~~~\0")
            drafts = [make_draft(text, client_id=text[:8]) for text in texts]
            drafts[3] = make_draft("expired", client_id="expired", expires=clock.now() + timedelta(seconds=1))
            messages = [mailbox.post(draft).message for draft in drafts]
            mailbox.acknowledge([say(messages[place], Decision.ACCEPTED, None, "yes") for place in (1, 5)], "agent")
            mailbox.withdraw(messages[2].id)
            mailbox.mark([messages[4].id], Mark.SEEN, "agent")
            clock.advance(10)
            before = mailbox.entries()
            receipts = [mailbox.receipts(message.id) for message in messages]
            archived = archive.archive()
            assert (archived.moved, archived.kept) == (4, 2)
            again = self.reopen(mailbox, tmp_path, clock)
            assert again.entries() == [before[0], before[4]]
            assert [again.entry(message.id) for message in messages] == before
            assert sorted(again.ids()) == sorted(message.id for message in messages)
            assert (again.counts().total, again.counts().archived) == (2, 4)
            assert [again.receipts(message.id) for message in messages] == receipts
            assert [again.post(draft).message for draft in drafts] == messages
            again.acknowledge([say(messages[1], None, Action.APPLIED)], "agent")
            assert again.entry(messages[1].id).standing.status is Status.APPLIED
            assert again.post(make_draft("next")).message.number == 7
            assert again.counts().high_water == 7
            assert again.faults() == []
            later = self.archive_of(again)
            assert later
            nothing_more = later.archive()
            assert (nothing_more.moved, nothing_more.kept) == (0, 3)
