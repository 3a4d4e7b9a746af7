"""A thread that notices whenever sessions or their mail change, wherever those are kept just now."""

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
    """Waits for changes, through a window of its own, until it is ended. Its calls come from its thread.

    Args:
        environment: Where settings and places come from.
        directory: The directory that the person works in.
        changed: Called at first, and whenever something changed, with the window and where its server is; empty for
            none. What it raises of ours is taken for a server that was lost.
        lost: Called when changes cannot be waited for; it is tried again and again.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        directory: str,
        changed: Callable[[Window, str], None],
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._environment = environment
        self._directory = directory
        self._changed = changed
        self._lost = lost
        self._ended = threading.Event()
        # It may be waiting for a server when the person leaves, and nothing of it must be waited for.
        self._thread = threading.Thread(target=self._run, name="restante-watching", daemon=True)

    @property
    def is_over(self) -> bool:
        """Whether it was ended, so that nothing is to be told any more."""
        return self._ended.is_set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Tell nothing more. The thread ends with its wait."""
        self._ended.set()

    def _run(self) -> None:
        window: Window | None = None
        server = cursor = ""
        while not self.is_over:
            try:
                found = server_of(self._environment)
                if window is None or found != server:
                    window, server = open_window(self._environment, self._directory), found
                    cursor = window.watch().cursor
                    self._changed(window, server)
                watched = window.watch(cursor, wait=_SLICE_SECONDS)
                cursor = watched.cursor
                if not (watched.timed_out or self.is_over):
                    self._changed(window, server)
            except RestanteError:
                window = None
                if not self.is_over:
                    self._lost()
                self._ended.wait(_PAUSE_SECONDS)
