"""Clearing away what nobody can need any more, and nothing on a mere doubt."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.registry import Presence

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.domain.registry import Session
    from restante.ports.sessions import Boxes, Sessions, Turns

# One that ended is remembered so long, for whoever looks for it under its name.
REMEMBERED = timedelta(days=7)


def prune(sessions: Sessions, boxes: Boxes, owner: str) -> list[str]:
    """Delete mail of sessions that were deleted, where a crash came between the two; return their ids.

    A session that is simply not in the register proves nothing: the register may have been lost. Its mail stays
    until it expires.
    """
    # Read whole before anything is touched: an error here must cost nobody's mail.
    known = {one.id for one in sessions.all(owner)}
    _, deleted = sessions.changed_since(0, owner)
    with_mail = [one for one, counts in boxes.counts(owner).items() if counts.total]
    left_over = [one for one in with_mail if one in set(deleted) - known]
    for session_id in left_over:
        boxes.box(session_id, owner).delete()
    return left_over


def forget(
    sessions: Sessions,
    turns: Turns,
    boxes: Boxes | None,
    owner: str,
    now: datetime,
    presence_of: Callable[[Session], Presence],
) -> list[str]:
    """Delete sessions that ended long ago and have nothing pending; return their ids.

    One that is proven alive is never deleted, however long it was silent, nor one that was heard of lately.
    """
    counts = boxes.counts(owner) if boxes else {}
    over = [
        one
        for one in sessions.all(owner)
        if now - max(one.heartbeat, one.detached or one.heartbeat) > REMEMBERED
        and presence_of(one) in (Presence.GONE, Presence.DETACHED)
        and not (one.id in counts and counts[one.id].pending)
    ]
    for one in over:
        sessions.delete(one.id, owner, now)
        if boxes:
            boxes.box(one.id, owner).delete()
        turns.forget(one.id)
    return [one.id for one in over]
