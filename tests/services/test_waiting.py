"""Waiting for mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.services.watchers import Hints

from restante.domain.mailbox import Mark
from restante.domain.message import Draft
from restante.services.waiting import wait_for_mail

if TYPE_CHECKING:
    from restante.testing import MemoryMailbox


def _nothing() -> None:
    """Happen."""


def test_unseen_mail_is_there_at_once(memory_mailbox: MemoryMailbox) -> None:
    message = memory_mailbox.post(Draft("text")).message
    hints = Hints(_nothing)
    assert [entry.message for entry in wait_for_mail(memory_mailbox, hints, 7.5)] == [message]
    assert hints.timeout == 7.5
    assert hints.left == [_nothing]


def test_mail_that_comes_ends_the_wait(memory_mailbox: MemoryMailbox) -> None:
    hints = Hints(_nothing, lambda: memory_mailbox.post(Draft("text")), _nothing)
    assert [entry.message.body for entry in wait_for_mail(memory_mailbox, hints, 9)] == ["text"]
    assert hints.left == [_nothing]


def test_the_end_of_the_time_is_an_empty_list(memory_mailbox: MemoryMailbox) -> None:
    assert wait_for_mail(memory_mailbox, Hints(_nothing, _nothing), 9) == []


def test_mail_that_was_seen_does_not_end_the_wait_and_is_returned_with_what_does(memory_mailbox: MemoryMailbox) -> None:
    seen = memory_mailbox.post(Draft("seen")).message
    memory_mailbox.mark([seen.id], Mark.SEEN, "agent")
    assert wait_for_mail(memory_mailbox, Hints(_nothing), 9) == []
    hints = Hints(lambda: memory_mailbox.post(Draft("new")))
    assert [entry.message.body for entry in wait_for_mail(memory_mailbox, hints, 9)] == ["seen", "new"]


def test_mail_that_was_only_noticed_ends_the_wait(memory_mailbox: MemoryMailbox) -> None:
    message = memory_mailbox.post(Draft("text")).message
    memory_mailbox.mark([message.id], Mark.NOTICED, "agent")
    assert wait_for_mail(memory_mailbox, Hints(), 9)


def test_only_mail_with_a_greater_number_ends_the_wait(memory_mailbox: MemoryMailbox) -> None:
    message = memory_mailbox.post(Draft("old")).message
    assert wait_for_mail(memory_mailbox, Hints(_nothing), 9, message.number) == []
    hints = Hints(lambda: memory_mailbox.post(Draft("new")))
    assert len(wait_for_mail(memory_mailbox, hints, 9, message.number)) == 2
