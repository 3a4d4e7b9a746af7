"""Mail between sessions, as far as two processes at once decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.services import corresponding
from restante.testing import MemoryMailbox, make_draft

if TYPE_CHECKING:
    from restante.domain.mailbox import Counts, Entry


class Crossed(MemoryMailbox):
    """A mailbox to which another process posts right after each look."""

    def entries(self, *, pending_only: bool = False, after: int = 0, limit: int | None = None) -> list[Entry]:
        found = super().entries(pending_only=pending_only, after=after, limit=limit)
        self.post(make_draft("crossed"))
        return found

    def counts(self) -> Counts:
        counts = super().counts()
        self.post(make_draft("crossed"))
        return counts

    def delete(self) -> None:
        """Not needed here."""


def test_a_post_in_the_middle_of_a_read_is_never_counted_without_being_shown(memory_mailbox: MemoryMailbox) -> None:
    box = Crossed("session:a", memory_mailbox._clock, memory_mailbox._ids)
    reading = corresponding.read(box, is_addressee=True)
    assert reading.counts.unseen <= len(reading.entries)
    assert reading.left_out == 0
