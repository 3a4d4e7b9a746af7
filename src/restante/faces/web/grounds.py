"""Where on this machine a page may look: the worktrees that are known to whoever looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.wiring.desktop import chosen_worktrees
from restante.wiring.grounds import worktrees_around

if TYPE_CHECKING:
    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub


async def known_worktrees(hub: Hub, visitor: Visitor) -> list[str]:
    """Return the worktrees of sessions and those chosen in a window, with all of the same repositories, sorted.

    An account of multi-user mode sees no files of this machine.
    """
    if visitor.owner:
        return []
    named = await hub.run(visitor.claim, lambda _, window: [row.session.worktree for row in window.sessions()])
    return await hub.apart(lambda: worktrees_around([*named, *chosen_worktrees(hub.environment)]))
