"""What each tool does, and what a model is told of it: text, capped, that ends with what may be done next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante import desk as desks
from restante.domain.errors import NoSuchMessage, RestanteError, TimedOut, UsageError
from restante.domain.mailbox import Counts
from restante.domain.message import choose
from restante.domain.telling import Ways, message_block, next_lines, said_words, that_fit, where_words
from restante.domain.text import iso, visible
from restante.faces.mcp.arguments import check_known, flag_in, ids_in, text_in
from restante.faces.mcp.sending import send, who
from restante.faces.mcp.telling import Told, check_session, failed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.desk import Desk, Mail
    from restante.domain.mailbox import Entry
    from restante.domain.message import Reply
    from restante.faces.mcp.telling import Place


WAYS = Ways(
    'ack(ids=["{}"], decision="accepted", action="applied", summary="what you did")',
    'reply(id="{}", text="a question or an explanation")',
    'ack(through="{}", decision="accepted")',
    'ID", "...',
)


def call(name: str, place: Place, arguments: Mapping[str, object]) -> Told:
    """Run a tool that does not wait.

    Raises:
        KeyError: There is none of this name.
    """
    act = _ACTS[name]
    try:
        return act(place, arguments)
    except RestanteError as error:
        return failed(error)


def inbox(place: Place, arguments: Mapping[str, object]) -> Told:
    """Show what waits; with ids, just those, or what became of those that the caller sent."""
    ids, peek = ids_in(arguments, "ids"), flag_in(arguments, "peek")
    check_known(arguments, "ids", "peek")
    return shown(place, place.desk(), ids, peek=peek)


def shown(place: Place, desk: Desk, ids: Sequence[str] = (), *, peek: bool = False) -> Told:
    """Return the mail that waits at a desk, as ``inbox`` and ``wait`` tell it."""
    mail = desks.collect(desk)
    if mail.trouble and not mail.entries:
        raise mail.trouble
    try:
        found = desks.named(desk, mail, ids) if ids else mail.entries
    except NoSuchMessage:
        if traces := _traces(desk, ids):
            return Told(traces)
        raise
    entries = found if ids else that_fit(found, desk.tools.settings.inbox_max_bytes)
    left_out = len(found) - len(entries) + (mail.reading.left_out if mail.reading and not ids else 0)
    is_look = peek or not place.is_session or not (desk.window or (desk.office and desk.office.caller.is_addressee))
    text = _listing(desk, mail, entries, left_out, is_look=is_look)
    if is_look or not entries:
        return Told(text)
    return Told(text, lambda: desks.hand_over(desk, entries, lambda: None))


def _listing(desk: Desk, mail: Mail, entries: Sequence[Entry], left_out: int, *, is_look: bool) -> str:
    notes = []
    if mail.trouble:
        notes.append(f"note: this session's own mailbox could not be looked into: {visible(mail.trouble.message)}")
    if not entries:
        return "\n".join(["no mail waits", *notes, "next: wait, or go on with your work"])
    now = desk.tools.clock.now()
    has_two = mail.reading is not None
    blocks = [
        message_block(
            one,
            now,
            where=where_words(one) if has_two else "",
            names=mail.reading.names if mail.reading else {},
        )
        for one in entries
    ]
    lines = ["\n".join(blocks)]
    if left_out:
        lines.append(f"{left_out} more; answer these, then: inbox")
    lines += next_lines(entries, left_out, WAYS)
    if is_look:
        notes.append("(a look: nothing was marked as seen)")
    return "\n".join([*lines, *notes])


def _traces(desk: Desk, ids: Sequence[str]) -> str:
    """Return what became of messages that the caller sent; empty where it did not send them."""
    if desk.window is None:
        return ""
    from restante.domain.listing import trace_lines

    traces = [one for one in desk.window.receipts(limit=1000) if any(_fits(part, one.message_id) for part in ids)]
    if not traces:
        return ""
    names = {row.session.id: row.session for row in desk.window.sessions()}
    return f"you sent:\n{trace_lines(traces, names, desk.tools.clock.now())}next: wait, or who"


def _fits(part: str, message_id: str) -> bool:
    return len(part) >= 6 and (message_id.endswith(part) or message_id.startswith(part))


def ack(place: Place, arguments: Mapping[str, object]) -> Told:
    """Acknowledge messages in whichever mailbox they are."""
    from restante.domain.listing import cleared_lines
    from restante.domain.receipt import Action, Decision

    ids, through = ids_in(arguments, "ids"), text_in(arguments, "through")
    summary = text_in(arguments, "summary")
    given = text_in(arguments, "decision"), text_in(arguments, "action")
    check_known(arguments, "ids", "through", "decision", "action", "summary")
    if bool(ids) == bool(through):
        raise UsageError("say which messages: either ids or through", remedy="inbox shows the ids")
    decision = choose(Decision, given[0], what="decision") if given[0] else None
    action = choose(Action, given[1], what="action") if given[1] else None
    check_session(place)
    desk = place.desk()
    mail = desks.collect(desk)
    here, own = desks.split(desk, mail, [through] if through else ids)
    if through and here and desk.office:
        here = desks.up_to(desk.office, here[0])
    done = desks.acknowledge(
        desk, mail, here, own, through=bool(through), decision=decision, action=action, summary=summary
    )
    lines = [f"acknowledged {one.message_id}: {said_words(one.decision, one.action)}" for one in done.receipts]
    counts = done.cleared.counts if done.cleared else mail.reading.counts if mail.reading else Counts()
    if done.cleared:
        words = said_words(decision, action, "accepted")
        lines += cleared_lines(own, done.cleared, words, through=bool(through))
        if summary and not done.cleared.is_left:
            lines += [
                f'{visible(to)} is told {words}, and none of the words; for those: send(to="{visible(to)}", text=...)'
                for to in desks.senders_told_no_words(mail, own)
            ]
    pending = counts.pending + (desk.office.counts().pending if desk.office else 0)
    lines.append(f"{pending} more: inbox" if pending else "no mail waits")
    return Told("\n".join(lines))


def reply(place: Place, arguments: Mapping[str, object]) -> Told:
    """Answer a message in words."""
    message, text = text_in(arguments, "id", needed=True), text_in(arguments, "text", needed=True)
    check_known(arguments, "id", "text")
    check_session(place)
    desk = place.desk()
    if found := desks.reply(desk, desks.collect(desk), message, text):
        from restante.domain.listing import named

        entry, handed = found
        to, answered = named(handed.to), entry.message.id
        if handed.is_left:
            lines = [f"left for your next checkpoint, which carries it out of this sandbox: to {to}"]
        else:
            lines = [f"replied {handed.posted.message.id} to {answered}, posted to {to}"]
        is_pending = entry.standing.is_pending
    else:
        if desk.office is None:
            raise NoSuchMessage(f"no message {message!r}", remedy="restante inbox")
        written: Reply = desk.office.reply(message, text)
        answered = written.to
        lines = [f"replied {written.id} to {answered}"]
        is_pending = desk.office.inbox((answered,))[0].standing.is_pending
    if is_pending:
        lines.append(f'the message still waits for: ack(ids=["{answered}"], decision=...)')
    return Told("\n".join(lines))


def nothing_came(desk: Desk, seconds: float) -> Told:
    """Return what a wait that ended for nothing tells; never the same twice, so that nobody takes it for a loop."""
    error = TimedOut(f"no new mail in {seconds:g} s (at {iso(desk.tools.clock.now())})")
    return Told(f"{error.message}\nnext: wait again, or go on with your work")


def resource(place: Place, uri: str) -> str:
    """Return the text of a resource; nothing is marked by it.

    Raises:
        NoSuchMessage: There is none of this name.
    """
    from restante.faces.mcp.tools import MAILBOX, MESSAGE

    if uri == MAILBOX:
        return shown(place, place.desk(), peek=True).text
    message = uri.removeprefix(MESSAGE)
    if message == uri or not message:
        raise NoSuchMessage(f"no resource {uri!r}", remedy=MAILBOX)
    return shown(place, place.desk(), (message,), peek=True).text


_ACTS = {"inbox": inbox, "ack": ack, "reply": reply, "send": send, "who": who}
