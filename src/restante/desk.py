"""The two mailboxes of an agent's session in one list: its worktree's, and its own, to which other sessions write.

What every face needs that lets a model work with them; how it is told is the face's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante.domain.errors import MailboxDeleted, NoSuchMessage, PersistenceOff, RestanteError
from restante.domain.ids import is_well_formed, resolve
from restante.domain.telling import is_to_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from restante.config import Settings
    from restante.domain.mailbox import Entry
    from restante.domain.overview import Cleared, Handed, Reading
    from restante.domain.receipt import Action, Decision, Receipt
    from restante.office import Office
    from restante.ports import Clock
    from restante.ports.sessions import Window

# As many as a session's mailbox holds at most where nobody set it otherwise.
_MOST = 200
_INBOX = "restante inbox"
# A wait that is over may have to look once more.
_SLACK_SECONDS = 30


class Tools(Protocol):
    """What showing mail takes beside the mail; an office and an exchange have it."""

    @property
    def settings(self) -> Settings:
        """The values in force."""

    @property
    def clock(self) -> Clock:
        """Where time comes from."""


class Desk(NamedTuple):
    """Where the mail of whoever calls is.

    Attributes:
        office: The worktree's mailbox; ``None`` where there is none, or it was not asked for.
        window: Where the session's own mailbox is; ``None`` where that could not be opened.
        session: Whose mailbox; empty for the caller's own.
        tools: Time and settings.
        directory: Where it was opened.
        trouble: Why the window could not be opened.
    """

    office: Office | None
    window: Window | None
    session: str
    tools: Tools
    directory: str
    trouble: RestanteError | None = None


class Mail(NamedTuple):
    """What waits in both mailboxes, the most urgent first, then the oldest.

    Attributes:
        entries: The messages.
        reading: What was read of the session's mailbox; ``None`` where that could not be looked into.
        trouble: Why not.
    """

    entries: list[Entry]
    reading: Reading | None
    trouble: RestanteError | None = None

    @property
    def has_unseen(self) -> bool:
        """Whether anything was not read yet."""
        return any(entry.standing.seen_at is None for entry in self.entries)


class Answered(NamedTuple):
    """What acknowledging did.

    Attributes:
        receipts: Those of the worktree's mailbox.
        own: Ids of the messages of the session's mailbox that were named.
        cleared: What became of those; ``None`` where none was named.
    """

    receipts: list[Receipt]
    own: list[str]
    cleared: Cleared | None


def collect(desk: Desk) -> Mail:
    """Return what waits now.

    Raises:
        RestanteError: The session's mailbox cannot be looked into, and there is no worktree's.
    """
    reading: Reading | None = None
    trouble = desk.trouble
    if desk.window:
        try:
            reading = desk.window.read(desk.session, limit=_MOST)
        except PersistenceOff:
            # That is how it is until a person decides otherwise: no mailbox, and nothing wrong with it.
            if desk.office is None:
                raise
        except RestanteError as error:
            if desk.office is None:
                raise
            trouble = error
    entries = desk.office.inbox() if desk.office else []
    entries = [*entries, *(reading.entries if reading else ())]
    entries.sort(key=lambda entry: (entry.message.priority.rank, entry.message.created, entry.message.number))
    return Mail(entries, reading, trouble)


def named(desk: Desk, mail: Mail, messages: Sequence[str]) -> list[Entry]:
    """Return messages by their ids: pending ones of the session's mailbox, any of the worktree's.

    Raises:
        NoSuchMessage: One is nowhere.
    """
    here, own = split(desk, mail, messages)
    by_id = {entry.message.id: entry for entry in mail.entries if is_to_session(entry)}
    for one in own:
        if one not in by_id:
            raise mail.trouble or NoSuchMessage(f"no message {one!r} waits", remedy=_INBOX)
    found = desk.office.inbox(here) if desk.office and here else []
    return [*found, *(by_id[one] for one in own)]


def split(desk: Desk, mail: Mail, messages: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the whole ids of messages: those of the worktree's mailbox, and those of the session's.

    Raises:
        NoSuchMessage: A part of an id is in neither, or in both.
    """
    known = [entry.message.id for entry in mail.entries if is_to_session(entry)]
    here: list[str] = []
    own: list[str] = []
    for one in dict.fromkeys(messages):
        in_worktree = _in_worktree(desk, one)
        if is_well_formed(one, "msg"):
            # A whole id that is nowhere may have been one of the session's: what is gone is acknowledged.
            (own if in_worktree is None and (mail.reading or mail.trouble) else here).append(one)
            continue
        try:
            in_session = resolve(one, known, remedy=_INBOX)
        except NoSuchMessage:
            if in_worktree is None:
                raise mail.trouble or NoSuchMessage(f"no message {one!r} waits", remedy=_INBOX) from None
            here.append(in_worktree)
        else:
            if in_worktree:
                raise NoSuchMessage(f"{one!r} fits {in_worktree} and {in_session}", remedy="say more of it")
            own.append(in_session)
    return here, own


def _in_worktree(desk: Desk, message: str) -> str | None:
    if desk.office is None:
        return None
    try:
        return desk.office.inbox((message,))[0].message.id
    except MailboxDeleted:
        raise
    except NoSuchMessage:
        return None


def hand_over(
    desk: Desk, shown: Sequence[Entry], show: Callable[[], None], *, only_noticed: bool = False
) -> RestanteError | None:
    """Show messages, and record that they were seen once ``show`` returned.

    Args:
        desk: The caller's own.
        shown: What is shown.
        show: Writes it out whole, or raises.
        only_noticed: Nobody may be listening any more.

    Returns:
        Why nothing of the session's mail could be recorded.
    """
    if desk.office:
        here = [one for one in shown if not is_to_session(one)]
        desk.office.hand_over(here, lambda _: show(), only_noticed=only_noticed)
    else:
        show()
    unseen = [one.message.id for one in shown if is_to_session(one) and one.standing.seen_at is None]
    if desk.window and unseen:
        try:
            desk.window.confirm(unseen, desk.session, only_noticed=only_noticed)
        except RestanteError as error:
            return error
    return None


def has_come(desk: Desk, seconds: float, open_window: Callable[[], Window] | None) -> bool:
    """Wait until something unseen is in one of the two mailboxes; return whether it is.

    Args:
        desk: Where they are.
        seconds: How long at most.
        open_window: Opens a window of the same caller; ``None`` where the session's mailbox cannot be looked into. What
            a database gave to one thread is not for another.

    Raises:
        RestanteError: What one of them raised first.
    """
    from queue import Empty, SimpleQueue
    from threading import Thread

    answers: SimpleQueue[bool | RestanteError] = SimpleQueue()
    office = desk.office

    def ask(question: Callable[[], bool]) -> None:
        try:
            answers.put(question())
        except RestanteError as error:
            answers.put(error)

    questions: list[Callable[[], bool]] = []
    if open_window:
        opener = open_window
        questions.append(lambda: not opener().read(desk.session, limit=1, wait=seconds).timed_out)
    if office:
        questions.append(lambda: bool(office.inbox(wait=seconds)))
    for question in questions:
        Thread(target=ask, args=(question,), daemon=True).start()
    for _ in questions:
        try:
            answer = answers.get(timeout=seconds + _SLACK_SECONDS)
        except Empty:
            return False
        if isinstance(answer, RestanteError):
            raise answer
        if answer:
            return True
    return False


def acknowledge(
    desk: Desk,
    mail: Mail,
    here: Sequence[str],
    own: Sequence[str],
    *,
    through: bool,
    decision: Decision | None,
    action: Action | None,
    summary: str,
    notes: str = "",
) -> Answered:
    """Acknowledge messages in whichever mailbox they are.

    Args:
        desk: Where they are.
        mail: What waits.
        here: Whole ids of those of the worktree's mailbox.
        own: Those of the session's; with ``through``, one: it and what is older.
        through: See above.
        decision: What was decided.
        action: What became of the work.
        summary: Of what was done.
        notes: More of it.

    Raises:
        Forbidden: The caller posted one of them.
        RestanteError: The session's mailbox could not be looked into.
    """
    if own and not desk.window:
        raise mail.trouble or NoSuchMessage(f"no message {own[0]!r}", remedy=_INBOX)
    _check_not_ones_own(desk, mail, own)
    receipts = (
        desk.office.acknowledge(here, decision=decision, action=action, summary=summary, notes=notes)
        if here and desk.office
        else []
    )
    cleared: Cleared | None = None
    if own and desk.window:
        words = "\n\n".join(part for part in (summary, notes) if part)
        cleared = desk.window.acknowledge(own, through=through, decision=decision, action=action, summary=words)
    return Answered(receipts, list(own), cleared)


def up_to(office: Office, message: str) -> list[str]:
    """Return the ids of a message and of everything pending in the worktree's mailbox that is older."""
    last = office.inbox((message,))[0].message
    older = [one.message.id for one in office.inbox() if one.message.number < last.number]
    return [*older, last.id]


def _check_not_ones_own(desk: Desk, mail: Mail, own: Sequence[str]) -> None:
    """Refuse to acknowledge what the caller posted: a success would hide the mistake.

    Raises:
        Forbidden: One of these messages is not in the session's mailbox, and the caller posted it.
    """
    waiting = {entry.message.id for entry in mail.entries}
    elsewhere = [one for one in own if one not in waiting]
    if desk.window and elsewhere and (posted := desk.window.receipts(elsewhere)):
        from restante.domain.errors import Forbidden

        raise Forbidden(
            f"you posted {posted[0].message_id}; only its addressee acknowledges it",
            remedy=f"restante receipts {posted[0].message_id}",
        )


def reply(desk: Desk, mail: Mail, message: str, text: str) -> tuple[Entry, Handed] | None:
    """Post an answer to the session that wrote a message, if the message is in the session's own mailbox.

    Returns:
        The message and what was posted; ``None`` where it is not there.

    Raises:
        Refused: Nobody with a mailbox wrote it.
    """
    from restante.domain.errors import Refused
    from restante.domain.message import Draft

    _, own = split(desk, mail, [message])
    entry = next((one for one in mail.entries if own and one.message.id == own[0]), None)
    if entry is None or desk.window is None:
        return None
    sender = entry.message.sender.name
    if not sender.startswith("session:"):
        raise Refused(
            f"{entry.message.id} is not from a session, so that there is no mailbox to reply to",
            remedy=f'say it with the acknowledgement: restante ack {entry.message.id} -m "TEXT"',
        )
    draft = Draft(text, type="note", parent=entry.message.id, conversation=entry.message.conversation)
    return entry, desk.window.post(sender.removeprefix("session:"), draft)


def senders_told_no_words(mail: Mail, own: Sequence[str]) -> list[str]:
    """Return the ids of the sessions that wrote some messages: they are told decision and action, and no words."""
    senders = {one.message.sender.name for one in mail.entries if one.message.id in own}
    return sorted(one.removeprefix("session:") for one in senders if one.startswith("session:"))
