"""What a server says of itself on standard error: one JSON object a line, without a word of any message.

On a terminal a person reads it: there each is a line of words.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from restante.domain.text import iso, visible
from restante.faces.http.sending import encode

if TYPE_CHECKING:
    import asyncio

_MOST_KEPT = 10_000


class _Handler(logging.Handler):
    """Hands on what a library logs: where from and how grave; its words only where they are fixed ones.

    Args:
        log: Where to.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Hand one record on."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self._log.fault("fault", error, route=record.name)
        else:
            words = str(record.msg).partition("\n")[0] if record.name == "uvicorn.error" else ""
            self._log.say("library", logger=record.name, level=record.levelname.lower(), words=words)


class Log:
    """Writes in a thread of its own: a terminal or pipe that takes nothing must not stop the server.

    Args:
        stream: Where to.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._has_reader = self._stream.isatty()
        # The oldest lines are dropped where nobody takes them.
        self._lines: deque[bytes] = deque(maxlen=_MOST_KEPT)
        self._wake = threading.Event()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="restante-log", daemon=True)
        self._thread.start()

    def say(self, event: str, **fields: str | float | bool | None) -> None:
        """Say that something happened."""
        now = datetime.now(UTC)
        line = _words(now, event, fields) if self._has_reader else encode({"at": iso(now), "event": event, **fields})
        self._lines.append(line)
        self._wake.set()

    def fault(self, event: str, error: BaseException, **fields: str | float | bool | None) -> None:
        """Say that something failed: the kind of error and where, not its words, which may quote a message."""
        places = [
            f"{one.filename.rpartition('/')[2]}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)
        ]
        self.say(event, error=type(error).__name__, where=" ".join(places[-8:]), **fields)

    def take_over(self, loop: asyncio.AbstractEventLoop) -> None:
        """Say in the same way what the libraries say of themselves, and nothing that they quote."""
        for name in ("uvicorn.error", "asyncio"):
            logger = logging.getLogger(name)
            logger.handlers = [_Handler(self)]
            logger.propagate = False
        loop.set_exception_handler(self._in_loop)

    def _in_loop(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.fault("fault", error, route="event loop")
        else:
            self.say("fault", route="event loop")

    def stop(self) -> None:
        """Write what is left, for at most a second."""
        self._is_stopping = True
        self._wake.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            while self._lines:
                line = self._lines.popleft()
                try:
                    self._stream.write(line.decode() + "\n")
                    self._stream.flush()
                except (OSError, ValueError):
                    return
            if self._is_stopping:
                return


def _words(now: datetime, event: str, fields: dict[str, str | float | bool | None]) -> bytes:
    """Return what happened as a person at a terminal reads it."""
    if event == "listening":
        return f"restante serves at {fields['url']}; end it with Ctrl-C".encode()
    told = "".join(f", {name} {value}" for name, value in fields.items() if value not in (None, ""))
    # A worktree may be called anything, and a command that wakes says what it likes.
    line = visible(f"{now:%H:%M:%S} {event}{told}").replace("\n", "\\n").replace("\t", "\\t")
    return line.encode(errors="backslashreplace")
