"""The addressee's word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import IllegalStep, NoSuchMessage, UsageError
from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Draft
from restante.domain.receipt import Action, Decision
from restante.domain.session import Caller
from restante.services.acknowledging import acknowledge

if TYPE_CHECKING:
    from restante.testing import MemoryMailbox

AGENT = Caller("codex", "thread-1")


class Bell:
    """A bell that counts."""

    def __init__(self) -> None:
        self.hushed = 0

    def is_ringing(self) -> bool:
        return self.hushed == 0

    def hush(self) -> None:
        self.hushed += 1


@pytest.mark.parametrize(("caller", "by"), [(AGENT, "codex:thread-1"), (Caller(), "")])
def test_words_are_stored_with_who_said_them_and_the_bell_may_rest(
    memory_mailbox: MemoryMailbox, caller: Caller, by: str
) -> None:
    bell = Bell()
    ids = [memory_mailbox.post(Draft(text)).message.id for text in ("one", "two")]
    words = [Acknowledgement(one, Decision.ACCEPTED, Action.APPLIED, "done", "more") for one in ids]
    receipts = acknowledge(memory_mailbox, bell, words, caller)
    assert [(one.message_id, one.summary, one.by) for one in receipts] == [(one, "done", by) for one in ids]
    assert memory_mailbox.counts().pending == 0
    assert bell.hushed == 1


def test_reading_is_not_acknowledging(memory_mailbox: MemoryMailbox) -> None:
    bell = Bell()
    ids = [memory_mailbox.post(Draft(text)).message.id for text in ("one", "two")]
    words = [Acknowledgement(ids[0], Decision.ACCEPTED), Acknowledgement(ids[1], summary="read it")]
    with pytest.raises(UsageError, match="what you decided"):
        acknowledge(memory_mailbox, bell, words, AGENT)
    assert memory_mailbox.counts().pending == 2
    assert bell.hushed == 0


def test_all_are_stored_or_none(memory_mailbox: MemoryMailbox) -> None:
    bell = Bell()
    known = memory_mailbox.post(Draft("one")).message.id
    words = [Acknowledgement(known, Decision.ACCEPTED), Acknowledgement("msg_nope", Decision.ACCEPTED)]
    with pytest.raises(NoSuchMessage):
        acknowledge(memory_mailbox, bell, words, AGENT)
    assert memory_mailbox.receipts(known) == []
    assert bell.hushed == 0


def test_a_message_that_was_taken_back_is_named(memory_mailbox: MemoryMailbox) -> None:
    gone = memory_mailbox.post(Draft("one")).message.id
    memory_mailbox.withdraw(gone)
    with pytest.raises(IllegalStep, match=gone) as caught:
        acknowledge(memory_mailbox, Bell(), [Acknowledgement(gone, Decision.ACCEPTED)], AGENT)
    assert "nothing to do" in caught.value.remedy
