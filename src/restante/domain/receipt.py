"""Receipt: what the addressee said of one message, and how several receipts become one word.

Receipts are never changed; a later one adds to an earlier one. Merging goes by time: the newest decision
that was given counts, and so does the newest action. A bare receipt, which gives neither, only says that
the message was seen, so it can never take back what was said before.
"""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Decision(StrEnum):
    """What the addressee decided about a message."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    NEEDS_CONFIRMATION = "needs_confirmation"


class Action(StrEnum):
    """What became of the work that a message asked for."""

    PENDING = "pending"
    APPLIED = "applied"
    BLOCKED = "blocked"
    NOT_APPLICABLE = "not_applicable"


class Receipt(NamedTuple):
    """The addressee's word on a message.

    Attributes:
        id: See ``domain.ids``.
        message_id: The message it speaks of.
        seen_at: When it was written (UTC); ``None`` when a hand-written one does not say.
        decision: ``None`` when the receipt does not decide.
        action: ``None`` when the receipt does not speak of the work.
        summary: The addressee's words; may be empty.
        notes: More of them; may be empty.
        by: Which reader gave it; empty when unknown.
    """

    id: str
    message_id: str
    seen_at: datetime | None
    decision: Decision | None = None
    action: Action | None = None
    summary: str = ""
    notes: str = ""
    by: str = ""

    @property
    def is_bare(self) -> bool:
        """Whether it only says that the message was seen."""
        return self.decision is None and self.action is None


class MergedReceipts(NamedTuple):
    """Several receipts of one message, merged.

    Attributes:
        decision: The newest one given.
        action: The newest one given.
        summary: Of the newest receipt that has one.
        first_seen_at: Time of the oldest receipt.
        acknowledged_at: Time of the newest receipt that is not bare.
        total: How many receipts were merged.
    """

    decision: Decision | None = None
    action: Action | None = None
    summary: str = ""
    first_seen_at: datetime | None = None
    acknowledged_at: datetime | None = None
    total: int = 0

    @property
    def is_acknowledged(self) -> bool:
        """Whether any receipt decided or spoke of the work."""
        return self.decision is not None or self.action is not None


def merge_receipts(receipts: "Iterable[Receipt]") -> MergedReceipts:
    """Merge the receipts of one message, oldest first by time.

    A receipt without a time counts as given right after the one before it in the order of the argument,
    which is the order of the file.
    """
    timed: list[tuple[float, int, Receipt]] = []
    last = float("-inf")
    for place, receipt in enumerate(receipts):
        last = receipt.seen_at.timestamp() if receipt.seen_at else last
        timed.append((last, place, receipt))
    timed.sort(key=lambda entry: entry[:2])
    decision: Decision | None = None
    action: Action | None = None
    summary = ""
    first_seen: datetime | None = None
    acknowledged: datetime | None = None
    for _, _, receipt in timed:
        decision = receipt.decision or decision
        action = receipt.action or action
        summary = receipt.summary or summary
        first_seen = first_seen or receipt.seen_at
        if not receipt.is_bare:
            acknowledged = receipt.seen_at or acknowledged
    return MergedReceipts(decision, action, summary, first_seen, acknowledged, len(timed))
