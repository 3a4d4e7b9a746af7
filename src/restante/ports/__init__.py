"""Floor 2: what the services need of the world, in domain words: never SQL, never paths.

``Mailbox`` is the centre: one contract, several homes. Every home passes tests/contract/. The rules that
types cannot say stand in the docstrings; a home that keeps them can be used for everything above.

Here is what one worktree's mailbox needs. The modules beside this one say it of mail between sessions, of teams and
what one caller may ask of their roles, of monitors, of signed mail (``intake``; ``receiving`` for working it off), and
of explaining why a message was not answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from restante.domain.checkpoint import Shown
    from restante.domain.finding import Finding
    from restante.domain.lifecycle import Standing
    from restante.domain.mailbox import Acknowledgement, Archived, Changes, Counts, Entry, Fault, Mark, Posted
    from restante.domain.message import Draft, Reply
    from restante.domain.receipt import Receipt
    from restante.domain.repeat import Repeat
    from restante.domain.session import Thread
    from restante.domain.setup import Check, Plan


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

    def ids(self) -> list[str]:
        """Return the ids of all messages, archived ones too. Changes no byte."""

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
            BadText: A summary or note cannot be stored as text.
            TooLarge: A summary or note is over the limit of a message.
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


class Scanner(Protocol):
    """Finds what a sender should think about before the text leaves."""

    def scan(self, text: str) -> list[Finding]:
        """Return the findings in order of appearance."""


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


class Installer(Protocol):
    """Teaches agent programs about a worktree's mailbox, by files they read."""

    def plan_install(self, agents: Sequence[str], *, intake: bool = False, tools: str = "") -> Plan:
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


class Threads(Protocol):
    """Reads which conversations an agent program has. Can change nothing."""

    def list(self) -> list[Thread]:
        """Return them, the most recently changed first.

        Raises:
            NothingThere: The program is not to be found.
            StorageFailed: It did not answer as it should.
        """


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
