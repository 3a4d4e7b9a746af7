"""Floor 1: the agent programs, one file each; this is the only place where they are listed.

Each module holds one ``PROGRAM``, values and nothing else: a program is added by its file, and by nothing beside it
(docs/adding-an-agent.md). What takes more than values is asked where the question is (``agents/quirks.py``).

    codex, claude  taught unless others are named
    opencode       a plugin instead of hooks
    gemini         the hooks of Gemini CLI
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from restante.domain.program import Program


def _found() -> dict[str, Program]:
    names = [name.removesuffix(".py") for name in os.listdir(os.path.dirname(__file__)) if name.endswith(".py")]
    programs: list[Program] = [import_module(f"{__name__}.{name}").PROGRAM for name in names if name != "__init__"]
    return {one.name: one for one in sorted(programs, key=lambda one: (one.place, one.name))}


# By name, in the order in which they stand in lists.
PROGRAMS: dict[str, Program] = _found()
NAMES: tuple[str, ...] = tuple(PROGRAMS)
# What ``install`` teaches where nobody said which.
DEFAULTS: tuple[str, ...] = tuple(name for name, one in PROGRAMS.items() if one.is_default)


def program(name: str) -> Program | None:
    """Return an agent program; ``None`` for one that nothing is known of."""
    return PROGRAMS.get(name)
