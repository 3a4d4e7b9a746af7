"""What the pages of a server need of the other homes, in the person's or an account's name."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NothingThere, RestanteError
from restante.domain.registry import Identity
from restante.roster import Roster
from restante.wiring.monitors import MonitorParts, open_host
from restante.wiring.sessions import SessionParts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from restante.domain.mailbox import Counts
    from restante.ports import Mailbox
    from restante.vigil import Vigil


@contextmanager
def roster_for(environment: Mapping[str, str], owner: str) -> Iterator[Roster]:
    """Open the roster for somebody who proved to be that owner, or the person of this machine, within a block.

    Args:
        environment: Where settings and places come from.
        owner: The account; empty for the person of this machine.
    """
    parts = SessionParts(environment)
    try:
        yield Roster(parts, lambda: Identity(owner, verified=True))
    finally:
        # A page that is looked at asks several times a second: databases must not be left to the collector.
        parts.close()


@contextmanager
def vigil_for(environment: Mapping[str, str], owner: str) -> Iterator[Vigil]:
    """Open the vigil for the same, within a block.

    Args:
        environment: Where settings and places come from.
        owner: The account; empty for the person of this machine.
    """
    parts = MonitorParts(environment)
    try:
        yield open_host(environment, parts).hosting(owner)
    finally:
        parts.close()


class _Kept(NamedTuple):
    stamp: frozenset[tuple[str, int, int, int]]
    at: float
    counts: Counts


_KEPT: dict[str, _Kept] = {}
_KEPT_SECONDS = 300.0
_MOST_KEPT = 1000


class FileBox(NamedTuple):
    """A mailbox that is files of this machine: its address, what it is called, and its numbers."""

    address: str
    name: str
    counts: Counts


def file_boxes(environment: Mapping[str, str], worktrees: Iterable[str]) -> list[FileBox]:
    """Return the mailboxes of worktrees, and of the OACP homes around, in which anything ever was.

    Those that cannot be read are left out; ``restante doctor``, and the page of the worktree, say why.

    Args:
        environment: Where settings and places come from.
        worktrees: The worktrees that are known.
    """
    from restante.wiring import open_mailbox

    known = tuple(worktrees)
    found: list[FileBox] = []
    for one in known:
        with suppress(RestanteError):
            found.append(FileBox(f"worktree:{one}", one, _counts_in(one, environment)))
    with suppress(RestanteError):
        for home, who in _agents(environment, known):
            with suppress(RestanteError):
                box = open_mailbox(f"oacp:{who}", environment=dict(environment) | {"OACP_HOME": home})
                found.append(FileBox(f"oacp:{who}", who, box.counts()))
    return [box for box in found if box.counts.total]


def _counts_in(worktree: str, environment: Mapping[str, str]) -> Counts:
    """Return the numbers of a worktree's mailbox; what no file of it changed since is not read again."""
    from restante.wiring import open_mailbox

    stamp, now = _stamp_of(os.path.join(worktree, ".codex-mailbox")), time.monotonic()
    kept = _KEPT.get(worktree)
    # What waits may expire, which changes no file.
    if kept and kept.stamp == stamp and (now - kept.at < _KEPT_SECONDS or not kept.counts.pending):
        return kept.counts
    counts = open_mailbox(f"worktree:{worktree}", environment=environment).counts()
    if len(_KEPT) >= _MOST_KEPT:
        _KEPT.clear()
    _KEPT[worktree] = _Kept(stamp, now, counts)
    return counts


def _stamp_of(directory: str) -> frozenset[tuple[str, int, int, int]]:
    """Return what changes with any file of a directory."""
    try:
        with os.scandir(directory) as entries:
            looks = [(one.name, one.stat(follow_symlinks=False)) for one in entries]
    except OSError:
        return frozenset()
    return frozenset((name, look.st_ino, look.st_size, look.st_mtime_ns) for name, look in looks)


def oacp_box(environment: Mapping[str, str], worktrees: Iterable[str], agent: str) -> Mailbox:
    """Return the inbox of an agent of the OACP homes around.

    Args:
        environment: Where settings and places come from.
        worktrees: Where homes may be marked.
        agent: ``PROJECT/AGENT``.

    Raises:
        NothingThere: No home has it.
        Refused: The library that reads such homes is not installed.
    """
    from restante.wiring import open_mailbox

    for home, one in _agents(environment, worktrees):
        if one == agent:
            return open_mailbox(f"oacp:{agent}", environment=dict(environment) | {"OACP_HOME": home})
    raise NothingThere(f"no inbox of {agent!r} is known here", remedy="choose one of the overview")


def _agents(environment: Mapping[str, str], worktrees: Iterable[str]) -> list[tuple[str, str]]:
    from restante.wiring.grounds import homes_of
    from restante.wiring.oacp import agents_of, projects_of

    homes = homes_of(environment, worktrees)
    return [(home, f"{one}/{agent}") for home in homes for one in projects_of(home) for agent in agents_of(home, one)]
