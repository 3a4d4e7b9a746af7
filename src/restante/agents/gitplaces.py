"""Where a worktree's git files are, found by reading them: git itself is never run.

The layout is git's own (gitrepository-layout: a ``.git`` file names the git directory, ``commondir``
names what linked worktrees share, ``worktrees/*/gitdir`` names each of them). GIT_* variables play no part.
"""

import os
from typing import NamedTuple

from restante.agents.regular import read_regular


class GitPlaces(NamedTuple):
    """The places of one worktree.

    Attributes:
        root: The worktree's top level, as it was given.
        common: The directory that all worktrees of the repository share; ``None`` outside any repository.
        hooks_root: The directory whose ``.codex/hooks.json`` Codex reads for this worktree. For a linked
            worktree that is the main one, as seen with Codex 0.171.
    """

    root: str
    common: str | None
    hooks_root: str

    @property
    def borrows_hooks(self) -> bool:
        """Whether Codex takes this worktree's hooks from another one."""
        return self.hooks_root != self.root


def git_places(root: str) -> GitPlaces:
    """Find the places of a worktree. Never raises; what cannot be read is taken as absent."""
    dot_git = os.path.join(root, ".git")
    if os.path.isdir(dot_git):
        return GitPlaces(root, dot_git, root)
    named = _first_line(dot_git)
    if not named.startswith("gitdir:"):
        return GitPlaces(root, None, root)
    git_dir = os.path.normpath(os.path.join(root, named[len("gitdir:") :].strip(" ")))
    shared = _first_line(os.path.join(git_dir, "commondir"))
    if not shared:
        return GitPlaces(root, git_dir if os.path.isdir(git_dir) else None, root)
    common = os.path.normpath(os.path.join(git_dir, shared))
    main = os.path.dirname(common)
    return GitPlaces(root, common, main if os.path.lexists(os.path.join(main, ".git")) else root)


def other_worktrees(places: GitPlaces) -> list[str]:
    """Return the top levels of the repository's other worktrees that exist."""
    if places.common is None:
        return []
    found = []
    main = os.path.dirname(places.common)
    if os.path.lexists(os.path.join(main, ".git")):
        found.append(main)
    linked = os.path.join(places.common, "worktrees")
    try:
        names = sorted(os.listdir(linked))
    except OSError:
        names = []
    for name in names:
        pointer = _first_line(os.path.join(linked, name, "gitdir"))
        if pointer:
            found.append(os.path.dirname(os.path.normpath(os.path.join(linked, name, pointer))))
    here = os.path.realpath(places.root)
    return [one for one in found if os.path.isdir(one) and os.path.realpath(one) != here]


def _first_line(path: str) -> str:
    """Return a file's text without its last line feed: a path in it may hold line feeds of its own."""
    try:
        data = read_regular(path, 8192)
    except OSError:
        return ""
    # No path holds a NUL, and no call of the system takes one.
    return "" if b"\0" in data else os.fsdecode(data).removesuffix("\n")
