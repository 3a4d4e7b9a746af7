"""Reading a file that mostly grows at its end: only the new bytes are understood.

A stream remembers what was in a file and where its last thing began. When the file is still the same one, and all
bytes before that place are the same, reading goes on from there. Where nobody but us changed the file since, its size
and times tell that they are (``Stream.went_on``, ``record.is_our_append``); else their sum does, at less than a
millisecond for a megabyte. Anything odd (another file, a shorter one, other bytes) makes it read everything anew, so
what it says never depends on luck.
"""

import os
import stat
import zlib
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from restante.domain.errors import StorageFailed
from restante.stores.files import open_file, read_at, translated
from restante.stores.worktree.record import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from restante.domain.mailbox import Fault
    from restante.stores.files import Appended


class Spanned(Protocol):
    """Anything that stands at some place of a file."""

    @property
    def start(self) -> int:
        """Offset of its first byte."""

    @property
    def end(self) -> int:
        """Offset after its last byte."""

    @property
    def line(self) -> int:
        """The line it begins at, from 1."""


Item_co = TypeVar("Item_co", bound=Spanned, covariant=True)


class Part(Protocol[Item_co]):
    """What was found in a stretch of a file; ``grammar.Scan`` is one."""

    @property
    def blocks(self) -> "Sequence[Item_co]":
        """The things, in order."""

    @property
    def faults(self) -> "Sequence[Fault]":
        """What could not be understood."""

    @property
    def resume(self) -> int:
        """Offset to go on from: things that begin there or later will be found again, as they are then."""

    @property
    def resume_line(self) -> int:
        """The line of that offset."""


# How many bytes before the place of going on are looked at even where nobody can have changed them.
CHECK_BYTES = 256
_SUM_BYTES = 1 << 18

Item = TypeVar("Item", bound=Spanned)


class Anchor(NamedTuple):
    """Where reading goes on, and how to tell that the file is still the one that was read.

    Attributes:
        device: Of the file.
        inode: Of the file.
        size: Bytes that were read.
        file_size: Of the file, when it last was known to begin with what was read.
        mtime_ns: When it was last changed, then.
        ctime_ns: When its inode was, which no program can set.
        resume: Offset to go on from.
        line: The line of that offset.
        check: The up to 256 bytes before that offset.
        sum: CRC-32 of all bytes before it.
    """

    device: int
    inode: int
    size: int
    file_size: int
    mtime_ns: int
    ctime_ns: int
    resume: int
    line: int
    check: bytes
    sum: int

    @property
    def state(self) -> tuple[int, ...]:
        """What is the same as long as nobody changes the file."""
        return self.device, self.inode, self.file_size, self.mtime_ns, self.ctime_ns

    def fits(self, status: os.stat_result) -> bool:
        """Tell whether a file is the one that was read, and unchanged."""
        return self.state == state_of(status)

    def is_of(self, status: os.stat_result) -> bool:
        """Tell whether a file is the one that was read, whatever became of it."""
        return (status.st_dev, status.st_ino) == (self.device, self.inode)

    def at(self, status: os.stat_result) -> "Anchor":
        """Return the same place of the file as it is now."""
        return self._replace(file_size=status.st_size, mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns)


class Stream(Generic[Item]):
    """The things of one file.

    Args:
        path: Returns where it is, or where a link to it is.
        resolved: Returns where a path that is a link leads; raises ``Unsafe`` if that must not be.
        scan: Finds things in bytes that begin at an offset and a line.
        settled: Returns, for an inode, how much of the file is settled; ``None`` for all of it.
        is_ours: Tells whether nothing but one append of ours led from one state of the file to another.

    Attributes:
        items: What is in the file; of a sparse stream only what was picked before, and everything since.
        faults: What could not be understood; complete only when not sparse.
        is_sparse: Whether things were left out.
        anchor: Where reading goes on; ``None`` while there is no file.
        own_count: How many things of our own were appended since, and are to be read when somebody asks.
        own_bytes: How many bytes they are.
        bytes_read: How many bytes were read to be understood so far, for those who measure.
        bytes_summed: How many were only compared with what they were.
    """

    def __init__(
        self,
        path: "Callable[[], str]",
        resolved: "Callable[[str], str]",
        scan: "Callable[[bytes, int, int], Part[Item]]",
        settled: "Callable[[int], int | None]" = lambda _: None,
        is_ours: "Callable[[tuple[int, ...], tuple[int, ...]], bool]" = lambda _, __: False,
    ) -> None:
        self._path = path
        self._resolved = resolved
        self._scan = scan
        self._settled = settled
        self._is_ours = is_ours
        self.bytes_read = self.bytes_summed = 0
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.items: list[Item] = []
        self.faults: list[Fault] = []
        self.is_sparse = False
        self.anchor: Anchor | None = None
        self.own_count = self.own_bytes = 0

    def is_known(self) -> bool:
        """Tell whether all that is in the file was read, or appended here."""
        anchor = self.anchor
        if anchor is None or anchor.size + self.own_bytes != anchor.file_size:
            return False
        try:
            return anchor.fits(os.lstat(self._path()))
        except OSError:
            return False

    def refresh(self) -> int | None:
        """Read what is new; return from which place of ``items`` on they are new, ``None`` when nothing is.

        Raises:
            StorageFailed: The file cannot be read.
            Unsafe: It is a symbolic link that leads out of the worktree.
        """
        path = self._path()
        try:
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                path = self._resolved(path)
                status = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return self._vanished()
        except OSError as error:
            raise StorageFailed(f"{path}: {error.strerror}", remedy="make it readable") from error
        if self.anchor and self.anchor.size == self.anchor.file_size and self.anchor.fits(status):
            return None
        with translated(path):
            try:
                fd = open_file(path, os.O_RDONLY)
            except (FileNotFoundError, NotADirectoryError):
                return self._vanished()
            try:
                return self._read(fd)
            finally:
                os.close(fd)

    def went_on(self, appended: "Appended") -> None:
        """Take note of an append of our own: what was before it is as it was, if it was before."""
        before, after, size = appended
        if self.anchor and self.anchor.fits(before) and after.st_size == before.st_size + size:
            self.anchor = self.anchor.at(after)
            self.own_count += 1
            self.own_bytes += size

    def pick(self, anchor: Anchor, spans: "Sequence[tuple[int, int, int]]") -> bool:
        """Begin with chosen things, told by (start, end, line), and what is new since; return whether that held.

        If it does not, everything was read.
        """
        self.reset()
        path = self._resolved(self._path())
        with translated(path):
            try:
                fd = open_file(path, os.O_RDONLY)
            except (FileNotFoundError, NotADirectoryError):
                return False
            try:
                self.anchor, self.is_sparse = anchor, True
                self._read(fd)
                if self.is_sparse and not self._pick(fd, spans):
                    self.reset()
                    self._read(fd)
            finally:
                os.close(fd)
        return self.is_sparse

    def _pick(self, fd: int, spans: "Sequence[tuple[int, int, int]]") -> bool:
        picked: list[Item] = []
        for start, end, line in spans:
            found = self._scan(self._read_at(fd, end - start, start), start, line).blocks
            if len(found) != 1 or (found[0].start, found[0].end) != (start, end):
                return False
            picked.append(found[0])
        self.items[:0] = picked
        return True

    def _read(self, fd: int) -> int:
        status = os.fstat(fd)
        anchor = self.anchor
        size = status.st_size
        # An append of this moment may be visible in part; it is read when it is done.
        settled = self._settled(status.st_ino)
        if settled is not None and settled < size:
            size = settled
        is_same = anchor is not None and anchor.resume <= size and (anchor.fits(status) or self._is_as_read(fd, status))
        if anchor and is_same:
            skip = len(anchor.check)
            data = self._read_at(fd, size - anchor.resume + skip, anchor.resume - skip)
            if data[:skip] == anchor.check:
                return self._take(data, status, anchor.resume, anchor.line, skip, anchor.sum)
        self.reset()
        return self._take(self._read_at(fd, size, 0), status, 0, 1, 0, 0)

    def _is_as_read(self, fd: int, status: os.stat_result) -> bool:
        """Tell whether a file that was changed still begins with the bytes that were read."""
        anchor = self.anchor
        if anchor is None or not anchor.is_of(status):
            return False
        if self._is_ours(anchor.state, state_of(status)):
            return True
        found = place = 0
        while place < anchor.resume and (part := read_at(fd, min(anchor.resume - place, _SUM_BYTES), place)):
            found = zlib.crc32(part, found)
            place += len(part)
        self.bytes_summed += place
        return place == anchor.resume and found == anchor.sum

    def _take(self, data: bytes, status: os.stat_result, resume: int, line: int, skip: int, known: int) -> int:
        """Understand bytes read from ``resume - skip`` on and replace what was known of them."""
        part = self._scan(data[skip:], resume, line)
        while self.items and self.items[-1].start >= resume:
            self.items.pop()
        while self.faults and self.faults[-1].line >= line:
            self.faults.pop()
        first = len(self.items)
        self.items.extend(part.blocks)
        self.faults.extend(part.faults)
        self.own_count = self.own_bytes = 0
        base = resume - skip
        begin = max(part.resume - CHECK_BYTES, base)
        self.anchor = Anchor(
            status.st_dev,
            status.st_ino,
            base + len(data),
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            part.resume,
            part.resume_line,
            data[begin - base : part.resume - base],
            zlib.crc32(memoryview(data)[skip : part.resume - base], known),
        )
        return first

    def _vanished(self) -> int | None:
        if self.anchor is None and not self.items:
            return None
        self.reset()
        return 0

    def _read_at(self, fd: int, size: int, offset: int) -> bytes:
        data = read_at(fd, size, offset)
        self.bytes_read += len(data)
        return data
