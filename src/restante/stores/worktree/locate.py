"""Which worktree a directory belongs to, found by walking up and nothing else.

Git is not asked: inside its own hooks its variables point elsewhere, in containers it refuses repositories of
another owner, and it may not be installed. What is on disk answers the same question.
"""

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NoWorktree, RestanteError, Unsafe
from restante.stores.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

MAILBOX = ".codex-mailbox"

_MOST_CONFIG = 1 << 20


class Worktree(NamedTuple):
    """A directory whose agents share one mailbox.

    Attributes:
        root: Its top level, an absolute path without links.
        git_dir: Its own part of the repository, for example ``.git`` or ``.git/worktrees/NAME``; ``None`` outside
            of any repository, or where the repository is not to be found from here.
        common_dir: The part that all worktrees of the repository share; ``None`` likewise.
    """

    root: str
    git_dir: str | None = None
    common_dir: str | None = None

    @property
    def address(self) -> str:
        """The address of its mailbox, as text."""
        return f"worktree:{self.root}"


def find_worktree(start: str) -> Worktree:
    """Find the worktree of a directory: the nearest above it with ``.git``, else the nearest with a mailbox.

    Raises:
        NoWorktree: There is none, or the directory is gone; a bare repository's worktrees are named.
        Unsafe: The mailbox is a symbolic link that leads out of the worktree.
    """
    try:
        directory = os.path.realpath(start, strict=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise NoWorktree(
            f"{start!r} is not a directory that can be entered: {reason}", remedy="run it in a worktree, or give -C"
        ) from None
    if not os.path.isdir(directory):
        raise NoWorktree(f"{start!r} is not a directory", remedy="give a directory of a worktree")
    worktree = _nearest(directory)
    check_inside(worktree.root, os.path.join(worktree.root, MAILBOX))
    return worktree


def check_inside(root: str, path: str) -> str:
    """Return where a path of the worktree really is.

    Raises:
        Unsafe: It is a symbolic link that leads out of the worktree, or nowhere.
    """
    return look_inside(root, path)[0]


def look_inside(root: str, path: str) -> tuple[str, int]:
    """Return where a path of the worktree really is, and its ``st_mode``; 0 where there is nothing to be seen.

    Raises:
        Unsafe: It is a symbolic link that leads out of the worktree, or nowhere.
    """
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return path, 0
    if not stat.S_ISLNK(mode):
        return path, mode
    try:
        real = os.path.realpath(path, strict=True)
        mode = os.lstat(real).st_mode
    except OSError:
        raise Unsafe(f"{path} is a symbolic link that leads nowhere", remedy="remove it") from None
    if not real.startswith(root.rstrip("/") + "/"):
        raise Unsafe(
            f"{path} is a symbolic link that leads out of the worktree, to {real}",
            remedy="remove the link; a mailbox stays inside its worktree",
        )
    return real, mode


def _nearest(directory: str) -> Worktree:
    with_mailbox = ""
    for place in _upwards(directory):
        if os.path.lexists(os.path.join(place, ".git")):
            return _repository(place)
        if not with_mailbox and os.path.isdir(os.path.join(place, MAILBOX)):
            with_mailbox = place
    if with_mailbox:
        return Worktree(with_mailbox)
    raise NoWorktree(
        f"{directory} is not inside a worktree", remedy="run it in a git worktree, or make one with git init"
    )


def _upwards(directory: str) -> "Iterator[str]":
    while True:
        yield directory
        above = os.path.dirname(directory)
        if above == directory:
            return
        directory = above


def _repository(root: str) -> Worktree:
    git_dir = _git_dir(root)
    if git_dir is None:
        return Worktree(root)
    # Only a linked worktree's own directory has this file.
    link = _first_line(os.path.join(git_dir, "commondir"))
    if link is not None:
        return Worktree(root, git_dir, os.path.normpath(os.path.join(git_dir, link)))
    if _is_bare(git_dir):
        worktrees = list(_linked(git_dir))
        known = f"; its worktrees: {', '.join(worktrees)}" if worktrees else ""
        raise NoWorktree(
            f"{root} holds a bare repository and is not inside a worktree{known}",
            remedy=f"run it in one of them, for example -C {worktrees[0]}" if worktrees else "run it in a worktree",
        )
    return Worktree(root, git_dir, git_dir)


def _git_dir(root: str) -> str | None:
    """Return the directory that ``.git`` is or names; ``None`` when it cannot be found from here."""
    path = os.path.join(root, ".git")
    if os.path.isdir(path):
        return os.path.realpath(path)
    line = _first_line(path)
    if line is None or not line.startswith("gitdir: "):
        return None
    target = os.path.realpath(os.path.join(root, line.removeprefix("gitdir: ")))
    return target if os.path.isdir(target) else None


def _first_line(path: str) -> str | None:
    """Return a small file's text without its line end, a path as a rule; ``None`` where there is no such file."""
    try:
        data = read_file(os.path.realpath(path), most=_MOST_CONFIG)
    except RestanteError:
        return None
    # No path holds a NUL, and no call of the system takes one.
    return None if data is None or b"\0" in data else os.fsdecode(data.rstrip(b"\r\n"))


def _is_bare(git_dir: str) -> bool:
    """Tell whether a repository's configuration says that it has no worktree of its own."""
    answer = False
    for name in ("config", "config.worktree"):
        text = _first_line(os.path.join(git_dir, name))
        for line in (text or "").splitlines():
            key, equals, value = line.partition("=")
            if key.strip().lower() == "bare":
                answer = not equals or value.strip().lower() in ("true", "yes", "on", "1")
    return answer


def _linked(git_dir: str) -> "Iterator[str]":
    """Yield the top levels of a repository's linked worktrees, as far as they are known and there."""
    base = os.path.join(git_dir, "worktrees")
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return
    for name in names:
        link = _first_line(os.path.join(base, name, "gitdir"))
        root = os.path.dirname(os.path.normpath(os.path.join(base, name, link))) if link else ""
        if root and os.path.isdir(root):
            yield root
