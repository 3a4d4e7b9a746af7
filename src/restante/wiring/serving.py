"""How a server of this machine is found: ``server.json`` in the data directory, believed only while its process lives.

A server holds a lock on ``server.lock`` as long as it lives, so there are never two that hold mail in memory for one
data directory.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Busy, Refused, RestanteError, Unsafe
from restante.domain.registry import Presence, Process
from restante.stores import files
from restante.stores.sql.notebook import make_directories
from restante.system.listeners import is_trusted
from restante.system.places import data_directory
from restante.system.processes import LocalProcesses, owner_of, process_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LARGEST = 4096


@contextmanager
def serving(environment: Mapping[str, str]) -> Iterator[None]:
    """Be the only server of the data directory in the block: enter it before the exchange is opened.

    Raises:
        Refused: There is another one.
        StorageFailed: The data directory cannot be written.
    """
    directory = data_directory(environment)
    make_directories(directory)
    with ExitStack() as held:
        try:
            held.enter_context(files.flocked(os.path.join(directory, "server.lock"), 0.0))
        except Busy:
            raise Refused(
                f"another server serves {directory}",
                remedy="end that one, or set RESTANTE_DATA to a directory of its own",
            ) from None
        yield


@contextmanager
def announced(environment: Mapping[str, str], url: str) -> Iterator[None]:
    """Let the commands of this machine find a server in the block; enter it once the server listens.

    Args:
        environment: Where the data directory comes from.
        url: Where it answers, for example ``http://127.0.0.1:8377``.

    Raises:
        StorageFailed: The data directory cannot be written.
    """
    path = _path(environment)
    make_directories(os.path.dirname(path))
    process = process_of(os.getpid())
    files.replace(path, json.dumps({"url": url, **process._asdict()}).encode() + b"\n", durable=False)
    try:
        yield
    finally:
        with suppress(RestanteError):
            files.remove(path)


def live_server(environment: Mapping[str, str]) -> str:
    """Return the URL of the server of this machine; empty where none is proven to live.

    Raises:
        Unsafe: The process is another user's.
    """
    try:
        data = files.read_file(_path(environment), most=_LARGEST)
        told = json.loads(data or b"null")
        process = Process(str(told["host"]), int(told["pid"]), str(told["started"]))
        url = str(told["url"])
    except (RestanteError, ValueError, TypeError, KeyError):
        return ""
    if LocalProcesses().presence(process) is not Presence.ALIVE:
        return ""
    user = owner_of(process.pid)
    if user is not None and not is_trusted(user):
        raise Unsafe(
            f"{_path(environment)} names a server that is another user's: process {process.pid} of uid {user}",
            remedy="find out who wrote that file, and remove it",
        )
    return url


def _path(environment: Mapping[str, str]) -> str:
    return os.path.join(data_directory(environment), "server.json")
