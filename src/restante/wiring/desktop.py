"""What a window for people needs of its machine: what it remembers, the server that it started, notices."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from restante.agents.wake.notify import Notify
from restante.domain.errors import RestanteError
from restante.domain.monitor import Target
from restante.domain.registry import Presence, Process
from restante.stores import files
from restante.stores.sql.notebook import make_directories
from restante.stores.worktree.locate import find_worktree
from restante.system.places import data_directory
from restante.system.processes import LocalProcesses, process_of

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CHOSEN = 20

_NAME = "desktop.json"
_LARGEST = 262_144
# Further than any desk of screens reaches; what is beyond it was not written by a window.
_FURTHEST = 100_000
_LEAST_SIDE = 100


class Workspace(NamedTuple):
    """What a window remembers.

    Attributes:
        place: Left, top, width and height on the screen, in the units of the window system; ``None`` for anywhere.
        is_maximized: Whether it filled the screen.
        worktree: The worktree that it showed last; empty for the overview.
        chosen: The worktrees that the person chose, the newest first: pages show them like those of sessions.
        server: The process of the server that a window started, and that was not ended since.
    """

    place: tuple[int, int, int, int] | None = None
    is_maximized: bool = False
    worktree: str = ""
    chosen: tuple[str, ...] = ()
    server: Process | None = None


def remembered(environment: Mapping[str, str]) -> Workspace:
    """Return what the last window remembered; nothing of what cannot be read, or makes no sense."""
    try:
        told = json.loads(files.read_file(_path(environment), most=_LARGEST) or b"{}")
    except (RestanteError, ValueError, RecursionError):
        return Workspace()
    if not isinstance(told, dict):
        return Workspace()
    chosen = told.get("chosen")
    paths = map(_path_of, chosen) if isinstance(chosen, list) else ()
    return Workspace(
        _place_of(told.get("place")),
        told.get("is_maximized") is True,
        _path_of(told.get("worktree")),
        tuple(dict.fromkeys(filter(None, paths)))[:MOST_CHOSEN],
        _process_of(told.get("server")),
    )


def remember(environment: Mapping[str, str], workspace: Workspace) -> None:
    """Keep what a window remembers, in one step, for the person alone to read.

    Raises:
        StorageFailed: The data directory cannot be written.
    """
    path = _path(environment)
    make_directories(os.path.dirname(path))
    server = workspace.server
    told = {**workspace._asdict(), "server": None if server is None else server._asdict()}
    files.replace(path, json.dumps(told, indent=1).encode() + b"\n")


def chosen_worktrees(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the worktrees that the person of this machine chose in a window, the newest first."""
    return remembered(environment).chosen


def worktree_of(directory: str) -> str:
    """Return the top level of the worktree that a directory belongs to.

    Raises:
        NoWorktree: It belongs to none.
        Unsafe: Its mailbox leads out of it.
    """
    return find_worktree(directory).root


def process_started(pid: int) -> Process:
    """Return what tells a process that was just started from every later one of its number."""
    return process_of(pid)


def is_alive(process: Process) -> bool:
    """Whether a process is proven to live."""
    return LocalProcesses().presence(process) is Presence.ALIVE


def ask_to_end(process: Process) -> None:
    """Ask a process to end, where it is proven to be that one."""
    if is_alive(process):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)


def reason_for_silence(environment: Mapping[str, str]) -> str:
    """Return why the person cannot be told anything by a notice of the desktop; empty where that can be done."""
    return Notify(environment).can_wake(_NOBODY)


def notify(environment: Mapping[str, str], text: str) -> str:
    """Show a notice of the desktop.

    Returns:
        Why it may not have been seen; empty where nothing speaks against it.
    """
    return Notify(environment).wake(_NOBODY, text).reason


# A notice is for the person, about no session in particular.
_NOBODY = Target(session="", vendor="", worktree="", mailbox="", mark=0, unseen=0, nonce="")


def _path(environment: Mapping[str, str]) -> str:
    return os.path.join(data_directory(environment), _NAME)


def _path_of(told: object) -> str:
    return told if isinstance(told, str) and os.path.isabs(told) and "\0" not in told else ""


def _place_of(told: object) -> tuple[int, int, int, int] | None:
    if not isinstance(told, list) or len(told) != 4 or any(type(one) is not int for one in told):
        return None
    left, top, width, height = told
    is_sane = max(abs(one) for one in told) < _FURTHEST and min(width, height) >= _LEAST_SIDE
    return (left, top, width, height) if is_sane else None


def _process_of(told: Any) -> Process | None:  # noqa: ANN401  whatever was read
    try:
        return Process(str(told["host"]), int(told["pid"]), str(told["started"]))
    except (TypeError, KeyError, ValueError):
        return None
