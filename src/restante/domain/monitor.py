"""What watches a mailbox for a session that asked for it: states, marks, times. The steps are in ``domain.monitoring``.

A mark is a mailbox's high-water mark: the number of its newest unseen message. Nothing here knows a letter of it.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from restante.domain.registry import Process


class MonitorState(StrEnum):
    """How a monitor stands."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    EXPIRED = "expired"
    ERROR = "error"


class Plan(StrEnum):
    """What drives a monitor: bells that a receiver listens to, or a scheduled task of the agent program."""

    EVENT = "event"
    SCHEDULED = "scheduled"


class Sight(NamedTuple):
    """All that a collector may see of a mailbox.

    Attributes:
        mark: Number of the newest unseen message; 0 when none is unseen.
        unseen: How many messages are unseen.
        pending: How many are not acknowledged, the unseen ones among them.
        noticed: How many of the unseen ones a checkpoint or a wake made known.
        acknowledged: How many were acknowledged; counted only where that was asked for.
    """

    mark: int = 0
    unseen: int = 0
    pending: int = 0
    noticed: int = 0
    acknowledged: int = 0


class Monitor(NamedTuple):
    """A monitor of one mailbox, for one session.

    Attributes:
        mailbox: The address.
        owner: Whose; empty in single-user mode.
        session: Id of the session (the thread) that is woken.
        vendor: Its agent program.
        generation: Of the lease under which it was armed; 0 where the mailbox is no role's.
        token: What proves to a check that it belongs to this arming (``task-<uuid>``). Arming again for the same
            session while it is active keeps it.
        plan: What drives it.
        adapter: Name of the wake adapter.
        state: How it stands.
        armed: When it was armed.
        cycle_started: When the cycle of the backoff began: at arming, or with the last new mark.
        time_to_live: How long without a sign of life, or without new mail, until it expires.
        expires: When it does.
        last_checked: When it was last checked; ``None`` for never.
        heartbeat: When its receiver, or its session, was last heard of; ``None`` for never.
        last_seen: The highest mark that a check saw.
        last_delivered: The highest mark that was told to have been collected.
        last_woken: The highest mark that a wake was confirmed for.
        pending: The mark that a wake was made for and that is not yet delivered; 0 for none.
        pending_at: When that wake was made; ``None`` where the last try could not be made.
        tries: How many wakes were made for it.
        failures: How many probes or wakes failed in a row.
        last_error: What the last failure was, in a sentence without a word of mail.
        interval: The interval in seconds that the scheduled task was told to run at; 0 where there is none.
        automations: Ids of the agent program's own tasks, to be removed with it.
        receiver: The process that listens for it; ``None`` for none.
        offered: The marks that wakes were made for since mail was last collected; the last one is ``pending``.
        backlog: How many wakes were made since then, with those that were made again.
        collected: When that was; ``None`` for never.
        is_single: Whether a subscription made it: it ends with its first wake.
        only_reports: Whether whoever is woken only reports what came, and marks and answers nothing.
        hindrance: Why there is no visible way to wake the session now; empty as long as there may be one.
    """

    mailbox: str
    owner: str
    session: str
    vendor: str
    generation: int
    token: str
    plan: Plan
    adapter: str
    state: MonitorState
    armed: datetime
    cycle_started: datetime
    time_to_live: timedelta
    expires: datetime
    last_checked: datetime | None = None
    heartbeat: datetime | None = None
    last_seen: int = 0
    last_delivered: int = 0
    last_woken: int = 0
    pending: int = 0
    pending_at: datetime | None = None
    tries: int = 0
    failures: int = 0
    last_error: str = ""
    interval: int = 0
    automations: tuple[str, ...] = ()
    receiver: Process | None = None
    offered: tuple[int, ...] = ()
    backlog: int = 0
    collected: datetime | None = None
    hindrance: str = ""
    is_single: bool = False
    only_reports: bool = False


class Wake(StrEnum):
    """What became of a wake."""

    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    IMPOSSIBLE = "impossible"


class Woken(NamedTuple):
    """The answer of a wake adapter.

    Attributes:
        wake: What became of it.
        reason: Why not, in a sentence without a word of mail; empty when it was confirmed.
        receipt: What proves it, for example the id of a queued item; empty for nothing.
    """

    wake: Wake
    reason: str = ""
    receipt: str = ""


class Target(NamedTuple):
    """Whom to wake, and for what.

    Attributes:
        session: Id of the session: the agent program's own thread id.
        vendor: The agent program.
        worktree: Where it works; empty for nowhere.
        mailbox: The mailbox in which mail waits.
        mark: Its high-water mark.
        unseen: How many messages are unseen.
        nonce: A word that is new with each wake, by which an adapter can find its own wake again.
    """

    session: str
    vendor: str
    worktree: str
    mailbox: str
    mark: int
    unseen: int
    nonce: str


class Subscription(NamedTuple):
    """Wake a role once, by the first message about an action that says one of some states.

    Attributes:
        id: See ``domain.ids``.
        mailbox: The role that is woken, whose mailbox the message comes to.
        owner: Whose.
        action: Which action.
        correlation: Which run of it.
        states: The states that end the waiting.
        session: Id of the session that is woken; empty for whoever holds the role then.
        report_only: Whether whoever is woken only reports and answers nothing.
        created: When it was made.
        expires: When it is over.
        reports_expiry: Whether that is reported, once.
    """

    id: str
    mailbox: str
    owner: str
    action: str
    correlation: str
    states: tuple[str, ...]
    session: str
    report_only: bool
    created: datetime
    expires: datetime
    reports_expiry: bool


class Signal(NamedTuple):
    """What a message says of an action, beside its text."""

    action: str
    correlation: str
    state: str
