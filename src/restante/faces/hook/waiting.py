"""What the waiter of a Claude Code session starts when its pipe says something; see scripts/restante-waiter.

Ends with 0 where the waiter is to wait on, with 2 where it is to wake its session by what was said on standard error,
with 3 where it is to end. Whatever goes wrong, it waits on: the next line may go better.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

WAITS, WAKES, ENDS = 0, 2, 3

# The other hooks of the stop show mail too, and say whether the turn ended; they run at the same time as this one.
_SETTLE_SECONDS = 1.0
_MOST = 65_536


def main() -> None:
    """Answer one line; arguments are the session, the beginning of its files' names, the line, and who asks."""
    code = WAITS
    try:
        session, own, line, waiter = sys.argv[1:5]
        if line in {"s", "Stop"}:
            time.sleep(_SETTLE_SECONDS)
        code = answer(session, own, int(waiter))
    except Exception:  # noqa: BLE001 - whatever it is, the waiter waits on
        if os.environ.get("RESTANTE_DEBUG"):
            import traceback

            traceback.print_exc()
            code = WAITS
    sys.stderr.flush()
    os._exit(code)


def answer(session: str, own: str, waiter: int) -> int:
    """Take what else the pipe says, look for mail, and return what the waiter is to do.

    Args:
        session: Whose waiter it is.
        own: The beginning of its files' names.
        waiter: Its process: where that has gone, nobody would be woken by what is found.
    """
    for line in _lines(own + ".fifo"):
        kind, _, rest = line.partition(" ")
        if kind == "q":
            return ENDS
        if kind == "p":
            # Not this process's number: the waiter lives, and this is how it says so.
            with suppress(OSError):
                os.utime(own + ".pid", follow_symlinks=False)
        if kind == "w":
            word, _, text = rest.partition(" ")
            _write(own + ".woken", word)
            sys.stderr.write(text + "\n")
            return WAKES
    from restante.wiring.receiving import look

    text = look(session, os.environ) if os.getppid() == waiter else ""
    if text:
        sys.stderr.write(text + "\n")
        return WAKES
    return WAITS


def _lines(path: str) -> list[str]:
    """Return what a pipe holds, without waiting: a burst of rings is one look."""
    parts = []
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            while part := os.read(fd, _MOST):
                parts.append(part)
        except BlockingIOError:
            pass
        finally:
            os.close(fd)
    return b"".join(parts).decode("ascii", "replace").splitlines()


def _write(path: str, word: str) -> None:
    with suppress(OSError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, word.encode("ascii", "replace") + b"\n")
        finally:
            os.close(fd)
