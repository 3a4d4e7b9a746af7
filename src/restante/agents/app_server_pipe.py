"""One running ``codex app-server`` and the only hand that writes to it.

The program speaks JSON-RPC on its standard streams, one object a line, without the ``jsonrpc`` member
(https://github.com/openai/codex, app-server README; seen with 0.171.0). Some of its methods start and steer
turns; none of those can be sent from here. ``_write`` is the only place from which bytes reach the program: it
takes no prepared text, and it looks every method up in ``ALLOWED`` before it writes.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere, Refused, StorageFailed, TimedOut, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO

    Params = Mapping[str, object] | None

HANDSHAKE = frozenset({"initialize", "initialized"})
QUESTIONS = frozenset({"thread/list", "thread/read", "thread/loaded/list", "hooks/list"})
ALLOWED = HANDSHAKE | QUESTIONS

LONGEST_LINE = 32 * 1024 * 1024

_STDERR_KEPT = 2000
_MALFORMED = -32603


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said to a question: a result, or its refusal.

    Attributes:
        result: Its result; ``None`` when it refused.
        code: JSON-RPC code of the refusal; 0 when there is a result.
        reason: Its words about the refusal.
    """

    result: dict[str, object] | None
    code: int = 0
    reason: str = ""


def refusal(method: object) -> Refused:
    """Return the error for a method that is not allowed."""
    return Refused(
        f"{method!r} is not sent to the Codex App Server: this client is read-only",
        remedy="leave a message in the mailbox instead (restante send)",
    )


def _write(pipe: int, number: int | None, method: str, params: Params, deadline: float) -> None:
    """Write one request, or one notification when it has no number.

    Args:
        pipe: Non-blocking descriptor of the server's standard input.
        number: Id of the request.
        method: One of ``ALLOWED``.
        params: What JSON can express.
        deadline: When to give up, by ``time.monotonic``.

    Raises:
        Refused: The method is not allowed; nothing was written.
        UsageError: JSON cannot express the parameters; nothing was written.
        TimedOut: The server did not read in time; part of the line may have been written.
        BrokenPipeError: The server has gone and has not read the whole line.
    """
    # A subclass of str could hash and compare as one method and be written as another.
    if type(method) is not str or method not in ALLOWED:
        raise refusal(method)
    message: dict[str, object] = {"method": method} if number is None else {"id": int(number), "method": method}
    if params is not None:
        message["params"] = params
    try:
        # JSON escapes every control character within strings, so one object is one line.
        line = json.dumps(message, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{method}: JSON cannot express the parameters: {error}") from None
    rest = memoryview(line)
    while rest:
        try:
            rest = rest[os.write(pipe, rest) :]
        except BlockingIOError:
            _await_room(pipe, method, deadline)


def _await_room(pipe: int, method: str, deadline: float) -> None:
    room = select.poll()
    room.register(pipe, select.POLLOUT)
    if not room.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimedOut(f"codex app-server did not take {method} in time", remedy="try again")


class Lines:
    """Cuts a stream of bytes into lines; a line over the limit is dropped without being held.

    Attributes:
        dropped: How many lines were over the limit.
    """

    def __init__(self, limit: int = LONGEST_LINE) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0
        self.dropped = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that the chunk completes."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._hold(end)
            if self._held <= self._limit:
                yield b"".join(self._parts)
            else:
                self.dropped += 1
            self._parts, self._held = [], 0
        self._hold(rest)

    def _hold(self, part: bytes) -> None:
        self._held += len(part)
        if self._held > self._limit:
            self._parts = []
        elif part:
            self._parts.append(part)


class Connection:
    """One process of the server, from its start to its end. Threads may share it.

    Args:
        program: Path of the Codex program.
        environ: Environment of the process; this process's own when ``None``.

    Raises:
        NothingThere: There is no such program.
        StorageFailed: The system cannot start another process.
    """

    def __init__(self, program: str, environ: Mapping[str, str] | None) -> None:
        self._process, self._stop_reading, self._stop = _start(program, environ)
        # Two locks: were answers sorted under the writer's, a full pipe in each direction would wait for the other.
        self._pen = threading.Lock()
        self._ledger = threading.Lock()
        self._waiting: dict[int, SimpleQueue[Answer | None]] = {}
        self._number = 0
        self._ended = ""
        self._deaf = False
        self._closing = False
        self._closer = threading.Lock()
        self._lines = Lines()
        self._complaints: deque[bytes] = deque(maxlen=8)
        self._reader = threading.Thread(target=self._read, name="codex-app-server", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether a question can be put."""
        return not (self._ended or self._deaf or self._closing) and self._process.poll() is None

    def ask(self, method: str, params: Params, timeout: float) -> Answer:
        """Send a request and wait for its answer.

        Raises:
            Refused: The method is not allowed; nothing was written.
            UsageError: JSON cannot express the parameters; nothing was written.
            TimedOut: There was no answer in time.
            BrokenPipeError: The server has gone and did not read the request.
            StorageFailed: The server has gone before it answered.
        """
        deadline = time.monotonic() + timeout
        slot: SimpleQueue[Answer | None] = SimpleQueue()
        with self._ledger:
            if self._ended:
                raise BrokenPipeError
            self._number += 1
            number = self._number
            self._waiting[number] = slot
        try:
            self._send(number, method, params, deadline)
            answer = slot.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            lost = self._lines.dropped
            dropped = f"; {lost} lines over {LONGEST_LINE:,} bytes were dropped" if lost else ""
            raise TimedOut(
                f"codex app-server did not answer {method} within {timeout:g} s{dropped}", remedy="try again"
            ) from None
        finally:
            with self._ledger:
                self._waiting.pop(number, None)
        if answer is None:
            raise StorageFailed(f"codex app-server {self._ended} before it answered {method}", remedy="try again")
        return answer

    def tell(self, method: str, timeout: float) -> None:
        """Send a notification; raises as ``ask``."""
        self._send(None, method, None, time.monotonic() + timeout)

    def obituary(self) -> str:
        """Wait a moment for the end of a process that stopped reading, and say how it ended."""
        self._reader.join(1.0)
        return self._ended or "stopped reading"

    def close(self) -> None:
        """End the process and everything started for it; takes a few seconds at the very most."""
        with self._closer:
            if not self._closing:
                self._closing = True
                self._finish()

    def _finish(self) -> None:
        process = self._process
        # Whoever holds the pen may be stuck in a full pipe; the signals then free it.
        if self._pen.acquire(timeout=0.5):
            _shut(process.stdin)
            self._pen.release()
        # The end of its output shows that a program behind a launcher has gone too; the launcher's exit would not.
        self._reader.join(1.0)
        for end in (signal.SIGTERM, signal.SIGKILL):
            if self._reader.is_alive() or process.poll() is None:
                self._signal(end)
                self._reader.join(0.5)
                self._wait(0.0 if self._reader.is_alive() else 0.5)
        self._wait(1.0)
        os.close(self._stop)
        self._reader.join(1.0)
        os.close(self._stop_reading)
        with self._pen:
            _shut(process.stdin)
        _shut(process.stdout)
        _shut(process.stderr)

    def _send(self, number: int | None, method: str, params: Params, deadline: float) -> None:
        if not self._pen.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise TimedOut(f"codex app-server did not take {method} in time", remedy="try again")
        try:
            if self._deaf or self._closing:
                raise BrokenPipeError
            self._put(number, method, params, deadline)
        finally:
            self._pen.release()

    def _put(self, number: int | None, method: str, params: Params, deadline: float) -> None:
        assert self._process.stdin is not None
        try:
            _write(self._process.stdin.fileno(), number, method, params, deadline)
        except (TimedOut, BrokenPipeError):
            # Half a line may be in the pipe; whatever followed it would be misread.
            self._deaf = True
            raise

    def _read(self) -> None:
        """Sort what the server writes, until it ends or the connection is closed."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        out, err = self._process.stdout.fileno(), self._process.stderr.fileno()
        poll = select.poll()
        for descriptor in (out, err, self._stop_reading):
            poll.register(descriptor, select.POLLIN)
        last_look: float | None = None
        stopped = False
        try:
            while not stopped and (last_look is None or time.monotonic() < last_look):
                ready = [descriptor for descriptor, _ in poll.poll(None if last_look is None else 50)]
                for descriptor in ready:
                    chunk = os.read(descriptor, 65536)
                    if not chunk:
                        poll.unregister(descriptor)
                        stopped = stopped or descriptor == self._stop_reading
                        # What it complained of last is worth a moment; a stray child may hold its stderr for ever.
                        last_look = time.monotonic() + 0.2 if descriptor == out else last_look
                    elif descriptor == err:
                        self._complaints.append(chunk[-_STDERR_KEPT:])
                    else:
                        for line in self._lines.feed(chunk):
                            self._take(line)
        finally:
            self._end()

    def _take(self, line: bytes) -> None:
        """Hand a response to whoever waits for it; anything else is passed over.

        What has a method is the server's own notification or request, whatever id it carries, and not ours to answer.
        """
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict) or "method" in message:
            return
        number = message.get("id")
        if type(number) is not int:
            return
        with self._ledger:
            slot = self._waiting.get(number)
        if slot is not None:
            slot.put(_understand(message))

    def _end(self) -> None:
        status = self._wait(0.2)
        code = "" if status is None else f" (exit code {status})"
        words = b"".join(self._complaints).decode("utf-8", "replace").split("\n")
        last = next((line.strip()[-300:] for line in reversed(words) if line.strip()), "")
        with self._ledger:
            if self._closing:
                self._ended = "was closed"
            else:
                self._ended = f"ended{code}" + (f", saying {last!r}," if last else "")
            for slot in self._waiting.values():
                slot.put(None)

    def _wait(self, seconds: float) -> int | None:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            self._process.send_signal(number)


def _start(program: str, environ: Mapping[str, str] | None) -> tuple[subprocess.Popen[bytes], int, int]:
    """Start the program; return it and the two ends of the pipe that stops its reader."""
    ends: tuple[int, ...] = ()
    try:
        ends = os.pipe()
        process = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            start_new_session=True,  # its own group: a launcher script and the program behind it end together
        )
    except OSError as error:
        for end in ends:
            os.close(end)
        what = f"{program} cannot be started: {error.strerror}"
        if error.errno in {errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR}:
            raise NothingThere(what, remedy="set RESTANTE_CODEX to the path of the Codex program") from None
        raise StorageFailed(what, remedy="close what runs beside it and try again") from None
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)
    return process, ends[0], ends[1]


def _shut(stream: IO[bytes] | None) -> None:
    if stream is not None:
        stream.close()


def _understand(message: dict[str, object]) -> Answer:
    """Read a response as JSON-RPC has them."""
    result, error = message.get("result"), message.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        return Answer(
            None, code if type(code) is int else _MALFORMED, str(error.get("message", "no reason given"))[:500]
        )
    return Answer(result) if isinstance(result, dict) else Answer(None, _MALFORMED, "an answer without a result")
