"""The bell: ``.restante/quiet`` has exactly the time of INBOX.md while nothing is pending; any difference rings.

``.restante/quiet-receipts`` has that of RECEIPTS.md, and is there if that is: where an answer is lost, mail is pending
again. So whoever writes one of the two rings, by whatever program. The guard of the hooks compares them without
starting Python, and old shells compare whole seconds: silence is only kept when both have rested for 2 s, so that a
later change is a later second. It is kept again after each change by the next checkpoint that finds nothing pending.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.stores.files import open_file, remove
from restante.stores.worktree.layout import INBOX, RECEIPTS

if TYPE_CHECKING:
    from restante.stores.worktree.store import WorktreeMailbox

REST_SECONDS = 2.0
QUIET = "quiet"
QUIET_RECEIPTS = "quiet-receipts"


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
        now = self._now()
        return now[0] is not None and now != self._kept()

    def hush(self) -> None:
        """Stop ringing, if nothing is pending; a post at the same moment is not missed.

        Where that cannot be written down, the bell rings on: that costs time and no mail.
        """
        layout = self._mailbox.layout
        layout.check()
        before = self._now()
        inbox, receipts = before
        if inbox is None or time.time() - max(inbox, receipts or 0) / 1e9 < REST_SECONDS or before == self._kept():
            return
        if self._mailbox.entries(pending_only=True) or not self._mailbox.desk.ledger.is_settled:
            return
        # What expired by a clock of this process's own may be pending by the system's, which others go by.
        if self._mailbox.desk.book.doubtfully_expired(datetime.now(UTC)):
            return
        try:
            layout.make()
            if receipts is None:
                remove(layout.own(QUIET_RECEIPTS))
            else:
                _keep(layout.own(QUIET_RECEIPTS), receipts)
            _keep(layout.own(QUIET), inbox)
            if self._now() != before:
                os.unlink(layout.own(QUIET))
        except (OSError, RestanteError):
            return
        self._mailbox.desk.save_index()

    def _now(self) -> tuple[int | None, int | None]:
        layout = self._mailbox.layout
        return _time(layout.shared(INBOX)), _time(layout.shared(RECEIPTS))

    def _kept(self) -> tuple[int | None, int | None]:
        layout = self._mailbox.layout
        return _time(layout.own(QUIET), follow=False), _time(layout.own(QUIET_RECEIPTS), follow=False)


def _keep(path: str, at: int) -> None:
    fd = open_file(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.utime(fd, ns=(at, at))
    finally:
        os.close(fd)


def _time(path: str, *, follow: bool = True) -> int | None:
    try:
        return os.stat(path, follow_symlinks=follow).st_mtime_ns
    except OSError:
        return None
