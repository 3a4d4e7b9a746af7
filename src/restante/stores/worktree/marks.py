"""What was noticed and seen: ``.restante/marks``, one line each, only ever added to.

    2026-05-20T15:30:00.000Z seen msg_20260520T153000_01krzx7zy0... codex

The format that is shared with other programs has no place for it, and bending that is not ours to do.
"""

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.ids import is_well_formed
from restante.domain.mailbox import Fault, Mark
from restante.stores.files import CUT, append_line
from restante.stores.worktree.layout import MARKS
from restante.stores.worktree.words import moment, moment_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from restante.stores.files import Appended
    from restante.stores.worktree.layout import Layout


class MarkLine(NamedTuple):
    """One line.

    Attributes:
        start: Offset of its first byte.
        end: Offset after its line end.
        line: Its number, from 1.
        at: When.
        mark: What.
        message_id: Of which message.
        reader: By whom.
    """

    start: int
    end: int
    line: int
    at: datetime
    mark: Mark
    message_id: str
    reader: str


class MarkPart(NamedTuple):
    """What is in a stretch of the file; a line without its end is not looked at yet."""

    blocks: list[MarkLine]
    faults: list[Fault]
    resume: int
    resume_line: int


def scan_marks(data: bytes, offset: int, line: int) -> MarkPart:
    """Read lines; what is none of ours becomes a fault."""
    found: list[MarkLine] = []
    faults: list[Fault] = []
    for raw in data.split(b"\n")[:-1]:
        end = offset + len(raw) + 1
        mark = _parse(raw, offset, end, line)
        if mark:
            found.append(mark)
        elif raw.strip() and not raw.endswith(CUT):
            faults.append(Fault(f".restante/{MARKS}", line, "not a mark"))
        offset, line = end, line + 1
    return MarkPart(found, faults, offset, line)


def _parse(raw: bytes, start: int, end: int, line: int) -> MarkLine | None:
    words = raw.decode(errors="replace").split(" ")
    if (
        len(words) < 3
        or words[1] not in ("noticed", "seen")
        or not is_well_formed(words[2], "msg")
        or raw.endswith(CUT)
    ):
        return None
    at = moment(words[0])
    return MarkLine(start, end, line, at, Mark(words[1]), words[2], " ".join(words[3:])) if at else None


def add_marks(layout: "Layout", message_ids: "Iterable[str]", mark: Mark, reader: str, at: datetime) -> "Appended":
    """Add a line for each message. *Seen* is durable; *noticed* is remade by the next showing.

    Returns:
        As ``append_line``.

    Raises:
        StorageFailed: They cannot be written.
    """
    time = moment_text(at)
    # One word: no character of a name may end the line.
    name = "".join(one if one.isprintable() and not one.isspace() else "-" for one in reader)
    lines = "".join(f"{time} {mark} {message_id} {name}\n" for message_id in message_ids)
    layout.make()
    return append_line(layout.own(MARKS), lines.encode(errors="replace"), durable=mark is Mark.SEEN)
