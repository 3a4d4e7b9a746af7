"""Blocks to domain values. Nothing here raises; what cannot be understood is left out, and ``scan`` said so."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.message import Message, Priority, Reply, Scope, Sender
from restante.domain.receipt import Receipt
from restante.stores.worktree.words import ACTIONS, DECISIONS, PRIORITIES, SCOPES, message_ids, moment, word

if TYPE_CHECKING:
    from restante.stores.worktree.grammar import Block

_HUMAN = Sender()
_EPOCH = datetime.fromtimestamp(0, UTC)


class Letter(NamedTuple):
    """A message, and whether its sender took it back.

    Attributes:
        message: The message.
        is_withdrawn: Whether its status is ``cancelled``.
        withdrawn_at: When it was taken back; ``None`` when that was not written down.
    """

    message: Message
    is_withdrawn: bool = False
    withdrawn_at: datetime | None = None


def message_of(block: "Block", *, number: int, mailbox: str) -> Letter:
    """Read a message block.

    Args:
        block: Of kind ``MESSAGE``.
        number: Its place in the mailbox.
        mailbox: The mailbox's address.

    A creation time that is missing or makes no sense is taken from the id.
    """
    fields = block.fields
    get = fields.get
    sender, expires = get("sender"), get("expires_at")
    message = Message(
        id=block.id,
        number=number,
        mailbox=mailbox,
        created=moment(get("created_at", "")) or _created_by_id(block.id),
        body=block.body,
        sender=Sender(sender) if sender else _HUMAN,
        priority=PRIORITIES.get(get("priority", ""), Priority.NORMAL),
        scope=SCOPES.get(get("scope", ""), Scope.CURRENT_TASK),
        subject=get("subject", ""),
        type=get("type") or "guidance",
        conversation=get("conversation", ""),
        parent=get("parent", ""),
        expires=moment(expires) if expires else None,
        client_id=get("client_id", ""),
    )
    if get("status") != "cancelled":
        return Letter(message)
    return Letter(message, is_withdrawn=True, withdrawn_at=moment(get("withdrawn_at", "")))


def receipt_of(block: "Block") -> Receipt:
    """Read a receipt block; words that are not in the lists count as not given."""
    get = block.fields.get
    named = message_ids(get("message_id", ""))
    return Receipt(
        id=block.id,
        message_id=named[0] if named else "",
        seen_at=moment(get("seen_at", "")),
        decision=DECISIONS.get(word(get("decision", ""))),
        action=ACTIONS.get(word(get("action_status") or get("action", ""))),
        summary=get("summary") or block.body,
        notes=get("notes", ""),
        by=get("by", ""),
    )


def reply_of(block: "Block") -> Reply:
    """Read a reply block."""
    get = block.fields.get
    named = message_ids(get("to") or get("message_id", ""))
    return Reply(
        id=block.id,
        to=named[0] if named else "",
        created=moment(get("created_at", "")),
        body=block.body,
        sender=Sender(get("by") or "agent"),
    )


def _created_by_id(ident: str) -> datetime:
    try:
        return datetime.strptime(ident.split("_")[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return _EPOCH
