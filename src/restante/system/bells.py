"""The sign for the hooks of a worktree that mail waits for one of its sessions: a file without content."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.registry import Session

BELL = "session-mail"
_MAILBOX = ".codex-mailbox"
_LEFT = "outgoing"
# What nobody carried on for as long as mail lasts is nobody's any more, and must not ring for ever.
_LEFT_SECONDS = 12 * 3600


class WorktreeSessionBell:
    """``ports.sessions.SessionBell``: ``.codex-mailbox/.restante/session-mail`` of a worktree.

    Rings only where a mailbox is installed, and never through a link that leads out of the worktree.

    Args:
        host: This machine's name, as in ``Process.host``.
    """

    def __init__(self, host: str) -> None:
        self._host = host

    def ring(self, session: Session) -> None:
        """Ring for a session of this machine. One whose process is not known may be anywhere: it is rung for here."""
        if session.worktree and (session.process is None or session.process.host == self._host):
            ring_in(session.worktree)

    def hush(self, worktree: str, is_waiting: Callable[[], bool]) -> None:
        """Stop ringing unless mail waits; a post meanwhile is not missed, because it rings after it is stored.

        What a sandboxed session left to be carried on keeps it ringing, whoever's hook or command asks for the rest.
        """
        path = _path(worktree) if worktree else ""
        if not path or not os.path.lexists(path):
            return
        with suppress(OSError):
            os.unlink(path)
        is_over = False
        try:
            is_over = not _has_left(path) and not is_waiting()
        finally:
            if not is_over:
                ring_in(worktree)


def is_ringing(worktree: str) -> bool:
    """Tell whether the bell of a worktree rings."""
    path = _path(worktree)
    return bool(path) and os.path.lexists(path)


def _has_left(path: str) -> bool:
    try:
        with os.scandir(os.path.join(os.path.dirname(path), _LEFT)) as entries:
            now = time.time()
            return any(
                one.name.endswith(".json") and abs(now - one.stat(follow_symlinks=False).st_mtime) < _LEFT_SECONDS
                for one in entries
            )
    except OSError:
        return False


def _path(worktree: str) -> str:
    """Return where the bell of a worktree is; empty where there is no mailbox, or it leads out of the worktree."""
    box = os.path.join(worktree, _MAILBOX)
    if not os.path.isdir(box):
        return ""
    private = os.path.join(box, ".restante")
    if not os.path.realpath(private).startswith(os.path.join(os.path.realpath(worktree), "")):
        return ""
    return os.path.join(private, BELL)


def ring_in(worktree: str) -> None:
    """Ring in a worktree of this machine, where a mailbox is installed. Never raises."""
    path = _path(worktree)
    if not path:
        return
    with suppress(OSError):
        private = os.path.dirname(path)
        if not os.path.isdir(private):
            os.mkdir(private, 0o700)
            # As every directory of ours: a rule that ignores itself, so that git never takes anything along.
            _create(os.path.join(private, ".gitignore"), b"*\n")
        _create(path, b"")


def _create(path: str, data: bytes) -> None:
    with suppress(FileExistsError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if data:
                os.write(fd, data)
        finally:
            os.close(fd)
