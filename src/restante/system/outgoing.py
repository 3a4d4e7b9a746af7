"""What a sandboxed agent could not write down: left in its worktree, for its next checkpoint to carry on.

A sandbox lets an agent's commands read what belongs to its person, write in the worktree, and nothing else. A hook
runs outside of it. ``.codex-mailbox/.restante/outgoing/`` holds one file for each thing to do: the first line proves
by the session's secret who left it, the second is what is to be done, in JSON.
"""

from __future__ import annotations

import json
import os
import re
import stat
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from restante.domain.errors import RestanteError, StorageFailed
from restante.system.bells import ring_in
from restante.system.private import open_private, translated

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_BYTES = 1024 * 1024
_ENDING = ".json"
_PLACE = (".codex-mailbox", ".restante", "outgoing")
_NAME = re.compile(r"[0-9]{20}-[0-9a-f]{8}\.json(\.tmp)?")
# Writing one takes no time: what is half there after so long was left by a process that was killed.
_HALF_SECONDS = 60.0
# What holds no text of mail.
_WORDS = ("confirm", "acknowledge")


class Word(NamedTuple):
    """One thing to do.

    Attributes:
        name: Name of its file; sorts in the order they were left.
        kind: What.
        fields: With what.
    """

    name: str
    kind: str
    fields: dict[str, Any]

    @property
    def said(self) -> datetime:
        """When it was left; part of the name, and so of what is proven."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(self.name[:20]) // 1000)


class Outgoing:
    """The things that one session left in a worktree.

    Args:
        worktree: The worktree's top level.
        session: The session's id.
        secret: Its secret.
    """

    def __init__(self, worktree: str, session: str, secret: str) -> None:
        self._worktree = worktree
        self._box = os.path.join(worktree, ".codex-mailbox")
        self._directory = os.path.join(worktree, *_PLACE)
        self._session = session
        self._secret = secret

    def leave(self, kind: str, fields: dict[str, Any]) -> str:
        """Leave something to do and ring; return its name. It is there whole, or not at all.

        Raises:
            StorageFailed: It cannot be left here either.
        """
        if not self._secret or not os.path.isdir(self._box):
            raise StorageFailed(f"{self._box} is not there, so nothing can be left for a checkpoint")
        name = f"{time.time_ns():020d}-{os.urandom(4).hex()}{_ENDING}"
        text = json.dumps({"session": self._session, "kind": kind, "fields": fields})
        path = os.path.join(self._directory, name)
        with translated(self._directory):
            os.makedirs(self._directory, 0o700, exist_ok=True)
            if not _is_straight(self._worktree):
                raise StorageFailed(f"there is a symbolic link on the way to {self._directory}")
            temporary = f"{path}.tmp"
            fd = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(f"{self._proof(name, text)}\n{text}\n".encode())
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(temporary, path)
            except OSError:
                with suppress(OSError):
                    os.unlink(temporary)
                raise
        ring_in(self._worktree)
        return name

    def words(self) -> list[Word]:
        """Return what this session left, in that order; what is not proven to be its own is passed over."""
        try:
            names = sorted(name for name in os.listdir(self._directory) if _NAME.fullmatch(name))
        except OSError:
            return []
        return [word for name in names if name.endswith(_ENDING) and (word := self._read(name))]

    def clean(self) -> None:
        """Take away what processes that were killed left half written. Never raises, and follows no link."""
        _sweep(self._worktree, lambda at, name: _is_half(at, name, _HALF_SECONDS))

    def drop(self, name: str) -> None:
        """Take a thing away that was done; taking it away again changes nothing."""
        with suppress(OSError):
            os.unlink(os.path.join(self._directory, name))

    def _read(self, name: str) -> Word | None:
        from hmac import compare_digest

        try:
            fd = open_private(os.path.join(self._directory, name), os.O_RDONLY)
            with os.fdopen(fd, "rb") as file:
                proof, _, text = file.read(_MOST_BYTES).decode().partition("\n")
            text = text.removesuffix("\n")
            if not compare_digest(proof.encode(), self._proof(name, text).encode()):
                return None
            value = json.loads(text)
            if value["session"] != self._session or not isinstance(value["fields"], dict):
                return None
            return Word(name, str(value["kind"]), value["fields"])
        except (OSError, RestanteError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _proof(self, name: str, text: str) -> str:
        import hmac

        # The name is part of it: under another one the same file would be another thing to do.
        return hmac.new(self._secret.encode(), f"{name}\n{text}".encode(errors="surrogatepass"), "sha256").hexdigest()


class WorktreeLeavings:
    """``ports.sessions.Leavings`` of the worktrees of this machine."""

    def drop_texts(self, worktree: str) -> None:
        """Take away what holds the text of a message, whole or half written, whichever session left it."""
        _sweep(worktree, lambda at, name: _is_half(at, name, 0.0) or _holds_text(at, name))


def _is_straight(worktree: str) -> bool:
    """Tell whether no link stands on the way from a worktree to what is left there."""
    return os.path.realpath(os.path.join(worktree, *_PLACE)) == os.path.join(os.path.realpath(worktree), *_PLACE)


def _sweep(worktree: str, is_due: Callable[[int, str], bool]) -> None:
    with suppress(OSError):
        if not _is_straight(worktree):
            return
        at = os.open(os.path.join(worktree, *_PLACE), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            for name in os.listdir(at):
                with suppress(OSError):
                    if _NAME.fullmatch(name) and is_due(at, name):
                        os.unlink(name, dir_fd=at)
        finally:
            os.close(at)


def _is_half(at: int, name: str, seconds: float) -> bool:
    if name.endswith(_ENDING):
        return False
    found = os.stat(name, dir_fd=at, follow_symlinks=False)
    return stat.S_ISREG(found.st_mode) and abs(time.time() - found.st_mtime) >= seconds


def _holds_text(at: int, name: str) -> bool:
    """Tell whether a file holds a message; one that cannot be understood may."""
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=at)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return False
        data = file.read(_MOST_BYTES)
    try:
        return json.loads(data.decode().partition("\n")[2])["kind"] not in _WORDS
    except (ValueError, KeyError, TypeError, RecursionError):
        return True
