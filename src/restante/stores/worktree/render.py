"""Domain values to the exact bytes that are appended, and a message block to one that is taken back.

The first lines stand in the order of the original program, so that it reads what is written here. Its parser
must find no structure in a body: see ``body``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from restante.domain.errors import BadText, UsageError
from restante.stores.worktree.body import write_body
from restante.stores.worktree.fields import write_value
from restante.stores.worktree.words import moment_text

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.message import Message, Reply
    from restante.domain.receipt import Receipt

HEADERS: dict[str, bytes] = {
    "INBOX.md": b"# Codex Mailbox - Inbox\n\n"
    b"Guidance from people for the agent of this worktree. Tools on the human side write this file.\n"
    b"The agent reads it and changes nothing in it.\n\n---\n",
    "OUTBOX.md": b"# Codex Mailbox - Outbox\n\nReplies of the agent. Nobody else writes this file.\n\n---\n",
    "RECEIPTS.md": b"# Codex Mailbox - Receipts\n\n"
    b"What the agent made of each message. Nobody else writes this file.\n\n---\n",
}

_SEPARATOR = "\n---\n\n"
_STATUS = re.compile(rb"(?m)^status:[^\r\n]*(\r?\n)")
_SCOPE = re.compile(rb"(?m)^scope:[^\r\n]*\r?\n")
_WITHDRAWN = re.compile(rb"(?mi)^(?:status:[ \t]*cancelled[ \t]*$|withdrawn_at:)")
_HEAD = re.compile(rb"(##[^\r\n]*(\r?\n)(?:[ \t]*\r?\n)*)((?:[\w-]+:(?:[ \t][^\r\n]*)?\r?\n)*)")


def render_message(message: Message) -> bytes:
    """Return a message as it is appended to ``INBOX.md``. Times are cut to milliseconds.

    Raises:
        UsageError: A value that stands on one line holds a line end.
        BadText: A text holds a lone surrogate.
    """
    form, body = write_body(message.body)
    first = (
        f"from: human\ncreated_at: {moment_text(message.created)}\npriority: {message.priority.value}\n"
        f"status: unread\nscope: {message.scope.value}\n"
    )
    words = (
        ("client_id", message.client_id),
        ("subject", message.subject),
        ("type", message.type if message.type != "guidance" else ""),
        ("conversation", message.conversation),
        ("parent", message.parent),
        ("sender", message.sender.name if message.sender.name != "human" else ""),
    )
    pairs = [(name, word) for name, word in words if word]
    for name, word in pairs:
        if "\n" in word or "\r" in word:
            raise UsageError(f"{name} holds a line end: {word!r}", remedy="write it on one line")
    if message.expires:
        pairs.insert(0, ("expires_at", moment_text(message.expires)))
    last = f"body_bytes: {_size(message.body)}\n"
    if form:
        last += f"body: {form}\n"
    return _block(message.id, pairs, f"{last}\nMesaj:\n{body}", first=first)


def render_receipt(receipt: Receipt) -> bytes:
    """Return a receipt as it is appended to ``RECEIPTS.md``. A summary of several lines becomes one JSON string.

    Raises:
        BadText: A text holds a lone surrogate.
    """
    pairs = [
        ("message_id", receipt.message_id),
        ("seen_at", moment_text(receipt.seen_at) if receipt.seen_at else ""),
        ("decision", receipt.decision.value if receipt.decision else ""),
        ("action_status", receipt.action.value if receipt.action else ""),
        ("summary", receipt.summary),
        ("notes", receipt.notes),
        ("by", receipt.by),
    ]
    return _block(receipt.id, pairs, "")


def render_reply(reply: Reply) -> bytes:
    """Return a reply as it is appended to ``OUTBOX.md``.

    Raises:
        BadText: A text holds a lone surrogate.
    """
    form, body = write_body(reply.body)
    pairs = [
        ("from", "agent"),
        ("to", reply.to),
        ("created_at", moment_text(reply.created) if reply.created else ""),
        ("by", reply.sender.name),
        ("body_bytes", str(_size(reply.body))),
        ("body", form),
    ]
    return _block(reply.id, pairs, f"\n{body}")


def cancel(block_bytes: bytes, at: datetime) -> bytes:
    """Return a message block with ``status: cancelled`` and ``withdrawn_at``; one that has them is returned as it is.

    Args:
        block_bytes: From ``Block.start`` to ``Block.end``.
        at: When it was taken back.

    Raises:
        UsageError: The bytes do not begin with a block's heading.
    """
    found = _HEAD.match(block_bytes)
    if not found:
        raise UsageError("not a message block", remedy="give the bytes from the heading to the end of the block")
    opening, line_end, head = found[1], found[2], found[3]
    if _WITHDRAWN.search(head):
        return block_bytes
    when = b"withdrawn_at: " + moment_text(at).encode() + line_end
    cancelled = b"status: cancelled" + line_end
    head = _STATUS.sub(cancelled, head) if _STATUS.search(head) else cancelled + head
    scope = _SCOPE.search(head)
    place = scope.end() if scope else head.index(cancelled) + len(cancelled)
    return opening + head[:place] + when + head[place:] + block_bytes[found.end() :]


def _block(ident: str, pairs: list[tuple[str, str]], rest: str, *, first: str = "") -> bytes:
    lines = "".join([f"{name}: {write_value(value)}\n" for name, value in pairs if value])
    return f"{_SEPARATOR}## {ident}\n\n{first}{lines}{rest}".encode()


def _size(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise BadText("the text holds a lone surrogate", remedy="send text that is valid UTF-8") from None
