"""What lets a new process look at pending mail without reading the mail of years: ``.restante/index.json``.

It holds places, never words: where in INBOX.md the messages that may be pending stand, where in RECEIPTS.md and
in the marks anything is said of them, and from where on each file has to be read. What stands at those places is
read and understood again each time. Anything that does not fit makes the index void and everything is read; so it can
be deleted, damaged or out of date, and never hides a message or makes one up.

Only what writes anyway saves it, so that reading changes no byte.
"""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from restante.domain.errors import RestanteError
from restante.stores.files import read_file, replace
from restante.stores.worktree.book import Picks
from restante.stores.worktree.numbers import Numbers
from restante.stores.worktree.stream import CHECK_BYTES, Anchor, Item

if TYPE_CHECKING:
    from collections.abc import Iterable

    from restante.stores.worktree.layout import Layout
    from restante.stores.worktree.ledger import Ledger
    from restante.stores.worktree.stream import Stream

_VERSION = 2
_NAME = "index.json"
# An index is worth saving when this many bytes would otherwise be read again by every process.
_WORTH_BYTES = 4096
_WORTH_BYTES_EACH = 64
# Telling that so many bytes are as they were costs about as much as reading one.
_SUMMED_FOR_ONE = 128
_REPLACED = 1 << 40

Span = tuple[int, int, int]


class Index:
    """The saved index of one mailbox.

    Args:
        layout: The mailbox's files.
        ledger: What is read into.
    """

    def __init__(self, layout: Layout, ledger: Ledger) -> None:
        self._layout = layout
        self._ledger = ledger
        self._streams: dict[str, Stream[Any]] = {
            "inbox": ledger.inbox,
            "receipts": ledger.receipts,
            "marks": ledger.marks,
        }
        self._saved: dict[str, Anchor] = {}

    def open(self) -> None:
        """Begin reading from the saved index, if it fits."""
        ledger = self._ledger
        try:
            picks = self._load()
        except RestanteError:
            picks = None
        if picks:
            ledger.begin_with(picks)
        else:
            self._saved = {}
            for stream in self._streams.values():
                stream.reset()
            ledger.start_over()
            ledger.read_new()

    @property
    def is_wanted(self) -> bool:
        """Whether so much has come since it was saved that it is worth saving again."""
        grown = self._ledger.inbox.own_bytes
        for name, stream in self._streams.items():
            anchor = stream.anchor
            if anchor is None:
                continue
            known = self._saved.get(name)
            if known is None:
                grown += anchor.resume
                continue
            # A file that was replaced makes the whole index void.
            if known.inode != anchor.inode:
                grown += _REPLACED
            elif known.state != anchor.state:
                grown += known.resume // _SUMMED_FOR_ONE
            grown += abs(anchor.resume - known.resume)
        return grown >= _WORTH_BYTES + _WORTH_BYTES_EACH * self._ledger.book.open_count

    def save(self) -> None:
        """Save the index; a mailbox that cannot be written goes without."""
        anchors = {name: one.anchor for name, one in self._streams.items() if one.anchor}
        with suppress(RestanteError):
            replace(self._layout.own(_NAME), self._write(), durable=False)
            self._saved = anchors

    def _write(self) -> bytes:
        ledger = self._ledger
        book = ledger.book
        slots, kept, picks = book.picks(ledger.inbox.anchor.resume if ledger.inbox.anchor else 0, ledger.sure_time())
        said = [book.said(message_id) for message_id in kept]
        content = {
            "inbox": _describe(ledger.inbox, [slot.block for slot in slots]),
            "receipts": _describe(ledger.receipts, [block for one in said for block in one.blocks]),
            "marks": _describe(ledger.marks, [line for one in said for lines in one.marks.values() for line in lines]),
            "numbers": picks.numbers,
            "last": picks.last,
            "total": picks.total,
            "newest": picks.newest,
            "archived": str(picks.archived),
        }
        body = json.dumps(content, separators=(",", ":"))
        return json.dumps({"version": _VERSION, "crc": zlib.crc32(body.encode()), "content": body}).encode()

    def _load(self) -> Picks | None:
        data = read_file(self._layout.own(_NAME))
        if data is None:
            return None
        try:
            outer = json.loads(data)
            if outer["version"] != _VERSION or zlib.crc32(outer["content"].encode()) != outer["crc"]:
                return None
            content: dict[str, Any] = json.loads(outer["content"])
            plans = {name: _understand(content[name]) for name in self._streams}
            archived = Numbers.parse(content["archived"])
            picks = Picks(
                [int(number) for number in content["numbers"]],
                int(content["last"]),
                int(content["total"]),
                str(content["newest"]),
                archived or Numbers(),
            )
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None
        if archived is None or len(picks.numbers) != len(plans["inbox"][1]) or plans["inbox"][0] is None:
            return None
        # In this order, as in the ledger: whatever speaks of a message was written after it.
        for name in ("receipts", "marks", "inbox"):
            anchor, spans = plans[name]
            stream = self._streams[name]
            stream.reset()
            if anchor is None:
                stream.refresh()
            elif not stream.pick(anchor, spans):
                return None
            if anchor:
                self._saved[name] = anchor
        return picks


def _describe(stream: Stream[Item], items: Iterable[Item]) -> dict[str, object] | None:
    """Return where reading goes on and where the things stand; what is behind that place is read again anyway."""
    anchor = stream.anchor
    if anchor is None:
        return None
    spans = sorted((item.start, item.end, item.line) for item in items if item.start < anchor.resume)
    return {
        "file": anchor.state,
        "resume": [anchor.size, anchor.resume, anchor.line],
        "check": anchor.check.hex(),
        "sum": anchor.sum,
        "spans": spans,
    }


def _understand(told: dict[str, Any] | None) -> tuple[Anchor | None, list[Span]]:
    if told is None:
        return None, []
    device, inode, file_size, mtime_ns, ctime_ns = (int(number) for number in told["file"])
    size, resume, line = (int(number) for number in told["resume"])
    check = bytes.fromhex(told["check"])
    spans = [(int(start), int(end), int(at)) for start, end, at in told["spans"]]
    before = 0
    for start, end, _ in spans:
        if not before <= start < end <= resume:
            raise ValueError("spans overlap")
        before = end
    if not (0 <= resume <= size and len(check) == min(CHECK_BYTES, resume)):
        raise ValueError("not a place in a file")
    anchor = Anchor(device, inode, size, file_size, mtime_ns, ctime_ns, resume, line, check, int(told["sum"]))
    return anchor, spans
