"""What ``inbox`` and ``ack`` say and how long they wait, whether an agent has one mailbox or two."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from restante.domain.errors import TimedOut
from restante.domain.telling import COMMANDS, message_block, next_lines, said_words, where_words
from restante.faces.cli.inputs import seconds_from
from restante.faces.cli.output import say, tell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.desk import Tools
    from restante.domain.mailbox import Counts, Entry
    from restante.domain.receipt import Action, Decision
    from restante.office import Office

# Agent programs move a command to the background after 120 s; nobody reads what it prints then.
LONGEST_WATCHED_WAIT = 100.0


def seconds_of(text: str, office: Tools) -> float:
    """Return how long to wait, as it stands on the command line; warn where no agent program would listen so long."""
    if not text:
        return office.settings.inbox_wait
    seconds = seconds_from(text)
    if seconds > LONGEST_WATCHED_WAIT:
        tell(
            "note: agent programs stop listening to a command after about 2 minutes; "
            f"waits up to {LONGEST_WATCHED_WAIT:.0f} s are safe"
        )
    return seconds


def nothing_came(office: Tools, seconds: float, mark: str, *, remedy: str = "") -> TimedOut:
    """Return the error that says so, with the command to go on with."""
    from restante.domain.text import iso

    return TimedOut(
        f"no new mail in {seconds:g} s (at {iso(office.clock.now())}, {mark})",
        remedy=remedy or f"restante inbox --wait {seconds:g}",
    )


def show(
    office: Tools,
    entries: Sequence[Entry],
    left_out: int,
    counts: Counts,
    *,
    peeking: bool,
    as_json: bool,
    session_counts: Counts | None = None,
    not_read: str = "",
    names: Mapping[str, str] | None = None,
    whose: str = "",
) -> None:
    """Show messages.

    Args:
        office: Where the time comes from.
        entries: Which messages.
        left_out: How many more there are.
        counts: The numbers of the worktree's mailbox.
        peeking: Whether nothing will be marked.
        as_json: Whether a program reads it.
        session_counts: The numbers of the session's own mailbox, where there is one.
        not_read: Why it could not be looked into.
        names: What the sessions that wrote are called, by their addresses.
        whose: The session whose mailbox somebody else looks into.
    """
    if as_json:
        from restante.faces.cli.jsonable import of_counts, of_entry, print_json

        print_json(
            {
                "messages": [of_entry(entry) for entry in entries],
                "left_out": left_out,
                "peeked": peeking,
                "counts": of_counts(counts),
                "session_counts": of_counts(session_counts) if session_counts else None,
                "not_read": not_read or None,
            }
        )
    elif not entries:
        say("no mail waits")
    else:
        now = office.clock.now()
        blocks = []
        for entry in entries:
            where = whose or where_words(entry) if session_counts else ""
            blocks.append(message_block(entry, now, where=where, names=names or {}))
        say("\n".join(blocks), end="")
        if whose:
            if left_out:
                say(f"\n{left_out} more")
            tell(f"to {whose}, a look: nothing was marked")
        else:
            if left_out:
                say(f"\n{left_out} more; answer these, then: restante inbox")
            _say_next(entries, left_out, peeking=peeking)
    # Handed over means written out: an error that waits in a buffer must come before the mark.
    sys.stdout.flush()


def _say_next(entries: Sequence[Entry], left_out: int, *, peeking: bool) -> None:
    if lines := next_lines(entries, left_out, COMMANDS):
        say("\n" + "\n".join(lines))
    if peeking:
        tell("(a look: nothing was marked as seen)")


def acknowledge_here(
    office: Office,
    messages: Sequence[str],
    decision: Decision | None,
    action: Action | None,
    summary: str,
    notes: str,
    *,
    as_json: bool,
) -> None:
    """Acknowledge messages of the worktree's mailbox, and say so."""
    receipts = office.acknowledge(messages, decision=decision, action=action, summary=summary, notes=notes)
    if as_json:
        from restante.faces.cli.jsonable import of_counts, of_receipt, print_json

        receipts_said = [of_receipt(one) for one in receipts]
        print_json({"receipts": receipts_said, "counts": of_counts(office.counts()), "session": None})
        return
    for receipt in receipts:
        say(f"acknowledged {receipt.message_id}: {said_words(receipt.decision, receipt.action)}")
    pending = office.counts().pending
    say(f"{pending} more: restante inbox" if pending else "no mail waits")
