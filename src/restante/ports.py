"""Floor 2: what the services need of the world, in domain words: never SQL, never paths.

``Mailbox`` is the centre: one contract, several homes. Every home passes tests/contract/. The rules that
types cannot say stand in the docstrings; a home that keeps them can be used for everything above.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from restante.domain.lifecycle import Standing
    from restante.domain.message import Draft, Message, Priority, Reply, Scope
    from restante.domain.receipt import Action, Decision, Receipt


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class Ids(Protocol):
    """Where ids come from."""

    def new(self, kind: str, at: datetime) -> str:
        """Return a fresh id of the kind; two from one process sort in the order they were made."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message and what became of it."""

    message: Message
    standing: Standing


@dataclass(frozen=True, slots=True)
class Posted:
    """The answer to a post.

    Attributes:
        message: As stored.
        duplicate: Whether it had been posted before under the same client id; nothing was stored again.
    """

    message: Message
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of a mailbox, without a letter of its mail.

    Attributes:
        total: Messages the mailbox holds.
        unseen: Pending and never read.
        pending: Unseen and seen.
        high_water: Number of the newest unseen message; when none is unseen, of the newest message. Never falls.
        oldest_unseen: When the oldest unseen message was created.
    """

    total: int = 0
    unseen: int = 0
    pending: int = 0
    high_water: int = 0
    oldest_unseen: datetime | None = None


class Mark(StrEnum):
    """What may be recorded of a message beside its receipts."""

    NOTICED = "noticed"
    SEEN = "seen"


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """What an addressee wants to say of one message; becomes a ``Receipt``."""

    message_id: str
    decision: Decision | None = None
    action: Action | None = None
    summary: str = ""
    notes: str = ""


class ChangeKind(StrEnum):
    """What can be told of a mailbox."""

    POSTED = "posted"
    NOTICED = "noticed"
    SEEN = "seen"
    RECEIPT = "receipt"
    REPLY = "reply"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened in a mailbox.

    Attributes:
        kind: What happened.
        at: When (UTC); ``None`` where a hand-written record does not say.
        message_id: Which message; empty for a reply to none.
        message: For ``POSTED``.
        receipt: For ``RECEIPT``.
        reply: For ``REPLY``.
    """

    kind: ChangeKind
    at: datetime | None
    message_id: str
    message: Message | None = None
    receipt: Receipt | None = None
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes since a cursor, and the cursor to ask with next. Every answer carries one, an empty answer too."""

    changes: tuple[Change, ...]
    cursor: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a mailbox that could not be read for what it is; it was left as it is.

    Attributes:
        source: Name of the file or record.
        line: Line it begins at, from 1; 0 where lines mean nothing.
        reason: What is wrong with it, in a few words.
    """

    source: str
    line: int
    reason: str


class Mailbox(Protocol):
    """Where the messages for one addressee are kept.

    Every method may raise ``StorageFailed`` (and then has changed nothing that a reader could take for
    whole) and ``Busy``. Reading methods create nothing.
    """

    @property
    def address(self) -> str:
        """The address as text."""

    def post(self, draft: Draft) -> Posted:
        """Store a message durably: when this returns, it survives ``kill -9`` and power loss.

        A client id that was used before returns the stored message, with ``duplicate`` set.

        Raises:
            BadText: The text cannot be stored byte for byte.
            TooLarge: The body is over the limit.
            MailboxFull: As much is pending as may be; nothing is dropped to make room.
            Conflict: The client id was used for another body.
        """

    def entries(self, *, pending_only: bool = False, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return messages with their standing, in order of number. Changes no byte.

        Args:
            pending_only: Only messages that wait for their addressee's word.
            after: Only messages with a greater number.
            limit: At most so many.
        """

    def entry(self, message_id: str) -> Entry:
        """Return one message with its standing, archived ones too. Changes no byte.

        Raises:
            NoSuchMessage: The mailbox never had it, as far as is known.
            MailboxDeleted: It was posted here once, and the mailbox has been deleted since.
        """

    def mark(self, message_ids: Sequence[str], mark: Mark, reader: str) -> None:
        """Record that messages were noticed or seen; the first time counts, repeating changes nothing.

        Ids the mailbox does not know are passed over: what was shown may have been deleted since.
        """

    def acknowledge(self, words: Sequence[Acknowledgement], reader: str) -> list[Receipt]:
        """Store the addressee's word on messages, all or none, durably.

        Saying the same again (as the newest word on that message) returns the stored receipt.

        Raises:
            NoSuchMessage: One of the messages is unknown.
            IllegalStep: One of them was withdrawn.
        """

    def reply(self, to: str, body: str, reader: str) -> Reply:
        """Store the addressee's words, durably. They acknowledge nothing.

        Raises:
            NoSuchMessage: ``to`` is not empty and unknown.
            BadText: The text cannot be stored byte for byte.
            TooLarge: The text is over the limit.
        """

    def withdraw(self, message_id: str) -> Standing:
        """Take a message back before it was acknowledged; withdrawing again changes nothing.

        Raises:
            NoSuchMessage: The message is unknown.
            IllegalStep: It was acknowledged or expired before.
        """

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return the receipts of one message, in the order they were given."""

    def replies(self, message_id: str | None = None) -> list[Reply]:
        """Return replies in the order they were given; with an id, only those to that message."""

    def counts(self) -> Counts:
        """Return the numbers, as of now."""

    def changes_since(self, cursor: str, limit: int = 1000) -> Changes:
        """Return what happened since a cursor; the empty cursor stands for the beginning.

        A change may be told twice, none is left out.

        Raises:
            UsageError: The cursor is not one of this mailbox's.
        """

    def tip(self) -> str:
        """Return the cursor after which only what happens from now on is told."""

    def faults(self) -> list[Fault]:
        """Return what could not be read."""


@dataclass(slots=True)
class Shown:
    """What one session was shown of one mailbox. Changed in place while its notebook page is open.

    Attributes:
        times: When each message was last shown, by id.
        held: Ids for which the session's end was held up once.
    """

    times: dict[str, datetime] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)


class Notebook(Protocol):
    """Remembers, per session, what a checkpoint showed."""

    def page(self, session: str) -> AbstractContextManager[Shown]:
        """Open a session's page, alone; it is saved on leaving without an error.

        Raises:
            StorageFailed: It cannot be opened or saved; then nothing was changed.
        """

    def tear_out(self, session: str) -> None:
        """Forget a session; forgetting twice changes nothing."""


class Bell(Protocol):
    """The content-free sign that unacknowledged mail waits; a post rings it by itself."""

    def is_ringing(self) -> bool:
        """Whether the next checkpoint would look into the mailbox."""

    def hush(self) -> None:
        """Stop ringing, if nothing is pending; a post at the same moment is not missed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What screening found in a text.

    Attributes:
        code: Stable name of the rule, for example ``secret.github_token``.
        title: What it is, in words.
        line: Where, from 1.
        excerpt: The line, with anything secret replaced.
        at: Where in the text it begins, in characters.
        hidden: Which parts of the text no output may show because of it.
    """

    code: str
    title: str
    line: int
    excerpt: str
    at: int = 0
    hidden: tuple[tuple[int, int], ...] = ()


class Scanner(Protocol):
    """Finds what a sender should think about before the text leaves."""

    def scan(self, text: str) -> list[Finding]:
        """Return the findings in order of appearance."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Guidance that is posted again and again.

    Attributes:
        id: See ``domain.ids``, kind ``auto``.
        active: Whether it runs.
        body: The text of each message.
        priority: Of each message.
        scope: Of each message.
        interval_ms: Milliseconds between two messages; at least 5000.
        created: When it was set up.
        updated: When it was last changed.
        next_run: When the next message is due.
        last_sent: When the last one was posted.
        sent_count: How many were posted.
        source_message_id: The message it was set up with; empty when none.
        allow_warnings: Whether its sender overrode screening.
    """

    id: str
    active: bool
    body: str
    priority: Priority
    scope: Scope
    interval_ms: int
    created: datetime
    updated: datetime
    next_run: datetime
    last_sent: datetime | None = None
    sent_count: int = 0
    source_message_id: str = ""
    allow_warnings: bool = False


class RepeatBook(Protocol):
    """Where repeats are kept. Every change is one atomic step against other processes."""

    def all(self) -> list[Repeat]:
        """Return the repeats in the order they were made.

        Raises:
            Damaged: The book cannot be understood; mail can still be read.
        """

    def faults(self) -> list[Fault]:
        """Return what in the book is no repeat, or waits for a time that a clock set back made far."""

    def add(self, repeat: Repeat) -> None:
        """Keep a new repeat."""

    def set_active(self, repeat_id: str, active: bool, now: datetime) -> Repeat:
        """Pause or resume; a resumed repeat is next due one interval from now.

        Raises:
            NothingThere: No such repeat.
        """

    def remove(self, repeat_id: str) -> None:
        """Forget a repeat; forgetting twice raises ``NothingThere``."""

    def claim_due(self, now: datetime, limit: int = 10) -> list[tuple[Repeat, str]]:
        """Claim the due repeats, so that no other runner sends them, with the client id to post each under.

        Missed periods collapse into one. A claim of a runner that died is given out again under the same
        client id, so that a message it had posted is not posted twice.
        """

    def settle(self, repeat_id: str, client_id: str, sent_at: datetime) -> None:
        """Record that a claimed repeat was posted."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that installing changes.

    Attributes:
        path: Where, as text.
        before: Its bytes now; ``None`` when there is no file.
        after: Its bytes then; ``None`` when it is removed.
        what: What the change is, in a few words.
    """

    path: str
    before: bytes | None
    after: bytes | None
    what: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that installing or removing would change, and what a person should know first."""

    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One line of ``doctor``.

    Attributes:
        name: What was looked at.
        ok: Whether it is as it should be; ``None`` when it could not be told.
        detail: What was found.
        remedy: The command that mends it; empty when it is well.
    """

    name: str
    ok: bool | None
    detail: str
    remedy: str = ""


class Installer(Protocol):
    """Teaches agent programs about a worktree's mailbox, by files they read."""

    def plan_install(self, agents: Sequence[str]) -> Plan:
        """Return what installing changes. An empty plan means that all is there.

        Raises:
            UsageError: An agent program is unknown.
            Unreadable: A file is not what it should be.
            Unsafe: A file is a symbolic link.
        """

    def plan_uninstall(self) -> Plan:
        """Return what removing everything of ours changes; raises as ``plan_install``."""

    def apply(self, plan: Plan) -> None:
        """Make all changes or none.

        Raises:
            Conflict: A file changed since the plan was made.
            StorageFailed: A file cannot be written; all are as before.
        """

    def plan_trust(self) -> Plan:
        """Return the changes to the person's own configuration that make the hooks trusted."""

    def checks(self) -> list[Check]:
        """Look at what is installed."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation that an agent program has in some worktree.

    Attributes:
        id: The program's own id.
        agent: The program.
        title: Its name, or the beginning of it.
        directory: Where it works.
        status: What the program says of it.
        updated: When it last changed.
        loaded: Whether the program holds it in memory.
    """

    id: str
    agent: str
    title: str
    directory: str
    status: str
    updated: datetime | None
    loaded: bool


class Threads(Protocol):
    """Reads which conversations an agent program has. Can change nothing."""

    def list(self) -> list[Thread]:
        """Return them, the most recently changed first.

        Raises:
            NothingThere: The program is not to be found.
            StorageFailed: It did not answer as it should.
        """


@dataclass(frozen=True, slots=True)
class Archived:
    """What archiving moved."""

    moved: int
    kept: int
    into: str


class Archive(Protocol):
    """Moves acknowledged mail aside, so that what is read at every checkpoint stays small."""

    def archive(self) -> Archived:
        """Move every acknowledged, expired or withdrawn message, atomically, with its words kept."""


class Watcher(Protocol):
    """Tells that a mailbox may have changed."""

    def ticks(self, timeout: float | None = None) -> Iterator[None]:
        """Yield whenever something may have changed, at least once at the start.

        Args:
            timeout: End after so many seconds; ``None`` to go on until stopped.
        """
