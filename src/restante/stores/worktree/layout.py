"""Where everything of a worktree's mailbox is on disk, and the making of it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from restante.domain.errors import StorageFailed
from restante.stores.files import create, make_directory, open_known
from restante.stores.worktree.locate import MAILBOX, check_inside, look_inside

if TYPE_CHECKING:
    from restante.stores.kept import Kept
    from restante.stores.worktree.locate import Worktree

INBOX = "INBOX.md"
OUTBOX = "OUTBOX.md"
RECEIPTS = "RECEIPTS.md"
STATE = "STATE.json"
MARKS = "marks"

# Whoever has written so often will write again.
_OFTEN = 3


class Layout:
    """The paths of one mailbox.

    Args:
        worktree: The worktree that the mailbox belongs to.

    Attributes:
        box: The mailbox's directory.
        private: The directory of what only Restante reads; all but the marks in it can be made again.
        is_made: Whether that directory was there at the last look.
        trace: The list of what was ever posted here, kept outside of the mailbox; empty outside of a repository.
        kept: What stays open, for those who write again and again; ``None`` for others.
    """

    def __init__(self, worktree: Worktree) -> None:
        self.worktree = worktree
        self.trace = f"{worktree.git_dir}/restante/posted" if worktree.git_dir else ""
        self.kept: Kept | None = None
        self._writes = 0
        self._place = os.path.join(worktree.root, MAILBOX)
        self.box = self.private = ""
        self.check()

    def check(self) -> None:
        """Find the directories; whoever begins to read or write does that anew, as a link may be there by now.

        Raises:
            Unsafe: One is a symbolic link that leads out of the worktree.
            StorageFailed: Something else than a directory is there.
        """
        root = self.worktree.root
        self.box, mode = look_inside(root, self._place)
        if mode and not stat.S_ISDIR(mode):
            raise StorageFailed(f"{self.box} is not a directory", remedy="move it out of the way")
        self.private, mode = look_inside(root, self.box + "/.restante")
        self.is_made = stat.S_ISDIR(mode)

    @property
    def archive(self) -> str:
        """The directory of archived messages, one Markdown file for each day."""
        return check_inside(self.worktree.root, self.box + "/archive")

    def shared(self, name: str) -> str:
        """Return the path of one of the files that are shared with other programs.

        Raises:
            Unsafe: It is a symbolic link that leads out of the worktree.
        """
        return check_inside(self.worktree.root, f"{self.box}/{name}")

    def joined(self, name: str) -> str:
        """Return the path of one of those files before anybody looked whether it is a link."""
        return f"{self.box}/{name}"

    def own(self, name: str) -> str:
        """Return the path of one of our own files."""
        return f"{self.private}/{name}"

    def make(self) -> None:
        """Make the mailbox's directories where they are missing; git never takes anything in them along.

        Raises:
            StorageFailed: They cannot be made.
        """
        self.check()
        self._writes += 1
        if self._writes == _OFTEN:
            from restante.stores.kept import Kept

            self.kept = Kept()
        if self.is_made:
            return
        # An ignore rule that ignores itself: `git stash -u` takes what is untracked and not ignored, rules included.
        make_directory(self.box)
        create(self.box + "/.gitignore", b"*\n", durable=False)
        if make_directory(self.private):
            create(self.own(".gitignore"), b"*\n", durable=False)

    def take(self, path: str, flags: int) -> tuple[int, os.stat_result]:
        """Open a file, or return it open, as ``files.open_known`` does; to be given back by ``leave``.

        Raises:
            OSError: As ``open_known``, and its ``StorageFailed``.
        """
        return self.kept.take(path, flags) if self.kept else open_known(path, flags)

    def leave(self, path: str, fd: int, status: os.stat_result) -> None:
        """Close a file, or keep it open for the next time."""
        if self.kept:
            self.kept.keep(path, fd, status)
        else:
            os.close(fd)

    def resolved(self, path: str) -> str:
        """Return where a path is that turned out to be a link.

        Raises:
            Unsafe: It leads out of the worktree.
        """
        return check_inside(self.worktree.root, path)
