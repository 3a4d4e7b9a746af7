"""Letting go of what one thing that was asked for opened, in a process that lives on and is asked for many.

What a command opens goes with its process. A server of tools opens the same for each call, and whoever holds whom in a
circle keeps the databases open until it is collected: a few hundred calls are all that a process may have open.
"""

from __future__ import annotations

from _thread import _local
from contextlib import suppress
from typing import Protocol

from restante.domain.errors import RestanteError


class Closable(Protocol):
    """Something that was opened."""

    def close(self) -> None:
        """Let go of it."""


class _Opened(_local):
    """What this thread opened since it began to be asked; ``None`` where nobody lets go of it."""

    parts: list[Closable] | None = None


_OPENED = _Opened()


def begin() -> None:
    """Let ``end`` close whatever this thread opens from now on."""
    if _OPENED.parts is None:
        _OPENED.parts = []


def end() -> None:
    """Close what this thread opened since ``begin``; nothing where it did not begin."""
    opened, _OPENED.parts = _OPENED.parts or [], None
    for one in opened:
        with suppress(RestanteError):
            one.close()


def note(opened: Closable) -> None:
    """Say that something was opened."""
    if _OPENED.parts is not None:
        _OPENED.parts.append(opened)
