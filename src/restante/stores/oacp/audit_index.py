"""Which audit records there are, and of which messages and threads, without opening those that are known.

One line a record, in a file of ours beside them that may be deleted at any time. Nothing is decided by it: what it
finds is read again. Records are written once and keep their message and thread for good, so that a name that is known
needs no second look to be found; who asks for a state compares size and time, too.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Damaged, RestanteError
from restante.stores.files import append_line, create, read_file, remove
from restante.stores.oacp.audit_file import NAME, Facts, facts_of, parse_record, quick_facts
from restante.stores.oacp.reading import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from restante.stores.oacp.directory import Directory

FILE = ".restante-index"
PENDING = ".pending"
UNREADABLE = "unreadable"
_HEAD = b"restante audit index 1\n"
_LISTED = re.compile(rb"\n([^\t\n]+)")
_RECORDS = re.compile(rb"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,240}\.yaml$", re.MULTILINE)
_YAML = re.compile(rb"\.yaml$", re.MULTILINE)
_DIGITS = 16
_MOST_SPARE = 1_000


class Row(NamedTuple):
    """One record in the index.

    Attributes:
        name: Its file.
        size: Of the file, in bytes.
        mtime: Of the file, in nanoseconds.
        message: Digest of receiver and message id; ``-`` where it cannot be read.
        thread: Digest of the conversation; ``-`` for none.
        state: Its ``final_state``; ``unreadable`` where it cannot be read.
        evaluation: Its ``evaluation_id``; ``-`` for none.
    """

    name: str
    size: int
    mtime: int
    message: str
    thread: str
    state: str
    evaluation: str

    def line(self) -> bytes:
        """Return it as it is written."""
        return "\t".join(str(value) for value in self).encode() + b"\n"


def _records(names: list[str], text: bytes) -> tuple[list[bytes], list[str]]:
    """Return the names of records, and those that only look like it: names that no writer gives."""
    found = _RECORDS.findall(text)
    if text.count(b"\n") == len(names) - 1 and len(_YAML.findall(text)) == len(found):
        return found, []
    plain = [name for name in names if name.endswith(".yaml") and NAME.fullmatch(name)]
    return [name.encode() for name in plain], sorted(set(_odd(names)) - set(plain))


def _odd(names: list[str]) -> Iterable[str]:
    return (name for name in names if name.endswith(".yaml") and not name.startswith("."))


def message_key(receiver: str, message_id: str) -> str:
    """Return what the records of a message are found by."""
    return _digest(f"{receiver}\n{message_id}")


def thread_key(conversation_id: str) -> str:
    """Return what the records of a thread are found by."""
    return _digest(conversation_id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


class AuditIndex:
    """The index of one folder, as of now.

    Args:
        directory: The folder, open.

    Attributes:
        pending: Names of steps that a killed process may have left half done.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._path = directory.at(FILE)
        names = os.listdir(directory.fd)
        # One text instead of thousands: most calls look for nothing in it but what is new.
        text = os.fsencode("\n".join(names))
        self.pending = [name for name in names if name.endswith(PENDING)] if PENDING.encode() in text else []
        present, self._odd = _records(names, text)
        self._present = set(present)
        self._text = self._load()
        listed = _LISTED.findall(self._text)
        known = set(listed)
        self._add(sorted(name.decode() for name in self._present - known))
        if len(listed) > 2 * len(self._present) + _MOST_SPARE:
            self._compact()

    def _load(self) -> bytes:
        try:
            text = read_file(self._path)
        except RestanteError:
            text = None
        if text is not None and text.startswith(_HEAD) and text.endswith(b"\n"):
            return text
        self._begin(_HEAD)
        return _HEAD

    def _begin(self, text: bytes) -> None:
        # Where nothing can be written the index is made again each time, in memory.
        with suppress(RestanteError):
            remove(self._path)
            create(self._path, text, durable=False)

    def _append(self, data: bytes) -> None:
        with suppress(RestanteError):
            append_line(self._path, data, durable=False)
        self._text += data

    def _add(self, names: Iterable[str]) -> None:
        rows = [row for row in (self._row(name) for name in names) if row is not None]
        if rows:
            self._append(b"".join(row.line() for row in rows))

    def _row(self, name: str) -> Row | None:
        try:
            found = self._directory.read(name, MOST_BYTES + 1)
        except RestanteError:
            return Row(name, 0, 0, "-", "-", UNREADABLE, "-")
        if found is None:
            return None
        raw, status = found
        try:
            facts = quick_facts(raw) or facts_of(parse_record(raw))
        except Damaged:
            return Row(name, status.st_size, status.st_mtime_ns, "-", "-", UNREADABLE, "-")
        return _row_of(name, status, facts)

    def noted(self, name: str, record_facts: Facts) -> None:
        """Take note of a record that was just written."""
        status = self._directory.status(name)
        if status is not None:
            self._append(_row_of(name, status, record_facts).line())

    def find(self, keys: Iterable[str]) -> list[str]:
        """Return the names of the records of messages and threads, ordered; those that vanished are left out."""
        found: set[bytes] = set()
        for key in keys:
            mark, place = f"\t{key}\t".encode(), 0
            while (place := self._text.find(mark, place)) >= 0:
                start = self._text.rfind(b"\n", 0, place) + 1
                found.add(self._text[start : self._text.index(b"\t", start)])
                place += 1
        return sorted(name.decode() for name in found & self._present)

    def unreadable(self) -> list[str]:
        """Return the names of the records that could not be read, and cannot be now."""
        again = [row.name for row in self._rows().values() if row.state == UNREADABLE] if self._has_broken() else []
        rows = [self._row(name) for name in (*again, *self._odd)]
        self._add(row.name for row in rows if row is not None and row.state != UNREADABLE and NAME.fullmatch(row.name))
        return sorted(row.name for row in rows if row is not None and row.state == UNREADABLE)

    def _has_broken(self) -> bool:
        return f"\t{UNREADABLE}\t".encode() in self._text

    def odd(self) -> list[str]:
        """Return the names of records that no writer gives."""
        return list(self._odd)

    def names(self) -> list[str]:
        """Return the names of all records."""
        return sorted([*(name.decode() for name in self._present), *self._odd])

    def rows(self) -> list[Row]:
        """Return what is known of all records, after a look at the size and time of each."""
        known = self._rows()
        changed = []
        for name in sorted(name.decode() for name in self._present):
            status = self._directory.status(name)
            row = known.get(name)
            if status is not None and (row is None or (row.size, row.mtime) != (status.st_size, status.st_mtime_ns)):
                changed.append(name)
        if changed:
            self._add(changed)
            known = self._rows()
        return [row for name, row in sorted(known.items()) if name.encode() in self._present]

    def _rows(self) -> dict[str, Row]:
        found = {}
        for line in self._text[len(_HEAD) :].splitlines():
            parts = line.decode("utf-8", "replace").split("\t")
            if len(parts) == len(Row._fields) and parts[1].isdecimal() and parts[2].isdecimal():
                found[parts[0]] = Row(parts[0], int(parts[1]), int(parts[2]), *parts[3:])
        return found

    def _compact(self) -> None:
        """Write the index anew: what was changed often stands in it often."""
        rows = [row.line() for name, row in sorted(self._rows().items()) if name.encode() in self._present]
        self._text = _HEAD + b"".join(rows)
        self._begin(self._text)


def _row_of(name: str, status: os.stat_result, facts: Facts) -> Row:
    thread = thread_key(facts.conversation_id) if facts.conversation_id else "-"
    state, evaluation = (re.sub(r"[^A-Za-z0-9_-]", "_", one)[:80] or "-" for one in (facts.state, facts.evaluation_id))
    key = message_key(facts.receiver, facts.message_id)
    return Row(name, status.st_size, status.st_mtime_ns, key, thread, state, evaluation)
