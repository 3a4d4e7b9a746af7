"""Who is calling: a person at a terminal, or one live session of an agent program; and the threads such a one has."""

from datetime import datetime
from typing import NamedTuple


class Caller(NamedTuple):
    """Whoever runs a command or a checkpoint.

    Attributes:
        agent: The agent program, for example ``codex``; empty for a person.
        session: The program's own id of the session; empty for a person.
        is_nested: Whether the session runs inside a tool of another one, whose mail is not its own.
    """

    agent: str = ""
    session: str = ""
    is_nested: bool = False

    @property
    def is_agent(self) -> bool:
        """Whether it is a session of an agent program."""
        return bool(self.session)

    @property
    def is_addressee(self) -> bool:
        """Whether the mail of its worktree is for it: its reading marks mail as seen."""
        return self.is_agent and not self.is_nested

    @property
    def name(self) -> str:
        """What is written down as the reader: ``codex:<id>``, or ``human``."""
        return f"{self.agent}:{self.session}" if self.is_agent else "human"


class Thread(NamedTuple):
    """A conversation that an agent program has in some worktree.

    Attributes:
        id: The program's own id.
        agent: The program.
        title: Its name, or the beginning of it.
        directory: Where it works.
        status: What the program says of it.
        updated: When it last changed.
        loaded: Whether the program holds it in memory.
        pending: Messages that wait where it works; ``None`` where that is no worktree, or was not asked.
    """

    id: str
    agent: str
    title: str
    directory: str
    status: str
    updated: datetime | None
    loaded: bool
    pending: int | None = None
