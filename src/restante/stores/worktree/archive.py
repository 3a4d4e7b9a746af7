"""Moving answered mail aside, so that INBOX.md stays small.

The archive is written first and made durable, then INBOX.md is replaced in one step. A crash between the two leaves
messages in both places, where the one in INBOX.md counts; never in none.

Receipts of archived messages stay in RECEIPTS.md: that file is the agent's, and human-side tools never write it. What
is read of it at a checkpoint does not depend on its length (see ``index``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from restante.domain.mailbox import Archived
from restante.stores.files import read_file
from restante.stores.worktree.grammar import Kind, scan
from restante.stores.worktree.layout import INBOX
from restante.stores.worktree.lock import locked
from restante.stores.worktree.numbers import Numbers, with_archived
from restante.stores.worktree.render import render_message

if TYPE_CHECKING:
    from restante.stores.worktree.book import Slot
    from restante.stores.worktree.grammar import Block
    from restante.stores.worktree.store import WorktreeMailbox

_SEPARATOR = b"\n---\n\n"
_SCOPE = re.compile(rb"^scope: [^\r\n]*\n", re.MULTILINE)


class WorktreeArchive:
    """``ports.Archive`` over a worktree's mailbox.

    Args:
        mailbox: The mailbox.
    """

    def __init__(self, mailbox: WorktreeMailbox) -> None:
        self._mailbox = mailbox
        self._desk = mailbox.desk

    def archive(self) -> Archived:
        """Move every acknowledged, expired or withdrawn message, atomically, with its words kept.

        Raises:
            StorageFailed: Nothing was moved.
            Busy: Another program held the lock of INBOX.md.
        """
        mailbox = self._mailbox
        entries = mailbox.entries()
        if all(entry.standing.is_pending for entry in entries):
            return Archived(0, len(entries), "")
        desk = self._desk
        with locked(desk.layout, INBOX, long=True) as held:
            entries = mailbox.entries()
            slots = desk.book.slots
            moving = [slots[entry.message.id] for entry in entries if not entry.standing.is_pending]
            data = read_file(held.path) or b""
            shelved = desk.shelf.letters()
            new = [slot for slot in moving if shelved.get(slot.block.id) != desk.book.letter(slot)]
            text = b"".join(_SEPARATOR + self._numbered(slot, data) for slot in new)
            into = desk.shelf.add(text, desk.now())
            desk.rewrite(held, data, self._without(moving, data))
        return Archived(len(moving), len(entries) - len(moving), into)

    def _numbered(self, slot: Slot, data: bytes) -> bytes:
        """Return a block as it goes to the archive: as it stood, with its number, or written anew if it must be."""
        raw = data[slot.block.start : slot.block.end]
        if not raw.endswith(b"\n"):
            raw += b"\n"
        scope = _SCOPE.search(raw)
        place = scope.end() if scope else raw.index(b"\n") + 1
        numbered = raw[:place] + b"number: %d\n" % slot.number + raw[place:]
        if _says(numbered) == (slot.block.body, {**slot.block.fields, "number": str(slot.number)}):
            return numbered
        written = render_message(self._desk.book.message(slot)).removeprefix(_SEPARATOR)
        return _SCOPE.sub(lambda line: line[0] + b"number: %d\n" % slot.number, written, count=1)

    def _without(self, moving: list[Slot], data: bytes) -> bytes:
        """Return INBOX.md without some messages; all other bytes stay, what nobody understood too."""
        blocks = self._desk.ledger.inbox.items
        head = data[: blocks[0].start].removesuffix(_SEPARATOR)
        archived = Numbers.of([*self._desk.book.archived, *(slot.number for slot in moving)])
        gone = {slot.block.start for slot in moving}
        kept = [with_archived(head, archived)]
        begin = len(head)
        for block in blocks:
            if block.start in gone:
                kept.append(data[begin : block.start].removesuffix(_SEPARATOR))
            else:
                kept.append(data[begin : block.end])
            begin = block.end
        return b"".join(kept) + data[begin:]


def _says(raw: bytes) -> tuple[str, dict[str, str]] | None:
    """Return what a block alone says."""
    found: list[Block] = scan(b"\n" + _SEPARATOR + raw, source=INBOX, kind=Kind.MESSAGE).blocks
    return (found[0].body, found[0].fields) if len(found) == 1 and found[0].complete else None
