"""Who is calling: a person at a terminal, or one live session of an agent program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever runs a command or a checkpoint.

    Attributes:
        agent: The agent program, for example ``codex``; empty for a person.
        session: The program's own id of the session; empty for a person.
    """

    agent: str = ""
    session: str = ""

    @property
    def is_agent(self) -> bool:
        """Whether it is a session, whose reading marks mail as seen."""
        return bool(self.session)

    @property
    def name(self) -> str:
        """What is written down as the reader: ``codex:<id>``, or ``human``."""
        return f"{self.agent}:{self.session}" if self.is_agent else "human"
