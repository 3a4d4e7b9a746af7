"""The agent's commands: ``inbox``, ``ack``, ``reply``. A model reads the answers: short, ending with what to do.

Where sessions are used, an agent has two mailboxes; ``both`` does the same for the two of them in one list.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from restante.domain.errors import NoSuchMessage, NoWorktree, TimedOut, UsageError
from restante.domain.message import choose
from restante.faces.cli.inputs import office_of, seconds_from, text_from
from restante.faces.cli.output import say, tell
from restante.faces.cli.render import message_block
from restante.faces.cli.windows import sessions_are_used

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.mailbox import Counts, Entry
    from restante.domain.receipt import Action, Decision
    from restante.faces.cli.both import Desk
    from restante.office import Office

# Agent programs move a command to the background after 120 s; nobody reads what it prints then.
LONGEST_WATCHED_WAIT = 100.0


def inbox(
    messages: tuple[str, ...], wait: str | None, peek: bool, session: str | None, directory: str, as_json: bool
) -> int:
    """Show the messages that wait for an answer, the most urgent first; with IDs, just those.

    Run by an agent's session, what is shown is marked as seen. It stays until it is acknowledged with ack.
    """
    office, desk = _open(directory, session)
    if desk:
        from restante.faces.cli.both import show_inbox

        seconds = seconds_of(wait, desk.tools) if wait is not None else None
        return show_inbox(desk, messages, seconds, peeking=peek, as_json=as_json)
    assert office
    seconds = seconds_of(wait, office) if wait is not None else None
    began = office.clock.now()
    entries = office.inbox(messages, wait=seconds)
    if seconds is not None and not entries:
        # The time and the mark differ from call to call, so that nobody takes two waits for a loop that is stuck.
        raise nothing_came(office, seconds, f"high-water mark {office.counts().high_water}")
    waited = (office.clock.now() - began).total_seconds()
    shown = list(entries) if messages else that_fit(entries, office.settings.inbox_max_bytes)
    left_out = len(entries) - len(shown)
    if peek or not office.caller.is_addressee:
        show(office, shown, left_out, office.counts(), peeking=True, as_json=as_json)
    else:
        office.hand_over(
            shown,
            lambda whole: show(
                office, whole, len(entries) - len(whole), office.counts(), peeking=False, as_json=as_json
            ),
            only_noticed=waited > LONGEST_WATCHED_WAIT,
        )
    return 0


def _open(directory: str, session: str | None = None) -> tuple[Office | None, Desk | None]:
    """Return the worktree's office, or the desk of whoever has a session's mailbox too.

    Raises:
        NoWorktree: There is neither.
    """
    office: Office | None = None
    outside: NoWorktree | None = None
    try:
        office = office_of(directory)
    except NoWorktree as error:
        outside = error
    if session is None and office and not office.caller.is_addressee:
        return office, None
    tools = office or office_of(directory, anywhere=True)
    if session is not None or sessions_are_used(tools.settings):
        from restante.faces.cli.both import open_desk

        if desk := open_desk(office, tools, directory, session):
            return None, desk
    if outside:
        raise outside
    return office, None


def seconds_of(text: str, office: Office) -> float:
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


def nothing_came(office: Office, seconds: float, mark: str, *, remedy: str = "") -> TimedOut:
    """Return the error that says so, with the command to go on with."""
    from restante.domain.text import iso

    return TimedOut(
        f"no new mail in {seconds:g} s (at {iso(office.clock.now())}, {mark})",
        remedy=remedy or f"restante inbox --wait {seconds:g}",
    )


def that_fit(entries: Sequence[Entry], limit: int) -> list[Entry]:
    """Return the first entries that fit a model's reading; always one, so that nothing is ever stuck."""
    fitting: list[Entry] = []
    for entry in entries:
        limit -= len(entry.message.body.encode()) + 200
        if fitting and limit < 0:
            break
        fitting.append(entry)
    return fitting


def show(
    office: Office,
    entries: Sequence[Entry],
    left_out: int,
    counts: Counts,
    *,
    peeking: bool,
    as_json: bool,
    session_counts: Counts | None = None,
    not_read: str = "",
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
        says_where = session_counts is not None
        say("\n".join(message_block(entry, now, says_where=says_where) for entry in entries), end="")
        if left_out:
            say(f"\n{left_out} more; answer these, then: restante inbox")
        _say_next(entries, peeking=peeking)
    # Handed over means written out: an error that waits in a buffer must come before the mark.
    sys.stdout.flush()


def _say_next(entries: Sequence[Entry], *, peeking: bool) -> None:
    if any(entry.standing.is_pending for entry in entries):
        ids = entries[0].message.id if len(entries) == 1 else "ID..."
        say(
            "\nThe fenced text is guidance, not a command line. Answer with:\n"
            f'  restante ack {ids} --decision accepted --action applied -m "what you did"\n'
            "  (decisions: accepted, rejected, deferred, needs_confirmation; "
            "actions: applied, blocked, pending, not_applicable)\n"
            f'  restante reply {ids if len(entries) == 1 else "ID"} "a question or an explanation"'
        )
    if peeking:
        tell("(a look: nothing was marked as seen)")


def ack(
    messages: tuple[str, ...],
    through: str | None,
    decision: str | None,
    action: str | None,
    summary: str,
    notes: str,
    directory: str,
    as_json: bool,
) -> None:
    """Say what you decided about messages and what became of the work. Ends their waiting."""
    from restante.domain.receipt import Action, Decision

    if bool(messages) == bool(through):
        raise UsageError(
            "which messages?" if through is None else "both messages and --through were given",
            remedy="restante ack ID..., or restante ack --through ID; restante inbox shows the ids",
        )
    decided = choose(Decision, decision, what="decision") if decision else None
    done = choose(Action, action, what="action") if action else None
    office, desk = _open(directory)
    if desk:
        from restante.faces.cli.both import acknowledge

        acknowledge(desk, messages, through, decided, done, summary, notes, as_json=as_json)
        return
    assert office
    ids = up_to(office, through) if through else messages
    acknowledge_here(office, ids, decided, done, summary, notes, as_json=as_json)


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
        words = " and ".join(word for word in (receipt.decision, receipt.action) if word)
        say(f"acknowledged {receipt.message_id}: {words}")
    pending = office.counts().pending
    say(f"{pending} more: restante inbox" if pending else "no mail waits")


def up_to(office: Office, message: str) -> list[str]:
    """Return the ids of a message and of everything pending in the worktree's mailbox that is older."""
    last = office.inbox((message,))[0].message
    older = [one.message.id for one in office.inbox() if one.message.number < last.number]
    return [*older, last.id]


def reply(message: str, words: tuple[str, ...], file: str | None, directory: str, as_json: bool) -> None:
    """Answer a message in words: a question, an explanation. Acknowledges nothing."""
    office, desk = _open(directory)
    tools = desk.tools if desk else office
    assert tools
    text = text_from(words, file, limit=tools.settings.message_bytes * 4)
    if desk:
        from restante.faces.cli.both import reply_to_session

        if reply_to_session(desk, message, text, as_json=as_json):
            return
        office = desk.office
    if office is None:
        raise NoSuchMessage(f"no message {message!r}", remedy="restante inbox")
    written = office.reply(message, text)
    if as_json:
        from restante.faces.cli.jsonable import of_reply, print_json

        print_json({"reply": of_reply(written)})
        return
    say(f"replied {written.id} to {written.to}")
    if office.inbox((written.to,))[0].standing.is_pending:
        say(f"the message still waits for: restante ack {written.to} --decision ...")
