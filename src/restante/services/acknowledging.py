"""The addressee's word on messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.mailbox import Acknowledgement
    from restante.domain.receipt import Receipt
    from restante.domain.session import Caller
    from restante.ports import Bell, Mailbox


def acknowledge(mailbox: Mailbox, bell: Bell, words: Sequence[Acknowledgement], caller: Caller) -> list[Receipt]:
    """Store the words, all or none, and let the bell rest if nothing else is pending.

    Raises:
        UsageError: A word neither decides nor speaks of the work: reading is not acknowledging.
        NoSuchMessage: A message is unknown.
        IllegalStep: A message was withdrawn.
    """
    if any(word.decision is None and word.action is None for word in words):
        raise UsageError("an acknowledgement says what you decided or did", remedy="add --decision or --action")
    receipts = mailbox.acknowledge(words, caller.name if caller.is_agent else "")
    bell.hush()
    return receipts
