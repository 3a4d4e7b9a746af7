"""Following a mailbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from tests.services.watchers import Hints

from restante.domain.errors import UsageError
from restante.domain.mailbox import ChangeKind
from restante.domain.message import Draft
from restante.services.watching import follow

if TYPE_CHECKING:
    from restante.domain.mailbox import Changes
    from restante.ports import Mailbox
    from restante.testing import MemoryMailbox


def _nothing() -> None:
    """Happen."""


def test_what_happens_comes_in_order_and_superfluous_hints_tell_nothing(memory_mailbox: MemoryMailbox) -> None:
    hints = Hints(
        _nothing,
        lambda: memory_mailbox.post(Draft("one")),
        _nothing,
        lambda: [memory_mailbox.post(Draft("two")), memory_mailbox.post(Draft("three"))],
        _nothing,
    )
    batches = list(follow(memory_mailbox, hints, memory_mailbox.tip(), 9))
    assert [[change.message.body for change in batch.changes if change.message] for batch in batches] == [
        ["one"],
        ["two", "three"],
    ]
    assert hints.timeout == 9


class Narrow:
    """A mailbox whose pages are short, whatever it is asked for."""

    def __init__(self, mailbox: MemoryMailbox) -> None:
        self._mailbox = mailbox

    def changes_since(self, cursor: str, limit: int = 1000) -> Changes:
        return self._mailbox.changes_since(cursor, min(limit, 10))


def test_more_than_one_page_comes_at_one_hint_without_a_gap(memory_mailbox: MemoryMailbox) -> None:
    for number in range(25):
        memory_mailbox.post(Draft(str(number)))
    batches = list(follow(cast("Mailbox", Narrow(memory_mailbox)), Hints(), "", 9))
    told = [change.message.body for batch in batches for change in batch.changes if change.message]
    assert told == [str(number) for number in range(25)]
    assert len(batches) == 3


def test_any_batchs_cursor_is_a_place_to_go_on_from(memory_mailbox: MemoryMailbox) -> None:
    first = memory_mailbox.post(Draft("one")).message
    cursor = next(follow(memory_mailbox, Hints(), "")).cursor
    memory_mailbox.withdraw(first.id)
    (batch,) = follow(memory_mailbox, Hints(), cursor)
    assert [(change.kind, change.message_id) for change in batch.changes] == [(ChangeKind.WITHDRAWN, first.id)]
    assert list(follow(memory_mailbox, Hints(), batch.cursor)) == []


def test_a_cursor_of_another_mailbox_is_refused(memory_mailbox: MemoryMailbox) -> None:
    with pytest.raises(UsageError, match="nonsense"):
        list(follow(memory_mailbox, Hints(), "nonsense"))
