"""The bell: ``.restante/quiet`` has exactly the time of INBOX.md while nothing is pending; any difference rings.

So whoever writes INBOX.md rings, by whatever program. The guard of the hooks compares the two without starting
Python, and old shells compare whole seconds: silence is only kept when INBOX.md has rested for 2 s, so that a later
change is a later second. It is kept again after each change by the next checkpoint that finds nothing pending.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.stores.files import open_file
from restante.stores.worktree.layout import INBOX

if TYPE_CHECKING:
    from restante.stores.worktree.store import WorktreeMailbox

REST_SECONDS = 2.0


class FileBell:
    """``ports.Bell`` over a worktree's mailbox.

    Args:
        mailbox: The mailbox.
    """

    def __init__(self, mailbox: WorktreeMailbox) -> None:
        self._mailbox = mailbox

    def is_ringing(self) -> bool:
        """Whether the next checkpoint would look into the mailbox."""
        self._mailbox.layout.check()
        inbox = self._time(self._mailbox.layout.shared(INBOX))
        return inbox is not None and inbox != self._time(self._quiet)

    def hush(self) -> None:
        """Stop ringing, if nothing is pending; a post at the same moment is not missed.

        Where that cannot be written down, the bell rings on: that costs time and no mail.
        """
        layout = self._mailbox.layout
        layout.check()
        inbox = layout.shared(INBOX)
        before = self._time(inbox)
        if before is None or time.time() - before / 1e9 < REST_SECONDS or before == self._time(self._quiet):
            return
        if self._mailbox.entries(pending_only=True):
            return
        try:
            layout.make()
            fd = open_file(self._quiet, os.O_WRONLY | os.O_CREAT)
            try:
                os.utime(fd, ns=(before, before))
            finally:
                os.close(fd)
            if self._time(inbox) != before:
                os.unlink(self._quiet)
        except (OSError, RestanteError):
            return
        self._mailbox.desk.save_index()

    @property
    def _quiet(self) -> str:
        return self._mailbox.layout.own("quiet")

    @staticmethod
    def _time(path: str) -> int | None:
        try:
            return os.stat(path).st_mtime_ns
        except OSError:
            return None
