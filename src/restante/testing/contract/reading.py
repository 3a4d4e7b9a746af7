"""Reading: looking changes nothing, marks count the first time, lists are what was asked for."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import NoSuchMessage
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Counts, Mark
from restante.domain.receipt import Action, Decision
from restante.testing.contract.base import ContractBase, refused_with, say
from restante.testing.fakes import make_draft

if TYPE_CHECKING:
    from pathlib import Path

    from restante.ports import Mailbox

UNKNOWN = "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz"


def look_at_everything(mailbox: Mailbox) -> None:
    """Call every method that reads."""
    for pending_only in (True, False):
        for entry in mailbox.entries(pending_only=pending_only):
            mailbox.entry(entry.message.id)
            mailbox.receipts(entry.message.id)
            mailbox.replies(entry.message.id)
    mailbox.replies()
    mailbox.counts()
    mailbox.changes_since("")
    mailbox.changes_since(mailbox.tip())
    mailbox.faults()


class Reading(ContractBase):
    """Tests of what reads, and of ``mark``."""

    def test_looking_changes_no_byte(self, tmp_path: Path) -> None:
        """Anyone else's look is a peek and changes no byte, whatever state the messages are in."""
        with self.opened(tmp_path) as (mailbox, clock):
            messages = [
                mailbox.post(make_draft(text, expires=clock.now() + timedelta(minutes=1))).message
                for text in ("expired", "acked", "taken back", "seen")
            ]
            mailbox.post(make_draft("unseen"))
            mailbox.acknowledge([say(messages[1], Decision.ACCEPTED, summary="yes")], "agent")
            mailbox.withdraw(messages[2].id)
            mailbox.mark([messages[3].id], Mark.SEEN, "agent")
            mailbox.reply(messages[3].id, "which one?", "agent")
            clock.advance(3600)
            before = self.contents(tmp_path)
            entries = mailbox.entries()
            look_at_everything(mailbox)
            assert self.contents(tmp_path) == before
            assert mailbox.entries() == entries

    def test_looking_into_an_empty_mailbox_creates_nothing(self, tmp_path: Path) -> None:
        """Reading methods create nothing."""
        with self.opened(tmp_path) as (mailbox, _):
            before = self.contents(tmp_path)
            look_at_everything(mailbox)
            assert self.contents(tmp_path) == before
            assert mailbox.counts() == Counts()

    def test_entries_come_in_order_of_number_and_as_asked_for(self, tmp_path: Path) -> None:
        """``pending_only``, ``after`` and ``limit`` hold alone and together."""
        with self.opened(tmp_path) as (mailbox, clock):
            for number in range(1, 8):
                mailbox.post(make_draft(str(number)))
                clock.advance(-30 if number % 2 else 60)
            messages = [entry.message for entry in mailbox.entries()]
            assert [(one.number, one.body) for one in messages] == [(n, str(n)) for n in range(1, 8)]
            mailbox.acknowledge([say(messages[index], Decision.ACCEPTED) for index in (1, 4)], "agent")
            mailbox.mark([messages[2].id], Mark.SEEN, "agent")

            def numbers(*, pending_only: bool = False, after: int = 0, limit: int | None = None) -> list[int]:
                found = mailbox.entries(pending_only=pending_only, after=after, limit=limit)
                return [entry.message.number for entry in found]

            assert numbers(pending_only=True) == [1, 3, 4, 6, 7]
            assert numbers(after=4) == [5, 6, 7]
            assert numbers(after=7) == []
            assert numbers(limit=2) == [1, 2]
            assert numbers(limit=0) == []
            assert numbers(limit=99) == [1, 2, 3, 4, 5, 6, 7]
            assert numbers(pending_only=True, after=1, limit=3) == [3, 4, 6]

    def test_unknown_ids_are_told_from_known_ones(self, tmp_path: Path) -> None:
        """``NoSuchMessage`` where a message is needed, nothing where there is nothing to list; nothing is stored."""
        with self.opened(tmp_path) as (mailbox, _):
            known = mailbox.post(make_draft()).message
            before = mailbox.entries()
            for unknown in (UNKNOWN, "", "nonsense", known.id[:-1], "%", "*"):
                with refused_with(NoSuchMessage):
                    mailbox.entry(unknown)
                with refused_with(NoSuchMessage):
                    mailbox.withdraw(unknown)
                with refused_with(NoSuchMessage):
                    mailbox.acknowledge([say(unknown, Decision.ACCEPTED)], "agent")
                if unknown:
                    with refused_with(NoSuchMessage):
                        mailbox.reply(unknown, "text", "agent")
                assert mailbox.receipts(unknown) == []
                assert mailbox.replies(unknown) == []
            assert mailbox.entries() == before
            assert mailbox.replies() == []

    def test_the_first_mark_counts(self, tmp_path: Path) -> None:
        """The first time counts, repeating changes nothing, also when the clock was set back between."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft()).message
            noticed = clock.advance(10)
            mailbox.mark([message.id], Mark.NOTICED, "agent")
            assert mailbox.entry(message.id).standing.status is Status.UNSEEN
            seen = clock.advance(10)
            mailbox.mark([message.id, message.id], Mark.SEEN, "agent")
            for step in (60, -7200, 60):
                clock.advance(step)
                mailbox.mark([message.id], Mark.NOTICED, "other")
                mailbox.mark([message.id], Mark.SEEN, "other")
            again = self.reopen(mailbox, tmp_path, clock)
            standing = again.entry(message.id).standing
            assert (standing.status, standing.noticed_at, standing.seen_at) == (Status.SEEN, noticed, seen)
            assert standing.is_pending

    def test_marking_what_is_unknown_is_passed_over(self, tmp_path: Path) -> None:
        """Ids the mailbox does not know are passed over, the others are marked."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft()).message
            mailbox.mark([UNKNOWN, message.id, "nonsense"], Mark.SEEN, "agent")
            mailbox.mark([], Mark.SEEN, "agent")
            assert [entry.standing.seen_at for entry in mailbox.entries()] == [clock.now()]

    def test_a_mark_ends_nothing(self, tmp_path: Path) -> None:
        """Reading is not acknowledging: marked mail stays pending, and an answer stays an answer."""
        with self.opened(tmp_path) as (mailbox, _):
            read, answered = (mailbox.post(make_draft(text)).message for text in ("read", "answered"))
            mailbox.acknowledge([say(answered, Decision.ACCEPTED, Action.APPLIED)], "agent")
            mailbox.mark([read.id, answered.id], Mark.SEEN, "agent")
            assert [entry.standing.status for entry in mailbox.entries()] == [Status.SEEN, Status.APPLIED]
            assert [entry.message for entry in mailbox.entries(pending_only=True)] == [read]

    def test_counts_are_of_now(self, tmp_path: Path) -> None:
        """Totals, unseen, pending and the oldest unseen follow every step and every expiry."""
        with self.opened(tmp_path) as (mailbox, clock):
            start = clock.now()
            first = mailbox.post(make_draft("1", expires=start + timedelta(minutes=10))).message
            second_at = clock.advance(60)
            second = mailbox.post(make_draft("2")).message
            assert mailbox.counts() == Counts(2, 2, 2, 2, start)
            mailbox.mark([second.id], Mark.SEEN, "agent")
            assert mailbox.counts() == Counts(2, 1, 2, 2, start)
            third_at = clock.advance(60)
            third = mailbox.post(make_draft("3")).message
            clock.advance(600)
            assert mailbox.entry(first.id).standing.status is Status.EXPIRED
            assert mailbox.counts() == Counts(3, 1, 2, 3, third_at)
            mailbox.acknowledge([say(second, Decision.ACCEPTED), say(third, Decision.REJECTED)], "agent")
            assert mailbox.counts() == Counts(3, 0, 0, 3, None)
            assert second.created == second_at
