"""Where on this machine a page may look: the worktrees that are known, and the OACP homes of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


async def known_worktrees(hub: Hub, visitor: Visitor) -> list[str]:
    """Return the worktrees of sessions, and those that belong to the same repositories, sorted.

    An account of multi-user mode sees no files of this machine.
    """
    if visitor.owner:
        return []
    named = await hub.run(visitor.claim, lambda _, window: [row.session.worktree for row in window.sessions()])
    return await hub.apart(lambda: sorted(_with_neighbours({one for one in named if one})))


def homes_of(environment: Mapping[str, str], worktrees: Iterable[str]) -> list[str]:
    """Return the OACP homes that are marked in worktrees, and the usual one, each once."""
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


def _with_neighbours(named: set[str]) -> set[str]:
    from restante.wiring.neighbours import worktrees_beside

    found = {one for one in named if os.path.isdir(one)}
    for one in tuple(found):
        found |= set(worktrees_beside(one))
    return found
