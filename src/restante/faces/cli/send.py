"""``restante send``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.domain.message import Draft, Priority, Scope, choose
from restante.faces.cli.inputs import office_of, text_from, when_from
from restante.faces.cli.output import say, tell

if TYPE_CHECKING:
    from restante.domain.case import Sent


def send(
    words: tuple[str, ...],
    file: str | None,
    priority: str,
    scope: str,
    subject: str,
    expires: str | None,
    repeat: str | None,
    client_id: str,
    allow_warnings: bool,
    to: str | None,
    directory: str,
    as_json: bool,
) -> int:
    """Leave guidance for the agent of this worktree, or for whoever holds a role.

    The agent is not interrupted: it gets the text at its next checkpoint. The text is the arguments, standard
    input with -, a file with --file, or your editor when nothing is given.
    """
    office = office_of(directory, anywhere=to is not None)
    draft = Draft(
        body=text_from(words, file, limit=office.settings.message_bytes * 4),
        priority=choose(Priority, priority, what="priority"),
        scope=choose(Scope, scope, what="scope"),
        subject=subject,
        expires=when_from(expires, office.clock.now()) if expires else None,
        client_id=client_id,
    )
    if to is not None:
        from restante.faces.cli.teams import post_to_role

        if repeat:
            raise UsageError("--repeat does not go with --to", remedy="leave one of them out")
        return post_to_role(to, draft, directory, allow_warnings=allow_warnings, as_json=as_json)
    sent = office.send(draft, allow_warnings=allow_warnings, repeat_ms=_milliseconds(repeat) if repeat else None)
    _answer(sent, office.address, as_json)
    return 0


def _answer(sent: Sent, address: str, as_json: bool) -> None:
    message = sent.posted.message
    if as_json:
        from restante.faces.cli.jsonable import of_message, of_repeat, print_json

        print_json(
            {
                "message": of_message(message),
                "duplicate": sent.posted.duplicate,
                "repeat": of_repeat(sent.repeat) if sent.repeat else None,
            }
        )
        return
    say(f"{'already sent' if sent.posted.duplicate else 'sent'} {message.id}")
    tell(f"to {address}; follow it with: restante status {message.id[-8:]}")
    if sent.repeat:
        say(f"repeats as {sent.repeat.id}")
        tell("repeats are posted while this runs: restante repeats run --forever")


def _milliseconds(text: str) -> int:
    from datetime import timedelta

    from restante.domain.duration import parse_duration

    return parse_duration(text) // timedelta(milliseconds=1)
