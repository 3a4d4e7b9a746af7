"""Waiting for mail, with an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from restante.domain.mailbox import Entry
    from restante.ports import Mailbox, Watcher


def wait_for_mail(mailbox: Mailbox, watcher: Watcher, seconds: float, after: int = 0) -> list[Entry]:
    """Return the pending messages as soon as there are unseen ones; an empty list when the time is over.

    Messages that were seen before do not end the wait, or an agent that waits before it acknowledges would
    never wait at all.

    Args:
        mailbox: The mailbox.
        watcher: What hints at changes.
        seconds: How long to wait at most.
        after: Only messages with a greater number end the wait.
    """
    for _ in watcher.ticks(seconds):
        entries = mailbox.entries(pending_only=True)
        if any(entry.standing.seen_at is None and entry.message.number > after for entry in entries):
            return entries
    return []
