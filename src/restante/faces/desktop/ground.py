"""All that the window asks of Restante: a way in, a server where none runs, what would be lost with that."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.config import load_settings
from restante.domain.errors import NothingThere, Refused, RestanteError, Unreachable
from restante.faces.desktop.rules import bare
from restante.wiring.desktop import ask_to_end, is_alive, process_started
from restante.wiring.opening import page_url
from restante.wiring.sessions import open_roster, open_window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.faces.desktop.memory import Memory

_SERVER = "restante.faces.http"
_PARTS = ("starlette", "uvicorn", "msgspec")
# How long a server may take to begin and to end.
_PATIENCE_SECONDS = 20.0
_LOOK_SECONDS = 0.05


class Ground:
    """What the window stands on.

    Args:
        environment: Where settings and places come from.
        memory: Keeps which server it started, so that the next window ends what a killed one left.
    """

    def __init__(self, environment: Mapping[str, str], memory: Memory) -> None:
        self.environment = environment
        self._memory = memory
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def is_local(self) -> bool:
        """Whether the server is one of this machine, which has the same files."""
        return not load_settings(self.environment).server_url

    def way_in(self, *, patience: float = 0.0) -> str:
        """Return an address by which the window enters, once; start a server where there is none.

        Args:
            patience: Wait so many seconds for a server before one is started.

        Raises:
            Refused: An agent asks, or the server's parts are not installed.
            Unreachable: The server does not answer, or ended while it began.
        """
        with self._lock:
            try:
                return bare(page_url(self.environment, wait=patience))
            except NothingThere:
                self._start()
            end = time.monotonic() + _PATIENCE_SECONDS
            while True:
                has_ended = self._child is None or self._child.poll() is not None
                try:
                    return bare(page_url(self.environment))
                except NothingThere as error:
                    if has_ended or time.monotonic() > end:
                        words = "the server ended while it began" if has_ended else "the server does not begin"
                        raise Unreachable(words, remedy="restante serve says why") from error
                time.sleep(_LOOK_SECONDS)

    @property
    def has_server(self) -> bool:
        """Whether a window started the server that lives, this one or one that was killed."""
        server = self._memory.now.server
        return server is not None and is_alive(server)

    def at_stake(self) -> int:
        """Return how many pending messages would go with the server that a window started."""
        if not self.has_server:
            return 0
        # Whoever does not answer any more has nothing that could still be kept.
        with suppress(RestanteError):
            window = open_window(self.environment)
            if window.persistence().is_on:
                return 0
            found = sum(row.counts.pending for row in window.sessions())
            with suppress(RestanteError):
                found += sum(seat.counts.pending for seat in open_roster(self.environment).seats(""))
            return found
        return 0

    def end(self) -> None:
        """End the server that a window started, and wait until it did."""
        server = self._memory.now.server
        if server is None:
            return
        ask_to_end(server)
        end = time.monotonic() + _PATIENCE_SECONDS
        while is_alive(server) and time.monotonic() < end:
            if self._child is not None:
                # A child that nobody asked for is still a process, though it ended.
                self._child.poll()
            time.sleep(_LOOK_SECONDS)
        self._memory.change(server=None)

    def _start(self) -> None:
        from importlib.util import find_spec

        if any(find_spec(name) is None for name in _PARTS):
            raise Refused("the server's parts are not installed", remedy="pip install 'restante[desktop]'")
        # Ctrl-C in the terminal is for the window, which then ends the server if nothing is lost by it.
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-m", _SERVER],
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._memory.change(server=process_started(self._child.pid))
