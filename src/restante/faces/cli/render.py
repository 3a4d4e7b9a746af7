"""How messages look in a terminal and to a model. Text of others is always escaped and fenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.telling import LONGEST_NAME, label_of
from restante.domain.text import age, fenced, iso, one_line, visible
from restante.faces.cli.output import paint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from restante.domain.case import Case
    from restante.domain.lifecycle import Standing
    from restante.domain.mailbox import Change, Counts
    from restante.domain.message import Message
    from restante.domain.receipt import Receipt

_COLOURS = {
    "unseen": "yellow",
    "seen": "cyan",
    "applied": "green",
    "accepted": "green",
    "rejected": "red",
    "blocked": "red",
    "needs_confirmation": "magenta",
}


def status_table(cases: Sequence[Case], now: datetime) -> str:
    """Return a line for each message, the newest last, and below it what its addressee said last."""
    if not cases:
        return "no messages\n"
    width = max(len(case.entry.standing.status) for case in cases)
    lines = []
    for case in cases:
        message, standing = case.entry.message, case.entry.standing
        word = paint(f"{standing.status:<{width}}", _COLOURS.get(standing.status))
        urgent = "!" if message.priority == "high" else " "
        text = one_line(message.subject or message.body, 60)
        lines.append(f"{message.id[-8:]}  {word} {urgent} {age(message.created, now):>10}  {text}")
        below = [one_line(standing.summary, 72)] if standing.summary else []
        if standing.status == "unseen" and standing.noticed_at:
            below.append(f"noticed {age(standing.noticed_at, now)}")
        if case.replies:
            last = case.replies[-1]
            below.append(f"reply {age(last.created, now)}: {one_line(last.body, 72)}")
        lines.extend(f"{'':10}{'':{width}}     {line}" for line in below)
    return "\n".join(lines) + "\n"


def case_text(case: Case, now: datetime) -> str:
    """Return all there is to know of one message."""
    message, standing = case.entry.message, case.entry.standing
    status = paint(standing.status, _COLOURS.get(standing.status))
    parts = [f"{message.id}: {status}\n", _times(message, standing), fenced(visible(message.body)) + "\n"]
    for receipt in case.receipts:
        words = _words(receipt)
        by = f" by {one_line(receipt.by, LONGEST_NAME)}" if receipt.by else ""
        parts.append(f"receipt {age(receipt.seen_at, now)}{by}: {', '.join(words)}")
        parts.append(f": {_quoted(receipt.summary)}\n" if receipt.summary else "\n")
        if receipt.notes:
            parts.append(f"  notes: {_quoted(receipt.notes)}\n")
    parts.extend(f"reply {age(reply.created, now)}:\n{fenced(visible(reply.body))}\n" for reply in case.replies)
    return "".join(parts)


def _quoted(text: str) -> str:
    """Return somebody's words: on the line they stand on, or between fences where they have lines of their own."""
    return visible(text) if len(text.splitlines()) < 2 else "\n" + fenced(visible(text))


def _words(receipt: Receipt) -> list[str]:
    """Return a receipt's decision and action; a bare one only says *seen*."""
    return [word.value for word in (receipt.decision, receipt.action) if word] or ["seen"]


def _times(message: Message, standing: Standing) -> str:
    times = (
        ("posted", message.created),
        ("noticed", standing.noticed_at),
        ("seen", standing.seen_at),
        ("acknowledged", standing.acknowledged_at),
        ("withdrawn", standing.withdrawn_at),
        ("expired", standing.expired_at),
    )
    lines = [] if message.sender.name == "human" else [f"  {'from':<12} {label_of(message)}\n"]
    lines += [f"  {name:<12} {iso(time)}\n" for name, time in times if time]
    if message.expires and not standing.expired_at:
        lines.append(f"  {'expires':<12} {iso(message.expires)}\n")
    return "".join(lines)


def change_line(change: Change) -> str:
    """Return one event as one line."""
    when = iso(change.at) if change.at else "????-??-??T??:??:??.???Z"
    text = ""
    if change.message:
        text = f"{change.message.priority}: {one_line(change.message.subject or change.message.body, 80)}"
    elif change.receipt:
        words = _words(change.receipt)
        text = ", ".join(words) + (f": {one_line(change.receipt.summary, 80)}" if change.receipt.summary else "")
    elif change.reply:
        text = one_line(change.reply.body, 80)
    return f"{when} {change.kind:<9} {change.message_id or '-'} {text}".rstrip()


def counts_line(counts: Counts) -> str:
    """Return a mailbox's numbers in words."""
    archived = f", {counts.archived} archived" if counts.archived else ""
    return f"{counts.pending} pending ({counts.unseen} unseen) of {counts.total}{archived}"
