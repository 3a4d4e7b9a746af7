"""The two mailboxes of an agent's session in one list: its worktree's, and its own, to which other sessions write."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from restante import desk as desks
from restante.desk import Desk
from restante.domain.errors import RestanteError
from restante.domain.mailbox import Counts
from restante.domain.telling import said_words, that_fit
from restante.domain.text import visible
from restante.faces.cli import showing
from restante.faces.cli.output import say, tell
from restante.faces.cli.windows import checked, window_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.desk import Mail, Tools
    from restante.domain.receipt import Action, Decision
    from restante.office import Office


def open_desk(office: Office | None, tools: Tools, directory: str, session: str | None) -> Desk | None:
    """Return the desk of the caller, or one to look into the mailbox of a session that was named.

    Args:
        office: The worktree's office.
        tools: An office that has time and settings.
        directory: Where the caller works.
        session: The session that was named, if one was.

    Returns:
        ``None`` when none was named and the caller is no session.

    Raises:
        RestanteError: The window cannot be opened, and there is no worktree's mailbox to show instead.
    """
    try:
        window = window_of(directory)
        if session is not None:
            return Desk(None, window, checked(window, session), tools, directory)
        return Desk(office, window, "", tools, directory) if window.identity.session else None
    except RestanteError as error:
        if office is None or session is not None:
            raise
        return Desk(office, None, "", tools, directory, error)


def show_inbox(desk: Desk, messages: Sequence[str], seconds: float | None, *, peeking: bool, as_json: bool) -> int:
    """Show what waits in both mailboxes, the most urgent first, and mark it seen if it is the caller's own.

    Returns:
        The exit code: that of the error where the session's mailbox could not be looked into.

    Raises:
        TimedOut: Nothing came.
        RestanteError: That mailbox could not be looked into, and nothing waits in the worktree's.
    """
    began = desk.tools.clock.now()
    mail = desks.collect(desk)
    if seconds is not None and not messages and not mail.trouble and not mail.has_unseen:
        opener = window_of if mail.reading is not None else None
        came = desks.has_come(desk, seconds, opener and partial(opener, desk.directory))
        mail = desks.collect(desk)
        if not came and not mail.has_unseen:
            raise _nothing_came(desk, mail, seconds)
    late = (desk.tools.clock.now() - began).total_seconds() > showing.LONGEST_WATCHED_WAIT
    if mail.trouble and not mail.entries:
        raise mail.trouble
    waiting = desks.named(desk, mail, messages) if messages else mail.entries
    shown = waiting if messages else that_fit(waiting, desk.tools.settings.inbox_max_bytes)
    left_out = len(waiting) - len(shown) + (mail.reading.left_out if mail.reading and not messages else 0)
    is_look = mail.reading is not None and mail.reading.is_peek
    peeking = peeking or is_look
    whose = _called(desk) if is_look and not as_json else ""

    def show() -> None:
        showing.show(
            desk.tools,
            shown,
            left_out,
            desk.office.counts() if desk.office else Counts(),
            peeking=peeking,
            as_json=as_json,
            session_counts=mail.reading.counts if mail.reading else None,
            not_read=mail.trouble.message if mail.trouble else "",
            names=mail.reading.names if mail.reading else None,
            whose=whose,
        )

    if peeking:
        show()
    elif unmarked := desks.hand_over(desk, shown, show, only_noticed=late):
        tell(f"note: nothing of this session's mail was marked as seen: {visible(unmarked.message)}")
    return _say_trouble(mail.trouble) if mail.trouble else 0


def _called(desk: Desk) -> str:
    """Return what the session is called whose mailbox is looked into."""
    from restante.domain.listing import named
    from restante.faces.cli.windows import row_of

    return named(row_of(desk.window.sessions(), desk.session).session) if desk.window else ""


def _say_trouble(error: RestanteError) -> int:
    way_out = f"; {visible(error.remedy)}" if error.remedy else ""
    tell(f"note: this session's own mailbox could not be looked into: {visible(error.message)}{way_out}")
    return error.exit_code


def _nothing_came(desk: Desk, mail: Mail, seconds: float) -> RestanteError:
    marks = [str(desk.office.counts().high_water)] if desk.office else []
    marks += [str(mail.reading.counts.high_water)] if mail.reading else []
    words = f"high-water mark {' and '.join(marks)}"
    if mail.entries:
        words += f"; {len(mail.entries)} read and not acknowledged: restante inbox"
    whose = f" --session {desk.session}" if desk.session else ""
    return showing.nothing_came(desk.tools, seconds, words, remedy=f"restante inbox{whose} --wait {seconds:g}")


def acknowledge(
    desk: Desk,
    messages: Sequence[str],
    through: str | None,
    decision: Decision | None,
    action: Action | None,
    summary: str,
    notes: str,
    *,
    as_json: bool,
) -> None:
    """Acknowledge messages in whichever mailbox they are, and say so."""
    mail = desks.collect(desk)
    here, own = desks.split(desk, mail, [through] if through else messages)
    if through and here and desk.office:
        here = desks.up_to(desk.office, here[0])
    if here and not own and desk.office and not mail.reading:
        showing.acknowledge_here(desk.office, here, decision, action, summary, notes, as_json=as_json)
        return
    answered = desks.acknowledge(
        desk,
        mail,
        here,
        own,
        through=through is not None,
        decision=decision,
        action=action,
        summary=summary,
        notes=notes,
    )
    receipts, cleared = answered.receipts, answered.cleared
    counts = desk.office.counts() if desk.office else Counts()
    session_counts = cleared.counts if cleared else mail.reading.counts if mail.reading else Counts()
    if as_json:
        from restante.faces.cli.jsonable import of_counts, of_receipt, print_json

        removed = cleared.removed if cleared else 0
        left = cleared is not None and cleared.is_left
        session = {"ids": own, "removed": removed, "counts": of_counts(session_counts), "left": left}
        print_json({"receipts": [of_receipt(one) for one in receipts], "counts": of_counts(counts), "session": session})
        return
    for receipt in receipts:
        say(f"acknowledged {receipt.message_id}: {said_words(receipt.decision, receipt.action)}")
    if cleared:
        from restante.domain.listing import cleared_lines

        words = said_words(decision, action, "accepted")
        say("\n".join(cleared_lines(own, cleared, words, through=through is not None)))
        if (summary or notes) and not cleared.is_left:
            _say_who_is_told_no_words(mail, own, decision, action)
    pending = counts.pending + session_counts.pending
    say(f"{pending} more: restante inbox" if pending else "no mail waits")


def _say_who_is_told_no_words(mail: Mail, own: Sequence[str], decision: Decision | None, action: Action | None) -> None:
    """Say to whom words have to be posted: a sender is told states only."""
    from restante.domain.registry import brief

    told = said_words(decision, action, "accepted")
    for sender in desks.senders_told_no_words(mail, own):
        to = visible(brief(sender))
        tell(f'{to} is told {told}, and none of the words; for those: restante post {to} "TEXT"')


def reply_to_session(desk: Desk, message: str, text: str, *, as_json: bool) -> bool:
    """Post an answer to the session that wrote a message, if the message is in the session's own mailbox.

    Returns:
        Whether it was.

    Raises:
        Refused: Nobody with a mailbox wrote it.
    """
    found = desks.reply(desk, desks.collect(desk), message, text)
    if found is None:
        return False
    entry, handed = found
    posted = handed.posted.message
    if as_json:
        from restante.domain.message import Reply
        from restante.faces.cli.jsonable import of_reply, print_json

        print_json({"reply": of_reply(Reply(posted.id, entry.message.id, posted.created, text, posted.sender))})
        return True
    from restante.domain.listing import named

    if handed.is_left:
        say(f"left for your next checkpoint, which carries it out of this sandbox: to {named(handed.to)}")
    else:
        say(f"replied {posted.id} to {entry.message.id}, posted to {named(handed.to)}")
    if entry.standing.is_pending:
        say(f"the message still waits for: restante ack {entry.message.id}")
    return True
