"""Guidance that is posted again and again."""

from datetime import datetime
from typing import NamedTuple

from restante.domain.message import Priority, Scope


class Repeat(NamedTuple):
    """Guidance that is posted again and again.

    Attributes:
        id: See ``domain.ids``, kind ``auto``.
        active: Whether it runs.
        body: The text of each message.
        priority: Of each message.
        scope: Of each message.
        interval_ms: Milliseconds between two messages; at least 5000.
        created: When it was set up.
        updated: When it was last changed.
        next_run: When the next message is due.
        last_sent: When the last one was posted.
        sent_count: How many were posted.
        source_message_id: The message it was set up with; empty when none.
        allow_warnings: Whether its sender overrode screening.
    """

    id: str
    active: bool
    body: str
    priority: Priority
    scope: Scope
    interval_ms: int
    created: datetime
    updated: datetime
    next_run: datetime
    last_sent: datetime | None = None
    sent_count: int = 0
    source_message_id: str = ""
    allow_warnings: bool = False
