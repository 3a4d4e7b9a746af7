"""One window for each data directory: the first holds ``desktop.lock``, and is called through ``desktop.socket``.

The kernel frees the lock of a process that was killed, and whoever holds the lock may remove the socket that such a one
left. A call is one line of JSON, and so is its answer.
"""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Busy, UsageError
from restante.stores import files
from restante.stores.sql.notebook import make_directories
from restante.system.places import data_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PATIENCE_SECONDS = 6.0

_LOCK, _SOCKET = "desktop.lock", "desktop.socket"
_LARGEST = 16_384
_LOOK_SECONDS = 0.05
# unix(7): 108 bytes on Linux, 104 elsewhere, with the one that ends it.
_LONGEST_NAME = 103
_BY_NUMBER = "/proc/self/fd"


class Call(NamedTuple):
    """What a second start asks of the first.

    Attributes:
        worktree: The worktree to show; empty for whatever the window shows.
    """

    worktree: str = ""


@contextmanager
def only_one(environment: Mapping[str, str]) -> Iterator[socket.socket]:
    """Be the only window of the data directory in the block; yields where the others call.

    Raises:
        Busy: There is one already.
        StorageFailed: The data directory cannot be written.
    """
    directory = data_directory(environment)
    make_directories(directory)
    with files.flocked(os.path.join(directory, _LOCK), 0.0), _named(directory) as path:
        with suppress(FileNotFoundError):
            os.unlink(path)
        with socket.socket(socket.AF_UNIX) as listener:
            with files.translated(os.path.join(directory, _SOCKET)):
                listener.bind(path)
                os.chmod(path, files.FILE_MODE)
                listener.listen()
            try:
                yield listener
            finally:
                with suppress(OSError):
                    os.unlink(path)


def call(environment: Mapping[str, str], asked: Call) -> bool:
    """Ask the window that is there to show itself; return whether one was there to be asked.

    Raises:
        Busy: It does not answer.
    """
    with _named(data_directory(environment)) as path, socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        try:
            connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        try:
            connection.sendall(json.dumps(asked._asdict()).encode() + b"\n")
            answer = _line(connection)
        except OSError:
            answer = b""
    if answer != b"shown\n":
        raise Busy("the window that is open already does not answer", remedy="close it, or end its process")
    return True


def first_or_call(
    enter: Callable[[], socket.socket], environment: Mapping[str, str], asked: Call
) -> socket.socket | None:
    """Become the first window, or call the one that is; ``None`` where that was done.

    Args:
        enter: Enters ``only_one``.
        environment: Where the data directory comes from.
        asked: What to ask of it.

    Raises:
        Busy: There is one that does not answer.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return enter()
        except Busy:
            if call(environment, asked):
                return None
            # It holds the lock and is not yet, or no longer, to be called.
            if time.monotonic() > end:
                raise
        time.sleep(_LOOK_SECONDS)


def answer_calls(listener: socket.socket, show: Callable[[Call], bool]) -> None:
    """Answer calls, one after the other, until the listener is closed.

    Args:
        listener: From ``only_one``.
        show: Does what a call asks for; returns whether it was done.
    """
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            connection.settimeout(PATIENCE_SECONDS)
            worktree = json.loads(_line(connection))["worktree"]
            if isinstance(worktree, str) and show(Call(worktree)):
                connection.sendall(b"shown\n")


def _line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n") and len(data) < _LARGEST:
        piece = connection.recv(_LARGEST)
        if not piece:
            break
        data += piece
    return data


@contextmanager
def _named(directory: str) -> Iterator[str]:
    """Give a name of the socket that is short enough to be one.

    Raises:
        UsageError: There is none.
    """
    path = os.path.join(directory, _SOCKET)
    if len(os.fsencode(path)) <= _LONGEST_NAME:
        yield path
        return
    if not os.path.isdir(_BY_NUMBER):
        raise UsageError(f"the path of {path} is too long for a socket", remedy="set RESTANTE_DATA to a shorter one")
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"{_BY_NUMBER}/{fd}/{_SOCKET}"
    finally:
        os.close(fd)
