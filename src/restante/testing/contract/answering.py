"""Answering: receipts all or none, once, merged by time; replies acknowledge nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import BadText, IllegalStep, NoSuchMessage, TooLarge
from restante.domain.ids import is_well_formed
from restante.domain.lifecycle import Status
from restante.domain.limits import Limits
from restante.domain.mailbox import Mark
from restante.domain.receipt import Action, Decision
from restante.testing.contract.base import ContractBase, refused_with, say
from restante.testing.contract.reading import UNKNOWN
from restante.testing.fakes import TRICKY_TEXTS, make_draft

if TYPE_CHECKING:
    from pathlib import Path

    from restante.ports import Mailbox


def _status(mailbox: Mailbox, message_id: str) -> Status:
    return mailbox.entry(message_id).standing.status


class Answering(ContractBase):
    """Tests of ``acknowledge``, ``receipts``, ``reply`` and ``replies``."""

    def test_every_word_gives_its_status(self, tmp_path: Path) -> None:
        """Any decision with any action stands as the lifecycle says, also after reopening."""
        expected = {
            (decision, action): Status(
                (decision if action in (None, Action.PENDING) and decision else action or Status.SEEN).value
            )
            for decision in (None, *Decision)
            for action in (None, *Action)
        }
        with self.opened(tmp_path) as (mailbox, clock):
            messages = {pair: mailbox.post(make_draft(str(pair))).message for pair in expected}
            clock.advance(5)
            mailbox.acknowledge([say(message, *pair) for pair, message in messages.items()], "agent")
            again = self.reopen(mailbox, tmp_path, clock)
            found = {pair: again.entry(message.id).standing for pair, message in messages.items()}
            assert {pair: standing.status for pair, standing in found.items()} == expected
            assert {pair: (standing.decision, standing.action) for pair, standing in found.items()} == {
                pair: pair for pair in expected
            }
            assert {standing.seen_at for standing in found.values()} == {clock.now()}

    def test_a_receipt_is_what_was_said(self, tmp_path: Path) -> None:
        """The answer holds the words, their time and reader, and is what is stored."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft()).message
            at = clock.advance(5)
            (receipt,) = mailbox.acknowledge(
                [say(message, Decision.ACCEPTED, Action.APPLIED, "done: \u00e9", "see \u201cx\u201d")], "codex-1"
            )
            assert is_well_formed(receipt.id, "receipt")
            assert (receipt.message_id, receipt.seen_at, receipt.by) == (message.id, at, "codex-1")
            assert (receipt.decision, receipt.action) == (Decision.ACCEPTED, Action.APPLIED)
            assert (receipt.summary, receipt.notes) == ("done: \u00e9", "see \u201cx\u201d")
            again = self.reopen(mailbox, tmp_path, clock)
            assert again.receipts(message.id) == [receipt]
            assert again.entry(message.id).standing.summary == "done: \u00e9"

    def test_tricky_words_forge_nothing(self, tmp_path: Path) -> None:
        """Mail is data: no summary and no note can become another receipt, message or field."""
        with self.opened(tmp_path) as (mailbox, clock):
            messages = [mailbox.post(make_draft(str(number))).message for number, _ in enumerate(TRICKY_TEXTS)]
            words = [
                say(message, Decision.REJECTED, None, text, text)
                for message, text in zip(messages, TRICKY_TEXTS, strict=True)
            ]
            given = mailbox.acknowledge(words, "agent")
            assert mailbox.acknowledge(words, "agent") == given
            again = self.reopen(mailbox, tmp_path, clock)
            assert [again.receipts(message.id) for message in messages] == [[receipt] for receipt in given]
            assert {entry.standing.status for entry in again.entries()} == {Status.REJECTED}
            assert len(again.entries()) == len(messages)
            assert again.faults() == []

    def test_words_that_are_not_text_are_refused(self, tmp_path: Path) -> None:
        """A lone surrogate in a summary or note is ``BadText``, and nothing is stored."""
        with self.opened(tmp_path) as (mailbox, _):
            message = mailbox.post(make_draft()).message
            for word in (say(message, Decision.ACCEPTED, None, "\ud800"), say(message, None, None, "", "\udc80")):
                with refused_with(BadText):
                    mailbox.acknowledge([word], "agent")
            assert mailbox.receipts(message.id) == []

    def test_words_are_stored_all_or_none(self, tmp_path: Path) -> None:
        """One unknown or withdrawn message among them: nothing is stored for the others."""
        with self.opened(tmp_path) as (mailbox, _):
            good, taken = (mailbox.post(make_draft(text)).message for text in ("good", "taken back"))
            mailbox.withdraw(taken.id)
            before = mailbox.entries()
            for bad, error in ((UNKNOWN, NoSuchMessage), (taken.id, IllegalStep)):
                for words in ([say(good, Decision.ACCEPTED), say(bad)], [say(bad), say(good, Decision.ACCEPTED)]):
                    with refused_with(error):
                        mailbox.acknowledge(words, "agent")
            assert mailbox.receipts(good.id) == []
            assert mailbox.entries() == before
            assert mailbox.acknowledge([], "agent") == []

    def test_saying_the_same_again_returns_the_stored_receipt(self, tmp_path: Path) -> None:
        """Acknowledging again: same answer, nothing doubled; later, twice in one call, and after reopening."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft()).message
            word = say(message, Decision.ACCEPTED, Action.PENDING, "on it", "two\nlines")
            first, second = mailbox.acknowledge([word, word], "agent")
            clock.advance(60)
            again = self.reopen(mailbox, tmp_path, clock)
            assert first == second == again.acknowledge([word], "agent")[0]
            assert again.receipts(message.id) == [first]

    def test_the_same_word_after_another_is_a_new_one(self, tmp_path: Path) -> None:
        """Only the newest word on a message makes the same again a repetition; any difference is a new word."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft()).message
            words = [
                say(message, Decision.ACCEPTED),
                say(message, Decision.REJECTED),
                say(message, Decision.ACCEPTED),
                say(message, Decision.ACCEPTED, summary="really"),
                say(message, Decision.ACCEPTED, summary="really", notes="yes"),
                say(message, Decision.ACCEPTED, Action.APPLIED, summary="really", notes="yes"),
            ]
            given = []
            for word in words:
                clock.advance(1)
                given += mailbox.acknowledge([word], "agent")
            assert len({receipt.id for receipt in given}) == len(words)
            assert mailbox.receipts(message.id) == given
            assert _status(mailbox, message.id) is Status.APPLIED

    def test_receipts_are_merged_by_time(self, tmp_path: Path) -> None:
        """The newest decision counts and so does the newest action; each stays until another is given."""
        with self.opened(tmp_path) as (mailbox, clock):
            message = mailbox.post(make_draft()).message
            steps = [
                (say(message, Decision.DEFERRED), Status.DEFERRED),
                (say(message, Decision.ACCEPTED, Action.PENDING), Status.ACCEPTED),
                (say(message, None, Action.BLOCKED), Status.BLOCKED),
                (say(message, Decision.NEEDS_CONFIRMATION), Status.BLOCKED),
                (say(message, None, Action.PENDING), Status.NEEDS_CONFIRMATION),
                (say(message, None, Action.APPLIED), Status.APPLIED),
            ]
            for word, status in steps:
                clock.advance(1)
                mailbox.acknowledge([word], "agent")
                assert _status(mailbox, message.id) is status
            standing = mailbox.entry(message.id).standing
            assert standing.acknowledged_at == clock.now()

    def test_a_bare_receipt_never_takes_back_an_answer(self, tmp_path: Path) -> None:
        """A later bare receipt never downgrades an applied one; by itself it only says *seen*."""
        with self.opened(tmp_path) as (mailbox, clock):
            read, done = (mailbox.post(make_draft(text)).message for text in ("read", "done"))
            answered = clock.advance(1)
            mailbox.acknowledge([say(done, Decision.ACCEPTED, Action.APPLIED, "all of it")], "agent")
            bare_at = clock.advance(60)
            mailbox.acknowledge([say(done), say(read)], "agent")
            mailbox.mark([done.id], Mark.SEEN, "agent")
            again = self.reopen(mailbox, tmp_path, clock)
            standing = again.entry(done.id).standing
            assert (standing.status, standing.acknowledged_at) == (Status.APPLIED, answered)
            assert (standing.summary, standing.seen_at) == ("all of it", answered)
            bare = again.entry(read.id).standing
            assert (bare.status, bare.seen_at, bare.acknowledged_at) == (Status.SEEN, bare_at, None)
            assert bare.is_pending

    def test_replies_are_kept_byte_for_byte_and_in_order(self, tmp_path: Path) -> None:
        """Replies come in the order they were given; with an id, only those to that message; any text."""
        with self.opened(tmp_path) as (mailbox, clock):
            one, two = (mailbox.post(make_draft(text)).message for text in ("one", "two"))
            targets = [(one.id, two.id, "")[place % 3] for place, _ in enumerate(TRICKY_TEXTS)]
            given = [mailbox.reply(to, text, "codex-1") for to, text in zip(targets, TRICKY_TEXTS, strict=True) if text]
            assert [reply.body for reply in given] == [text for text in TRICKY_TEXTS if text]
            assert all(is_well_formed(reply.id, "reply") and reply.created == clock.now() for reply in given)
            again = self.reopen(mailbox, tmp_path, clock)
            assert again.replies() == given
            for to in (one.id, two.id, ""):
                assert again.replies(to) == [reply for reply in given if reply.to == to]
            assert again.faults() == []
            assert {entry.standing.status for entry in again.entries()} == {Status.UNSEEN}

    def test_any_reply_comes_back_byte_for_byte(self, tmp_path: Path) -> None:
        """Text is stored verbatim, the addressee's too."""
        from hypothesis import example, given
        from hypothesis import strategies as st

        pieces = st.sampled_from([*TRICKY_TEXTS[1:-1], "\n", "\r\n", "## reply_", "---", "~~~"])
        anything = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=100)
        with self.opened(tmp_path) as (mailbox, _):
            sent: list[str] = []

            @given(body=anything | st.lists(pieces, min_size=1, max_size=8).map("".join))
            @example(body="".join(TRICKY_TEXTS[:-1]))
            def reply(body: str) -> None:
                assert mailbox.reply("", body, "agent").body == body
                sent.append(body)
                assert mailbox.replies()[-1].body == body

            reply()
            assert [one.body for one in mailbox.replies()] == sent
            assert mailbox.faults() == []

    def test_a_reply_that_cannot_be_kept_is_refused(self, tmp_path: Path) -> None:
        """``BadText``, ``TooLarge`` and ``NoSuchMessage`` store nothing."""
        with self.opened(tmp_path, Limits(message_bytes=8)) as (mailbox, _):
            for to, body, error in (
                ("", "\ud800", BadText),
                ("", "x" * 9, TooLarge),
                ("", "\u00e9" * 4 + "x", TooLarge),
                (UNKNOWN, "text", NoSuchMessage),
            ):
                with refused_with(error):
                    mailbox.reply(to, body, "agent")
            mailbox.reply("", "\u00e9" * 4, "agent")
            assert len(mailbox.replies()) == 1
