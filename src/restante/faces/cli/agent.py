"""The agent's commands: ``inbox``, ``ack``, ``reply``. A model reads the answers: short, ending with what to do.

Where sessions are used, an agent has two mailboxes; ``both`` does the same for the two of them in one list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import NoSuchMessage, NoWorktree, UsageError
from restante.domain.message import choose
from restante.domain.telling import is_of_role, that_fit
from restante.faces.cli.inputs import office_of, text_from
from restante.faces.cli.output import say
from restante.faces.cli.showing import (
    LONGEST_WATCHED_WAIT,
    acknowledge_here,
    nothing_came,
    seconds_of,
    show,
)
from restante.faces.cli.windows import sessions_are_used

if TYPE_CHECKING:
    from restante.desk import Desk
    from restante.office import Office


def inbox(
    messages: tuple[str, ...], wait: str | None, peek: bool, session: str | None, directory: str, as_json: bool
) -> int:
    """Show the messages that wait for an answer, the most urgent first; with IDs, just those.

    Run by an agent's session, what is shown is marked as seen. It stays until it is acknowledged with ack.
    """
    if len(messages) == 1 and is_of_role(messages[0]):
        from restante.faces.cli.teams import show_role

        if session is not None:
            raise UsageError("both a role and --session were given", remedy="give one of them")
        show_role(messages[0], wait, directory, peek=peek, as_json=as_json)
        return 0
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

    if through == "" or bool(messages) == bool(through):
        raise UsageError(
            "--through needs the message up to which all is acknowledged"
            if through == ""
            else "which messages?"
            if through is None
            else "both messages and --through were given",
            remedy="restante ack ID..., or restante ack --through ID; restante inbox shows the ids",
        )
    decided = choose(Decision, decision, what="decision") if decision else None
    done = choose(Action, action, what="action") if action else None
    office, desk = _open(directory)
    if desk:
        from restante.faces.cli.both import acknowledge
        from restante.faces.cli.teams import check_not_of_others

        try:
            acknowledge(desk, messages, through, decided, done, summary, notes, as_json=as_json)
        except NoSuchMessage:
            check_not_of_others((through,) if through else messages, directory)
            raise
        return
    assert office
    if through:
        from restante.desk import up_to

        messages = tuple(up_to(office, through))
    acknowledge_here(office, messages, decided, done, summary, notes, as_json=as_json)


def reply(message: str, words: tuple[str, ...], file: str | None, directory: str, as_json: bool) -> None:
    """Answer a message in words: a question, an explanation. Acknowledges nothing."""
    office, desk = _open(directory)
    tools = desk.tools if desk else office
    assert tools
    text = text_from(words, file, limit=tools.settings.message_bytes * 4)
    if desk:
        from restante.faces.cli.both import reply_to_session
        from restante.faces.cli.teams import check_not_of_others

        if reply_to_session(desk, message, text, as_json=as_json):
            return
        check_not_of_others((message,), directory)
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
