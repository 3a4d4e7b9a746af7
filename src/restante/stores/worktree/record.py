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
from restante.stores.files import open_file, read_file, replace, sync, translated, write_all

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


def write_record(layout: "Layout", name: str, record: WriteRecord) -> int:
    """Leave a record before appending; return its open file, for ``settle``.

    Raises:
        OSError: It cannot be written, so the append must not begin.
    """
    numbers = (record.pid, record.lock_inode, record.inode, record.size, len(record.data))
    head = b" ".join([_FIRST_WORD, *(b"%d" % number for number in numbers)])
    fd = open_file(record_path(layout, name), os.O_WRONLY | os.O_CREAT)
    try:
        write_all(fd, head + b"\n" + record.data)
    except OSError:
        settle(fd)
        raise
    return fd


def settle(fd: int, appended: "Appended | None" = None) -> None:
    """Say in a record that its append is over, and what the file was before and after it; close it.

    Raises:
        OSError: That cannot be written.
    """
    words = _SETTLED
    if appended:
        numbers = (*state_of(appended[0]), *state_of(appended[1]))
        words = b" ".join([_WROTE, *(b"%d" % number for number in numbers)]) + b"\n"
    try:
        os.pwrite(fd, words, 0)
    finally:
        os.close(fd)


def state_of(status: os.stat_result) -> tuple[int, ...]:
    """Return what is the same as long as nobody changes a file: which it is, its size and its times."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def is_our_append(layout: "Layout", name: str, before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Tell whether nothing but one append of ours led from one state of a file to another."""
    try:
        told = read_file(record_path(layout, name), most=_MOST_WROTE) or b""
    except RestanteError:
        return False
    return told.startswith(b" ".join([_WROTE, *(b"%d" % number for number in (*before, *after))]) + b"\n")


def read_record(layout: "Layout", name: str) -> WriteRecord | None:
    """Return the record of a file; ``None`` when there is none, or one whose own writing was cut short.

    Raises:
        StorageFailed: Something stands there that is no file.
    """
    path = record_path(layout, name)
    try:
        data = read_file(path)
    except RestanteError as error:
        raise StorageFailed(error.message, remedy=f"remove {path}; nothing in it is needed") from error
    if data is None:
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


def recover(layout: "Layout", name: str, record: WriteRecord) -> None:
    """Take back the torn append of a dead writer; the caller holds the file's lock.

    What is whole stays. A torn end is cut off. A torn part with another program's block behind it is cut out, if
    it is plain where that block begins; otherwise all is left, and reading reports it.

    Raises:
        StorageFailed: The file cannot be mended; it is as it was.
    """
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
        settle(open_file(record_path(layout, name), os.O_WRONLY))


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
