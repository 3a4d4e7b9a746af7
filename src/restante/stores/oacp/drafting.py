"""A draft for a mailbox as the format says it, and what the format has no place for as the book says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.autonomy.vocabulary import MESSAGE_TYPES
from restante.domain.errors import Refused
from restante.domain.message import Priority
from restante.domain.text import iso, one_line
from restante.stores.oacp.names import CONVERSATION
from restante.stores.oacp.posting import Letter
from restante.stores.oacp.room import arrival_line

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.message import Draft
    from restante.stores.oacp.book import Line
    from restante.stores.oacp.posting import Prepared

_PRIORITIES = {Priority.HIGH: "P1", Priority.NORMAL: "P2", Priority.LOW: "P3"}
_GUIDANCE = "guidance"
# What a person leaves is news to the agent, not a task that its policy would have to admit.
_GUIDANCE_TYPE = "notification"
_SUBJECT = 80


def letter_of(draft: Draft, address: str, agent: str, conversation: str) -> Letter:
    """Return what is to be sent.

    Args:
        draft: What was left.
        address: The mailbox, for texts.
        agent: Whose it is.
        conversation: The conversation that it goes on with; empty for a fresh one.

    Raises:
        Refused: The format cannot hold it.
    """
    if draft.type != _GUIDANCE and draft.type not in MESSAGE_TYPES:
        raise Refused(
            f"{address} has no messages of type {draft.type!r}", remedy=f"use one of: {', '.join(MESSAGE_TYPES)}"
        )
    if not draft.body.strip():
        raise Refused(f"{address} cannot hold a message without text", remedy="write something")
    if conversation and not CONVERSATION.fullmatch(conversation):
        raise Refused(
            f"{conversation!r} is no conversation of {address}",
            remedy="answer with the parent's conversation, or with none",
        )
    return Letter(
        sender=draft.sender.name,
        to=(agent,),
        type=_GUIDANCE_TYPE if draft.type == _GUIDANCE else draft.type,
        subject=draft.subject or one_line(draft.body, _SUBJECT).strip() or "(no subject)",
        body=draft.body,
        priority=_PRIORITIES[draft.priority],
        expires=draft.expires,
        conversation=conversation,
        parent=draft.parent,
        inherits=True,
    )


def line_of(draft: Draft, prepared: Prepared, number: int, now: datetime) -> Line:
    """Return what the book says of a message that is posted.

    Args:
        draft: What was left.
        prepared: What is sent of it.
        number: Its number in the mailbox.
        now: When.
    """
    own = {
        "scope": draft.scope,
        "type": draft.type,
        "subject": draft.subject,
        **({"client": draft.client_id} if draft.client_id else {}),
    }
    return {
        **arrival_line(prepared.name, prepared.raw, dict(prepared.fields)),
        "number": number,
        "at": iso(now),
        "created": iso(now),
        "expires": iso(draft.expires) if draft.expires else None,
        "own": own,
    }
