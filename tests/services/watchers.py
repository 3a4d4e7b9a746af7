"""Watchers that hint when a test says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Hints:
    """Ticks at the start, and after each of some things was done; then the time is over.

    Attributes:
        timeout: What was asked for last.
        left: What was not done, because nobody asked for another tick.
    """

    def __init__(self, *things: Callable[[], object]) -> None:
        self.left = list(things)
        self.timeout: float | None = -1.0

    def ticks(self, timeout: float | None = None) -> Iterator[None]:
        """Yield once at the start and after each thing."""
        self.timeout = timeout
        yield
        while self.left:
            self.left.pop(0)()
            yield
