"""The twin keeps the contract it is the specification of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.testing import FakeClock, MailboxContract, MemoryMailbox, SharingContract

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.limits import Limits


class TestMemory(MailboxContract, SharingContract):
    persistent = False

    def make_mailbox(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> MemoryMailbox:
        return MemoryMailbox("worktree:/somewhere", clock, self.ids, limits)
