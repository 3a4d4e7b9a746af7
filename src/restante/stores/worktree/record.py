"""The write-ahead record: what a writer was about to append, so that its death in the middle can be mended.

``.restante/<file>.write`` is one line of numbers and then the bytes; when the append is done, its first byte is
overwritten, which is cheaper than removing it. It need not be durable. After a power loss it is missing or stale,
and both are harmless: nothing is ever cut off a file unless it ends in a part of exactly those bytes, at exactly
that place.
"""

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.ids import is_well_formed
from restante.stores.files import append_line, open_file, read_file, replace, translated, write_all

if TYPE_CHECKING:
    from restante.stores.worktree.layout import Layout

SETTLING_SECONDS = 10.0

_FIRST_WORD = b"restante-write-1"
_SETTLED = b"-"
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


def settle(fd: int) -> None:
    """Say in a record that its append is over, and close it.

    Raises:
        OSError: That cannot be written.
    """
    try:
        os.pwrite(fd, _SETTLED, 0)
    finally:
        os.close(fd)


def read_record(layout: "Layout", name: str) -> WriteRecord | None:
    """Return the record of a file; ``None`` when there is none, or one whose own writing was cut short."""
    data = read_file(record_path(layout, name))
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
        age = time.time() - os.lstat(record_path(layout, name)).st_mtime
    except OSError:
        return None
    if abs(age) > SETTLING_SECONDS:
        return None
    record = read_record(layout, name)
    return record.size if record and record.inode == inode else None


def note_cut(layout: "Layout", message_id: str) -> None:
    """Remember that a block was cut short, before something is written behind it.

    Raises:
        StorageFailed: It cannot be remembered.
    """
    append_line(layout.own("torn"), message_id.encode() + b"\n", durable=True)


def was_cut(layout: "Layout", name: str, block_id: str) -> bool:
    """Tell whether a block that is not whole was cut short when it was written, and not shortened by a person."""
    record = read_record(layout, name)
    if record and b"## " + block_id.encode() in record.data:
        return True
    return block_id.encode() in (read_file(layout.own("torn")) or b"").split(b"\n")


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
            os.fsync(fd)
        finally:
            os.close(fd)
