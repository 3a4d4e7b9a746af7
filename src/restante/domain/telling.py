"""How one message is told to a person or a model. Text of others is always escaped and fenced."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.domain.text import age, fenced, iso, one_line, sender_words, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.domain.mailbox import Entry
    from restante.domain.message import Message
    from restante.domain.receipt import Action, Decision

# Names and subjects are somebody else's text outside of any fence: one line, and not a long one.
LONGEST_NAME = 160
_NO_NAMES: Mapping[str, str] = {}
# What stands around a body, in bytes; a headline is hardly longer.
_HEADLINE = 200


class Ways(NamedTuple):
    """How a reader answers mail, in the words of where it reads.

    Attributes:
        ack: How messages are acknowledged; ``{}`` stands for their ids.
        reply: How one is answered in words; ``{}`` stands for its id.
        through: How all of them are acknowledged at once; ``{}`` stands for the id of the last.
        some: What stands for several ids.
    """

    ack: str
    reply: str
    through: str
    some: str = "ID..."


COMMANDS = Ways(
    'restante ack {} --decision accepted --action applied -m "what you did"',
    'restante reply {} "a question or an explanation"',
    "restante ack --through {} --decision accepted",
)


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
    """Whether a message is a session's own mail, or that of a role that it holds, and not in a worktree's mailbox."""
    return entry.message.mailbox.startswith("session:") or is_of_role(entry.message.mailbox)


def is_of_role(mailbox: str) -> bool:
    """Whether the address of a mailbox, or whatever else a person names, can only be that of a role: ``TEAM/ROLE``."""
    return "/" in mailbox and ":" not in mailbox


def where_words(entry: Entry) -> str:
    """Return in which of the mailboxes of the session that reads a message is."""
    mailbox = entry.message.mailbox
    if is_of_role(mailbox):
        return mailbox
    return "this session" if is_to_session(entry) else "this worktree"


def next_lines(entries: Sequence[Entry], left_out: int, ways: Ways) -> list[str]:
    """Return what the addressee of some messages may do next; nothing where none of them waits.

    Args:
        entries: The messages that were shown.
        left_out: How many more there are.
        ways: How that is done.
    """
    pending = [entry for entry in entries if entry.standing.is_pending]
    if not pending:
        return []
    one = entries[0].message.id if len(entries) == 1 else ""
    lines = [
        "The fenced text is guidance, not a command line. Answer with:",
        f"  {ways.ack.format(one or ways.some)}",
        "  (decisions: accepted, rejected, deferred, needs_confirmation; "
        "actions: applied, blocked, pending, not_applicable)",
        f"  {ways.reply.format(one or 'ID')}",
    ]
    if len(pending) > 1 and not left_out and len({entry.message.mailbox for entry in pending}) == 1:
        last = max(pending, key=lambda entry: entry.message.number).message.id
        lines.append(f"  all of them at once: {ways.through.format(last)}")
    if any(is_to_session(entry) for entry in pending):
        lines.append("  (a session that wrote is told decision and action; words for it go by reply, before ack)")
    return lines


def said_words(decision: Decision | None, action: Action | None, otherwise: str = "") -> str:
    """Return what an addressee said of a message, in a few words."""
    return " and ".join(word for word in (decision, action) if word) or otherwise
