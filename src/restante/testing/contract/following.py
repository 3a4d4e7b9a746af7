"""Following: nothing is left out, whatever the paging; every answer carries the cursor to go on with."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.domain.mailbox import Change, ChangeKind, Mark
from restante.domain.receipt import Decision
from restante.testing.contract.base import ContractBase, refused_with, say
from restante.testing.fakes import FakeClock, make_draft

if TYPE_CHECKING:
    from pathlib import Path

    from restante.ports import Mailbox

# Far more pages than any history of these tests has changes: following must come to an end.
_ENOUGH = 500


def follow(mailbox: Mailbox, cursor: str = "", limit: int = 1000) -> tuple[list[Change], str]:
    """Follow a mailbox to its end; return what was told (twice told once) and the last cursor."""
    told: dict[Change, None] = {}
    for _ in range(_ENOUGH):
        answer = mailbox.changes_since(cursor, limit)
        assert len(answer.changes) <= limit
        assert answer.cursor
        told.update(dict.fromkeys(answer.changes))
        if not answer.changes:
            return list(told), answer.cursor
        cursor = answer.cursor
    raise AssertionError(f"following never ends with {limit} changes a page")


def names(changes: list[Change]) -> set[tuple[str, str, str]]:
    """Return what each change is about: its kind, its message, its receipt or reply."""
    return {
        (one.kind.value, one.message_id, one.receipt.id if one.receipt else one.reply.id if one.reply else "")
        for one in changes
    }


def write_history(mailbox: Mailbox, clock: FakeClock) -> set[tuple[str, str, str]]:
    """Let everything happen that can be told; return its names."""
    soon = clock.now() + timedelta(seconds=30)
    read, done, taken, late = (
        mailbox.post(make_draft(text, expires=soon if text == "late" else None)).message
        for text in ("read", "done", "taken back", "late")
    )
    clock.advance(1)
    mailbox.mark([read.id, done.id], Mark.NOTICED, "agent")
    mailbox.mark([read.id], Mark.SEEN, "agent")
    (receipt,) = mailbox.acknowledge([say(done, Decision.ACCEPTED)], "agent")
    reply, loose = mailbox.reply(done.id, "done", "agent"), mailbox.reply("", "and more", "agent")
    mailbox.withdraw(taken.id)
    clock.advance(60)
    return {
        *(("posted", message.id, "") for message in (read, done, taken, late)),
        ("noticed", read.id, ""),
        ("noticed", done.id, ""),
        ("seen", read.id, ""),
        ("receipt", done.id, receipt.id),
        ("reply", done.id, reply.id),
        ("reply", "", loose.id),
        ("withdrawn", taken.id, ""),
        ("expired", late.id, ""),
    }


class Following(ContractBase):
    """Tests of ``changes_since`` and ``tip``."""

    def test_everything_that_happens_is_told(self, tmp_path: Path) -> None:
        """From the empty cursor on, every kind of change is told, with what belongs to it."""
        with self.opened(tmp_path) as (mailbox, clock):
            happened = write_history(mailbox, clock)
            told, _ = follow(mailbox)
            assert names(told) == happened
            posted = [one.message for one in told if one.kind is ChangeKind.POSTED]
            assert posted == [entry.message for entry in mailbox.entries()]
            receipts = [one.receipt for one in told if one.kind is ChangeKind.RECEIPT]
            assert receipts == [
                receipt for entry in mailbox.entries() for receipt in mailbox.receipts(entry.message.id)
            ]
            assert [one.reply for one in told if one.kind is ChangeKind.REPLY] == mailbox.replies()
            assert all(one.at is not None for one in told)

    def test_no_paging_leaves_anything_out(self, tmp_path: Path) -> None:
        """Any number of changes a page tells the same, and posts come in order of number."""
        with self.opened(tmp_path) as (mailbox, clock):
            happened = write_history(mailbox, clock) | write_history(mailbox, clock)
            for limit in (1, 2, 3, 5, 7, 1000):
                told, _ = follow(mailbox, limit=limit)
                assert names(told) == happened
                numbers = [one.message.number for one in told if one.message]
                assert numbers == sorted(numbers)

    def test_following_along_misses_nothing(self, tmp_path: Path) -> None:
        """Answers between the steps, page by page, tell all of it together, also after reopening each time."""
        with self.opened(tmp_path) as (mailbox, clock):
            told: set[tuple[str, str, str]] = set()
            happened: set[tuple[str, str, str]] = set()
            cursor, current = "", mailbox
            for limit in (1, 2, 1000, 1):
                happened |= write_history(current, clock)
                for _ in range(3):
                    answer = current.changes_since(cursor, limit)
                    told |= names(list(answer.changes))
                    cursor = answer.cursor
                current = self.reopen(current, tmp_path, clock)
            rest, _ = follow(current, cursor)
            assert told | names(rest) == happened

    def test_an_empty_answer_carries_a_cursor(self, tmp_path: Path) -> None:
        """Every answer carries one, of an empty mailbox too, and nothing that follows is lost."""
        with self.opened(tmp_path) as (mailbox, clock):
            empty = mailbox.changes_since("")
            assert empty.changes == ()
            assert empty.cursor
            assert mailbox.changes_since(empty.cursor).changes == ()
            happened = write_history(mailbox, clock)
            told, cursor = follow(mailbox, empty.cursor)
            assert names(told) == happened
            assert follow(mailbox, cursor) == ([], mailbox.changes_since(cursor).cursor)

    def test_the_tip_tells_only_what_happens_from_now_on(self, tmp_path: Path) -> None:
        """After ``tip`` nothing old is told and everything new is; reopening changes neither."""
        with self.opened(tmp_path) as (mailbox, clock):
            before_all = mailbox.tip()
            first = write_history(mailbox, clock)
            cursor = mailbox.tip()
            again = self.reopen(mailbox, tmp_path, clock)
            assert again.changes_since(cursor).changes == ()
            second = write_history(again, clock)
            assert names(follow(again, cursor)[0]) == second
            assert names(follow(again, before_all)[0]) == first | second

    def test_an_expiry_is_told_when_it_is_time(self, tmp_path: Path) -> None:
        """Time alone makes a change: a cursor from before the expiry tells of it, one from after does not."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft(expires=clock.now() + timedelta(seconds=10))).message
            _, cursor = follow(mailbox)
            clock.advance(9)
            told, cursor = follow(mailbox, cursor)
            assert told == []
            at = clock.advance(1)
            told, cursor = follow(mailbox, cursor)
            assert [(one.kind, one.message_id, one.at) for one in told] == [(ChangeKind.EXPIRED, message.id, at)]
            clock.advance(60)
            assert follow(mailbox, cursor)[0] == []
            assert mailbox.changes_since(mailbox.tip()).changes == ()

    def test_an_expiry_is_told_also_after_the_clock_was_set_back(self, tmp_path: Path) -> None:
        """A cursor given before the clock was set back does not hide what expires after that."""
        with self.opened(tmp_path) as (mailbox, clock):
            mailbox.post(make_draft("before"))
            _, cursor = follow(mailbox)
            clock.advance(-7200)
            message = mailbox.post(make_draft("after", expires=clock.now() + timedelta(seconds=10))).message
            told, cursor = follow(mailbox, cursor)
            clock.advance(60)
            more, _ = follow(mailbox, cursor)
            assert ("expired", message.id, "") in names(told + more)

    def test_repeating_tells_nothing_new(self, tmp_path: Path) -> None:
        """What changed nothing is no change: marks, words and withdrawals said again."""
        with self.opened(tmp_path) as (mailbox, clock):
            done, taken = (mailbox.post(make_draft(text, client_id=text)).message for text in ("done", "taken"))

            def repeat() -> None:
                mailbox.post(make_draft("done", client_id="done"))
                mailbox.mark([done.id], Mark.NOTICED, "agent")
                mailbox.mark([done.id], Mark.SEEN, "agent")
                mailbox.acknowledge([say(done, Decision.ACCEPTED)], "agent")
                mailbox.withdraw(taken.id)

            repeat()
            cursor = mailbox.tip()
            clock.advance(60)
            repeat()
            assert mailbox.changes_since(cursor).changes == ()

    def test_a_foreign_cursor_is_refused(self, tmp_path: Path) -> None:
        """A cursor that is not one of this mailbox's is ``UsageError``."""
        with self.opened(tmp_path) as (mailbox, clock):
            write_history(mailbox, clock)
            for cursor in ("nonsense", "-1", "\0", "\u0661", " ", "{}", "[]", "null", "\ud800", "9" * 400):
                with refused_with(UsageError):
                    mailbox.changes_since(cursor)

    def test_archiving_opens_no_gap(self, tmp_path: Path) -> None:
        """A cursor from before archiving goes on to tell what happened before and after it."""
        with self.opened(tmp_path) as (mailbox, clock):
            archive = self.archive_of(mailbox)
            if archive is None:
                return
            begin = mailbox.tip()
            first = write_history(mailbox, clock)
            middle = mailbox.tip()
            second = write_history(mailbox, clock)
            archive.archive()
            third = write_history(mailbox, clock)
            again = self.reopen(mailbox, tmp_path, clock)
            assert names(follow(again, middle)[0]) >= second | third
            assert names(follow(again, begin)[0]) >= first | second | third
