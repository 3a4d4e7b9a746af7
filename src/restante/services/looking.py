"""Looking back into a mailbox, the newest messages first; it marks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.case import Case, Timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.lifecycle import Status
    from restante.domain.mailbox import Entry
    from restante.domain.message import Reply
    from restante.ports import Mailbox

_PAGE = 200
# A filter that nothing fits must not read a history of any length, and whoever looks into texts reads every byte.
_MOST_PAGES = 25
_MOST_PAGES_OF_TEXT = 5


def timeline(mailbox: Mailbox, *, before: int, limit: int, fits: Callable[[Status], bool], find: str = "") -> Timeline:
    """Return the newest messages, with all that was said of each.

    Args:
        mailbox: Where to look.
        before: Only messages with a smaller number; 0 for the newest.
        limit: At most so many.
        fits: Only messages with such a status.
        find: Only messages that have all these words; of those, a part of the history is looked through, which
            ``Timeline.older`` tells. No word of any text is kept for that anywhere.
    """
    has_words = _seeking(mailbox, find) if find else None
    total = mailbox.counts().total
    first = mailbox.entries(limit=1) if total else []
    if not first:
        return Timeline((), 0)
    lowest = first[0].message.number
    end = before or _last(mailbox, lowest + total - 1) + 1
    found: list[Entry] = []
    for _ in range(_MOST_PAGES_OF_TEXT if has_words else _MOST_PAGES):
        start = max(lowest, end - _PAGE)
        page = mailbox.entries(after=start - 1, limit=end - start)
        fitting = [one for one in reversed(page) if one.message.number < end and fits(one.standing.status)]
        found += filter(has_words, fitting) if has_words else fitting
        end = start
        if len(found) >= limit or end <= lowest:
            break
    shown = found[:limit]
    older = shown[-1].message.number if len(found) > limit else (end if end > lowest else 0)
    return Timeline(tuple(_case(mailbox, one) for one in shown), older)


def _seeking(mailbox: Mailbox, find: str) -> Callable[[Entry], bool]:
    from restante.domain.seeking import sought

    wanted = sought(find)
    replies: dict[str, list[Reply]] = {}
    for one in mailbox.replies():
        replies.setdefault(one.to, []).append(one)
    return lambda entry: wanted.fits(entry, replies.get(entry.message.id, ()))


def _last(mailbox: Mailbox, least: int) -> int:
    """Return the newest message's number, which is at least this: where some were archived, the numbers have gaps."""
    tail = mailbox.entries(after=least - 1)
    return tail[-1].message.number if tail else least


def _case(mailbox: Mailbox, entry: Entry) -> Case:
    message_id = entry.message.id
    return Case(entry, tuple(mailbox.receipts(message_id)), tuple(mailbox.replies(message_id)))
