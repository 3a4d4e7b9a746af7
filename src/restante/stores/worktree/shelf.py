"""Archived messages: ``archive/INBOX-YYYY-MM-DD.md``, one file for each day something was moved there.

Blocks stand there as they stood in INBOX.md, with a line ``number:`` added. A crash while archiving can leave a message
in both places or a torn copy here; the one in INBOX.md counts, and of copies the whole one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import StorageFailed
from restante.stores.files import make_directory, open_file, read_file, sync, sync_directory, translated, write_all
from restante.stores.worktree.blocks import message_of
from restante.stores.worktree.fields import write_value
from restante.stores.worktree.grammar import Kind, scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.stores.worktree.blocks import Letter
    from restante.stores.worktree.layout import Layout

HEADER = (
    b"# Codex Mailbox - Archive\n\n"
    b"Messages that were answered, taken back or expired, moved here from INBOX.md.\n\n---\n"
)

_Signature = tuple[int, int, int]


class Shelf:
    """The archive of one mailbox; each file is read again only when it changed.

    Args:
        layout: The mailbox's files.
        address: Its address, for the messages.
    """

    def __init__(self, layout: Layout, address: str) -> None:
        self._layout = layout
        self._address = address
        self._read: dict[str, tuple[_Signature, list[Letter]]] = {}

    def letters(self) -> dict[str, Letter]:
        """Return every archived message by id.

        Raises:
            StorageFailed: The archive cannot be read.
        """
        found: dict[str, Letter] = {}
        for name in self._names():
            for letter in self._letters_of(name):
                found.setdefault(letter.message.id, letter)
        return found

    def find(self, message_id: str) -> Letter | None:
        """Return one archived message."""
        return self._first(message_id.encode(), lambda letter: letter.message.id == message_id)

    def find_client(self, client_id: str) -> Letter | None:
        """Return the archived message that was posted under a client id."""
        needle = f"client_id: {write_value(client_id)}\n".encode()
        return self._first(needle, lambda letter: letter.message.client_id == client_id)

    def _first(self, needle: bytes, is_it: Callable[[Letter], bool]) -> Letter | None:
        for name in self._names():
            if needle in (read_file(self._path(name)) or b""):
                for letter in self._letters_of(name):
                    if is_it(letter):
                        return letter
        return None

    def add(self, data: bytes, at: datetime) -> str:
        """Add blocks to the day's file, durably and whole or not at all; return its path.

        Raises:
            StorageFailed: The archive is as it was before.
        """
        directory = self._layout.archive
        make_directory(directory)
        path = self._path(f"INBOX-{at:%Y-%m-%d}.md")
        with translated(path):
            fd = open_file(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                size = os.fstat(fd).st_size
                if size == 0:
                    data = HEADER + data
                elif os.pread(fd, 1, size - 1) != b"\n":
                    data = b"\n" + data
                try:
                    write_all(fd, data)
                    sync(fd)
                except OSError:
                    os.ftruncate(fd, size)
                    raise
            finally:
                os.close(fd)
            sync_directory(directory)
        return path

    def _path(self, name: str) -> str:
        return os.path.join(self._layout.archive, name)

    def _names(self) -> list[str]:
        try:
            return sorted(
                name for name in os.listdir(self._layout.archive) if name.startswith("INBOX-") and name.endswith(".md")
            )
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StorageFailed(f"{self._layout.archive}: {error.strerror}", remedy="make it readable") from error

    def _letters_of(self, name: str) -> list[Letter]:
        path = self._path(name)
        with translated(path):
            status = os.lstat(path)
        signature = (status.st_ino, status.st_size, status.st_mtime_ns)
        known = self._read.get(name)
        if known and known[0] == signature:
            return known[1]
        blocks = scan(read_file(path) or b"", source=f"archive/{name}", kind=Kind.MESSAGE).blocks
        letters = [
            message_of(block, number=_number(block.fields.get("number", "")), mailbox=self._address)
            for block in blocks
            if block.complete
        ]
        self._read[name] = (signature, letters)
        return letters


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 13 else 0
