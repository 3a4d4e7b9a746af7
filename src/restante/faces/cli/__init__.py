"""The command line. What a command needs is imported when it runs, so that all start quickly."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Run the command line and end the process."""
    from restante.faces.cli.exits import run

    sys.exit(run(dispatch, sys.argv[1:]))


def dispatch(words: list[str]) -> int:
    """Run the command that the words name and return its exit code.

    Raises:
        RestanteError: Whatever keeps it from being done.
    """
    if not words or words[0] in {"-h", "--help", "help"}:
        print(overview(), end="")  # noqa: T201
        return 0
    if words[0] == "--version":
        from restante import __version__

        print(f"restante {__version__}")  # noqa: T201
        return 0
    from importlib import import_module

    from restante.faces.cli.parsing import find_command, parse

    command, rest = find_command(words)
    values = parse(command, rest)
    module, function = command.place.split(":")
    run: Callable[..., int | None] = getattr(import_module(f"restante.faces.cli.{module}"), function)
    return run(**values) or 0


def overview() -> str:
    """Return the list of commands."""
    from restante.faces.cli.table import COMMANDS

    width = max(len(command.name) for command in COMMANDS)
    lines = "".join(f"  {command.name:<{width}}  {command.summary}\n" for command in COMMANDS)
    return (
        "restante: a mailbox for coding agents. Leave guidance; the agent collects it at its next safe checkpoint.\n\n"
        f"usage: restante COMMAND ...\n\n{lines}\n"
        "restante COMMAND --help tells more; restante --version the version.\n"
        "Exit codes: 0 ok, 1 failed, 2 usage, 3 nothing there, 4 refused, 5 timeout.\n"
    )
