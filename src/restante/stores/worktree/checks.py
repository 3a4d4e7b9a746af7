"""What ``restante doctor`` says of a worktree's mailbox."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.domain.setup import Check
from restante.stores.files import read_file
from restante.stores.worktree.layout import INBOX, OUTBOX, RECEIPTS, STATE
from restante.stores.worktree.lock import STALE_SECONDS
from restante.stores.worktree.record import record_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from restante.stores.worktree.bell import FileBell
    from restante.stores.worktree.layout import Layout
    from restante.stores.worktree.store import WorktreeMailbox

_MOST_FAULTS = 10


def mailbox_checks(mailbox: WorktreeMailbox, bell: FileBell) -> list[Check]:
    """Look at the mailbox's files: are they there, writable, readable; is no lock left behind; is the bell in step."""
    layout = mailbox.layout
    checks = [Check("worktree", ok=True, detail=layout.worktree.root)]
    if not os.path.isdir(layout.box):
        return [*checks, _missing(layout)]
    try:
        counts = mailbox.counts()
        text = f"{counts.pending} pending ({counts.unseen} unseen) of {counts.total}"
        checks.append(Check("mailbox", ok=True, detail=text))
        checks.extend(_writable(layout))
        checks.extend(_own_files(layout))
        checks.extend(_locks(layout))
        checks.extend(_faults(mailbox))
        checks.append(_bell(bell, counts.pending))
    except RestanteError as error:
        checks.append(Check("mailbox", ok=False, detail=error.message, remedy=error.remedy))
    return checks


def _missing(layout: Layout) -> Check:
    """Tell a mailbox that was deleted from one that never was: what was posted is also noted outside of it."""
    trace = layout.trace
    posted = (read_file(trace) or b"").count(b"\n") if trace else 0
    if posted:
        detail = f"deleted; {posted} message{'s were' if posted > 1 else ' was'} posted here before"
        return Check("mailbox", ok=False, detail=detail, remedy="restante install")
    return Check("mailbox", ok=None, detail="none yet; the first message makes it", remedy="restante install")


def _writable(layout: Layout) -> Iterator[Check]:
    places = [layout.box, *(layout.shared(name) for name in (INBOX, RECEIPTS))]
    closed = [path for path in places if os.path.exists(path) and not os.access(path, os.W_OK)]
    for path in closed:
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            yield Check(
                "writable",
                ok=False,
                detail=f"{path} cannot be written: its disk is read-only for this process",
                remedy="run it where that disk can be written; reading works here",
            )
        else:
            yield Check("writable", ok=False, detail=f"{path} cannot be written", remedy=f"chmod u+w {path}")
    if not closed:
        yield Check("writable", ok=True, detail="files can be written")


def _own_files(layout: Layout) -> Iterator[Check]:
    """Name what stands in the place of a file or directory of ours and is none."""
    sessions = layout.own("sessions")
    files = [record_path(layout, name) for name in (INBOX, RECEIPTS, OUTBOX)]
    wrong = [path for path in files if _is_other(path, stat.S_ISREG)]
    if _is_other(sessions, stat.S_ISDIR):
        wrong.append(sessions)
    else:
        with suppress(OSError):
            wrong += [page.path for page in os.scandir(sessions) if _is_other(page.path, stat.S_ISREG)]
    for path in wrong[:_MOST_FAULTS]:
        detail = f"{path} is not what Restante puts there: a link, or no file at all"
        yield Check("own files", ok=False, detail=detail, remedy=f"remove {path}")
    if not wrong:
        yield Check("own files", ok=True, detail="as Restante makes them")


def _is_other(path: str, is_right: Callable[[int], bool]) -> bool:
    try:
        return not is_right(os.lstat(path).st_mode)
    except OSError:
        return False


def _locks(layout: Layout) -> Iterator[Check]:
    held = False
    for name in (INBOX, RECEIPTS, STATE):
        path = layout.shared(name) + ".lock"
        try:
            age = time.time() - os.stat(path).st_mtime
        except OSError:
            continue
        held = True
        if age > STALE_SECONDS:
            yield Check("lock", ok=False, detail=f"{path} was left behind {age:.0f} s ago", remedy=f"rmdir {path}")
        else:
            yield Check("lock", ok=True, detail=f"{path} is held by a writer at this moment")
    if not held:
        yield Check("lock", ok=True, detail="free")


def _faults(mailbox: WorktreeMailbox) -> Iterator[Check]:
    faults = mailbox.faults()
    for fault in faults[:_MOST_FAULTS]:
        path = os.path.join(mailbox.layout.box, fault.source)
        detail = f"{fault.source}, line {fault.line}: {fault.reason}"
        yield Check("readable", ok=False, detail=detail, remedy=f"edit {path} at line {fault.line}")
    if len(faults) > _MOST_FAULTS:
        yield Check("readable", ok=False, detail=f"{len(faults) - _MOST_FAULTS} more", remedy="restante snapshot")
    if not faults:
        yield Check("readable", ok=True, detail="every block is understood")


def _bell(bell: FileBell, pending: int) -> Check:
    rings = bell.is_ringing()
    if pending and not rings:
        return Check("bell", ok=False, detail="silent although mail waits", remedy="rm .codex-mailbox/.restante/quiet")
    if pending:
        return Check("bell", ok=True, detail="rings: mail waits")
    return Check("bell", ok=True, detail="rings until the next checkpoint finds nothing" if rings else "silent")
