"""What tells the window how much mail is unseen: a thread that waits for changes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.wiring.opening import server_of
from restante.wiring.sessions import open_window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.ports.sessions import Window

# How long one wait takes at most; after each it is asked whether there is another server by now.
_SLICE_SECONDS = 2.0
_PAUSE_SECONDS = 1.0


class Watching:
    """Counts unseen mail of sessions whenever it changes, until it is ended.

    Args:
        environment: Where settings and places come from.
        tell: Called in the thread with the number, and with where the server is that told it; empty for none.
    """

    def __init__(self, environment: Mapping[str, str], tell: Callable[[int, str], None]) -> None:
        self._environment = environment
        self._tell = tell
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="restante-desktop-watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Tell nothing more. The thread ends with its wait."""
        self._ended.set()

    def _run(self) -> None:
        window: Window | None = None
        server = cursor = ""
        while not self._ended.is_set():
            try:
                found = server_of(self._environment)
                if window is None or found != server:
                    window, server = open_window(self._environment), found
                    cursor = window.watch().cursor
                    self._count(window, server)
                watched = window.watch(cursor, wait=_SLICE_SECONDS)
                cursor = watched.cursor
                if not watched.timed_out:
                    self._count(window, server)
            except RestanteError:
                window = None
                self._ended.wait(_PAUSE_SECONDS)

    def _count(self, window: Window, server: str) -> None:
        unseen = sum(row.counts.unseen for row in window.sessions())
        if not self._ended.is_set():
            self._tell(unseen, server)
