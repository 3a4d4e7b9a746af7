"""What each tool does, and what a model is told of it: text, capped, that ends with what may be done next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante import desk as desks
from restante.domain.errors import Forbidden, NoSuchMessage, RestanteError, TimedOut, UsageError
from restante.domain.mailbox import Counts
from restante.domain.message import Draft, Priority, choose
from restante.domain.telling import Ways, message_block, next_lines, said_words, that_fit, where_words
from restante.domain.text import iso, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from restante.desk import Desk, Mail, Tools
    from restante.domain.mailbox import Entry
    from restante.domain.message import Reply
    from restante.ports.sessions import Window

# Programs give up on a tool, or put it into the background, after about two minutes.
LONGEST_WAIT = 100.0
USUAL_WAIT = 60.0
WORKTREE = "worktree"

WAYS = Ways(
    'ack(ids=["{}"], decision="accepted", action="applied", summary="what you did")',
    'reply(id="{}", text="a question or an explanation")',
    'ack(through="{}", decision="accepted")',
    'ID", "...',
)
_AS_TOOLS = {"ls": "who", "post": "send", "inbox": "inbox", "ack": "ack", "reply": "reply", "send": "send"}
_MOST_ROWS = 40
_MOST_IDS = 100


class Place(Protocol):
    """How one call gets to mail."""

    @property
    def is_session(self) -> bool:
        """Whether the program proved which session calls."""

    def desk(self) -> Desk:
        """Return where the caller's mail is."""

    def window(self) -> Window:
        """Return what the caller can ask of the sessions."""

    def tools(self) -> Tools:
        """Return time and settings."""


class Told(NamedTuple):
    """The answer of a tool.

    Attributes:
        text: For the model.
        seen: Records that it was handed over; to be called once it was, whole.
        is_error: Whether nothing was done.
    """

    text: str
    seen: Callable[[], object] | None = None
    is_error: bool = False


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


def failed(error: RestanteError) -> Told:
    """Return what a model is told of an error: what went wrong, and what to do, by the tools it has."""
    remedy = re.sub(
        r"\brestante (ls|post|inbox|ack|reply|send)\b", lambda found: f"the tool {_AS_TOOLS[found[1]]}", error.remedy
    )
    return Told(visible(f"{error.message}\n{remedy}" if remedy else error.message), is_error=True)


def check_session(place: Place) -> None:
    """Refuse what only the addressee of mail can do.

    Raises:
        Forbidden: Nothing proved which session calls.
    """
    if not place.is_session:
        raise Forbidden(
            "your program does not say which session this is, so that no mailbox is yours",
            remedy="run it where a session is named, or use: restante inbox",
        )


def inbox(place: Place, arguments: Mapping[str, object]) -> Told:
    """Show what waits; with ids, just those, or what became of those that the caller sent."""
    ids, peek = _ids_in(arguments, "ids"), _flag_in(arguments, "peek")
    _check_known(arguments, "ids", "peek")
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
    from restante.domain.roster import trace_lines

    traces = [one for one in desk.window.receipts(limit=1000) if any(_fits(part, one.message_id) for part in ids)]
    if not traces:
        return ""
    names = {row.session.id: row.session for row in desk.window.sessions()}
    return f"you sent:\n{trace_lines(traces, names, desk.tools.clock.now())}next: wait, or who"


def _fits(part: str, message_id: str) -> bool:
    return len(part) >= 6 and (message_id.endswith(part) or message_id.startswith(part))


def ack(place: Place, arguments: Mapping[str, object]) -> Told:
    """Acknowledge messages in whichever mailbox they are."""
    from restante.domain.receipt import Action, Decision
    from restante.domain.roster import cleared_lines

    ids, through = _ids_in(arguments, "ids"), _text_in(arguments, "through")
    summary = _text_in(arguments, "summary")
    given = _text_in(arguments, "decision"), _text_in(arguments, "action")
    _check_known(arguments, "ids", "through", "decision", "action", "summary")
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
    message, text = _text_in(arguments, "id", needed=True), _text_in(arguments, "text", needed=True)
    _check_known(arguments, "id", "text")
    check_session(place)
    desk = place.desk()
    if found := desks.reply(desk, desks.collect(desk), message, text):
        from restante.domain.roster import named

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


def send(place: Place, arguments: Mapping[str, object]) -> Told:
    """Write to a session, or leave a message for whoever works in this worktree."""
    to, text = _text_in(arguments, "to", needed=True), _text_in(arguments, "text", needed=True)
    expires, priority = _text_in(arguments, "expires"), _text_in(arguments, "priority") or "normal"
    allow = _flag_in(arguments, "allow_warnings")
    draft = Draft(
        text,
        subject=_text_in(arguments, "subject"),
        priority=choose(Priority, priority, what="priority"),
        client_id=_text_in(arguments, "client_id"),
    )
    _check_known(arguments, "to", "text", "subject", "priority", "expires", "client_id", "allow_warnings")
    if expires:
        from restante.domain.duration import instant_from

        draft = draft._replace(expires=instant_from(expires, place.tools().clock.now(), what="expires"))
    if to == WORKTREE or to.startswith(f"{WORKTREE}:"):
        return _leave(place, to, draft, allow=allow)
    from restante.domain.roster import kept_note, sent_lines

    handed = place.window().post(to.removeprefix("session:"), draft, allow_warnings=allow)
    lines = sent_lines(handed)
    if not place.is_session:
        lines.append("nothing proved who sent this: it was sent as user (unverified), and the receiver is told so")
    if note := kept_note(handed):
        lines.append(note)
    if not handed.is_left:
        lines.append(
            f"{handed.counts.pending} pending there, {handed.counts.unseen} unseen; next: wait for an answer, or "
            f'inbox(ids=["{handed.posted.message.id}"]) to see what became of it'
        )
    return Told("\n".join(lines))


def _leave(place: Place, to: str, draft: Draft, *, allow: bool) -> Told:
    """Leave a message in the worktree's mailbox, from this session."""
    # What nobody proved would stand there as the person's own word.
    check_session(place)
    office = place.desk().office
    if office is None or to not in (WORKTREE, office.address):
        raise UsageError(f"{to!r} is not the worktree you work in", remedy=f'send to "{WORKTREE}", or to a session')
    sent = office.send(draft, allow_warnings=allow).posted
    word = "already sent" if sent.duplicate else "sent"
    return Told(f"{word} {sent.message.id} to {visible(office.address)}\nnext: go on with your work")


def who(place: Place, arguments: Mapping[str, object]) -> Told:
    """List the sessions, with what mail waits for them."""
    from restante.domain.registry import Presence
    from restante.domain.roster import footer, row_line

    with_gone = _flag_in(arguments, "gone")
    _check_known(arguments, "gone")
    window = place.window()
    rows = window.sessions()
    over = (Presence.GONE, Presence.DETACHED)
    # Who can be written to comes first; of those that are over, the ones with mail.
    rows.sort(key=lambda row: (row.presence in over, row.presence in over and not row.counts.pending))
    told = rows if with_gone else [row for row in rows if row.presence not in over]
    now, own = place.tools().clock.now(), window.identity.session
    lines = [("* " if row.session.id == own else "  ") + row_line(row, now) for row in told[:_MOST_ROWS]]
    if own and any(row.session.id == own for row in told):
        lines.append("* is this session")
    if len(told) > _MOST_ROWS:
        lines.append(f"{len(told) - _MOST_ROWS} more: restante ls")
    if not lines:
        lines.append("no other session is there")
    lines += footer(told, now)
    if len(told) < len(rows):
        lines.append(f"{len(rows) - len(told)} ended: who(gone=true)")
    waiting = next((row.counts.unseen for row in rows if row.session.id == own), 0)
    lines.append("next: " + ("inbox; " if waiting else "") + 'send(to="NAME", text="...")')
    return Told("\n".join(lines))


def seconds_in(arguments: Mapping[str, object]) -> float:
    """Return how long ``wait`` is to wait.

    Raises:
        UsageError: It is no length of time.
    """
    _check_known(arguments, "seconds")
    given = arguments.get("seconds", USUAL_WAIT)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 1e9:
        raise UsageError("seconds is no number of seconds", remedy=f"0 to {LONGEST_WAIT:.0f}")
    return min(float(given), LONGEST_WAIT)


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


def _text_in(arguments: Mapping[str, object], name: str, *, needed: bool = False) -> str:
    value = arguments.get(name, "")
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise UsageError(f"{name} is no text", remedy="give a string")
    if needed and not value.strip():
        raise UsageError(f"{name} is missing or empty", remedy=f"give {name}")
    return value


def _ids_in(arguments: Mapping[str, object], name: str) -> list[str]:
    value = arguments.get(name) or []
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise UsageError(f"{name} is no list of message ids", remedy="inbox shows the ids")
    if len(value) > _MOST_IDS:
        raise UsageError(f"{name} holds more than {_MOST_IDS}", remedy="name fewer at once, or use through")
    return value


def _flag_in(arguments: Mapping[str, object], name: str) -> bool:
    value = arguments.get(name)
    if value not in (None, True, False):
        raise UsageError(f"{name} is neither true nor false", remedy="leave it out, or say true")
    return value is True


def _check_known(arguments: Mapping[str, object], *names: str) -> None:
    for one in arguments:
        if one not in names:
            raise UsageError(f"there is no argument {one!r}", remedy=f"there are: {', '.join(names)}")


_ACTS = {"inbox": inbox, "ack": ack, "reply": reply, "send": send, "who": who}
