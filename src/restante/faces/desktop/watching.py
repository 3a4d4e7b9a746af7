"""What tells the window how much mail is unseen: a thread that waits for changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.wiring.watching import Watching

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.ports.sessions import Window


def counting(environment: Mapping[str, str], tell: Callable[[int, str], None]) -> Watching:
    """Return what counts unseen mail of sessions whenever it changes, until it is ended.

    Args:
        environment: Where settings and places come from.
        tell: Called in a thread with the number, and with where the server is that told it; empty for none.
    """

    def count(window: Window, server: str) -> None:
        unseen = sum(row.counts.unseen for row in window.sessions())
        if not watching.is_over:
            tell(unseen, server)

    watching = Watching(environment, ".", count)
    return watching
