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
from itertools import filterfalse
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Damaged, RestanteError
from restante.stores.files import append_line, create, open_known, read_at, remove
from restante.stores.oacp.audit_file import NAME, Facts, facts_of, parse_record, quick_facts
from restante.stores.oacp.reading import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from restante.stores.oacp.directory import Directory

FILE = ".restante-index"
PENDING = ".pending"
UNREADABLE = "unreadable"
_HEAD = b"restante audit index 1\n"
_LISTED = re.compile(rf"\n({NAME.pattern})\t")
_DIGITS = 16
_MOST_SPARE = 1_000
_FEW = 16
_OVERLAP = 256


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


class Known(NamedTuple):
    """What was known of a folder when it was last looked at.

    Attributes:
        place: Device and inode of the index.
        text: The index up to there.
        names: What lay in the folder, but for steps under way; each record of these stands in the text.
        odd: Those of the names that only look like a record's.
    """

    place: tuple[int, int]
    text: bytes
    names: AbstractSet[str]
    odd: tuple[str, ...]


class Memory:
    """What a process keeps of an index between two calls, so that the second reads only what was added.

    Attributes:
        last: Replaced as a whole, so that threads may share it; ``None`` where nothing is known.
    """

    def __init__(self) -> None:
        self.last: Known | None = None


def _records(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the names of records, and those that only look like it: names that no writer gives."""
    records: list[str] = []
    odd: list[str] = []
    for name in names:
        (records if NAME.fullmatch(name) else odd).append(name)
    return records, odd


def _yaml(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.endswith(".yaml") and name[0] != "."}


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
        memory: What this process knew of it before.

    Attributes:
        pending: Names of steps that a killed process may have left half done.
    """

    def __init__(self, directory: Directory, memory: Memory | None = None) -> None:
        self._directory = directory
        self._path = directory.at(FILE)
        self._memory = memory or Memory()
        # The folder is listed each time: nothing cheaper tells of what another program put there.
        self._listing = os.listdir(directory.fd)
        self._place: tuple[int, int] | None = None
        self._text = _HEAD
        last = self._memory.last
        last = last if self._load(last) else None
        unseen = [*filterfalse(last.names.__contains__, self._listing)] if last else self._listing
        # Beside each record lie two locks, which are of no interest here.
        new = [name for name in unseen if not name.endswith(".lock")]
        self.pending = [name for name in new if name.endswith(PENDING)]
        records, odd = _records(self._unlisted(_yaml(new)))
        if last is not None:
            odd += [name for name in last.odd if directory.status(name) is not None]
        self._odd = sorted(set(odd))
        vanished = self._add(sorted(records))
        if last is None and self._text.count(b"\n") > 2 * len(new) + _MOST_SPARE:
            self._compact()
        seen = set(unseen).difference(self.pending, vanished)
        self._keep(last.names | seen if last else seen)

    def _load(self, last: Known | None) -> bool:
        """Read the index; return whether it is the one that was read last, of which only the rest was read now."""
        with suppress(OSError, RestanteError):
            fd, status = open_known(self._path, os.O_RDONLY)
            place = (status.st_dev, status.st_ino)
            try:
                known = last.text if last is not None and last.place == place else b""
                # The end of what is known is read again: another file may have got the number of a removed one.
                start = max(len(known) - _OVERLAP, 0)
                rest = read_at(fd, status.st_size - start, start)
                if not rest.startswith(known[start:]):
                    known, start, rest = b"", 0, read_at(fd, status.st_size, 0)
            finally:
                os.close(fd)
            text = known + rest[len(known) - start :] if len(rest) > len(known) - start else known
            if text.startswith(_HEAD) and text.endswith(b"\n"):
                self._text, self._place = text, place
                return bool(known)
        self._begin(_HEAD)
        return False

    def _keep(self, names: AbstractSet[str]) -> None:
        self._memory.last = Known(self._place, self._text, names, tuple(self._odd)) if self._place else None

    def _begin(self, text: bytes) -> None:
        self._place = None
        # Where nothing can be written the index is made again each time, in memory.
        with suppress(RestanteError):
            remove(self._path)
            create(self._path, text, durable=False)

    def _append(self, data: bytes) -> None:
        is_ours = False
        with suppress(RestanteError):
            before, _, added = append_line(self._path, data, durable=False)
            is_next = (before.st_dev, before.st_ino) == self._place and before.st_size == len(self._text)
            is_ours = is_next and added == len(data)
        self._text += data
        if not is_ours:
            # Others wrote meanwhile: the next call reads the file for what stands where.
            self._place = None

    def _unlisted(self, names: set[str]) -> Iterable[str]:
        """Return those of the names that do not stand in the index."""
        if len(names) <= _FEW:
            return [name for name in names if b"\n%b\t" % os.fsencode(name) not in self._text]
        return names.difference(_LISTED.findall(self._text.decode("ascii", "replace")))

    def _add(self, names: Iterable[str]) -> set[str]:
        """Take records into the index; return the names of those that vanished meanwhile."""
        found = {name: self._row(name) for name in names}
        if rows := [row for row in found.values() if row is not None]:
            self._append(b"".join(row.line() for row in rows))
        return {name for name, row in found.items() if row is None}

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
        names = sorted(name.decode("ascii", "replace") for name in found)
        return [name for name in names if NAME.fullmatch(name) and self._directory.status(name) is not None]

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
        return sorted(_yaml(self._listing))

    def _recorded(self) -> set[str]:
        return _yaml(self._listing).difference(self._odd)

    def rows(self) -> list[Row]:
        """Return what is known of all records, after a look at the size and time of each."""
        known, present, changed = self._rows(), self._recorded(), []
        for name in sorted(present):
            status = self._directory.status(name)
            row = known.get(name)
            if status is not None and (row is None or (row.size, row.mtime) != (status.st_size, status.st_mtime_ns)):
                changed.append(name)
        if changed:
            self._add(changed)
            known = self._rows()
        return [row for name, row in sorted(known.items()) if name in present]

    def _rows(self) -> dict[str, Row]:
        found = {}
        for line in self._text[len(_HEAD) :].splitlines():
            parts = line.decode("utf-8", "replace").split("\t")
            if len(parts) == len(Row._fields) and parts[1].isdecimal() and parts[2].isdecimal():
                found[parts[0]] = Row(parts[0], int(parts[1]), int(parts[2]), *parts[3:])
        return found

    def _compact(self) -> None:
        """Write the index anew: what was changed often stands in it often."""
        present = self._recorded()
        rows = [row.line() for name, row in sorted(self._rows().items()) if name in present]
        self._text = _HEAD + b"".join(rows)
        self._begin(self._text)


def _row_of(name: str, status: os.stat_result, facts: Facts) -> Row:
    thread = thread_key(facts.conversation_id) if facts.conversation_id else "-"
    state, evaluation = (re.sub(r"[^A-Za-z0-9_-]", "_", one)[:80] or "-" for one in (facts.state, facts.evaluation_id))
    key = message_key(facts.receiver, facts.message_id)
    return Row(name, status.st_size, status.st_mtime_ns, key, thread, state, evaluation)
