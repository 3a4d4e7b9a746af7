"""How one message is told to a person or a model. Text of others is always escaped and fenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.text import age, fenced, iso, one_line, sender_words, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.domain.mailbox import Entry
    from restante.domain.message import Message

# Names and subjects are somebody else's text outside of any fence: one line, and not a long one.
LONGEST_NAME = 160
_NO_NAMES: Mapping[str, str] = {}
# What stands around a body, in bytes; a headline is hardly longer.
_HEADLINE = 200


def message_block(entry: Entry, now: datetime, *, where: str = "", names: Mapping[str, str] = _NO_NAMES) -> str:
    """Return one message whole: a headline, and the fenced body.

    Args:
        entry: The message.
        now: The time.
        where: In which mailbox it is, for a list that comes from several.
        names: What the sessions that wrote are called, by their addresses.
    """
    message = entry.message
    facts = [
        *([f"to {where}"] if where else []),
        f"from {label_of(message, names)}",
        f"priority {message.priority}",
        f"scope {message.scope}",
        age(message.created, now),
    ]
    if message.subject:
        facts.append(f"about: {one_line(message.subject, LONGEST_NAME)}")
    if message.expires:
        facts.append(f"expires {iso(message.expires)}")
    if entry.standing.status != "unseen":
        facts.append(f"status {entry.standing.status}")
    return f"{message.id} {', '.join(facts)}\n{fenced(visible(message.body))}\n"


def label_of(message: Message, names: Mapping[str, str] = _NO_NAMES) -> str:
    """Return who a message is from, on one line; a claim that was not proven says so."""
    sender = message.sender
    if name := names.get(sender.name):
        return sender_words(sender.name, name, is_verified=sender.verified)
    return sender._replace(name=one_line(sender.name, LONGEST_NAME)).label


def that_fit(entries: Sequence[Entry], limit: int) -> list[Entry]:
    """Return the first entries that fit a model's reading of so many bytes; always one, so that nothing is stuck."""
    fitting: list[Entry] = []
    for entry in entries:
        limit -= len(entry.message.body.encode()) + _HEADLINE
        if fitting and limit < 0:
            break
        fitting.append(entry)
    return fitting


def is_to_session(entry: Entry) -> bool:
    """Whether a message is in a session's own mailbox, and not in that of a worktree."""
    return entry.message.mailbox.startswith("session:")
