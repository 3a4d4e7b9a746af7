"""Where everything of a worktree's mailbox is on disk, and the making of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.stores.files import create, make_directory
from restante.stores.worktree.locate import MAILBOX, check_inside

if TYPE_CHECKING:
    from restante.stores.worktree.locate import Worktree

INBOX = "INBOX.md"
OUTBOX = "OUTBOX.md"
RECEIPTS = "RECEIPTS.md"
STATE = "STATE.json"
MARKS = "marks"


class Layout:
    """The paths of one mailbox. Each is checked anew when asked for: a link put there later is refused as well.

    Args:
        worktree: The worktree that the mailbox belongs to.
    """

    def __init__(self, worktree: Worktree) -> None:
        self.worktree = worktree

    @property
    def box(self) -> str:
        """The mailbox's directory.

        Raises:
            Unsafe: It is a symbolic link that leads out of the worktree.
        """
        return check_inside(self.worktree.root, os.path.join(self.worktree.root, MAILBOX))

    @property
    def private(self) -> str:
        """The directory of what only Restante reads; all but the marks in it can be made again."""
        return check_inside(self.worktree.root, os.path.join(self.box, ".restante"))

    @property
    def archive(self) -> str:
        """The directory of archived messages, one Markdown file for each day."""
        return check_inside(self.worktree.root, os.path.join(self.box, "archive"))

    @property
    def trace(self) -> str | None:
        """The list of what was ever posted here, kept outside of the mailbox; ``None`` outside of a repository."""
        git_dir = self.worktree.git_dir
        return None if git_dir is None else os.path.join(git_dir, "restante", "posted")

    def shared(self, name: str) -> str:
        """Return the path of one of the files that are shared with other programs.

        Raises:
            Unsafe: It is a symbolic link that leads out of the worktree.
        """
        return check_inside(self.worktree.root, os.path.join(self.box, name))

    def own(self, name: str) -> str:
        """Return the path of one of our own files."""
        return os.path.join(self.private, name)

    def make(self) -> None:
        """Make the mailbox's directories where they are missing; git never takes anything in them along.

        Raises:
            StorageFailed: They cannot be made.
        """
        # An ignore rule that ignores itself: `git stash -u` takes what is untracked and not ignored, rules included.
        if make_directory(self.box) or not os.path.lexists(os.path.join(self.box, ".gitignore")):
            create(os.path.join(self.box, ".gitignore"), b"*\n", durable=False)
        if make_directory(self.private):
            create(os.path.join(self.private, ".gitignore"), b"*\n", durable=False)
