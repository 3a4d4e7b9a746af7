"""Who deserves a look first: the order in which sessions are shown to a person."""

from typing import TYPE_CHECKING

from restante.domain.overview import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from restante.domain.overview import Row

# Idle with unseen mail comes first: it is what nobody else will notice. A dialog stands on a screen.
_ORDER = (
    Reason.INBOX_UNREAD,
    Reason.BLOCKED,
    Reason.INBOX_UNACKED,
    Reason.WAITING_INBOX,
    Reason.OPEN_TODOS,
    Reason.DONE,
    None,
    Reason.EXITED,
)


def most_urgent_first(rows: "Iterable[Row]", wanted: str = "") -> "list[Row]":
    """Return sessions, the most urgent first; of two alike, whose oldest unseen mail waits longer.

    Args:
        rows: The sessions.
        wanted: Only those that have each of these words in their name, id, program, worktree, state or reason.
    """
    words = wanted.casefold().split()
    return sorted((row for row in rows if all(word in _words_of(row) for word in words)), key=_urgency)


def _urgency(row: "Row") -> tuple[int, float, str]:
    oldest = row.oldest_unseen
    return _ORDER.index(row.reason), oldest.timestamp() if oldest else float("inf"), row.session.title


def _words_of(row: "Row") -> str:
    session = row.session
    reason = row.reason.value if row.reason else ""
    return " ".join((session.title, session.id, session.vendor, session.worktree, row.state, reason)).casefold()
