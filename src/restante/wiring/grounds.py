"""Where on this machine a face for people may look: the worktrees that are known, and the OACP homes of them."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.wiring.neighbours import worktrees_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def worktrees_around(named: Iterable[str]) -> list[str]:
    """Return the worktrees that are there of those named, with all others of the same repositories, sorted.

    Those of other users are left out: where a session works is what it says, and whoever can reach a server can
    say it.
    """
    found = {one for one in named if one and _is_ours(one)}
    for one in tuple(found):
        found |= {beside for beside in worktrees_beside(one) if _is_ours(beside)}
    return sorted(found)


def _is_ours(directory: str) -> bool:
    try:
        status = os.stat(directory)
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(status.st_mode) and os.geteuid() in (0, status.st_uid)


def homes_of(environment: Mapping[str, str], worktrees: Iterable[str]) -> list[str]:
    """Return the OACP homes that are marked in worktrees, and the usual one, each once.

    Raises:
        Refused: The library that reads them is not installed.
    """
    from restante.wiring.oacp import home_of

    found: dict[str, None] = {}
    for directory in (*worktrees, os.path.expanduser("~")):
        try:
            home = home_of("", environment, directory)
        except RestanteError:
            continue
        if os.path.isdir(home):
            found[os.path.realpath(home)] = None
    return list(found)
