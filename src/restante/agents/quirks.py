"""What of an agent program takes more than values: asked here by name, so that nobody else need know which has what.

A program that is not named here has the habits of ``habits.Habits``; most need no others.
"""

from __future__ import annotations

from restante.agents.claude import ClaudeHabits
from restante.agents.codex import CodexHabits
from restante.agents.gemini import GeminiHabits
from restante.agents.habits import Habits

_KNOWN: dict[str, type[Habits]] = {"codex": CodexHabits, "claude": ClaudeHabits, "gemini": GeminiHabits}


def habits_of(name: str) -> Habits:
    """Return the habits of a program."""
    return _KNOWN.get(name, Habits)(name)
