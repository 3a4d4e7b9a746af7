"""What tells the screen to look again: a thread that waits for changes, through a window of its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.wiring.opening import server_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.faces.tui.ground import Ground
    from restante.ports.sessions import Window

# How long one wait takes at most; after each it is asked whether there is another server by now.
_SLICE_SECONDS = 2.0
_PAUSE_SECONDS = 1.0


class Watching:
    """Waits for changes of sessions and their mail, until it is ended.

    Args:
        ground: What is asked.
        tell: Called in the thread when something changed, with whether changes can be waited for.
    """

    def __init__(self, ground: Ground, tell: Callable[[bool], None]) -> None:
        self._ground = ground
        self._tell = tell
        self._ended = threading.Event()
        # It may be waiting for a server when the person leaves, and nothing of it must be waited for.
        self._thread = threading.Thread(target=self._run, name="restante-tui-watch", daemon=True)

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
                found_server = server_of(self._ground.environment)
                if window is None or found_server != server:
                    window, server = self._ground.another_window(), found_server
                    cursor = window.watch().cursor
                    self._say(is_live=True)
                watched = window.watch(cursor, wait=_SLICE_SECONDS)
                cursor = watched.cursor
                if not watched.timed_out:
                    self._say(is_live=True)
            except RestanteError:
                window = None
                self._say(is_live=False)
                self._ended.wait(_PAUSE_SECONDS)

    def _say(self, *, is_live: bool) -> None:
        if not self._ended.is_set():
            self._tell(is_live)
