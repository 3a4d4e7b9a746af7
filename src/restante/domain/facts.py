"""All that can be known at one moment of why a message has, or has not, been answered; no word of the message."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from restante.domain.address import Home
from restante.domain.lifecycle import Standing as Course
from restante.domain.lifecycle import Status
from restante.domain.monitor import Monitor
from restante.domain.registry import Presence, Session
from restante.domain.team import Member
from restante.domain.team import Standing as Hold


class Lookup(StrEnum):
    """What came of looking for the message itself."""

    FOUND = "found"
    NOWHERE = "nowhere"
    NOT_KEPT = "not_kept"
    DELETED = "deleted"
    DAMAGED = "damaged"


class HookState(StrEnum):
    """Whether the hooks of an agent program bring mail in a worktree."""

    CURRENT = "current"
    MISSING = "missing"
    OUTDATED = "outdated"
    SWITCHED_OFF = "switched_off"
    UNTRUSTED = "untrusted"
    UNREADABLE = "unreadable"
    ELSEWHERE = "elsewhere"


class Hooks(NamedTuple):
    """The hooks of one agent program in one worktree.

    Attributes:
        program: The agent program.
        state: How they stand; ``elsewhere`` where the worktree is on another machine.
        detail: What was found, with the file that says so.
        worktree: Where.
    """

    program: str
    state: HookState
    detail: str
    worktree: str


class Reader(NamedTuple):
    """The session from which an answer is expected.

    Attributes:
        session: The session.
        presence: What is proven of its process.
        is_elsewhere: Whether its process is one of another machine.
        last_sign: When a hook of it last told that a turn began or ended; ``None`` for never.
    """

    session: Session
    presence: Presence
    is_elsewhere: bool = False
    last_sign: datetime | None = None

    @property
    def is_live(self) -> bool:
        """Whether it lives, as far as can be told."""
        return self.presence in (Presence.ALIVE, Presence.UNKNOWN)


class Watch(NamedTuple):
    """The monitor of the mailbox, and what is proven of the process that listens for it."""

    monitor: Monitor
    receiver: Presence


class Tenure(NamedTuple):
    """Who holds the role that a message is for.

    Attributes:
        member: The role; ``None`` when it is in no team any more.
        hold: What can be said of its lease; ``None`` where there is none.
    """

    member: Member | None
    hold: Hold | None = None


class Held(StrEnum):
    """What keeps a message of an OACP inbox back from its agent."""

    NOTHING = "nothing"
    QUARANTINED = "quarantined"
    UNPROVEN = "unproven"
    FOR_A_PERSON = "for_a_person"
    DECIDED = "decided"
    STARTED = "started"


class Intake(NamedTuple):
    """How far the intake of an OACP inbox came with a message.

    Attributes:
        project: The project.
        agent: Whose inbox.
        held: What keeps the message back.
        reasons: Why, in words.
        since: Since when.
    """

    project: str
    agent: str
    held: Held = Held.NOTHING
    reasons: tuple[str, ...] = ()
    since: datetime | None = None


class Facts(NamedTuple):
    """What is known at one moment.

    Attributes:
        message: Whole id of the message; what was asked for, where none was found.
        now: The moment.
        lookup: What came of looking for it.
        trouble: Why it was not found, in a sentence; empty when it was.
        home: The kind of its mailbox.
        address: Its mailbox.
        number: Its number there.
        posted: When it was posted.
        course: What became of it.
        by: Who read it, or was shown it; empty where that was not written down.
        has_register: Whether sessions are registered at all, so that one could be known.
        ended: How many sessions that could have read it are known to have ended.
        reader: From whom an answer is expected now; ``None`` where nobody could give one.
        hooks: The hooks that would show it; those of the reader's program, or the best there are.
        tenure: Of a role's mail: who holds the role.
        watch: The monitor of the mailbox; ``None`` where none was armed.
        intake: Of an OACP message: how far it came.
        is_silent: Whether the worktree's bell does not ring, so that checkpoints do not look.
    """

    message: str
    now: datetime
    lookup: Lookup = Lookup.FOUND
    trouble: str = ""
    home: Home = Home.WORKTREE
    address: str = ""
    number: int = 0
    posted: datetime | None = None
    course: Course = Course(Status.UNSEEN)
    by: str = ""
    has_register: bool = True
    ended: int = 0
    reader: Reader | None = None
    hooks: Hooks | None = None
    tenure: Tenure | None = None
    watch: Watch | None = None
    intake: Intake | None = None
    is_silent: bool = False
