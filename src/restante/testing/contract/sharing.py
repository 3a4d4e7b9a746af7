"""Sharing: what a mailbox that several senders write to promises each of them. For homes that have such."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import Conflict, MailboxFull
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Sender
from restante.domain.receipt import Decision
from restante.testing.contract.base import ContractBase, refused_with
from restante.testing.fakes import make_draft

if TYPE_CHECKING:
    from pathlib import Path

ANN, BOB = Sender("session:ann", verified=True), Sender("session:bob")


class SharingContract(ContractBase):
    """Tests of shares, and of client ids that belong to their senders."""

    def test_one_sender_cannot_fill_the_mailbox_of_another(self, tmp_path: Path) -> None:
        """With a share of a half, two of four places are one sender's; the text says that it is the share."""
        with self.opened(tmp_path, Limits(pending_messages=4, sender_share=0.5)) as (mailbox, _):
            for number in range(2):
                mailbox.post(make_draft(f"ann {number}", sender=ANN))
            before = mailbox.entries()
            try:
                mailbox.post(make_draft("ann 2", sender=ANN))
            except MailboxFull as error:
                text = error.message
            assert "share of one sender" in text
            assert "session:ann" in text
            assert mailbox.entries() == before
            for number in range(2):
                mailbox.post(make_draft(f"bob {number}", sender=BOB))
            try:
                mailbox.post(make_draft("bob 2", sender=BOB))
            except MailboxFull as error:
                text = error.message
            assert "which is all it may" in text

    def test_a_share_counts_bytes_of_utf8_too(self, tmp_path: Path) -> None:
        """Half of 20 bytes are 10, of bodies as they are stored; exactly as much as may be fits."""
        with self.opened(tmp_path, Limits(pending_bytes=20, sender_share=0.5)) as (mailbox, _):
            mailbox.post(make_draft("€", sender=ANN))
            with refused_with(MailboxFull):
                mailbox.post(make_draft("€€€", sender=ANN))
            mailbox.post(make_draft("€€x", sender=ANN))
            with refused_with(MailboxFull):
                mailbox.post(make_draft("x", sender=ANN))
            mailbox.post(make_draft("€€€x", sender=BOB))

    def test_only_pending_mail_takes_of_a_share(self, tmp_path: Path) -> None:
        """Acknowledged, withdrawn and expired mail leaves its place to the same sender."""
        with self.opened(tmp_path, Limits(pending_messages=4, sender_share=0.25)) as (mailbox, clock):
            acked = mailbox.post(make_draft("acked", sender=ANN)).message
            with refused_with(MailboxFull):
                mailbox.post(make_draft("refused", sender=ANN))
            mailbox.acknowledge([Acknowledgement(acked.id, Decision.ACCEPTED)], "agent")
            taken = mailbox.post(make_draft("taken back", sender=ANN)).message
            mailbox.withdraw(taken.id)
            mailbox.post(make_draft("expires", sender=ANN, expires=clock.now() + timedelta(seconds=5)))
            with refused_with(MailboxFull):
                mailbox.post(make_draft("refused", sender=ANN))
            clock.advance(5)
            mailbox.post(make_draft("last", sender=ANN))

    def test_a_message_that_the_mailbox_takes_is_never_over_its_senders_share_alone(self, tmp_path: Path) -> None:
        """The first pending message of a sender needs the mailbox's room alone: else it might never fit."""
        with self.opened(tmp_path, Limits(pending_messages=1, pending_bytes=10, sender_share=0.1)) as (mailbox, _):
            mailbox.post(make_draft("0123456789", sender=ANN))
            with refused_with(MailboxFull):
                mailbox.post(make_draft("", sender=BOB))

    def test_without_a_share_one_sender_may_fill_it(self, tmp_path: Path) -> None:
        """No share, no refusal before the mailbox itself is full; a share without caps says nothing either."""
        for place, limits in enumerate((Limits(pending_messages=3), Limits(sender_share=0.1))):
            where = tmp_path / str(place)
            where.mkdir()
            with self.opened(where, limits) as (mailbox, _):
                for number in range(3):
                    mailbox.post(make_draft(str(number), sender=ANN))

    def test_a_client_id_is_its_senders_own(self, tmp_path: Path) -> None:
        """Two senders may use the same name for their messages; each is told of its own."""
        with self.opened(tmp_path) as (mailbox, clock):
            first = mailbox.post(make_draft("same", sender=ANN, client_id="one")).message
            second = mailbox.post(make_draft("same", sender=BOB, client_id="one"))
            third = mailbox.post(make_draft("other", sender=Sender(), client_id="one"))
            assert (second.duplicate, third.duplicate) == (False, False)
            again = self.reopen(mailbox, tmp_path, clock)
            for sender, message in ((ANN, first), (BOB, second.message)):
                answer = again.post(make_draft("same", sender=sender, client_id="one"))
                assert (answer.duplicate, answer.message) == (True, message)
                with refused_with(Conflict):
                    again.post(make_draft("another", sender=sender, client_id="one"))
            assert again.counts().total == 3
