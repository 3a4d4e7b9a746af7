"""Leaving a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import Refused, Screened, UsageError
from restante.domain.limits import Limits, check_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.domain.finding import Finding
    from restante.domain.mailbox import Posted
    from restante.domain.message import Draft
    from restante.ports import Mailbox


def check_draft(draft: Draft, limits: Limits, scan: Callable[[str], list[Finding]], *, allow_warnings: bool) -> None:
    """Refuse a text that should not leave as it is.

    Args:
        draft: What is to be posted.
        limits: The caps; nothing overrides them.
        scan: Screening; not called when warnings are allowed.
        allow_warnings: The sender looked at the findings and wants to post all the same.

    Raises:
        UsageError: The body is empty.
        BadText: The body is not text.
        TooLarge: The body is over the limit.
        Screened: Screening found something; ``details`` holds the findings.
    """
    if not draft.body.strip():
        raise UsageError("the message is empty", remedy="give the text as an argument, or - to read it from stdin")
    check_text(draft.body, limits)
    findings = [] if allow_warnings else scan(draft.body)
    if findings:
        count = f"{len(findings)} finding" + ("s" if len(findings) > 1 else "")
        raise Screened(
            f"not sent: {count} in the text",
            remedy="change the text, or send it with --allow-warnings if it is meant so",
            details=tuple(
                {"code": one.code, "title": one.title, "line": one.line, "excerpt": one.excerpt} for one in findings
            ),
        )


def check_repeatable(draft: Draft) -> None:
    """Refuse to repeat what a repeat cannot keep: it holds a person's text, priority and scope.

    Raises:
        UsageError: The draft has a subject or an expiry.
        Refused: It is from a session: what is posted later would no longer say so.
    """
    kept_out = {"--subject": bool(draft.subject), "--expires": draft.expires is not None}
    named = [option for option, is_given in kept_out.items() if is_given]
    if named:
        raise UsageError(
            f"--repeat goes with neither --subject nor --expires; {' and '.join(named)} was given",
            remedy=f"leave out {' and '.join(named)}, or --repeat",
        )
    if draft.sender.name != "human":
        raise Refused("only a person sets up repeats; this is an agent's session", remedy="send it without --repeat")


def check_expiry(expires: datetime | None, now: datetime) -> None:
    """Refuse a time that has passed already.

    Raises:
        UsageError: It has.
    """
    if expires is not None and expires <= now:
        raise UsageError(f"the message would expire in the past ({expires.isoformat()})", remedy="give a later time")


def post(mailbox: Mailbox, draft: Draft) -> Posted:
    """Store a checked draft; see ``Mailbox.post``."""
    return mailbox.post(draft)
