"""THE table: what can become of a message, and by which event.

    state                 event          next state
    unseen, seen          read           seen
    unseen, seen          acknowledge    the receipt's word
    unseen, seen          expire         expired
    unseen, seen          withdraw       withdrawn
    the receipt's word    read           unchanged
    the receipt's word    acknowledge    the merged receipts' word
    expired               read           unchanged
    expired               acknowledge    the receipt's word: a late answer is still an answer
    withdrawn             read, withdraw unchanged

Any other pair is an illegal step: it raises and changes nothing. *Noticed* is no state: a checkpoint
showed the message, and nobody can know whether the model read it; it is kept as a time beside the state.

Pending = unseen + seen. A message leaves pending only by an acknowledgement, by expiry, by withdrawal or
with its whole mailbox. The pictures in docs/ are drawn from ``STEPS``.
"""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import IllegalStep
from restante.domain.receipt import Action, Decision, MergedReceipts

if TYPE_CHECKING:
    from restante.domain.message import Message


class Status(StrEnum):
    """The one word that says what became of a message."""

    UNSEEN = "unseen"
    SEEN = "seen"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    NEEDS_CONFIRMATION = "needs_confirmation"
    PENDING = "pending"
    APPLIED = "applied"
    BLOCKED = "blocked"
    NOT_APPLICABLE = "not_applicable"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Event(StrEnum):
    """What can happen to a message after it was posted."""

    READ = "read"
    ACKNOWLEDGE = "acknowledge"
    EXPIRE = "expire"
    WITHDRAW = "withdraw"


PENDING = (Status.UNSEEN, Status.SEEN)
ACKNOWLEDGED = (
    Status.ACCEPTED,
    Status.REJECTED,
    Status.DEFERRED,
    Status.NEEDS_CONFIRMATION,
    Status.PENDING,
    Status.APPLIED,
    Status.BLOCKED,
    Status.NOT_APPLICABLE,
)

# None stands for "what the merged receipts say", which is data and not a state of its own.
STEPS: dict[tuple[Status, Event], Status | None] = {
    **{(state, Event.READ): Status.SEEN for state in PENDING},
    **{(state, Event.ACKNOWLEDGE): None for state in PENDING},
    **{(state, Event.EXPIRE): Status.EXPIRED for state in PENDING},
    **{(state, Event.WITHDRAW): Status.WITHDRAWN for state in PENDING},
    **{(state, Event.READ): state for state in ACKNOWLEDGED},
    **{(state, Event.ACKNOWLEDGE): None for state in ACKNOWLEDGED},
    (Status.EXPIRED, Event.READ): Status.EXPIRED,
    (Status.EXPIRED, Event.ACKNOWLEDGE): None,
    (Status.WITHDRAWN, Event.READ): Status.WITHDRAWN,
    (Status.WITHDRAWN, Event.WITHDRAW): Status.WITHDRAWN,
}


def step(state: Status, event: Event, merged: MergedReceipts | None = None, *, message_id: str = "") -> Status:
    """Return the state after an event.

    Args:
        state: The state now.
        event: What happens.
        merged: The merged receipts, for ``Event.ACKNOWLEDGE``.
        message_id: Whose state it is, for the error.

    Raises:
        IllegalStep: The table has no such step.
    """
    if (state, event) not in STEPS:
        raise _illegal(state, event, message_id or "the message")
    after = STEPS[state, event]
    if after is not None:
        return after
    return word_of(merged or MergedReceipts()) or state


def _illegal(state: Status, event: Event, message: str) -> IllegalStep:
    if event is Event.ACKNOWLEDGE:
        text, remedy = (
            f"{message} is {state}, and no longer to be acknowledged",
            "its sender took it back; nothing to do",
        )
    elif event is Event.WITHDRAW and state in ACKNOWLEDGED:
        text, remedy = f"{message} was acknowledged: {state}", "send a new message instead"
    elif event is Event.WITHDRAW:
        text, remedy = f"{message} is {state}, and waits no more", "no agent is shown it any more; nothing to do"
    else:
        text, remedy = f"{message} is {state}; it cannot {event} any more", "nothing was changed; nothing to do"
    return IllegalStep(text, remedy=remedy)


def word_of(merged: MergedReceipts) -> Status | None:
    """Return the status that merged receipts stand for; ``None`` when they only say *seen*.

    What became of the work says more than the decision, except while it is still to be done.
    """
    if merged.action is not None and (merged.action is not Action.PENDING or merged.decision is None):
        return Status(merged.action.value)
    return Status(merged.decision.value) if merged.decision else None


class Show(StrEnum):
    """Which messages of a mailbox are wanted."""

    ALL = "all"
    PENDING = "pending"
    UNSEEN = "unseen"
    ANSWERED = "answered"

    def fits(self, status: Status) -> bool:
        """Tell whether messages of a status are."""
        wanted = {Show.PENDING: PENDING, Show.UNSEEN: (Status.UNSEEN,), Show.ANSWERED: ACKNOWLEDGED}
        return self is Show.ALL or status in wanted[self]


class Standing(NamedTuple):
    """What became of a message, with the times.

    Attributes:
        status: The one word.
        noticed_at: When a checkpoint first showed it.
        seen_at: When its addressee first read it.
        acknowledged_at: When the newest receipt that decides was given.
        withdrawn_at: When its sender took it back.
        expired_at: When it expired.
        decision: The newest decision.
        action: The newest action.
        summary: The addressee's words.
    """

    status: Status
    noticed_at: datetime | None = None
    seen_at: datetime | None = None
    acknowledged_at: datetime | None = None
    withdrawn_at: datetime | None = None
    expired_at: datetime | None = None
    decision: Decision | None = None
    action: Action | None = None
    summary: str = ""

    @property
    def is_pending(self) -> bool:
        """Whether the message still waits for its addressee's word."""
        return self.status in PENDING


class Marks(NamedTuple):
    """What a home recorded of a message beside its receipts.

    Attributes:
        noticed_at: When a checkpoint first showed it.
        seen_at: When its addressee first read it.
        withdrawn_at: When its sender took it back.
        is_withdrawn: Whether it was taken back, also where no time was kept.
        is_expired: Whether it is known to have expired; it stays so when a clock is set back.
    """

    noticed_at: datetime | None = None
    seen_at: datetime | None = None
    withdrawn_at: datetime | None = None
    is_withdrawn: bool = False
    is_expired: bool = False


def standing_of(message: "Message", marks: Marks, merged: MergedReceipts, now: datetime) -> Standing:
    """Derive what became of a message, by running its events through the table.

    Args:
        message: The message.
        marks: What was recorded beside the receipts.
        merged: Its merged receipts.
        now: The time to judge expiry by.
    """
    status = Status.UNSEEN
    if marks.seen_at or merged.total:
        status = step(status, Event.READ)
    if marks.is_withdrawn:
        status = step(status, Event.WITHDRAW)
    elif merged.is_acknowledged:
        status = step(status, Event.ACKNOWLEDGE, merged)
    elif marks.is_expired or (message.expires is not None and message.expires <= now):
        status = step(status, Event.EXPIRE)
    times = [time for time in (marks.seen_at, merged.first_seen_at) if time]
    return Standing(
        status=status,
        noticed_at=marks.noticed_at,
        seen_at=min(times, default=None),
        acknowledged_at=merged.acknowledged_at,
        withdrawn_at=marks.withdrawn_at,
        expired_at=message.expires if status is Status.EXPIRED else None,
        decision=merged.decision,
        action=merged.action,
        summary=merged.summary,
    )
