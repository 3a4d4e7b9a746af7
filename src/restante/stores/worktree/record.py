"""The write-ahead record: what a writer was about to append, so that its death in the middle can be mended.

``.restante/<file>.write`` is one line of numbers and then the bytes; when the append is done, its beginning is
overwritten, which is cheaper than removing it. It need not be durable. After a power loss it is missing or stale,
and both are harmless: nothing is ever cut off a file unless it ends in a part of exactly those bytes, at exactly
that place.

What overwrites it tells what the file was before the append and after it. So a reader that knew the one and finds
the other need not look whether anybody changed what it had read.
"""

import os
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import RestanteError, StorageFailed
from restante.domain.ids import is_well_formed
from restante.stores.files import failure, open_file, read_at, read_file, replace, sync, translated

if TYPE_CHECKING:
    from restante.stores.files import Appended
    from restante.stores.worktree.layout import Layout

SETTLING_SECONDS = 10.0

_FIRST_WORD = b"restante-write-1"
_SETTLED = b"-"
_WROTE = b"-wrote"
_MOST_WROTE = 512
# Every block that any program of this format appends begins with this.
_SEPARATOR = b"\n---\n\n## "


class WriteRecord(NamedTuple):
    """An append that began.

    Attributes:
        pid: The writer.
        lock_inode: The inode of its lock directory.
        inode: The inode of the file.
        size: The size of the file before.
        data: What is appended.
    """

    pid: int
    lock_inode: int
    inode: int
    size: int
    data: bytes


def record_path(layout: "Layout", name: str) -> str:
    """Return where the record of a file is."""
    return layout.own(f"{name}.write")


class Record:
    """The record of a file, open for as long as the lock of that file is held.

    Args:
        layout: The mailbox.
        name: The file.

    Attributes:
        left: What a writer left that did not come to its end; ``None`` when there is no such record.

    Raises:
        StorageFailed: Something stands there that is no file.
    """

    def __init__(self, layout: "Layout", name: str) -> None:
        self._path = record_path(layout, name)
        self._layout = layout
        self._fd = -1
        self.left: WriteRecord | None = None
        try:
            self._fd, self._status = layout.take(self._path, os.O_RDWR)
            self.left = _understood(read_at(self._fd, self._status.st_size, 0))
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, RestanteError) as error:
            told = failure(self._path, error) if isinstance(error, OSError) else error
            raise StorageFailed(told.message, remedy=f"remove {self._path}; nothing in it is needed") from error

    def begin(self, record: WriteRecord) -> None:
        """Tell of an append before it begins.

        Raises:
            OSError: That cannot be written, so the append must not begin.
        """
        if self._fd < 0:
            self._fd, self._status = self._layout.take(self._path, os.O_RDWR | os.O_CREAT)
        numbers = f"{record.pid} {record.lock_inode} {record.inode} {record.size} {len(record.data)}"
        told = b"%b %b\n%b" % (_FIRST_WORD, numbers.encode(), record.data)
        try:
            written = os.pwrite(self._fd, told, 0)
            while written < len(told):
                written += os.pwrite(self._fd, told[written:], written)
        except OSError:
            self.settle()
            raise

    def settle(self, appended: "Appended | None" = None) -> None:
        """Say that an append is over, and what the file was before and after it.

        Raises:
            OSError: That cannot be written.
        """
        words = _told(state_of(appended[0]), state_of(appended[1])) if appended else _SETTLED
        os.pwrite(self._fd, words, 0)

    def close(self) -> None:
        """Close the record; what was begun and not settled stays so."""
        if self._fd >= 0:
            self._layout.leave(self._path, self._fd, self._status)


def state_of(status: os.stat_result) -> tuple[int, ...]:
    """Return what is the same as long as nobody changes a file: which it is, its size and its times."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _told(before: tuple[int, ...], after: tuple[int, ...]) -> bytes:
    return b"%b %b\n" % (_WROTE, " ".join(map(str, before + after)).encode())


def is_our_append(layout: "Layout", name: str, before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Tell whether nothing but one append of ours led from one state of a file to another."""
    try:
        told = read_file(record_path(layout, name), most=_MOST_WROTE) or b""
    except RestanteError:
        return False
    return told.startswith(_told(before, after))


def read_record(layout: "Layout", name: str) -> WriteRecord | None:
    """Return the record of a file for those who only read it; ``None`` when there is none of an append in progress.

    Raises:
        StorageFailed: It cannot be read.
    """
    data = read_file(record_path(layout, name))
    return None if data is None else _understood(data)


def _understood(data: bytes) -> WriteRecord | None:
    """Read a record; ``None`` when it tells of nothing in progress, or when its own writing was cut short."""
    if not data.startswith(_FIRST_WORD):
        return None
    head, _, body = data.partition(b"\n")
    words = head.split(b" ")
    if len(words) != 6 or words[0] != _FIRST_WORD or not all(word.isdigit() for word in words[1:]):
        return None
    pid, lock_inode, inode, size, length = (int(word) for word in words[1:])
    # What stands behind is left of a longer one.
    return WriteRecord(pid, lock_inode, inode, size, body[:length]) if len(body) >= length else None


def unsettled_size(layout: "Layout", name: str, inode: int) -> int | None:
    """Return the size that a file had before an append that has not ended; ``None`` when there is no such append.

    An append that began long ago has a dead writer: what there is of it is then read, and reported.
    """
    try:
        status = os.lstat(record_path(layout, name))
    except OSError:
        return None
    # Something else in its place is for the next writer to complain of.
    if not stat.S_ISREG(status.st_mode) or abs(time.time() - status.st_mtime) > SETTLING_SECONDS:
        return None
    record = read_record(layout, name)
    return record.size if record and record.inode == inode else None


def recover(layout: "Layout", name: str, open_record: Record) -> None:
    """Take back the torn append of a dead writer; the caller holds the file's lock.

    What is whole stays. A torn end is cut off. A torn part with another program's block behind it is cut out, if
    it is plain where that block begins; otherwise all is left, and reading reports it.

    Raises:
        StorageFailed: The file cannot be mended; it is as it was.
    """
    record = open_record.left
    if record is None:
        return
    path = layout.shared(name)
    data = read_file(path)
    if data is not None and len(data) > record.size and os.lstat(path).st_ino == record.inode:
        tail = data[record.size :]
        if not tail.startswith(record.data):
            if record.data.startswith(tail):
                _cut_off(path, record.size)
            elif (foreign := _foreign_start(tail, record.data)) > 0:
                replace(path, data[: record.size] + tail[foreign:])
    with translated(record_path(layout, name)):
        open_record.settle()


def _foreign_start(tail: bytes, data: bytes) -> int:
    """Return where another program's block begins behind a torn part of ``data``; 0 or less when that is not plain.

    The two may look alike for a while behind the place where one ends and the other begins.
    """
    alike = next((place for place, pair in enumerate(zip(tail, data, strict=False)) if pair[0] != pair[1]), len(tail))
    place = tail.rfind(_SEPARATOR, 0, alike + len(_SEPARATOR))
    heading, line_end, _ = tail[max(place, 0) :].removeprefix(_SEPARATOR).partition(b"\n")
    if not line_end or not is_well_formed(heading.decode(errors="replace")):
        return 0
    return 0 if data.startswith(_SEPARATOR + heading + b"\n", place) else place


def _cut_off(path: str, size: int) -> None:
    with translated(path):
        fd = open_file(path, os.O_WRONLY)
        try:
            os.ftruncate(fd, size)
            sync(fd)
        finally:
            os.close(fd)
