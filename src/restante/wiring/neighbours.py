"""The worktrees that share a repository, as git's own files tell; git is not run."""

from __future__ import annotations

import os

from restante.agents.regular import read_regular
from restante.domain.errors import RestanteError
from restante.stores.worktree.locate import find_worktree

_MOST = 200
_LONGEST = 4096


def worktrees_beside(directory: str) -> list[str]:
    """Return the top levels of all worktrees of a directory's repository that are there, that one among them.

    After gitrepository-layout: each linked worktree has a directory below ``worktrees`` whose file ``gitdir`` names its
    ``.git`` file.
    """
    try:
        here = find_worktree(directory)
    except RestanteError:
        return []
    found = [here.root]
    common = here.common_dir
    if not common:
        return found
    if os.path.basename(common) == ".git":
        found.append(os.path.dirname(common))
    try:
        names = sorted(os.listdir(os.path.join(common, "worktrees")))[:_MOST]
    except OSError:
        names = []
    for name in names:
        try:
            data = read_regular(os.path.join(common, "worktrees", name, "gitdir"), _LONGEST)
            found.append(os.path.dirname(data.decode().strip()))
        except (OSError, UnicodeDecodeError):
            continue
    return [one for one in dict.fromkeys(found) if os.path.isdir(one)]
