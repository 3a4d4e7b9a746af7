"""``restante repeats``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from restante.domain.text import age, one_line, visible
from restante.faces.cli.options import Desk, common

if TYPE_CHECKING:
    from datetime import datetime

    from restante.office import Office
    from restante.ports import Repeat


@click.group()
def repeats() -> None:
    """List, pause, resume, remove or run repeated messages. Set one up with: restante send --repeat 5m TEXT."""


@repeats.command("list")
@common
def list_(directory: str, as_json: bool) -> None:
    """List the repeats."""
    desk = Desk(directory, as_json)
    office = desk.open()
    found = office.repeats()
    if as_json:
        from restante.faces.cli.jsonable import of_repeat, print_json

        print_json({"repeats": [of_repeat(repeat) for repeat in found]})
        return
    for repeat in found:
        click.echo(_line(repeat, office.clock.now()))
    if not found:
        click.echo("no repeats")


@repeats.command()
@click.argument("repeat", metavar="ID")
@common
def show(repeat: str, directory: str, as_json: bool) -> None:
    """Show one repeat whole."""
    from restante.domain.ids import resolve

    desk = Desk(directory, as_json)
    office = desk.open()
    found = {one.id: one for one in office.repeats()}
    _print(found[resolve(repeat, found)], office, as_json)


@repeats.command()
@click.argument("repeat", metavar="ID")
@common
def pause(repeat: str, directory: str, as_json: bool) -> None:
    """Stop posting it until it is resumed."""
    office = Desk(directory, as_json).open()
    _print(office.set_repeat_active(repeat, active=False), office, as_json)


@repeats.command()
@click.argument("repeat", metavar="ID")
@common
def resume(repeat: str, directory: str, as_json: bool) -> None:
    """Go on posting it, next one interval from now."""
    office = Desk(directory, as_json).open()
    _print(office.set_repeat_active(repeat, active=True), office, as_json)


@repeats.command()
@click.argument("repeat", metavar="ID")
@common
def remove(repeat: str, directory: str, as_json: bool) -> None:
    """Forget a repeat; what it posted stays."""
    removed = Desk(directory, as_json).open().remove_repeat(repeat)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"removed": removed})
    else:
        click.echo(f"removed {removed}")


@repeats.command()
@click.option("--forever", is_flag=True, help="Go on until stopped.")
@common
def run(forever: bool, directory: str, as_json: bool) -> int:
    """Post what is due. Any number of runners may run at once: each message is posted once."""
    office = Desk(directory, as_json).open()
    failed = _run_once(office, as_json=as_json, quiet=forever)
    while forever:
        due = [one.next_run for one in office.repeats() if one.active]
        seconds = min((time - office.clock.now()).total_seconds() for time in due) if due else 5.0
        office.clock.sleep(min(5.0, max(0.2, seconds)))
        failed = _run_once(office, as_json=as_json, quiet=True)
    return 1 if failed else 0


def _run_once(office: Office, *, as_json: bool, quiet: bool) -> bool:
    """Post what is due and say so; return whether any repeat failed."""
    result = office.run_repeats()
    if as_json and (result.sent or result.failed or not quiet):
        from restante.faces.cli.jsonable import of_message, print_json

        print_json(
            {
                "sent": [{"repeat": repeat.id, "message": of_message(message)} for repeat, message in result.sent],
                "failed": [{"repeat": repeat_id, "reason": reason} for repeat_id, reason in result.failed],
            }
        )
    elif not as_json:
        for repeat, message in result.sent:
            click.echo(f"sent {message.id} from {repeat.id}")
        for repeat_id, reason in result.failed:
            click.echo(f"{repeat_id} was not sent: {visible(reason)}", err=True)
        if not (result.sent or result.failed or quiet):
            click.echo("nothing is due")
    return bool(result.failed)


def _print(repeat: Repeat, office: Office, as_json: bool) -> None:
    if as_json:
        from restante.faces.cli.jsonable import of_repeat, print_json

        print_json({"repeat": of_repeat(repeat)})
        return
    from restante.domain.text import fenced

    click.echo(_line(repeat, office.clock.now()))
    click.echo(fenced(visible(repeat.body)))


def _line(repeat: Repeat, now: datetime) -> str:
    from datetime import timedelta

    from restante.domain.duration import format_duration

    state = "active" if repeat.active else "paused"
    every = format_duration(timedelta(milliseconds=repeat.interval_ms))
    wait = (repeat.next_run - now).total_seconds()
    following = (
        ("next now" if wait <= 0 else f"next in {format_duration(timedelta(seconds=round(wait)))}")
        if repeat.active
        else "stopped"
    )
    last = f"last {age(repeat.last_sent, now)}" if repeat.last_sent else "never sent"
    facts = f"{state}, every {every}, {following}, {last}, sent {repeat.sent_count}"
    return f"{repeat.id} {facts}: {one_line(repeat.body, 50)}"
