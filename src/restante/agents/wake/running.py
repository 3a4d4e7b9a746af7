"""The only place from which a wake starts a process: by a list of words, within seconds, and never through a shell."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante.domain.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KEPT = 2000
# At most so much is read at once, and kept in all.
_PIECE = 65_536
_LOOK_SECONDS = 0.05
# What runs now, each with whatever it started.
_running: set[subprocess.Popen[bytes]] = set()
# Where that is written down, for whoever comes after one that was killed.
_ledgers: list[Ledger] = []


class Ran(NamedTuple):
    """How a process ended.

    Attributes:
        code: Its exit code; ``None`` where it did not start or not end in time.
        said: The end of what it said, for a reason.
    """

    code: int | None
    said: str


class Ledger(Protocol):
    """Where it is written down which processes run."""

    def began(self, pid: int) -> None:
        """Write down that one runs, with whatever it starts."""

    def ended(self, pid: int) -> None:
        """Forget one that ended."""


def write_down_in(ledger: Ledger) -> None:
    """Write down in a ledger what is started from now on."""
    _ledgers[:] = [ledger]


def start(
    allowed: Sequence[str], program: str, words: Sequence[str], environment: Mapping[str, str], timeout: float
) -> Ran:
    """Run a program to its end.

    Args:
        allowed: The words that it must be given first.
        program: Its path.
        words: What it is given.
        environment: All of its environment.
        timeout: Seconds after which it is ended, with whatever it started.

    Raises:
        Refused: The words do not begin with those that are allowed; nothing was started.
    """
    if list(words[: len(allowed)]) != list(allowed):
        raise Refused(f"{program!r} is not started with {list(words)!r} to wake a session", remedy="")
    try:
        process = subprocess.Popen(
            [program, *words],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            start_new_session=True,  # so that it ends with all that it started
        )
    except OSError as error:
        return Ran(None, f"{program} cannot be started: {error.strerror}")
    _running.add(process)
    for one in _ledgers:
        one.began(process.pid)
    try:
        said = _followed(process, timeout)
    finally:
        _running.discard(process)
        for one in _ledgers:
            one.ended(process.pid)
        assert process.stdout is not None
        process.stdout.close()
    if said is None:
        return Ran(None, f"{program} did not end within {timeout:g} s")
    return Ran(process.returncode, said[-_KEPT:].decode("utf-8", "replace").strip())


def _followed(process: subprocess.Popen[bytes], timeout: float) -> bytes | None:
    """Return the end of what a process said until it ended; ``None`` where it had to be ended.

    What it leaves behind may hold its output open for ever, or say something without end: neither is waited for.
    """
    assert process.stdout is not None
    pipe, said, end = process.stdout.fileno(), b"", time.monotonic() + timeout
    os.set_blocking(pipe, False)
    # A server has more files open than select() can number.
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    is_open = True
    while True:
        is_over = process.poll() is not None
        if is_open:
            if not is_over:
                ready.poll(1000 * _LOOK_SECONDS)
            with suppress(BlockingIOError):
                piece = os.read(pipe, _PIECE)
                is_open = bool(piece)
                said = (said + piece)[-_PIECE:]
        else:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_SECONDS)
        if is_over:
            return said
        if time.monotonic() >= end:
            _end(process)
            process.wait()
            return None


def end_all() -> None:
    """End what still runs, with whatever it started: whoever would have ended it in time ends."""
    for process in tuple(_running):
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def found(name: str, environment: Mapping[str, str]) -> str:
    """Return the program that PATH finds under a name, in directories that are named whole; empty for none."""
    for place in environment.get("PATH", "").split(os.pathsep):
        path = os.path.join(place, name)
        if os.path.isabs(place) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def last_line(text: str) -> str:
    """Return the last line of what a program said, short enough for a reason."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"
