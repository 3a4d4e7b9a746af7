"""Guidance that is posted again and again.

Any number of runners may work on one book. Each due period has one client id, and the mailbox posts a client id
once; so whatever happens to a runner between claiming, posting and settling, the period's message is posted once.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Conflict, RestanteError, Screened, UsageError
from restante.domain.message import Draft
from restante.domain.repeat import Repeat

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.finding import Finding
    from restante.domain.mailbox import Posted
    from restante.domain.message import Message
    from restante.ports import Clock, Ids, Mailbox, RepeatBook

LEAST_INTERVAL_MS = 5000
MOST_INTERVAL_MS = 3650 * 86_400_000


class Run(NamedTuple):
    """One repeat's message that was posted.

    Attributes:
        repeat: The repeat as it was when it was claimed.
        posted: What the mailbox said; a duplicate was posted before by a runner that died.
    """

    repeat: Repeat
    posted: Posted


class Failure(NamedTuple):
    """One repeat that could not be posted, or not be settled; it is tried again later."""

    repeat: Repeat
    error: RestanteError


class RunResult(NamedTuple):
    """What became of the repeats that were due."""

    sent: tuple[Run, ...] = ()
    failed: tuple[Failure, ...] = ()


def check_interval(interval_ms: int) -> None:
    """Refuse an interval that would flood a mailbox, or that no calendar holds.

    Raises:
        UsageError: It is shorter than 5 seconds or longer than ten years.
    """
    if interval_ms < LEAST_INTERVAL_MS:
        raise UsageError(
            f"a repeat every {interval_ms} ms is too often", remedy=f"give at least {LEAST_INTERVAL_MS // 1000}s"
        )
    if interval_ms > MOST_INTERVAL_MS:
        raise UsageError(f"a repeat every {interval_ms} ms is longer than ten years", remedy="give a shorter interval")


def add_repeat(
    book: RepeatBook, ids: Ids, clock: Clock, message: Message, *, interval_ms: int, allow_warnings: bool = False
) -> Repeat:
    """Post a message that was just posted again and again, first after one interval.

    A message that is repeated already (its sender posted it again under the same client id) is not repeated twice.

    Args:
        book: Where repeats are kept.
        ids: Gives the repeat its id.
        clock: Says when it begins.
        message: What was posted; its text, priority and scope are repeated.
        interval_ms: Milliseconds between two messages.
        allow_warnings: Whether its sender overrode screening; later messages then are not screened either.

    Raises:
        UsageError: The interval is too short or too long.
        Damaged: The book cannot be understood.
    """
    check_interval(interval_ms)
    known = next((one for one in book.all() if one.source_message_id == message.id), None)
    if known is not None:
        return known
    now = clock.now()
    repeat = Repeat(
        id=ids.new("auto", now),
        active=True,
        body=message.body,
        priority=message.priority,
        scope=message.scope,
        interval_ms=interval_ms,
        created=now,
        updated=now,
        next_run=now + timedelta(milliseconds=interval_ms),
        source_message_id=message.id,
        allow_warnings=allow_warnings,
    )
    book.add(repeat)
    return repeat


def run_due(
    book: RepeatBook, mailbox: Mailbox, screen: Callable[[str], list[Finding]], clock: Clock, *, limit: int = 10
) -> RunResult:
    """Post what is due; a repeat that cannot be posted never keeps another one from it.

    Args:
        book: Where repeats are kept.
        mailbox: Where their messages go.
        screen: Looks at a text again, unless its sender overrode that; rules may have come since it was set up.
        clock: Says what is due.
        limit: Post at most so many.

    Raises:
        Damaged: The book cannot be understood.
    """
    sent: list[Run] = []
    failed: list[Failure] = []
    tried: set[str] = set()
    while len(sent) < limit:
        claimed = book.claim_due(clock.now(), limit - len(sent))
        if all(repeat.id in tried for repeat, _ in claimed):
            break
        for repeat, client_id in claimed:
            tried.add(repeat.id)
            try:
                posted = _post(mailbox, repeat, client_id, screen)
                sent.append(Run(repeat, posted))
                book.settle(repeat.id, client_id, clock.now())
            except Conflict as error:
                # Posted before its text was edited in the book: that period is done, the next has a new client id.
                failed.append(Failure(repeat, error))
                book.settle(repeat.id, client_id, clock.now())
            except RestanteError as error:
                failed.append(Failure(repeat, error))
    return RunResult(tuple(sent), tuple(failed))


def _post(mailbox: Mailbox, repeat: Repeat, client_id: str, screen: Callable[[str], list[Finding]]) -> Posted:
    findings = [] if repeat.allow_warnings else screen(repeat.body)
    if findings:
        first = findings[0]
        raise Screened(
            f"{repeat.id} not sent: {first.title} in line {first.line}"
            + (f", and {len(findings) - 1} more" if len(findings) > 1 else ""),
            remedy=f"remove it (restante repeats remove {repeat.id}) and send it anew",
            details=tuple(
                {"code": one.code, "title": one.title, "line": one.line, "excerpt": one.excerpt} for one in findings
            ),
        )
    return mailbox.post(
        Draft(body=repeat.body, priority=repeat.priority, scope=repeat.scope, client_id=client_id),
    )
