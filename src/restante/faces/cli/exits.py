"""Where errors become words and exit codes, and nowhere else."""

from __future__ import annotations

import json
import os
import sys

import click

from restante.domain.errors import RestanteError
from restante.domain.text import visible

FAILED = 1
USAGE = 2
INTERRUPTED = 130


def run(command: click.Command, arguments: list[str]) -> int:
    """Run a command and return the exit code: 0 ok, 1 failed, 2 usage, 3 nothing there, 4 refused, 5 timeout."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal whose encoding lacks a character shows its number instead of ending the command.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    as_json = "--json" in arguments
    try:
        outcome = command.main(arguments, prog_name="restante", standalone_mode=False)
        sys.stdout.flush()
    except RestanteError as error:
        _report(error, as_json)
        return error.exit_code
    except click.exceptions.Abort:
        click.echo("stopped", err=True)
        return INTERRUPTED
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        _report_usage(error, as_json)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; a second error while closing would be noise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return outcome if isinstance(outcome, int) else 0


def _report(error: RestanteError, as_json: bool) -> None:
    if as_json:
        problem = {"code": error.code, "message": error.message, "remedy": error.remedy, "details": list(error.details)}
        click.echo(json.dumps({"error": problem}, ensure_ascii=False), err=True)
        return
    click.echo(click.style("error: ", fg="red") + visible(error.message), err=True)
    for detail in error.details:
        line = f"line {detail['line']}: " if detail.get("line") else ""
        click.echo(
            f"  {line}{detail.get('title', '')} ({detail.get('code', '')}): {visible(str(detail.get('excerpt', '')))}",
            err=True,
        )
    if error.remedy:
        click.echo(f"  try: {visible(error.remedy)}", err=True)


def _report_usage(error: click.ClickException, as_json: bool) -> None:
    message = error.format_message()
    remedy = ""
    if isinstance(error, click.NoSuchOption):
        remedy = "text that begins with a dash goes behind --"
    elif isinstance(error, click.UsageError) and error.ctx is not None:
        remedy = f"{error.ctx.command_path} --help"
    if as_json:
        problem = {"code": "usage", "message": message, "remedy": remedy, "details": []}
        click.echo(json.dumps({"error": problem}, ensure_ascii=False), err=True)
        return
    click.echo(click.style("error: ", fg="red") + visible(message), err=True)
    if remedy:
        click.echo(f"  try: {remedy}", err=True)
