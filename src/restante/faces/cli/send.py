"""``restante send``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from restante.domain.errors import UsageError
from restante.domain.message import Draft, Priority, Scope, choose
from restante.faces.cli.options import TEXT, Desk, TextCommand, common, text_from

if TYPE_CHECKING:
    from datetime import datetime

    from restante.office import Sent


@click.command(cls=TextCommand)
@click.argument("words", metavar="[TEXT|-]...", nargs=-1, type=TEXT)
@click.option("--file", metavar="FILE", help="Take the text from a file.")
@click.option("-p", "--priority", default="normal", show_default=True, help="low, normal or high.")
@click.option(
    "-s", "--scope", default="current_task", show_default=True, help="current_task, workspace, thread or question."
)
@click.option("--subject", default="", help="What it is about, in one line.")
@click.option(
    "--expires", metavar="WHEN", help="Stop being pending by itself: 90m, 12h, 1d, or an ISO time with a zone."
)
@click.option(
    "--repeat",
    "--repeat-every",
    "repeat",
    metavar="DURATION",
    help="Post it again every so often: 30s, 5m, 2h (at least 5s).",
)
@click.option("--client-id", default="", help="Your own name for it: sending twice under one name sends once.")
@click.option(
    "--allow-warnings", is_flag=True, help="Send although screening found something. Never lifts the size limit."
)
@common
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
    directory: str,
    as_json: bool,
) -> None:
    """Leave guidance for the agent of this worktree.

    The agent is not interrupted: it gets the text at its next checkpoint. The text is the arguments, standard
    input with -, a file with --file, or your editor when nothing is given.
    """
    desk = Desk(directory, as_json)
    office = desk.open()
    draft = Draft(
        body=text_from(words, file, limit=office.settings.message_bytes * 4),
        priority=choose(Priority, priority, what="priority"),
        scope=choose(Scope, scope, what="scope"),
        subject=subject,
        expires=_when(expires, office.clock.now()) if expires else None,
        client_id=client_id,
    )
    sent = office.send(draft, allow_warnings=allow_warnings, repeat_ms=_milliseconds(repeat) if repeat else None)
    _answer(sent, office.address, as_json)


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
    click.echo(f"{'already sent' if sent.posted.duplicate else 'sent'} {message.id}")
    click.echo(f"to {address}; follow it with: restante status {message.id[-8:]}", err=True)
    if sent.repeat:
        click.echo(f"repeats as {sent.repeat.id}")
        click.echo("repeats are posted while this runs: restante repeats run --forever", err=True)


def _milliseconds(text: str) -> int:
    from restante.domain.duration import parse_duration

    return int(parse_duration(text).total_seconds() * 1000)


def _when(text: str, now: datetime) -> datetime:
    """Return the instant that a duration from now, or an ISO time with a zone, names.

    Raises:
        UsageError: It is neither.
    """
    from datetime import UTC, datetime

    from restante.domain.duration import parse_duration

    try:
        return now + parse_duration(text)
    except UsageError as error:
        problem = error
    except OverflowError:
        raise UsageError(f"--expires {text!r} is too far away", remedy="write 12h or 1d") from None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise problem from None
    if moment.tzinfo is None:
        raise UsageError(f"--expires {text!r} has no time zone", remedy="add Z or an offset, or write 12h or 1d")
    return moment.astimezone(UTC)
