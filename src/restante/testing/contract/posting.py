"""Posting: kept byte for byte, numbered, once under one client id, refused rather than dropped."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import BadText, Conflict, MailboxFull, TooLarge, UsageError
from restante.domain.limits import Limits
from restante.domain.message import Draft, Priority, Scope, Sender
from restante.domain.receipt import Decision
from restante.testing.contract.base import ContractBase, refused_with, say
from restante.testing.fakes import TRICKY_TEXTS, make_draft

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.mailbox import Counts
    from restante.ports import Mailbox


def _bodies(mailbox: Mailbox) -> list[str]:
    return [entry.message.body for entry in mailbox.entries()]


class Posting(ContractBase):
    """Tests of ``post``."""

    def test_tricky_texts_come_back_byte_for_byte(self, tmp_path: Path) -> None:
        """Text is stored verbatim, whatever it looks like, and still is after reopening."""
        with self.opened(tmp_path) as (mailbox, clock):
            texts = [text for text in TRICKY_TEXTS if self.holds(text)]
            posted = [mailbox.post(make_draft(text)).message for text in texts]
            assert _bodies(mailbox) == texts
            again = self.reopen(mailbox, tmp_path, clock)
            assert _bodies(again) == texts
            assert [again.entry(one.id).message for one in posted] == posted
            assert again.faults() == []

    def test_any_text_comes_back_byte_for_byte(self, tmp_path: Path) -> None:
        """Text is stored verbatim: any Unicode text, and any mixture of what mail files are made of."""
        from hypothesis import example, given
        from hypothesis import strategies as st

        pieces = st.sampled_from(
            [*TRICKY_TEXTS[:-1], *"#-=~`<>*_:|\t\r\n\0 ", "\r\n", "\n\n", "## msg_", "Mesaj:", "~~~", "```"]
        )
        anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
        with self.opened(tmp_path) as (mailbox, clock):
            sent: list[str] = []

            @given(body=(anything | st.lists(pieces | anything, max_size=12).map("".join)).filter(self.holds))
            @example(body="".join(TRICKY_TEXTS[:-1]))
            def post(body: str) -> None:
                message = mailbox.post(make_draft(body)).message
                sent.append(body)
                assert mailbox.entry(message.id).message == message
                assert message.body == body

            post()
            again = self.reopen(mailbox, tmp_path, clock)
            assert _bodies(again) == sent
            assert again.faults() == []

    def test_everything_a_draft_says_is_kept(self, tmp_path: Path) -> None:
        """The stored message has the draft's attributes, and the office's."""
        with self.opened(tmp_path) as (mailbox, clock):
            parent = mailbox.post(make_draft("first")).message
            draft = Draft(
                body="second",
                sender=Sender("reviewer"),
                priority=Priority.HIGH,
                scope=Scope.QUESTION,
                subject="About: the \u201csecond\u201d one",
                type="question",
                conversation=self.conversation_of(parent),
                parent=parent.id,
                expires=clock.now() + timedelta(hours=12),
                client_id="client-1",
            )
            message = mailbox.post(draft).message
            assert {name: getattr(message, name) for name in Draft._fields} == draft._asdict()
            assert self.is_message_id(message.id)
            assert (message.mailbox, message.created) == (mailbox.address, clock.now())
            again = self.reopen(mailbox, tmp_path, clock)
            assert [entry.message for entry in again.entries()] == [parent, message]

    def test_the_answer_of_a_post_is_what_is_stored(self, tmp_path: Path) -> None:
        """``Posted.message`` is the message as stored, also where times are finer than what is stored."""
        with self.opened(tmp_path) as (mailbox, clock):
            clock.set(clock.now() + timedelta(microseconds=123_456))
            expires = clock.now() + timedelta(hours=1, microseconds=7)
            message = mailbox.post(make_draft(expires=expires)).message
            again = self.reopen(mailbox, tmp_path, clock)
            assert again.entry(message.id).message == message
            assert abs(message.created - clock.now()) < timedelta(milliseconds=1)

    def test_a_claimed_sender_is_never_verified_by_being_stored(self, tmp_path: Path) -> None:
        """A sender is what was proven, never what was claimed."""
        with self.opened(tmp_path) as (mailbox, _):
            message = mailbox.post(make_draft("from: root", sender=Sender("root"))).message
            assert mailbox.entry(message.id).message.sender == Sender("root", verified=False)

    def test_a_size_is_counted_in_bytes_of_utf8(self, tmp_path: Path) -> None:
        """A body of exactly the limit is taken, one byte more is refused, and nothing of it is stored."""
        with self.opened(tmp_path, Limits(message_bytes=16)) as (mailbox, _):
            for body in ("x" * 16, "\u00e9" * 8, "\U0001f600" * 4, "\0" * 16):
                mailbox.post(make_draft(body))
                with refused_with(TooLarge):
                    mailbox.post(make_draft(body + "x"))
            assert mailbox.counts().total == 4

    def test_the_size_of_a_text_with_nul_is_counted_whole(self, tmp_path: Path) -> None:
        """Byte caps never stop at U+0000."""
        with self.opened(tmp_path, Limits()) as (mailbox, _):
            with refused_with(TooLarge):
                mailbox.post(make_draft("ab\0" + "x" * 20_000))
            assert mailbox.entries() == []

    def test_a_lone_surrogate_is_refused(self, tmp_path: Path) -> None:
        """What has no UTF-8 form is ``BadText``, in the body and in the lines of the head."""
        with self.opened(tmp_path) as (mailbox, _):
            for draft in (
                make_draft("ok \ud800"),
                make_draft("\udfff"),
                make_draft(subject="a\udc80"),
                make_draft(client_id="a\udc80"),
                make_draft(conversation="a\udc80"),
                make_draft(sender=Sender("a\udc80")),
            ):
                with refused_with(BadText):
                    mailbox.post(draft)
            assert mailbox.counts().total == 0
            assert mailbox.faults() == []

    def test_a_head_that_is_no_line_or_has_no_zone_is_refused(self, tmp_path: Path) -> None:
        """What would not stay one line, or could not be judged by any clock, is refused with nothing stored."""
        with self.opened(tmp_path) as (mailbox, clock):
            without_zone = clock.now().replace(tzinfo=None)
            for draft in (
                make_draft(subject="a\nb"),
                make_draft(client_id="a\rb"),
                make_draft(type="\n"),
                make_draft(expires=without_zone),
            ):
                with refused_with(UsageError):
                    mailbox.post(draft)
            assert mailbox.counts().total == 0

    def test_posting_again_under_one_client_id_posts_once(self, tmp_path: Path) -> None:
        """A client id that was used before returns the stored message, with ``duplicate`` set; reopening keeps it."""
        with self.opened(tmp_path) as (mailbox, clock):
            first = mailbox.post(make_draft("text", client_id="one"))
            clock.advance(60)
            second = mailbox.post(make_draft("text", client_id="one"))
            assert (first.duplicate, second.duplicate) == (False, True)
            assert second.message == first.message
            again = self.reopen(mailbox, tmp_path, clock)
            assert again.post(make_draft("text", client_id="one")).message == first.message
            assert _bodies(again) == ["text"]

    def test_a_client_id_has_256_bytes_at_most(self, tmp_path: Path) -> None:
        """A longer one is refused as too large, and nothing is stored; one of 256 bytes of UTF-8 is kept."""
        with self.opened(tmp_path) as (mailbox, _):
            longest = "\N{EURO SIGN}" * 85 + "x"
            for client_id in (longest + "x", "x" * 257, "\N{EURO SIGN}" * 86):
                with refused_with(TooLarge):
                    mailbox.post(make_draft("text", client_id=client_id))
            assert mailbox.ids() == []
            first = mailbox.post(make_draft("text", client_id=longest)).message
            assert first.client_id == longest
            assert mailbox.post(make_draft("text", client_id=longest)).message.id == first.id

    def test_a_client_id_holds_whatever_became_of_the_message(self, tmp_path: Path) -> None:
        """Posting again stays idempotent after an acknowledgement, a withdrawal and an expiry."""
        with self.opened(tmp_path) as (mailbox, clock):
            expires = clock.now() + timedelta(seconds=10)
            drafts = [make_draft(name, client_id=name, expires=expires) for name in ("acked", "taken back", "expired")]
            messages = [mailbox.post(draft).message for draft in drafts]
            mailbox.acknowledge([say(messages[0], Decision.ACCEPTED)], "agent")
            mailbox.withdraw(messages[1].id)
            clock.advance(60)
            before = mailbox.entries()
            answers = [mailbox.post(draft) for draft in drafts]
            assert [answer.message for answer in answers] == messages
            assert all(answer.duplicate for answer in answers)
            assert mailbox.entries() == before

    def test_a_client_id_for_another_text_is_a_conflict(self, tmp_path: Path) -> None:
        """The client id was used for another body: refused, and the first stays as it is."""
        with self.opened(tmp_path) as (mailbox, _):
            mailbox.post(make_draft("text", client_id="one"))
            for other in ("text ", "Text", "text\n", "text\0", ""):
                with refused_with(Conflict):
                    mailbox.post(make_draft(other, client_id="one"))
            assert _bodies(mailbox) == ["text"]

    def test_equal_texts_without_a_client_id_are_two_messages(self, tmp_path: Path) -> None:
        """Only a client id makes two posts one."""
        with self.opened(tmp_path) as (mailbox, _):
            first, second = (mailbox.post(make_draft("same")).message for _ in range(2))
            assert first.id != second.id
            assert (first.number, second.number) == (1, 2)

    def test_numbers_only_grow(self, tmp_path: Path) -> None:
        """A number is a place in the mailbox from 1, and is never given twice, whatever became of the others."""
        with self.opened(tmp_path) as (mailbox, clock):
            first = mailbox.post(make_draft("first", expires=clock.now() + timedelta(seconds=1))).message
            second = mailbox.post(make_draft("second")).message
            clock.advance(5)
            mailbox.withdraw(second.id)
            again = self.reopen(mailbox, tmp_path, clock)
            third = again.post(make_draft("third")).message
            assert [first.number, second.number, third.number] == [1, 2, 3]

    def test_a_full_mailbox_refuses_and_drops_nothing(self, tmp_path: Path) -> None:
        """As much is pending as may be: ``MailboxFull``, and all that was there stays."""
        with self.opened(tmp_path, Limits(pending_messages=2)) as (mailbox, _):
            messages = [mailbox.post(make_draft(text, client_id=text)).message for text in ("one", "two")]
            before = (mailbox.entries(), mailbox.counts())
            with refused_with(MailboxFull):
                mailbox.post(make_draft("three"))
            assert (mailbox.entries(), mailbox.counts()) == before
            assert mailbox.post(make_draft("one", client_id="one")).message == messages[0]

    def test_only_pending_mail_fills_a_mailbox(self, tmp_path: Path) -> None:
        """Acknowledged, withdrawn and expired mail never counts; seen mail does."""
        with self.opened(tmp_path, Limits(pending_messages=1)) as (mailbox, clock):
            acked = mailbox.post(make_draft("acked")).message
            mailbox.acknowledge([say(acked)], "agent")
            with refused_with(MailboxFull):
                mailbox.post(make_draft("refused"))
            mailbox.acknowledge([say(acked, Decision.DEFERRED)], "agent")
            taken = mailbox.post(make_draft("taken back")).message
            mailbox.withdraw(taken.id)
            mailbox.post(make_draft("expired", expires=clock.now() + timedelta(seconds=10)))
            clock.advance(10)
            mailbox.post(make_draft("last"))
            with refused_with(MailboxFull):
                mailbox.post(make_draft("refused"))
            assert _bodies(mailbox) == ["acked", "taken back", "expired", "last"]

    def test_pending_bytes_are_capped_exactly(self, tmp_path: Path) -> None:
        """The cap on pending bytes counts UTF-8 bytes of bodies; exactly as much as may be fits."""
        with self.opened(tmp_path, Limits(pending_bytes=10)) as (mailbox, _):
            first = mailbox.post(make_draft("\u00e9\u00e9\0\0")).message
            with refused_with(MailboxFull):
                mailbox.post(make_draft("12345"))
            mailbox.post(make_draft("1234"))
            with refused_with(MailboxFull):
                mailbox.post(make_draft("x"))
            empty = [text for text in ("",) if self.holds(text)]
            for text in empty:
                mailbox.post(make_draft(text))
            mailbox.acknowledge([say(first, Decision.REJECTED)], "agent")
            mailbox.post(make_draft("123456"))
            assert _bodies(mailbox) == ["\u00e9\u00e9\0\0", "1234", *empty, "123456"]

    def test_the_high_water_mark_never_falls(self, tmp_path: Path) -> None:
        """It is the newest message's number, and stays when that one is seen, taken back, expired or answered."""
        with self.opened(tmp_path) as (mailbox, clock):
            seen: list[Counts] = [mailbox.counts()]
            messages = []
            for text in ("one", "two", "three"):
                messages.append(mailbox.post(make_draft(text, expires=clock.now() + timedelta(minutes=5))).message)
                seen.append(mailbox.counts())
            mailbox.withdraw(messages[2].id)
            seen.append(mailbox.counts())
            mailbox.acknowledge([say(messages[1], Decision.ACCEPTED)], "agent")
            seen.append(mailbox.counts())
            clock.advance(3600)
            again = self.reopen(mailbox, tmp_path, clock)
            seen.append(again.counts())
            assert [one.high_water for one in seen] == [0, 1, 2, 3, 3, 3, 3]
