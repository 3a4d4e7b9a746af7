"""Following what happens in a mailbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.domain.mailbox import Changes
    from restante.ports import Mailbox, Watcher


def follow(mailbox: Mailbox, watcher: Watcher, cursor: str, timeout: float | None = None) -> Iterator[Changes]:
    """Yield batches of changes as they happen, beginning after the cursor.

    The watcher only hints that something may have happened; what did is read from the mailbox, so a missed or
    superfluous hint costs time and never a change.

    Args:
        mailbox: The mailbox.
        watcher: What hints at changes.
        cursor: Where to begin.
        timeout: End after so many seconds.

    Raises:
        UsageError: The cursor is not one of this mailbox's.
    """
    for _ in watcher.ticks(timeout):
        while True:
            batch = mailbox.changes_since(cursor)
            moved = batch.cursor != cursor
            cursor = batch.cursor
            if batch.changes:
                yield batch
            if not (batch.changes and moved):
                break
