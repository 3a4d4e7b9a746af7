"""The person's commands that look at mail: ``status``, ``watch``, ``withdraw``, ``snapshot``, ``archive``."""

from __future__ import annotations

import sys

import click

from restante.faces.cli.options import Desk, common, seconds_from


@click.command()
@click.argument("message", metavar="[ID]", required=False)
@common
def status(message: str | None, directory: str, as_json: bool) -> None:
    """Show what became of your messages; with an ID, everything about one.

    An ID may be shortened to at least six characters of its beginning or end.
    """
    desk = Desk(directory, as_json)
    office = desk.open()
    if message is not None:
        case = office.case(message)
        if as_json:
            from restante.faces.cli.jsonable import of_case, print_json

            print_json({"message": of_case(case)})
        else:
            from restante.faces.cli.render import case_text

            click.echo(case_text(case, office.clock.now()), nl=False)
        return
    snapshot = office.snapshot()
    if as_json:
        from restante.faces.cli.jsonable import of_snapshot, print_json

        print_json(of_snapshot(snapshot))
        return
    from restante.faces.cli.render import counts_line, status_table

    click.echo(status_table(snapshot.cases, office.clock.now()), nl=False)
    click.echo(counts_line(snapshot.counts))
    for fault in snapshot.faults:
        click.echo(f"{fault.source}:{fault.line}: not read: {fault.reason}", err=True)


@click.command()
@click.option("--since", metavar="CURSOR", help="Begin after this cursor; 'start' tells everything there is.")
@click.option(
    "--timeout", metavar="DURATION", help="End after so long (seconds, or 5m, 1h) with exit code 5 if nothing came."
)
@common
def watch(since: str | None, timeout: str | None, directory: str, as_json: bool) -> int:
    """Follow the mailbox live, one line for each event.

    Begins with what happens from now on. With --json each line is an object that carries the cursor to go on
    with; in text the cursor is printed at the end, on standard error.
    """
    from restante.faces.cli.jsonable import of_change, print_json
    from restante.faces.cli.render import change_line

    desk = Desk(directory, as_json)
    office = desk.open()
    seconds = seconds_from(timeout) if timeout else None
    cursor = "" if since == "start" else since
    if cursor is None:
        cursor = office.tip()
    came = False
    try:
        for batch in office.follow(cursor, seconds):
            for change in batch.changes:
                came = True
                if as_json:
                    print_json({**of_change(change), "cursor": batch.cursor})
                else:
                    click.echo(change_line(change))
            cursor = batch.cursor
            sys.stdout.flush()
    except KeyboardInterrupt:
        came = True
    if as_json:
        print_json({"event": "end", "cursor": cursor})
    else:
        click.echo(f"go on with: restante watch --since {cursor}", err=True)
    return 0 if came else 5


@click.command()
@click.argument("message", metavar="ID")
@common
def withdraw(message: str, directory: str, as_json: bool) -> None:
    """Take a message back before it was acknowledged."""
    desk = Desk(directory, as_json)
    standing = desk.open().withdraw(message)
    if as_json:
        from restante.faces.cli.jsonable import of_standing, print_json

        print_json({"standing": of_standing(standing)})
    else:
        noticed = " (a checkpoint had shown it before)" if standing.noticed_at or standing.seen_at else ""
        click.echo(f"withdrawn{noticed}")


@click.command()
@common
def snapshot(directory: str, as_json: bool) -> None:
    """Print the whole mailbox as JSON."""
    import json

    from restante.faces.cli.jsonable import of_snapshot

    desk = Desk(directory, as_json)
    click.echo(json.dumps(of_snapshot(desk.open().snapshot()), ensure_ascii=False, indent=None if as_json else 2))


@click.command()
@common
def archive(directory: str, as_json: bool) -> None:
    """Move acknowledged, expired and withdrawn messages out of INBOX.md into a dated file beside it."""
    desk = Desk(directory, as_json)
    archived = desk.open().archive()
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"moved": archived.moved, "kept": archived.kept, "into": archived.into or None})
    elif archived.moved:
        click.echo(f"moved {archived.moved} into {archived.into}; {archived.kept} stay")
    else:
        click.echo(f"nothing to move; {archived.kept} stay")
