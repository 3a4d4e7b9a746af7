"""How sessions and what is known of their mail are told to a person or a model. No message is ever in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.naming import look_alikes
from restante.domain.overview import Fate, Reason, mutual_waits
from restante.domain.registry import Presence, brief
from restante.domain.text import age, counted, iso, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from restante.domain.message import Sender
    from restante.domain.overview import Cleared, Handed, Row, Trace
    from restante.domain.registry import Session
    from restante.domain.team import Copy

LONGEST_NAME = 40
# Below a list stand so many of each kind, and how many more there are: a model reads it.
_MOST_NAMED = 10
_MOST_ROLES = 3
# What a list says of words that do not explain themselves, where they stand in it.
_LEGEND = (
    ("new", "new: it has begun no turn since it registered"),
    ("?", "a state with ?: nobody can tell whether its process still lives"),
)


def named(session: Session) -> str:
    """Return what a session is called, with enough of its id to name it by."""
    name = one_line(session.name, LONGEST_NAME)
    return f"{name} ({short_id(session)})" if name else short_id(session)


def short_id(session: Session) -> str:
    """Return as much of an id as it takes to name the session by it, as it is shown."""
    return visible(brief(session.id))


def sent_as(sender: Sender) -> str:
    """Return as whom something was sent, and whether that was proven."""
    if sender.name == "human":
        return "human (verified)" if sender.verified else "user (unverified)"
    return f"{one_line(sender.name, 160)} ({'verified' if sender.verified else 'unverified'})"


def state_of(row: Row) -> str:
    """Return what a session is doing; with a question mark where nobody knows whether its process lives."""
    word = row.state
    if word == "blocked":
        word += f": {one_line(row.session.blocked, 20)}"
    return word + ("?" if row.presence is Presence.UNKNOWN else "")


def items_words(session: Session) -> str:
    """Return how many items of a session's list are open; of how many, where that was said."""
    is_known = session.total_todos >= session.open_todos
    return f"{session.open_todos} of {session.total_todos}" if is_known else str(session.open_todos)


def turn_end_words(row: Row, now: datetime) -> str:
    """Return when a session's last turn ended, and how that became known."""
    latch = row.session.latch
    if latch.ended is None:
        return "-"
    return f"{age(latch.ended, now)} ({latch.source.value if latch.source else 'unknown'})"


def footer(rows: Sequence[Row], now: datetime) -> list[str]:
    """Return what deserves a look in a list: mutual waits, names that look alike, who is idle with unread mail."""
    by_id = {row.session.id: row.session for row in rows}
    waits = mutual_waits(list(rows))
    lines = [
        f"{named(by_id[one])} and {named(by_id[other])} wait for each other: each holds the other's unanswered mail"
        for one, other in waits[:_MOST_NAMED]
    ]
    if len(waits) > _MOST_NAMED:
        more = len(waits) - _MOST_NAMED
        lines.append(f"{counted(more, 'more pair waits', 'more pairs wait')} for each other")
    alike = look_alikes(by_id.values())
    lines += [
        f"these names look alike, so go by the ids: {_some([named(one) for one in group])}"
        for group in alike[:_MOST_NAMED]
    ]
    if len(alike) > _MOST_NAMED:
        more = len(alike) - _MOST_NAMED
        lines.append(counted(more, "more group of names looks alike", "more groups of names look alike"))
    unread = [row for row in rows if row.reason is Reason.INBOX_UNREAD]
    if unread:
        lines.append(
            f"idle with unread mail: {_some([f'{named(row.session)} ({_unseen(row, now)})' for row in unread])}"
        )
    if any(not row.is_counted for row in rows):
        lines.append("? is what this server does not tell; it may be of an older version")
    lines += [words for sign, words in _LEGEND if any(sign in state_of(row) for row in rows)]
    return lines


def _unseen(row: Row, now: datetime) -> str:
    """Return how much a session has not read, of its own and for its roles."""
    own = [(f"{row.counts.unseen} unseen", row.counts)] if row.counts.unseen else []
    of_roles = [(f"{one.counts.unseen} unseen for {one.role}", one.counts) for one in row.roles if one.counts.unseen]
    every = [f"{words}, oldest {age(counts.oldest_unseen, now)}" for words, counts in own + of_roles]
    return "; ".join(every[:_MOST_ROLES]) + (f"; and {len(every) - _MOST_ROLES} more" if every[_MOST_ROLES:] else "")


def role_mail_words(row: Row) -> str:
    """Return what waits for the roles that a session holds; empty where nothing does."""
    every = [
        f"{one.counts.pending} pending, {one.counts.unseen} unseen for {one.role}"
        for one in row.roles
        if one.counts.pending
    ]
    return "; ".join(every[:_MOST_ROLES]) + (f"; and {len(every) - _MOST_ROLES} more" if every[_MOST_ROLES:] else "")


def _some(words: Sequence[str]) -> str:
    """Return the first of a list in one line, and how many more there are."""
    more = [f"and {len(words) - _MOST_NAMED} more"] if len(words) > _MOST_NAMED else []
    return ", ".join([*words[:_MOST_NAMED], *more])


def row_line(row: Row, now: datetime) -> str:
    """Return one session as one line: why it deserves a look, and the numbers behind that."""
    # The reason says it already.
    parts = [state_of(row).removeprefix("blocked: ") if row.reason is Reason.BLOCKED else state_of(row)]
    if row.session.latch.ended:
        parts.append(f"turn {row.session.latch.turn} ended {turn_end_words(row, now)}")
    if not row.is_counted:
        parts.append("mail: ?")
    elif row.counts.pending:
        oldest = f", oldest unseen {age(row.counts.oldest_unseen, now)}" if row.counts.oldest_unseen else ""
        parts.append(f"{row.counts.pending} pending, {row.counts.unseen} unseen{oldest}")
    if of_roles := role_mail_words(row):
        parts.append(of_roles)
    if row.is_parked:
        parts.append("waits for mail")
    if row.session.total_todos or row.session.open_todos:
        parts.append(f"{items_words(row.session)} items open")
    if row.reason:
        return f"{named(row.session)}  {row.reason}: {'; '.join(parts)}"
    return f"{named(row.session)}  {'; '.join(parts)}"


def trace_lines(traces: Iterable[Trace], names: Mapping[str, Session], now: datetime) -> str:
    """Return a line for each message that somebody posted: where it went and what became of it."""
    lines = []
    for trace in traces:
        to = named(names[trace.to]) if trace.to in names else one_line(trace.to, 60)
        words = [word.value for word in (trace.decision, trace.action) if word]
        what = trace.fate.value + (f" ({', '.join(words)})" if words else "")
        when = f", {age(trace.at, now)}" if trace.at and trace.fate is not Fate.UNSEEN else ""
        lines.append(f"{visible(trace.message_id)}  to {to}, {age(trace.created, now)}: {what}{when}\n")
    return "".join(lines)


def sent_lines(handed: Handed) -> list[str]:
    """Return where a message went, and as whom it was sent."""
    message, to = handed.posted.message, named(handed.to)
    if handed.is_left:
        went = f"left for your next checkpoint, which carries it out of this sandbox: to {to}"
    else:
        went = f"{'already sent' if handed.posted.duplicate else 'sent'} {message.id} to {to}"
    return [went, f"sent as: {sent_as(message.sender)}"]


def kept_note(handed: Handed) -> str:
    """Return what to know of mail to a session whose process ended; empty where it lives."""
    if handed.presence not in (Presence.GONE, Presence.DETACHED):
        return ""
    expires = handed.posted.message.expires
    until = f" until {iso(expires)}" if expires else ""
    return f"note: the process of {named(handed.to)} ended; the message is kept{until}, for when it comes back"


def cleared_lines(ids: Sequence[str], cleared: Cleared, words: str, *, through: bool) -> list[str]:
    """Return what acknowledging messages of a session's mailbox did.

    Args:
        ids: The messages that were named.
        cleared: What was done.
        words: What was said of them.
        through: Whether all older ones were meant, too.
    """
    if cleared.is_left:
        return [f"left for your next checkpoint, which carries it out of this sandbox: {words} for {' '.join(ids)}"]
    if through:
        return [f"acknowledged {cleared.removed} through {ids[0]}: {words}"]
    if cleared.removed == len(ids):
        return [f"acknowledged {one}: {words}" for one in ids]
    gone = len(ids) - cleared.removed
    return [f"acknowledged {cleared.removed} of {len(ids)}: {words}; {gone} had gone before, or never came here"]


def copy_line(copy: Copy) -> str:
    """Return what became of the post to one role."""
    if copy.posted is None:
        return f"not sent to {copy.role}: {visible(copy.problem.message) if copy.problem else 'refused'}"
    word = "already sent" if copy.posted.duplicate else "sent"
    where = f"held by {named(copy.holder)}" if copy.holder else "held by nobody: it waits"
    return f"{word} {copy.posted.message.id} to {copy.role}, {where}"
