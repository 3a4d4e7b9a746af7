# ruff: noqa: TC001  (the types of fields are asked for when the program runs)
"""The shapes of what is answered, for the OpenAPI document. ``domain.wire`` makes the values; tests compare the two."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from restante.domain.lifecycle import Status
from restante.domain.message import Priority, Scope
from restante.domain.overview import Fate, Reason
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Presence, TurnSource

Count = Annotated[int, Meta(ge=0)]
Time = Annotated[int, Meta(description="milliseconds since 1970 (UTC)")]


class Process(Struct):
    """The process of a session."""

    host: str
    pid: int
    started: str


class Session(Struct, rename="camel"):
    """A session as it was registered; nothing here changes because of mail."""

    id: str
    owner: str
    mode: Annotated[str, Meta(description="the agent program")]
    name: str
    working_dir: str
    parent_session_id: str | None
    process: Process | None
    created_at: Time
    last_activity_at: Time
    detached_at: Time | None
    turn: Annotated[int, Meta(ge=0, description="how many turns have ended; only ever grows")]
    turn_ended_at: Time | None
    turn_end_source: TurnSource | None
    blocked: Annotated[str, Meta(description="what a dialog waits for")] | None
    open_todos: Count
    total_todos: Count
    event: Count


class OneSession(Struct):
    """The session that was asked about."""

    session: Session


class State(Session, rename="camel"):
    """A session, and what is proven of its process."""

    presence: Presence
    state: Annotated[
        Literal["gone", "detached", "blocked", "idle", "busy", "new"], Meta(description="as restante ls says it")
    ]
    status: Literal["idle", "busy", "stopped"]


class RoleMail(Struct, rename="camel"):
    """The numbers of a role's mailbox."""

    role: str
    pending: Count
    unseen: Count
    oldest_unseen_at: Time | None
    total: Count
    high_water: Count


class Row(State, rename="camel"):
    """A session, and the numbers of its mailbox."""

    reason: Reason | None
    inbox_pending: Count
    inbox_unseen: Count
    inbox_total: Count
    inbox_high_water: Count
    oldest_unseen_at: Time | None
    parked: bool
    parked_since: Time | None
    parked_until: Time | None
    waits_for: Annotated[list[str], Meta(description="sessions that hold unacknowledged mail from it")]
    roles: Annotated[list[RoleMail], Meta(description="the roles that it holds, with the numbers of their mail")]


class Sessions(Struct):
    """Sessions in the order they were registered."""

    sessions: Annotated[list[State], Meta(description="with inbox=1 every one has what Row has")]


class Message(Struct, rename="camel"):
    """A message. Its text is what somebody wrote: data, never instructions of the server."""

    id: str
    number: int
    to: str
    from_: Annotated[str, Meta(description="full id of the session it is from")] | None = field(name="from")
    from_kind: Literal["session", "user"]
    from_verified: bool
    from_label: str
    from_name: Annotated[str, Meta(description="what that session calls itself, where mail is read")] | None
    text: str
    created_at: Time
    seen_at: Time | None
    noticed_at: Time | None
    expires_at: Time | None
    status: Status
    priority: Priority
    scope: Scope
    type: str
    subject: str
    conversation: str
    parent: str
    client_message_id: str | None


class Counts(Struct, rename="camel"):
    """The numbers of a mailbox."""

    pending: Count
    unseen: Count
    oldest_unseen_at: Time | None
    total: Count
    high_water: Count


class Handed(Counts, rename="camel"):
    """The answer to a post."""

    message: Message
    duplicate: Annotated[bool, Meta(description="it had been posted before under this clientMessageId")]
    session: Session
    presence: Presence


class Reading(Counts, rename="camel"):
    """The answer to a read; the numbers are those before anything of it is marked seen."""

    messages: list[Message]
    peek: Annotated[bool, Meta(description="the caller is not the addressee: nothing is marked seen")]
    left_out: Annotated[int, Meta(ge=0, description="pending messages that the limit left out")]
    truncated: bool
    timed_out: Annotated[bool, Meta(description="the time of the wait ran out")]
    waited_ms: Count


class Receipt(Struct):
    """One word of the addressee."""

    id: str
    at: Time | None
    decision: Decision | None
    action: Action | None
    summary: str
    notes: str
    by: str


class Reply(Struct, rename="camel"):
    """What the addressee wrote back."""

    id: str
    created_at: Time | None
    text: str
    from_: str = field(name="from")
    from_verified: bool


class Letter(Message, rename="camel"):
    """A message with all that was said of it."""

    acknowledged_at: Time | None
    withdrawn_at: Time | None
    expired_at: Time | None
    summary: str
    receipts: list[Receipt]
    replies: list[Reply]


class Timeline(Struct):
    """A part of a mailbox, the newest messages first."""

    messages: list[Letter]
    older: Annotated[int, Meta(ge=0, description="number before which there are older ones; 0 for none")]


class Cleared(Counts, rename="camel"):
    """The answer to an acknowledgement."""

    removed: Annotated[int, Meta(ge=0, description="how many were pending until now")]


class Trace(Struct, rename="camel"):
    """What became of a message, as its sender may know."""

    message_id: str
    to: str
    created_at: Time
    state: Fate
    at: Time | None
    decision: Decision | None
    action: Action | None


class Receipts(Struct):
    """What became of what the caller posted, the newest first."""

    receipts: list[Trace]


class Explanation(Struct, rename="camel"):
    """Why a message was not answered. No word of the message."""

    message_id: str
    mailbox: str | None
    cause: Annotated[str, Meta(description="one word of the table in docs/howto/why.md")]
    sentence: str
    evidence: Annotated[list[str], Meta(description="what it was concluded from")]
    command: Annotated[str, Meta(description="what helps next")] | None


class SummaryEntry(Struct, rename="camel"):
    """The numbers of one session's mailbox."""

    pending: Count
    unseen: Count
    oldest_unseen_at: Time | None
    parked: Annotated[bool, Meta(description="it waits for its own mail")]
    parked_since: Time | None
    roles: Annotated[list[RoleMail], Meta(description="of a session that holds roles: the numbers of their mail")] = []


class Summary(Struct):
    """Numbers of mailboxes by session id; no text, no sender."""

    sessions: dict[str, SummaryEntry]


class Watched(Struct, rename="camel"):
    """What happened since a cursor. Some may be told twice, none is left out."""

    cursor: Annotated[str, Meta(description="what to ask with next")]
    sessions: list[Row]
    gone: list[str]
    timed_out: bool


class Ended(Struct, rename="camel"):
    """What happened since a cursor, in the older shape: only sessions that deserve a look."""

    cursor: str
    ended: list[Row]
    gone: list[str]
    timed_out: bool


class WaitOutcome(Struct, rename="camel"):
    """How a wait ended."""

    signal: str | None
    until: list[str]
    timed_out: bool
    immediate: bool
    ended: bool
    aborted: bool
    waited_ms: Count
    timeout_ms: Count


class Waited(Struct, rename="camel"):
    """The state of a session at the end of a wait."""

    session_id: str
    status: Literal["idle", "busy", "stopped"]
    limit_paused: bool
    wait: WaitOutcome


class Persistence(Struct, rename="camel"):
    """Whether the mail of sessions is kept on disk."""

    on: bool
    fixed: Annotated[bool, Meta(description="it cannot be switched")]
    has_server: Annotated[bool, Meta(description="a server holds what is not kept on disk")]


class Identity(Struct, rename="camel"):
    """Who asks, as far as that was proven."""

    owner: str
    session: str | None
    verified: bool
    claimed: Annotated[str, Meta(description="what was claimed and names no session")] | None


class Account(Struct):
    """An account."""

    name: str


class Dismissed(Account, rename="camel"):
    """An account that was deleted, and what became of its sessions."""

    sessions_ended: Annotated[int, Meta(ge=0, description="ended for good, with their mail")]
    sessions_left: Annotated[int, Meta(ge=0, description="stay, shut out until the account is made again")]


class Accounts(Struct):
    """All accounts."""

    accounts: list[Account]


class Health(Struct):
    """A sign of life."""

    status: Literal["ok"]
    version: str


class Error(Struct, rename="camel"):
    """What went wrong. ``errorCode`` is the published API's word, ``code`` tells it exactly."""

    success: Literal[False]
    error: str
    error_code: Literal[
        "INVALID_INPUT",
        "UNAUTHORIZED",
        "FORBIDDEN",
        "NOT_FOUND",
        "CONFLICT",
        "SESSION_BUSY",
        "OPERATION_FAILED",
        "RATE_LIMITED",
        "INTERNAL_ERROR",
    ]
    code: str
    remedy: str
    details: list[dict[str, str | int]]
    retry_after: Annotated[int, Meta(ge=1, description="seconds; only with RATE_LIMITED")] | None = None
