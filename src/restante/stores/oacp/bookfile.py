"""The files of a book: read only where they grew, written durably, moved to the shelf in one step."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from restante.domain.errors import Damaged, NothingThere
from restante.domain.mailbox import Fault
from restante.stores.files import CUT, append_line, create, flocked, open_known, read_at, read_file, replace, translated
from restante.stores.oacp.book import HEAD, Book, about, breadth, dump
from restante.stores.oacp.index import make_ours
from restante.stores.oacp.layout import OURS, PROJECTS, STATE

if TYPE_CHECKING:
    from collections.abc import Collection

    from restante.stores.oacp.book import Line
    from restante.stores.oacp.layout import Tree

_WAIT_SECONDS = 10.0


class BookFile:
    """A mailbox's book on disk.

    Args:
        tree: The tree.
        project: The project.
        agent: The agent.
        address: The mailbox's address.

    Attributes:
        path: The file.
        book: As of the last ``look``.
        faults: Lines of it that are none of ours.
    """

    def __init__(self, tree: Tree, project: str, agent: str, address: str) -> None:
        self._tree = tree
        self._project = project
        self._agent = agent
        self._address = address
        place = tree.path(PROJECTS, project, STATE, OURS, agent)
        self.path = os.path.join(place, "book")
        self._shelf = os.path.join(place, "shelf")
        self._lock = os.path.join(place, "lock")
        self.book = Book(address)
        self.faults: list[Fault] = []
        self._read: tuple[int, int, int] = (0, 0, 0)
        self._whole: tuple[tuple[int, ...], Book] | None = None

    def make(self) -> None:
        """Make the directory of ours."""
        make_ours(self._tree, self._project, self._agent)

    def locked(self) -> flocked:
        """Return the lock that every writer of this mailbox holds; the directory must be there."""
        return flocked(self._lock, _WAIT_SECONDS)

    def look(self) -> Book:
        """Read what is new and return the book.

        Raises:
            Damaged: It has no head.
            StorageFailed: It cannot be read.
        """
        found = self._grown()
        if found is None:
            self.book, self.faults, self._read = Book(self._address), [], (0, 0, 0)
            return self.book
        file, offset, data = found
        end = data.rfind(b"\n") + 1
        lines = data[:end].split(b"\n")[:-1]
        if offset == 0 and lines:
            self.book, self.faults = Book(self._address, self._head(lines.pop(0))), []
        for line in lines:
            self._take(line)
        self._read = (*file, offset + end)
        return self.book

    def whole(self) -> Book:
        """Return the book with everything that is on the shelf, as of the last ``look``."""
        if not self.book.shelved:
            return self.book
        key = (*self._read, self.book.last)
        if self._whole is None or self._whole[0] != key:
            shelf = read_file(self._shelf) or b""
            lines = {line["n"]: line for raw in shelf.split(b"\n")[:-1] if (line := _line(raw))}
            for line in self.book.lines:
                lines.setdefault(line["n"], line)
            whole = Book(self._address)
            for number in sorted(lines):
                whole.add(lines[number])
            self._whole = key, whole
        return self._whole[1]

    def append(self, lines: list[Line], *, durable: bool = True) -> None:
        """Number lines, keep them, and let them happen; under the lock.

        Raises:
            StorageFailed: None of them is kept.
        """
        if not lines:
            return
        if not self.book.tag:
            self.book.tag = os.urandom(8).hex()
            create(self.path, dump(self._headline()))
            self.look()
        last = self.book.last
        for line in lines:
            line["n"] = last + 1
            last += breadth(line)
        append_line(self.path, b"".join(map(dump, lines)), durable=durable)
        self.look()

    def shelve(self, ids: Collection[str], at: str) -> None:
        """Move all that is about messages to the shelf; under the lock.

        A kill between the two writes leaves lines in both files, which count once.
        """
        if not ids:
            return
        self.append([{"kind": "archived", "at": at, "ids": sorted(ids)}])
        book = self.book
        known = {one for one, case in book.cases.items() if not case.is_archived}
        moved, kept = [], []
        for line in book.lines:
            subjects = about(line)
            # What is about messages that went before goes too.
            if any(one not in known for one in subjects):
                moved.append(line)
            if not subjects or any(one in known for one in subjects):
                kept.append(line)
        append_line(self._shelf, b"".join(map(dump, moved)), durable=True)
        head = self._headline() | {"shelved": book.last, "archived": book.archived + len(ids)}
        replace(self.path, dump(head) + b"".join(map(dump, kept)))
        self.look()

    def _grown(self) -> tuple[tuple[int, int], int, bytes] | None:
        """Return which file there is, from where on it is news, and the news; ``None`` for no file."""
        try:
            self._tree.open(PROJECTS, self._project, STATE, OURS, self._agent).close()
        except NothingThere:
            return None
        with translated(self.path):
            try:
                fd, status = open_known(self.path, os.O_RDONLY)
            except FileNotFoundError:
                return None
            try:
                file, size = (status.st_dev, status.st_ino), status.st_size
                offset = self._read[2] if file == self._read[:2] and self._read[2] <= size else 0
                return (file, offset, read_at(fd, size - offset, offset)) if size else None
            finally:
                os.close(fd)

    def _headline(self) -> Line:
        book = self.book
        return {
            "form": HEAD,
            "tag": book.tag,
            "last": book.last,
            "number": book.number,
            "archived": book.archived,
            "shelved": book.shelved,
        }

    def _head(self, raw: bytes) -> Line:
        line = _line(raw, needs="form")
        if line is None or line["form"] != HEAD:
            raise Damaged(f"{self.path} is no book of ours", remedy="move it out of the way; mail stays readable")
        return line

    def _take(self, raw: bytes) -> None:
        try:
            self.book.add(_line(raw) or {})
        except (KeyError, TypeError, ValueError, AttributeError):
            if raw.strip() and not raw.endswith(CUT):
                self.faults.append(Fault(self.path, 0, "a line of the book is none of ours"))


def _line(raw: bytes, *, needs: str = "n") -> Line | None:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and needs in line else None
