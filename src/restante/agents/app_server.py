"""Asks ``codex app-server``, and can do no more than ask: see ``app_server_pipe`` for how that is held."""

from __future__ import annotations

import os
import random
import threading
import time
from typing import TYPE_CHECKING

from restante.agents.app_server_pipe import QUESTIONS, Answer, Connection, refusal
from restante.domain.errors import Busy, NothingThere, StorageFailed, TimedOut, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from restante.agents.app_server_pipe import Params

STABLE_PLACES = ("~/.local/bin", "/opt/homebrew/bin", "/usr/local/bin", "/Applications/Codex.app/Contents/Resources")

# https://github.com/openai/codex, app-server README: "server overloaded, retry later".
_OVERLOADED = -32001
_TRIES_WHEN_OVERLOADED = 5


def find_codex(
    explicit: str = "", environ: Mapping[str, str] | None = None, stable: Sequence[str] = STABLE_PLACES
) -> str:
    """Find the Codex program.

    The first that is named decides: the argument, ``RESTANTE_CODEX``, ``codex`` on PATH, a few usual places.
    Relative parts of PATH are passed over: they would run a program out of whatever directory this is.

    Args:
        explicit: A path, or a name to look for on PATH.
        environ: The environment; the process's own when ``None``.
        stable: Directories to look into last; ``~`` stands for the home directory.

    Raises:
        NothingThere: It is in none of the places, or not where it was said to be.
    """
    environment = os.environ if environ is None else environ
    named = explicit or environment.get("RESTANTE_CODEX", "")
    home = environment.get("HOME") or os.path.expanduser("~")
    places = [place for place in environment.get("PATH", "").split(os.pathsep) if os.path.isabs(place)]
    if os.sep in named:
        places = [os.getcwd()]
    elif not named:
        places += [_under(home, place) for place in stable]
    for place in places:
        path = os.path.join(place, _under(home, named or "codex"))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise NothingThere(
        f"no program {named!r}" if named else "the Codex program is not on PATH",
        remedy="install Codex, or set RESTANTE_CODEX to the path of its program",
    )


def _under(home: str, path: str) -> str:
    return home + path[1:] if path.startswith("~/") else path


class AppServer:
    """Asks ``codex app-server``; starts it with the first question, and again when it has gone.

    Use it as a context manager: leaving it ends the process. Threads may share it.

    Args:
        program: Path of the Codex program, see ``find_codex``.
        environ: Environment of the process; this process's own when ``None``.
        timeout: Seconds that one question may take.
        sleep: Waits before a question is put again to an overloaded server.
    """

    def __init__(
        self,
        program: str,
        *,
        environ: Mapping[str, str] | None = None,
        timeout: float = 8.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._program = program
        self._environ = environ
        self._timeout = timeout
        self._sleep = sleep
        self._starting = threading.Lock()
        self._connection: Connection | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Process id of the server; ``None`` while it does not run."""
        connection = self._connection
        return connection.pid if connection is not None and connection.alive else None

    def ask(self, method: str, params: Params = None) -> Answer:
        """Put one question.

        Raises:
            Refused: The method is none of ``QUESTIONS``; nothing was started or written.
            UsageError: JSON cannot express the parameters, or the client was closed.
            NothingThere: The program cannot be started.
            StorageFailed: The server has gone before it answered.
            Busy: The server called itself overloaded each time.
            TimedOut: There was no answer in time; the method is named.
        """
        if type(method) is not str or method not in QUESTIONS:
            raise refusal(method)
        for _ in range(2):
            try:
                return self._patiently(self._connected(method), method, params)
            except BrokenPipeError:
                # It had gone before it read the request, so that a fresh one can be asked.
                continue
        raise StorageFailed("codex app-server ends before it can be asked", remedy="run `codex app-server` to see why")

    def result(self, method: str, params: Params = None) -> dict[str, object]:
        """Put one question and return the result; raises as ``ask``, and ``StorageFailed`` when the server refuses."""
        answer = self.ask(method, params)
        if answer.result is None:
            raise StorageFailed(
                f"codex app-server refused {method}: {answer.reason} ({answer.code})",
                remedy="run `codex --version`: 0.171.0 is known to work",
            )
        return answer.result

    def pages(self, method: str, params: Params = None, *, most: int = 50) -> Iterator[object]:
        """Yield the items of a list, page after page; raises as ``result``.

        Args:
            method: One of ``QUESTIONS`` that answers with ``data`` and ``nextCursor``.
            params: Its parameters, without the cursor.
            most: Pages to ask for at most; what lies beyond is left out.
        """
        asked = dict(params or {})
        cursors: set[str] = set()
        for _ in range(most):
            page = self.result(method, asked)
            data = page.get("data")
            if not isinstance(data, list):
                raise StorageFailed(
                    f"codex app-server answered {method} without a list",
                    remedy="run `codex --version`: 0.171.0 is known to work",
                )
            yield from data
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor in cursors:
                return
            cursors.add(cursor)
            asked["cursor"] = cursor

    def close(self) -> None:
        """End the server; questions that wait for it fail, and closing again changes nothing."""
        self._closed = True
        connection = self._connection
        if connection is not None:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connected(self, method: str) -> Connection:
        """Return a connection whose handshake is done; one caller does it, the others wait."""
        if not self._starting.acquire(timeout=self._timeout):
            raise TimedOut(
                f"codex app-server was not ready for {method} within {self._timeout:g} s", remedy="try again"
            )
        try:
            if self._connection is not None and self._connection.alive:
                return self._connection
            if self._connection is not None:
                self._connection.close()
            if not self._closed:
                self._connection = Connection(self._program, self._environ)
            if self._connection is None or self._closed:  # closed before, or in the meantime
                self.close()
                raise UsageError("this App Server client was closed")
            self._introduce(self._connection)
            return self._connection
        finally:
            self._starting.release()

    def _introduce(self, connection: Connection) -> None:
        """Do the handshake, once for each process; a process that fails it is not kept."""
        client = {"name": "restante", "title": "Restante", "version": _version()}
        capabilities = {"experimentalApi": False, "requestAttestation": False}
        try:
            answer = self._patiently(connection, "initialize", {"clientInfo": client, "capabilities": capabilities})
            if answer.result is not None:
                connection.tell("initialized", self._timeout)
                return
            how = f"refused initialize: {answer.reason} ({answer.code})"
        except BrokenPipeError:
            how = connection.obituary()
        except BaseException:
            connection.close()
            raise
        connection.close()
        raise StorageFailed(f"codex app-server {how} while it was started", remedy="run `codex app-server` to see why")

    def _patiently(self, connection: Connection, method: str, params: Params) -> Answer:
        """Put a question again, later and later, while the server calls itself overloaded."""
        for turn in range(_TRIES_WHEN_OVERLOADED):
            answer = connection.ask(method, params, self._timeout)
            if answer.code != _OVERLOADED:
                return answer
            if turn < _TRIES_WHEN_OVERLOADED - 1:
                # Jitter, so that clients which were turned away together do not come back together.
                self._sleep(min(2.0, 0.2 * 2**turn) * random.uniform(0.5, 1.0))  # noqa: S311
        raise Busy(
            f"codex app-server is overloaded; {method} was put {_TRIES_WHEN_OVERLOADED} times", remedy="try later"
        )


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("restante")
    except PackageNotFoundError:
        return "0"
