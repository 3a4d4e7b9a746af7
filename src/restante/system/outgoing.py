"""What a sandboxed agent could not write down: left in its worktree, for its next checkpoint to carry on.

A sandbox lets an agent's commands read what belongs to its person, write in the worktree, and nothing else. A hook
runs outside of it. ``.codex-mailbox/.restante/outgoing/`` holds one file for each thing to do: the first line proves
by the session's secret who left it, the second is what is to be done, in JSON.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import Any, NamedTuple

from restante.domain.errors import RestanteError, StorageFailed
from restante.system.bells import ring_in
from restante.system.private import open_private, translated

_MOST_BYTES = 1024 * 1024
_ENDING = ".json"


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
        self._directory = os.path.join(self._box, ".restante", "outgoing")
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
            if not os.path.realpath(self._directory).startswith(os.path.join(os.path.realpath(self._worktree), "")):
                raise StorageFailed(f"{self._directory} leads out of the worktree")
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
            names = sorted(name for name in os.listdir(self._directory) if name.endswith(_ENDING))
        except OSError:
            return []
        return [word for name in names if (word := self._read(name))]

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
