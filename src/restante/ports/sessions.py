"""What mail between sessions needs of the world, in domain words, and what a caller can ask of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from restante.domain.lifecycle import Show
from restante.ports import Mailbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from restante.domain.case import Timeline
    from restante.domain.checkpoint import Moment
    from restante.domain.mailbox import Counts, Entry
    from restante.domain.message import Draft
    from restante.domain.overview import Cleared, Flow, Handed, Late, Persistence, Reading, Row, Trace, Watched
    from restante.domain.receipt import Action, Decision
    from restante.domain.registry import Arrival, Identity, Latch, Presence, Process, Session
    from restante.domain.why import Explanation


class Sessions(Protocol):
    """The register of sessions. Every change is one durable, atomic step and gives the session a new ``event``.

    An owner is part of every question: a foreign session is an unknown one.
    """

    def attach(self, arrival: Arrival, owner: str, now: datetime, *, is_proven: bool) -> Session:
        """Register a session, or attach it again under its id; what the arrival leaves empty stays as it was.

        Args:
            arrival: What it says of itself.
            owner: Whose it is.
            now: The time.
            is_proven: Whether the caller proved to be this session, or its owner: only then a secret is replaced, and
                only then, where there is one, vendor, name, worktree and parent.

        Raises:
            NoSuchSession: The id is another owner's.
        """

    def session(self, session_id: str, owner: str) -> Session | None:
        """Return one session by its whole id."""

    def named(self, reference: str, owner: str) -> list[Session]:
        """Return the sessions that have this name, or an id that begins with it."""

    def proven_by(self, secret_digest: str) -> Session | None:
        """Return the session whose secret has this digest, whoever owns it."""

    def all(self, owner: str) -> list[Session]:
        """Return an owner's sessions, in the order they were registered."""

    def owners(self) -> list[str]:
        """Return whose sessions there are, sorted; those without an owner are the empty one's."""

    def at(self, worktree: str) -> list[Session]:
        """Return the sessions of a worktree that are not detached, whoever owns them, in no order."""

    def changed_since(self, event: int, owner: str) -> tuple[list[Session], list[str]]:
        """Return the sessions that changed after an event, and the ids of those deleted after it."""

    def tip(self, owner: str) -> tuple[str, int]:
        """Return the tag of the register and the number of the owner's last event."""

    def latch(self, session_id: str, owner: str, latch: Latch, now: datetime) -> None:
        """Set the turn latch; a turn number that is lower than the one known changes nothing."""

    def describe(
        self,
        session_id: str,
        owner: str,
        now: datetime,
        *,
        name: str | None = None,
        blocked: str | None = None,
        open_todos: int | None = None,
        total_todos: int | None = None,
    ) -> None:
        """Change what is given; ``None`` leaves a thing as it is."""

    def beat(self, session_id: str, owner: str, now: datetime) -> None:
        """Record that a session was heard of. Gives no new event."""

    def park(self, session_id: str, owner: str, since: datetime | None, until: datetime | None) -> None:
        """Record since and until when it counts as waiting for mail; ``None`` for not. Gives no new event."""

    def lightly(self) -> AbstractContextManager[None]:
        """Write in the block what is no more than a hint: seen by all, and lost perhaps with the machine's power."""

    def detach(self, session_id: str, owner: str, now: datetime) -> None:
        """Record that its process ended; its mail stays. Detaching again changes nothing."""

    def delete(self, session_id: str, owner: str, now: datetime) -> None:
        """Forget a session; its id stays as a trace for who watches."""

    def together(self, *, at_once: bool = False) -> AbstractContextManager[None]:
        """Make everything that this thread writes in the block durable at once, when it ends.

        A step within that fails is undone alone. Nothing may be told as done before the block was left without an
        error; an error on leaving undoes every step.

        Args:
            at_once: Raise ``Busy`` within the block where another process would have to be waited for. Such a block may
                be left in another thread.
        """

    def with_secrets(self, owner: str) -> set[str]:
        """Return the ids of an owner's sessions that a secret proves."""

    def setting(self, name: str) -> str | None:
        """Return a setting that a person made, for example ``persistence``."""

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting."""


class Box(Mailbox, Protocol):
    """A session's mailbox: the contract, and an end."""

    def delete(self) -> None:
        """Delete it with everything in it; the ids stay as a trace. Deleting again changes nothing."""


class Boxes(Protocol):
    """Where the mailboxes of sessions are kept, asked about many at once."""

    @property
    def is_durable(self) -> bool:
        """Whether what is posted survives the process."""

    @property
    def expired(self) -> int:
        """How many messages this process found expired so far."""

    def box(self, session_id: str, owner: str) -> Box:
        """Return the mailbox of a session; nothing is created by it."""

    def together(self, *, at_once: bool = False) -> AbstractContextManager[None]:
        """Make everything that this thread writes in the block durable at once; see ``Sessions.together``."""

    def write_now(self) -> None:
        """Write what this thread put off in such a block; else that is done on leaving it.

        Raises:
            StorageFailed: It cannot be written; all of the block is undone, and leaving it raises the same.
        """

    def counts(self, owner: str, session_ids: Sequence[str] | None = None) -> dict[str, Counts]:
        """Return the numbers of an owner's mailboxes that hold or held mail, in one consistent look."""

    def debts(self, owner: str) -> dict[str, set[str]]:
        """Return, for each sender of pending mail (a session's id), the sessions that hold some of it."""

    def flows(self, owner: str, since: datetime) -> dict[tuple[str, str], Flow]:
        """Return what was posted since a time, by sender (``Sender.name``) and addressed session."""

    def owners(self) -> list[str]:
        """Return whose mailboxes there are, sorted."""

    def traces(self, sender: str, owner: str, *, message_ids: Sequence[str] = (), limit: int = 100) -> list[Trace]:
        """Return what became of a sender's messages, the newest first; with ids, of just those.

        Args:
            sender: As it stands in the messages: ``Sender.name``.
            owner: Whose mailboxes to look into.
            message_ids: Whole ids; those that the sender did not post are passed over.
            limit: At most so many.
        """

    def changed_since(self, event: int, owner: str) -> list[str]:
        """Return the ids of the sessions whose mailbox changed after an event."""

    def sweep(self, owner: str) -> list[str]:
        """Record what expired, so that it is an event, and return whose mail it was; writers do so in their mailbox."""

    def tip(self, owner: str) -> tuple[str, int]:
        """Return the tag of this place and the number of the owner's last event; a lost place has a new tag."""


class Turns(Protocol):
    """What hooks left behind about turns, without any program having run: see docs/protocol.md."""

    def expect(self, session_id: str) -> None:
        """Let the hooks of a session leave their signs from now on."""

    def forget(self, session_id: str) -> None:
        """Take the signs of a session away; forgetting twice changes nothing."""

    def latches(self, session_ids: Sequence[str]) -> dict[str, Latch]:
        """Return the latches that the signs of these sessions say; those without signs are left out."""

    def sign(self, session_id: str, *, has_ended: bool) -> None:
        """Leave a sign as the hooks do: a turn started, or ended. Where none are expected it changes nothing."""

    def blocked(self, session_ids: Sequence[str]) -> dict[str, str]:
        """Return what a dialog of these sessions waits for (``permission``, ``question``), empty for nothing.

        Those whose hooks never reported a dialog are left out.
        """


class Processes(Protocol):
    """Which processes live on this machine."""

    def presence(self, process: Process) -> Presence:
        """Tell whether a process lives: alive and gone are proven, anything else is unknown."""


class SessionBell(Protocol):
    """The content-free sign for the hooks of a worktree that mail waits for one of its sessions."""

    def ring(self, session: Session) -> None:
        """Ring for a session whose worktree is on this machine; anywhere else it changes nothing. Never raises."""

    def hush(self, worktree: str, is_waiting: Callable[[], bool]) -> None:
        """Stop ringing in a worktree unless ``is_waiting`` tells that mail waits; a post meanwhile is not missed."""


class Leavings(Protocol):
    """What sandboxed sessions left in their worktrees, to be carried on."""

    def drop_texts(self, worktree: str) -> None:
        """Take away what holds the text of a message, wherever it is from. Never raises, and follows no link."""


class Keeping(Protocol):
    """Where the mail of sessions is kept, and the way from one place to the other."""

    def persistence(self) -> Persistence:
        """Return whether it is kept on disk."""

    def held(self, *, at_once: bool = False) -> AbstractContextManager[Boxes | None]:
        """Give the place where the mail is; it is not switched while the block runs. May be nested in one thread.

        ``None`` stands for nowhere: it is not kept on disk, and this process holds none.

        Args:
            at_once: Raise ``Busy`` where another process would have to be waited for. Such a block may be left in
                another thread.
        """

    def switch(self, is_on: bool) -> None:
        """Keep mail on disk from now on, all there is included; or no longer, and delete what is there.

        Whoever holds the mail keeps it in memory then. Not within ``held``.

        Raises:
            Refused: It is fixed.
            Busy: Mail was in use for longer than we wait; nothing was changed.
        """

    def mend(self) -> tuple[str, ...]:
        """Set aside what is there and cannot be read, and delete what must not be there; return the new paths."""


class OwnMail(Protocol):
    """A session's own mail at a checkpoint, beside that of its worktree. Never raises an error of ours."""

    @property
    def names(self) -> Mapping[str, str]:
        """What the sessions are called that wrote what ``entries`` told, by their addresses."""

    def entries(self, moment: Moment) -> list[Entry]:
        """Return what is pending; nothing where no bell rings, or it cannot be looked into."""

    def notice(self, message_ids: Sequence[str]) -> None:
        """Record that messages were shown."""

    def rest(self) -> None:
        """Let the bell rest, after a look that found nothing, unless mail waits for a neighbour."""


class Accounts(Protocol):
    """The accounts of multi-user mode."""

    def add(self, name: str, password_hash: str) -> None:
        """Make an account, or give the one of that name another password."""

    def password_hash(self, name: str) -> str | None:
        """Return the hash of an account's password; ``None`` where there is no such account."""

    def names(self) -> list[str]:
        """Return the names of all accounts, sorted."""

    def made(self) -> dict[str, datetime]:
        """Return when each account was made, by their names in order."""

    def remove(self, name: str) -> bool:
        """Remove an account and tell whether there was one."""


class Window(Protocol):
    """What one caller can ask of the exchange, here or through a server. Sessions are named by id, name or prefix.

    An empty session stands for the caller's own. Errors are those of ``domain.errors``; all may raise
    ``StorageFailed``, ``Busy`` and, through a server, ``Unreachable``.
    """

    @property
    def identity(self) -> Identity:
        """Who asks."""

    def register(self, arrival: Arrival) -> Session:
        """Register a session, or attach it again."""

    def detach(self, session: str = "") -> Session:
        """Record that a session's process ended; its mail stays."""

    def delete(self, session: str) -> Session:
        """End a session for good, with its mail; the senders can still learn that it was deleted."""

    def describe(
        self,
        session: str = "",
        *,
        name: str | None = None,
        blocked: str | None = None,
        open_todos: int | None = None,
        total_todos: int | None = None,
    ) -> Session:
        """Change what is known of a session."""

    def turn(self, session: str = "", *, has_ended: bool, source: str = "hook") -> Session:
        """Set the turn latch: a turn of the session began, or ended."""

    def sessions(self) -> list[Row]:
        """Return every session of the owner with the numbers of its mailbox."""

    def post(self, to: str, draft: Draft, *, allow_warnings: bool = False) -> Handed:
        """Post to a session. Whatever the draft says, it is from who asks; its type is ``guidance`` or ``note``.

        Raises:
            NoSuchSession: There is none.
            UsageError: The text is empty.
            TooLarge: It is over the limit of a message.
            MailboxFull: The mailbox, or the sender's share of it, is full.
            Conflict: The client id was used for another text.
            Screened: Screening found something, and warnings were not allowed.
            PersistenceOff: There is nowhere to keep it.
        """

    def read(
        self, session: str = "", *, after: int = 0, limit: int | None = None, wait: float | None = None
    ) -> Reading:
        """Return pending messages, the oldest first. Marks nothing: see ``confirm``.

        Args:
            session: Whose.
            after: Only messages with a greater number.
            limit: At most so many messages.
            wait: Wait so many seconds while nothing is unseen.
        """

    def timeline(self, session: str, *, before: int = 0, limit: int = 50, show: Show = Show.ALL) -> Timeline:
        """Return the newest messages of a mailbox, answered ones too, with what became of each. Marks nothing.

        Args:
            session: Whose.
            before: Only messages with a smaller number; 0 for the newest.
            limit: At most so many.
            show: Which.

        Raises:
            Forbidden: A session's mail is for that session, and for the person.
        """

    def confirm(self, message_ids: Sequence[str], session: str = "", *, only_noticed: bool = False) -> None:
        """Record that messages were handed over whole: they are seen, if the caller is the addressee.

        Args:
            message_ids: Which.
            session: Whose.
            only_noticed: A checkpoint showed them, and nobody knows whether the model read them: not seen yet.
        """

    def acknowledge(
        self,
        message_ids: Sequence[str],
        session: str = "",
        *,
        through: bool = False,
        decision: Decision | None = None,
        action: Action | None = None,
        summary: str = "",
        late: Late | None = None,
    ) -> Cleared:
        """Acknowledge messages. One that is gone already is a success.

        Args:
            message_ids: Which; with ``through``, one: it and everything pending that is older.
            session: Whose.
            through: See above.
            decision: ``accepted`` when neither a decision nor an action is given.
            action: What became of the work.
            summary: What was done, in a sentence.
            late: When it was said, if that is long ago: a message that was answered since then keeps that answer.

        Raises:
            Forbidden: The caller is not the addressee; nothing was changed.
        """

    def receipts(self, message_ids: Sequence[str] = (), *, limit: int = 100) -> list[Trace]:
        """Return what became of what the caller posted, the newest first."""

    def withdraw(self, message_id: str) -> Trace:
        """Take back what the caller posted, before it was acknowledged, and return what became of it.

        Raises:
            Forbidden: Nothing proved who asks.
            NoSuchMessage: The caller posted no message of this id.
            MailboxDeleted: It went with its mailbox.
            IllegalStep: It was acknowledged or expired before.
        """

    def why(self, message: str) -> Explanation:
        """Return why a message was not answered that was posted to a session or to a role. Marks nothing.

        Args:
            message: Its id, or a part that only it has.

        Raises:
            NoSuchMessage: There is none that the caller may ask about.
        """

    def watch(self, cursor: str = "", sessions: Sequence[str] = (), *, wait: float | None = None) -> Watched:
        """Return every session that changed since a cursor, at once when one did.

        Args:
            cursor: From an earlier answer; empty for all there is.
            sessions: Only these, by their whole ids. A wait ends at once for one that is gone since the cursor, or with
                an empty one; for one that was gone before it does not, and tells it when the time is over.
            wait: Wait so many seconds for a change.

        Raises:
            UsageError: It is no cursor.
        """

    def persistence(self) -> Persistence:
        """Return whether the mail of sessions is kept on disk."""

    def set_persistence(self, is_on: bool) -> Persistence:
        """Switch it: on keeps what there is from now on, off deletes what was kept.

        Raises:
            Forbidden: The caller is not proven to be a person: only one decides this.
            Refused: It is fixed.
        """
