"""The sessions that can write to each other, as they are known: whose, where, alive or not, in a turn or not."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from restante.domain.message import Sender

# An id so short is shown to people as it is.
_SHOWN_WHOLE = 12


class Process(NamedTuple):
    """A process, told apart from a later one with the same number.

    Attributes:
        host: The machine's name.
        pid: Its number there.
        started: When it began, in the words of that machine; only ever compared for being equal.
    """

    host: str
    pid: int
    started: str


class Presence(StrEnum):
    """What is proven of a session's process."""

    ALIVE = "alive"
    GONE = "gone"
    DETACHED = "detached"
    UNKNOWN = "unknown"


class TurnSource(StrEnum):
    """How the end of a turn became known."""

    HOOK = "hook"
    HEURISTIC = "heuristic"
    EXIT = "exit"


class Latch(NamedTuple):
    """When a session's last turn ended, and which turn that was.

    Attributes:
        turn: How many turns have ended; only ever grows.
        ended: When the last one did; ``None`` before the first end and while a turn runs.
        source: How that became known.
    """

    turn: int = 0
    ended: datetime | None = None
    source: TurnSource | None = None


class Session(NamedTuple):
    """One session as it was registered.

    Attributes:
        id: The agent program's own id of it.
        owner: Whose it is; empty in single-user mode.
        vendor: The agent program, for example ``codex``.
        name: A name to call it by; empty for none. Several sessions may have the same.
        worktree: Top level of the worktree it works in; empty for none.
        parent: Id of the session that started it, or empty.
        process: Its process, where that is known.
        created: When it was first registered.
        heartbeat: When it was last heard of.
        detached: When it was detached; ``None`` while it is attached.
        latch: Its turn latch.
        blocked: What a dialog of it waits for (``permission``, ``question``); empty for nothing.
        open_todos: How many items of its own list are open.
        total_todos: How many there are.
        parked_since: Since when it waits for mail; may be over, see ``parked_until``.
        parked_until: Until when it counts as waiting.
        event: Number of its last change among the owner's sessions; only ever grows.
    """

    id: str
    owner: str
    vendor: str
    name: str
    worktree: str
    parent: str
    process: Process | None
    created: datetime
    heartbeat: datetime
    detached: datetime | None = None
    latch: Latch = Latch()
    blocked: str = ""
    open_todos: int = 0
    total_todos: int = 0
    parked_since: datetime | None = None
    parked_until: datetime | None = None
    event: int = 0

    @property
    def address(self) -> str:
        """The address of its mailbox."""
        return f"session:{self.id}"

    @property
    def title(self) -> str:
        """What people call it: its name, else the beginning of its id. Not escaped."""
        return self.name or brief(self.id)


def brief(session_id: str) -> str:
    """Return as much of a session's id as people are shown and can name it by. Not escaped.

    An id of version 7 (RFC 9562) begins with the time it was made at: the first eight characters are those of all
    sessions that began within a minute, the first thirteen those of one millisecond.
    """
    if len(session_id) <= _SHOWN_WHOLE:
        return session_id
    begins_with_time = session_id[8] == "-" and session_id[14:15] == "7"
    return session_id[: 13 if begins_with_time else 8]


class Arrival(NamedTuple):
    """What a session says of itself when it registers. Registering again under the same id attaches it again.

    Attributes:
        id: See ``Session``; as all others.
        secret_digest: SHA-256 (hex) of the secret that proves it; kept when the session has one already, unless the
            caller is proven.
    """

    id: str
    vendor: str = ""
    name: str = ""
    worktree: str = ""
    parent: str = ""
    process: Process | None = None
    secret_digest: str = ""


class Identity(NamedTuple):
    """Who asks, as far as that was proven.

    Attributes:
        owner: On whose behalf; empty in single-user mode.
        session: Full id of the session that asks; empty for a person or for nobody in particular.
        verified: Whether it was proven by a secret, and not only claimed.
        claimed: What was claimed and names no session; such a caller is "user, unverified".
    """

    owner: str = ""
    session: str = ""
    verified: bool = False
    claimed: str = ""

    @property
    def sender(self) -> Sender:
        """Who its mail is from. A person is ``human`` only when proven, by a token or as the owner by a password.

        A dropped claim must not raise trust.
        """
        if self.session:
            return Sender(f"session:{self.session}", self.verified)
        return Sender("human", True) if self.verified else Sender("user", False)


class Claim(NamedTuple):
    """What a caller shows of itself.

    Attributes:
        secret: A session's secret, or the person's token; empty for none.
        session: A session's id, or a prefix of at least 8 characters that only one has; empty for none.
        owner: The owner that was proven otherwise, for example by a password; ``None`` when none was.
    """

    secret: str = ""
    session: str = ""
    owner: str | None = None
