"""The agent's commands: ``inbox``, ``ack``, ``reply``. A model reads the answers: short, ending with what to do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from restante.domain.errors import TimedOut
from restante.domain.message import choose
from restante.faces.cli.inputs import office_of, seconds_from, text_from
from restante.faces.cli.output import say, tell
from restante.faces.cli.render import message_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.mailbox import Entry
    from restante.office import Office

# Agent programs move a command to the background after 120 s; nobody reads what it prints then.
_LONGEST_WATCHED_WAIT = 100.0


def inbox(messages: tuple[str, ...], wait: str | None, peek: bool, directory: str, as_json: bool) -> int:
    """Show the messages that wait for an answer, the most urgent first; with IDs, just those.

    Run by an agent's session, what is shown is marked as seen. It stays until it is acknowledged with ack.
    """
    office = office_of(directory)
    seconds = _seconds(wait, office) if wait is not None else None
    began = office.clock.now()
    entries = office.inbox(messages, wait=seconds)
    if seconds is not None and not entries:
        raise _nothing_came(office, seconds)
    waited = (office.clock.now() - began).total_seconds()
    shown = list(entries) if messages else _that_fit(entries, office.settings.inbox_max_bytes)
    if peek or not office.caller.is_addressee:
        _show(office, shown, len(entries) - len(shown), peeking=True, as_json=as_json)
    else:
        office.hand_over(
            shown,
            lambda whole: _show(office, whole, len(entries) - len(whole), peeking=False, as_json=as_json),
            only_noticed=waited > _LONGEST_WATCHED_WAIT,
        )
    return 0


def _seconds(text: str, office: Office) -> float:
    if not text:
        return office.settings.inbox_wait
    seconds = seconds_from(text)
    if seconds > _LONGEST_WATCHED_WAIT:
        tell(
            "note: agent programs stop listening to a command after about 2 minutes; "
            f"waits up to {_LONGEST_WATCHED_WAIT:.0f} s are safe"
        )
    return seconds


def _nothing_came(office: Office, seconds: float) -> TimedOut:
    from restante.domain.text import iso

    # The time and the mark differ from call to call, so that nobody takes two waits for a loop that is stuck.
    mark = office.counts().high_water
    return TimedOut(
        f"no new mail in {seconds:g} s (at {iso(office.clock.now())}, high-water mark {mark})",
        remedy=f"restante inbox --wait {seconds:g}",
    )


def _that_fit(entries: Sequence[Entry], limit: int) -> list[Entry]:
    """Return the first entries that fit a model's reading; always one, so that nothing is ever stuck."""
    fitting: list[Entry] = []
    for entry in entries:
        limit -= len(entry.message.body.encode()) + 200
        if fitting and limit < 0:
            break
        fitting.append(entry)
    return fitting


def _show(office: Office, entries: Sequence[Entry], left_out: int, *, peeking: bool, as_json: bool) -> None:
    if as_json:
        from restante.faces.cli.jsonable import of_counts, of_entry, print_json

        print_json(
            {
                "messages": [of_entry(entry) for entry in entries],
                "left_out": left_out,
                "peeked": peeking,
                "counts": of_counts(office.counts()),
            }
        )
    elif not entries:
        say("no mail waits")
    else:
        now = office.clock.now()
        say("\n".join(message_block(entry, now) for entry in entries), end="")
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
    decision: str | None,
    action: str | None,
    summary: str,
    notes: str,
    directory: str,
    as_json: bool,
) -> None:
    """Say what you decided about messages and what became of the work. Ends their waiting."""
    from restante.domain.receipt import Action, Decision

    office = office_of(directory)
    receipts = office.acknowledge(
        messages,
        decision=choose(Decision, decision, what="decision") if decision else None,
        action=choose(Action, action, what="action") if action else None,
        summary=summary,
        notes=notes,
    )
    if as_json:
        from restante.faces.cli.jsonable import of_counts, of_receipt, print_json

        print_json({"receipts": [of_receipt(one) for one in receipts], "counts": of_counts(office.counts())})
        return
    for receipt in receipts:
        words = " and ".join(word for word in (receipt.decision, receipt.action) if word)
        say(f"acknowledged {receipt.message_id}: {words}")
    pending = office.counts().pending
    say(f"{pending} more: restante inbox" if pending else "no mail waits")


def reply(message: str, words: tuple[str, ...], file: str | None, directory: str, as_json: bool) -> None:
    """Answer a message in words: a question, an explanation. Acknowledges nothing."""
    office = office_of(directory)
    written = office.reply(message, text_from(words, file, limit=office.settings.message_bytes * 4))
    if as_json:
        from restante.faces.cli.jsonable import of_reply, print_json

        print_json({"reply": of_reply(written)})
        return
    say(f"replied {written.id} to {written.to}")
    if office.inbox((written.to,))[0].standing.is_pending:
        say(f"the message still waits for: restante ack {written.to} --decision ...")
