"""The human side: leaving a message in INBOX.md and taking it back."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import BadText, Conflict, MailboxFull, RestanteError
from restante.domain.lifecycle import Event, step
from restante.domain.limits import check_client_id, check_text
from restante.domain.mailbox import Posted
from restante.domain.message import Message, Sender
from restante.stores.files import LINES, add_lines, create, make_directory, open_known, read_file, translated
from restante.stores.worktree.blocks import message_of
from restante.stores.worktree.desk import to_ms
from restante.stores.worktree.fields import write_value
from restante.stores.worktree.grammar import Kind, scan
from restante.stores.worktree.layout import INBOX, RECEIPTS, STATE
from restante.stores.worktree.lock import locked
from restante.stores.worktree.render import HEADERS, cancel, render_message
from restante.stores.worktree.words import moment_text

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.lifecycle import Standing
    from restante.domain.message import Draft
    from restante.stores.worktree.desk import Desk
    from restante.stores.worktree.layout import Layout


# Patterns are texts here: re compiles one when it is first used, and most runs use few of them.
_UNUSUAL = '^[" ]|[^ -~]| $'
_EVERYDAY = ("", "guidance", "human")


def post(desk: Desk, draft: Draft) -> Posted:
    """Store a message; see ``ports.Mailbox.post``."""
    size = check_text(draft.body, desk.limits)
    for word in (draft.subject, draft.type, draft.sender.name, draft.conversation, draft.parent, draft.client_id):
        if word:
            check_text(word, desk.limits, what="a line of the message's head")
    if draft.client_id:
        check_client_id(draft.client_id, desk.limits)
    with locked(desk.layout, INBOX) as held:
        number = desk.look_to_post()
        if draft.client_id and (earlier := _posted_as(desk, draft.client_id)):
            if earlier.body != draft.body:
                raise Conflict(
                    f"client id {draft.client_id!r} was used for another text ({earlier.id})",
                    remedy="use a new client id for a new text",
                )
            return Posted(earlier, duplicate=True)
        _check_room(desk, size)
        message, data = _write(desk, draft, number)
        desk.ledger.inbox.went_on(held.append(data, header=HEADERS[INBOX]))
        desk.ring()
        desk.save_index()
    with suppress(RestanteError):
        _leave_trace(desk.layout, message)
    return Posted(message)


def withdraw(desk: Desk, message_id: str) -> Standing:
    """Take a message back; see ``ports.Mailbox.withdraw``."""
    desk.known(message_id)
    # Both locks: an acknowledgement of this moment is either seen here, or sees that the message was taken back.
    with locked(desk.layout, INBOX, long=True) as held, locked(desk.layout, RECEIPTS, long=True):
        desk.look(everything=True)
        letter = desk.known(message_id)
        now = desk.now()
        standing = desk.judge(letter, now).standing
        step(standing.status, Event.WITHDRAW, message_id=message_id)
        if letter.is_withdrawn:
            return standing
        block = desk.book.slots[message_id].block
        data = read_file(held.path) or b""
        taken_back = cancel(data[block.start : block.end], now)
        desk.rewrite(held, data, data[: block.start] + taken_back + data[block.end :])
        return desk.judge(desk.known(message_id), now).standing


def _posted_as(desk: Desk, client_id: str) -> Message | None:
    """Return the message that was posted under a client id."""
    written = f"\nclient_id: {write_value(client_id)}".encode()
    if written in (read_file(desk.layout.shared(INBOX)) or b""):
        desk.look(everything=True)
        for slot in desk.book.slots.values():
            if slot.block.fields.get("client_id") == client_id:
                return desk.book.message(slot)
    letter = desk.shelf.find_client(client_id)
    return letter.message if letter else None


def _check_room(desk: Desk, size: int) -> None:
    most, most_bytes = desk.limits.pending_messages, desk.limits.pending_bytes
    if most is None and most_bytes is None:
        return
    desk.look()
    pending = desk.book.pending(desk.clock.now())
    held = sum(len(entry.message.body.encode()) for entry in pending)
    if (most is not None and len(pending) >= most) or (most_bytes is not None and held + size > most_bytes):
        raise MailboxFull(
            f"{desk.address} holds {len(pending)} pending messages ({held:,} bytes), which is all it may",
            remedy="wait until some are acknowledged, or withdraw one",
        )


def _write(desk: Desk, draft: Draft, number: int) -> tuple[Message, bytes]:
    """Return the message and the bytes to append."""
    now = desk.now()
    if draft.sender.verified or draft.expires:
        # Whether a sender was proven is not a thing that a file which anyone can write could say.
        draft = draft._replace(sender=Sender(draft.sender.name), expires=draft.expires and to_ms(draft.expires))
    message = Message(desk.ids.new("msg", now), number, desk.address, now, *draft)
    data = render_message(message)
    if not _is_ordinary(draft):
        _read_back(message, data)
    return message, data


def _is_ordinary(draft: Draft) -> bool:
    """Tell whether nothing stands in the head but words that stand there as they are.

    That such a message comes back exactly, whatever its body, is what the tests of ``render`` hold.
    """
    if draft.expires or not (draft.type and draft.sender.name):
        return False
    words = (draft.subject, draft.type, draft.sender.name, draft.conversation, draft.parent, draft.client_id)
    return all(word in _EVERYDAY or not re.search(_UNUSUAL, word) for word in words)


def _read_back(message: Message, data: bytes) -> None:
    """Read a message from the bytes that are to be appended.

    Raises:
        BadText: It does not come back from them as it is.
    """
    blocks = scan(b"\n" + data, source=INBOX, kind=Kind.MESSAGE).blocks
    whole = len(blocks) == 1 and blocks[0].complete
    if not whole or message_of(blocks[0], number=message.number, mailbox=message.mailbox).message != message:
        raise BadText(
            "the message would not come back from the mailbox file as it is", remedy="change its subject or its text"
        )


def _leave_trace(layout: Layout, message: Message) -> None:
    """Remember outside of the mailbox that a message was posted, and make the file that the original program wants."""
    if not os.access(layout.joined(STATE), os.F_OK):
        create(layout.joined(STATE), _default_state(message.created))
    path = layout.trace
    if not path:
        return
    with translated(path):
        opened = layout.kept.again(path) if layout.kept else None
        if opened is None:
            # Not through a link that somebody put there: it may lead anywhere.
            make_directory(os.path.dirname(path))
            opened = open_known(path, LINES)
        fd, before = opened
        try:
            line = f"{message.id} {moment_text(message.created)}\n".encode()
            add_lines(fd, before, line, path=path, durable=False)
        except BaseException:
            os.close(fd)
            raise
        layout.leave(path, fd, before)


def _default_state(at: datetime) -> bytes:
    lines = ('"version": 1', '"mode": "mailbox-only"', f'"updatedAt": "{moment_text(at)}"', '"automations": []')
    return ("{\n  " + ",\n  ".join(lines) + "\n}\n").encode()
