"""Mail between sessions: who may post what to whom, what a read tells, whose word counts.

Reading is not acknowledging. Only the addressee's own read marks mail as seen, and only its own word takes it out of
the box; anybody else's look changes no byte.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.errors import Forbidden, MailboxDeleted, NoSuchMessage, PersistenceOff, UsageError
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.overview import Cleared, Reading
from restante.domain.receipt import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from restante.domain.mailbox import Entry
    from restante.domain.message import Draft
    from restante.domain.overview import Late
    from restante.domain.receipt import Action
    from restante.domain.registry import Identity, Session
    from restante.ports import Mailbox
    from restante.ports.sessions import Boxes

# What a caller and we make of "in 12 hours" may differ by this much.
_SLACK = timedelta(seconds=60)


def kept(boxes: Boxes | None) -> Boxes:
    """Return where mail is.

    Raises:
        PersistenceOff: It is nowhere.
    """
    if boxes is None:
        raise PersistenceOff(
            "the mail of sessions is not kept on disk, and no server runs that could hold it",
            remedy="restante persist on keeps it on disk; restante serve holds it in memory",
        )
    return boxes


def stamped(draft: Draft, identity: Identity, to: Session, now: datetime, time_to_live: float) -> Draft:
    """Return a draft as it is posted: from whom it really is, with an end.

    Args:
        draft: What is to be posted.
        identity: Who posts.
        to: The addressee.
        now: The time.
        time_to_live: Most seconds until it expires.

    Raises:
        UsageError: A session posts to itself, or the expiry is later than mail may last.
    """
    if identity.session == to.id:
        raise UsageError("a session does not post to itself", remedy="name another one: restante ls")
    last = now + timedelta(seconds=time_to_live)
    if draft.expires is not None and draft.expires > last + _SLACK:
        raise UsageError(
            f"mail to a session expires after {time_to_live / 3600:g} h at most", remedy="give an earlier time, or none"
        )
    expires = min(draft.expires or last, last)
    sender = identity.sender
    return draft._replace(
        sender=sender,
        type="guidance" if sender.name == "human" else "note",
        expires=expires,
    )


def read(box: Mailbox, *, after: int = 0, limit: int | None = None, is_addressee: bool) -> Reading:
    """Return pending messages, the oldest first. Changes nothing.

    Raises:
        UsageError: The limit is not positive.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"a limit of {limit} would tell nothing", remedy="give at least 1")
    # In this order: what another process posts between the two is shown and not counted. Counted and not shown it
    # would end a wait with nothing, while the other way it is the next thing that the wait hears of.
    counts = box.counts()
    entries = box.entries(pending_only=True, after=after, limit=limit)
    left_out = 0
    if limit is not None and len(entries) == limit:
        rest = counts.pending - len(entries)
        # Only where older ones were skipped, too, has the rest to be counted one by one.
        left_out = rest if after <= 0 else len(box.entries(pending_only=True, after=entries[-1].message.number))
    return Reading(tuple(entries), counts, is_peek=not is_addressee, left_out=max(0, left_out))


def has_unseen(box: Mailbox, after: int = 0) -> bool:
    """Tell whether mail is unseen, which is what ends a wait: seen and unacknowledged mail does not."""
    if not box.counts().unseen:
        return False
    return after <= 0 or any(
        entry.standing.status is Status.UNSEEN for entry in box.entries(pending_only=True, after=after)
    )


def confirm(box: Mailbox, message_ids: Sequence[str], identity: Identity, *, only_noticed: bool) -> None:
    """Record that the addressee was given messages whole."""
    box.mark(message_ids, Mark.NOTICED if only_noticed else Mark.SEEN, identity.sender.name)


def acknowledge(
    box: Mailbox,
    message_ids: Sequence[str],
    identity: Identity,
    *,
    through: bool,
    decision: Decision | None,
    action: Action | None,
    summary: str,
    late: Late | None = None,
) -> Cleared:
    """Store the addressee's word, all or none. A message that is gone already is a success.

    Saying again no more than "acknowledged" takes back nothing that was said before, nor does a word that comes late.

    Raises:
        UsageError: No message is named, or several with ``through``.
    """
    if not message_ids or (through and len(message_ids) != 1):
        raise UsageError(
            "through takes one message, up to which all is acknowledged"
            if through
            else "no message was named: reading is not acknowledging",
            remedy="name the messages by their ids",
        )
    entries = [entry for one in dict.fromkeys(message_ids) if (entry := _entry(box, one))]
    if through and entries:
        most = entries[0].message.number
        older = box.entries(pending_only=True)
        entries += [one for one in older if one.message.number < most]
    is_plain = decision is None and action is None
    due = [one for one in entries if _takes_word(one, is_plain=is_plain) and not _is_over(one, late)]
    word = decision or (Decision.ACCEPTED if is_plain else None)
    if due:
        box.acknowledge([Acknowledgement(one.message.id, word, action, summary) for one in due], identity.sender.name)
    return Cleared(sum(one.standing.is_pending for one in due), box.counts())


def check_addressee(identity: Identity, session: Session) -> None:
    """Refuse anybody but the addressee.

    Raises:
        Forbidden: The caller is somebody else.
    """
    if identity.session != session.id:
        raise Forbidden(
            f"only session {session.title} acknowledges its mail; to anybody else it is there to look at",
            remedy="post to it, or ask it to acknowledge",
        )


def _takes_word(entry: Entry, *, is_plain: bool) -> bool:
    standing = entry.standing
    if standing.status is Status.WITHDRAWN:
        return False
    return not is_plain or standing.is_pending or standing.status is Status.EXPIRED


def _is_over(entry: Entry, late: Late | None) -> bool:
    at = entry.standing.acknowledged_at
    return late is not None and at is not None and late.said <= at < late.begun


def _entry(box: Mailbox, message_id: str) -> Entry | None:
    try:
        return box.entry(message_id)
    except (NoSuchMessage, MailboxDeleted):
        return None
