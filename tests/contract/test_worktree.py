"""The worktree home keeps the contract."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.stores.worktree.archive import WorktreeArchive
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.store import WorktreeMailbox
from restante.testing import FakeClock, MailboxContract

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.limits import Limits
    from restante.ports import Mailbox


class TestWorktree(MailboxContract):
    def make_mailbox(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> WorktreeMailbox:
        os.makedirs(tmp_path / ".git", exist_ok=True)
        return WorktreeMailbox(find_worktree(str(tmp_path)), clock, self.ids, limits)

    def archive_of(self, mailbox: Mailbox) -> WorktreeArchive:
        assert isinstance(mailbox, WorktreeMailbox)
        return WorktreeArchive(mailbox)
