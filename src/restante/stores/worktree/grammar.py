r"""Text of a mailbox file to blocks.

A block begins at a heading of depth two whose text is a well-formed id of the file's kind:

1. where CommonMark sees such a heading at the top level (ATX or setext; fences, quotes, lists, HTML and
   indented code respected; emphasis or backticks around the id do not matter), and
2. where the exact bytes of a writer stand: LF ``---`` LF LF ``## <id>`` LF LF and then the five metadata
   lines of a message, the first line of a receipt, the first lines of a reply. That holds even where
   CommonMark sees the inside of a fence or of HTML that an earlier text left open: one body must not hide
   the mail after it.

Neither is looked for inside a body that its head counts (``body_bytes``): what our writer wrote is taken by
its count, and proven by what stands behind it. Such a body holds no line of rule 2, whatever was sent (see
``body``), so a torn one cannot forge a block either.

The original program writes bodies as they are. A whole block pasted into such a body cannot be told from a
block of its own; nothing is reported then.

CommonMark is followed by ``outline``, and only over a stretch that holds a candidate which its surroundings
leave in doubt. A file that only the writers wrote is read by rule 2 alone.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from restante.domain.mailbox import Fault
from restante.stores.worktree.body import read_counted, read_loose
from restante.stores.worktree.fields import read_lines, size_of
from restante.stores.worktree.starts import BLANKS, Start, Starts, line_end
from restante.stores.worktree.words import message_ids, problems


class Kind(StrEnum):
    """Which file a block belongs to; the value is the kind in its id."""

    MESSAGE = "msg"
    REPLY = "reply"
    RECEIPT = "receipt"


class Block(NamedTuple):
    """One record of a mailbox file.

    Attributes:
        kind: Which file it belongs to.
        id: As written in the file.
        start: Offset of the first byte of the heading line in the file.
        end: Offset behind the block's last line; the blank line and rule after it belong to the next block.
        line: Line of the heading, from 1; lines end at LF, as ``grep -n`` counts them.
        fields: Metadata by name; values are decoded.
        body: The text; of a receipt, what belongs to none of its fields.
        complete: False for a torn or half-visible append: the body is shorter than ``body_bytes`` or its fence
            is open, there is no body at all, or the text ends without a line end and nothing counts it. A
            receipt is complete as soon as it names its message: agents' editors leave out the last line end.
        open_ended: Not complete only for want of a last line end: whole, as soon as nobody is writing any more.
    """

    kind: Kind
    id: str
    start: int
    end: int
    line: int
    fields: dict[str, str]
    body: str
    complete: bool
    open_ended: bool = False


class Scan(NamedTuple):
    """What a stretch of a file holds.

    Attributes:
        blocks: In file order; ids are not checked for repetition. A receipt that names no message is left out.
        faults: What could not be understood, in order of line.
        resume: Offset of the start of the last block, which may still grow; where there is none, the
            offset the scan began at. A scan of the bytes from there on gives that block again, the
            faults from its line on again, and all that is new.
        resume_line: The line of ``resume``.
    """

    blocks: list[Block]
    faults: list[Fault]
    resume: int
    resume_line: int


def scan(data: bytes, *, source: str, kind: Kind, offset: int = 0, line: int = 1) -> Scan:
    """Read a mailbox file or an archive of it, or the rest of one from where an earlier scan says to resume.

    Any bytes can be read; what makes no sense becomes a fault or is passed over.

    Args:
        data: The bytes from ``offset`` on.
        source: Name of the file, for faults.
        kind: Which blocks the file holds.
        offset: Where in the file ``data`` begins.
        line: The line at ``offset``.
    """
    return _Scanner(data, source, kind, offset, line).run()


_BOM = b"\xef\xbb\xbf"
# The head as both writers leave it, with the line that announces a message's body.
_WRITTEN = {
    Kind.MESSAGE: re.compile(rb"\n((?:[a-z_]+: [^\r\n]*\n)+)\n(?:Mesaj|Message):\n"),
    Kind.REPLY: re.compile(rb"\n((?:[a-z_]+: [^\r\n]*\n)+)\n"),
    Kind.RECEIPT: re.compile(rb"\n((?:[a-z_]+: [^\r\n]*\n)+)"),
}
# What may stand between blocks and says nothing.
_BETWEEN = BLANKS + b"-"
# The title, up to its rule, and the remarks of the archive.
_TITLE = re.compile(rb"(?s)(?:\xef\xbb\xbf)?# [^\r\n]*\r?\n.*?\n---\r?\n(?:\s*<!--.*?-->)*")
# What a half-visible append shows before its heading is whole.
_BEGUN = re.compile(rb"\n\r?\n(?:-{1,3}|---\r?\n\r?\n(?:#[^\r\n]*)?)\Z")


class _Scanner:
    def __init__(self, data: bytes, source: str, kind: Kind, offset: int, line: int) -> None:
        self._data = data
        self._source = source
        self._kind = kind
        self._offset = offset
        self._starts = Starts(data, kind.value, self._report)
        self._blocks: list[Block] = []
        self._faults: list[Fault] = []
        self._counted = 0
        self._line = line
        # Whether a heading before the first block is told of already, and what stands below it with it.
        self._malformed = False

    def run(self) -> Scan:
        read = self._read_receipt if self._kind is Kind.RECEIPT else self._read_text
        resume, resume_line = 0, self._line
        start = self._starts.next(len(_BOM) if not self._offset and self._data.startswith(_BOM) else 0)
        while start:
            line = self._line_of(start.start)
            if not start.id:
                start = self._starts.next(start.after)
                continue
            resume, resume_line = start.start, line
            start = read(start, line)
        if self._offset == 0:
            self._look_before(self._blocks[0].start if self._blocks else self._end_of_text(0))
        self._faults.sort(key=lambda fault: fault.line)
        return Scan(self._blocks, self._faults, self._offset + resume, resume_line)

    def _look_before(self, end: int) -> None:
        """Report what stands before the first block, where it is neither a title nor a remark."""
        text = self._data[:end]
        words = text.removeprefix(_BOM).strip(BLANKS)
        if not self._blocks and not words.startswith((b"#", b"<!--")):
            if words:
                self._fault(1, f"not a mailbox file: no {self._kind.name.lower()} and no title is found in it")
        elif self._kind is Kind.MESSAGE and not self._malformed and (title := _TITLE.match(text)):
            self._report_strays(title.end(), end)

    def _line_of(self, position: int) -> int:
        if position < self._counted:
            return self._line - self._data.count(b"\n", position, self._counted)
        self._line += self._data.count(b"\n", self._counted, position)
        self._counted = position
        return self._line

    def _fault(self, line: int, reason: str) -> None:
        self._faults.append(Fault(self._source, line, reason))

    def _report(self, position: int, text: bytes) -> None:
        self._malformed = self._malformed or not self._blocks
        shown = text.decode(errors="replace")[:80]
        self._fault(self._line_of(position), f"the heading {shown!r} is no {self._kind.value} id")

    def _read_text(self, start: Start, line: int) -> Start | None:
        """Add a message or a reply; return the start after it."""
        fields, body, marked = self._head(start, line)
        size, form = size_of(fields), fields.get("body", "")
        # Whoever counts a message's body marks where it begins: without the mark the head was torn, its count too.
        is_counted = size is not None and (marked or self._kind is Kind.REPLY)
        if size is not None and is_counted and (counted := read_counted(self._data, body, size, form)):
            raw, end = counted
            self._add(start, line, end, fields, raw, complete=True)
            following = self._starts.next(end)
            if not following or following.before > end:
                self._report_strays(end, following.before if following else self._end_of_text(end))
            return following
        following = self._starts.next(start.after)
        before = following.before if following else self._end_of_text(body)
        raw = self._data[body:before]
        whole = (marked and raw[-1:] in (b"\n", b"\r")) or bool(raw.strip(BLANKS))
        is_ended = self._data[before - 1 : before] in (b"\n", b"\r")
        if size is None:
            raw = raw.strip(BLANKS)
            # A head that was torn within a name: the writer behind it may have ended its line.
            whole = whole and ((marked and is_ended) or not _is_head_fragment(raw))
        else:
            raw, is_there = read_loose(raw, size, form)
            whole = whole and is_there and is_counted and not _is_head_fragment(raw)
            if whole and len(raw) != size:
                self._fault(line, f"the body of {start.id} has {len(raw)} bytes and was written with {size}")
        complete = whole and (is_ended or following is not None)
        if following and not complete:
            self._fault(line, why_withheld(start.id, size, len(raw)))
        end = self._end_of(start, before)
        self._add(start, line, end, fields, raw, complete=complete, open_ended=whole and not complete)
        return following

    def _report_strays(self, position: int, until: int) -> None:
        """Report text that stands between blocks, with its own line."""
        text = self._data[position:until].lstrip(_BETWEEN)
        if text:
            self._fault(self._line_of(until - len(text)), "text outside of any message: nobody is given it")

    def _head(self, start: Start, line: int) -> tuple[dict[str, str], int, bool]:
        written = _WRITTEN[self._kind].match(self._data, start.after)
        if written:
            fields = read_lines(self._text(written[1], line, "metadata"))
            if self._kind is Kind.MESSAGE or "body_bytes" in fields:
                return fields, written.end(), self._kind is Kind.MESSAGE
        from restante.stores.worktree.handwritten import read_head

        return read_head(self._data, start.after)

    def _read_receipt(self, start: Start, line: int) -> Start | None:
        """Add a receipt; return the start after it."""
        following = self._starts.next(start.after)
        end = following.before if following else self._end_of_text(start.after)
        written = _WRITTEN[Kind.RECEIPT].fullmatch(self._data, start.after, end)
        body = b""
        if written:
            fields = read_lines(self._text(written[1], line, "metadata"))
        else:
            from restante.stores.worktree.handwritten import read_receipt

            fields, strays = read_receipt(self._text(self._data[start.after : end], line, "text"))
            body = strays.encode()
        if message_ids(fields.get("message_id", "")):
            self._add(start, line, self._end_of(start, end), fields, body, complete=True)
        else:
            self._fault(line, f"{start.id} names no message (message_id)")
        return following

    def _text(self, raw: bytes, line: int, what: str) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            self._fault(line, f"{what} is not UTF-8 at byte {error.start}; what is not was replaced")
            return raw.decode(errors="replace")

    def _end_of_text(self, floor: int) -> int:
        begun = _BEGUN.search(self._data, max(floor - 1, 0))
        return begun.start() + 1 if begun else len(self._data)

    def _end_of(self, start: Start, before: int) -> int:
        text = self._data[start.start : before].rstrip(BLANKS)
        return line_end(self._data, start.start + len(text), before)

    def _add(
        self,
        start: Start,
        line: int,
        end: int,
        fields: dict[str, str],
        raw: bytes,
        *,
        complete: bool,
        open_ended: bool = False,
    ) -> None:
        if complete or open_ended:
            for problem in problems(self._kind.value, fields):
                self._fault(line, problem)
            body = self._text(raw, line, "body")
        else:
            body = raw.decode(errors="replace")
        offset = self._offset
        self._blocks.append(
            Block(self._kind, start.id, offset + start.start, offset + end, line, fields, body, complete, open_ended)
        )


def why_withheld(block_id: str, size: int | None, found: int) -> str:
    """Say why a block that is not complete is given to nobody."""
    if size is None or found >= size:
        return f"{block_id} is torn: a part of it is missing"
    # Whether a crash or a person took the rest cannot be told apart, and half a sentence can say the opposite.
    return (
        f"{block_id} is torn or was shortened by hand: {found} of {size} bytes; "
        "correct or remove its body_bytes line to have it delivered"
    )


def _is_head_fragment(raw: bytes) -> bool:
    """Tell whether a text without a line end is what a torn head left, and no body."""
    from restante.stores.worktree.handwritten import is_head_fragment

    return is_head_fragment(raw.decode(errors="replace"))
