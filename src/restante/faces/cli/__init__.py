"""The command line. What a command needs is imported when it runs, so that all start quickly."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_HELP = ("-h", "--help")
_USAGE_OF_MONITORS = 64


def main() -> None:
    """Run the command line and end the process."""
    from restante.faces.cli.exits import run

    sys.exit(run(dispatch, sys.argv[1:]))


def dispatch(words: list[str]) -> int:
    """Run the command that the words name and return its exit code.

    Raises:
        RestanteError: Whatever keeps it from being done.
    """
    common, words = _common(words)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if not words or words[0] in _HELP:
        from restante.faces.cli.overview import beginning, overview

        print(overview() if words else beginning(), end="")  # noqa: T201
        return 0
    if words[0] in {"--version", "version"}:
        from restante import __version__

        print(f"restante {__version__}")  # noqa: T201
        return 0
    from importlib import import_module

    from restante.domain.errors import UsageError
    from restante.faces.cli.parsing import find_command, parse

    if words[-1] in _HELP and len(words) == 2:
        from restante.faces.cli.overview import listed

        if lines := listed(words[0]):
            print(lines, end="")  # noqa: T201
            return 0
    try:
        command, rest = find_command(words)
        values = parse(command, [*common, *rest])
    except UsageError as error:
        if words[0] == "monitor":
            # There 2 says that there is nothing to do now, and a scheduled task would believe it.
            error.exit_code = _USAGE_OF_MONITORS
        raise
    module, function = command.place.split(":")
    run: Callable[..., int | None] = getattr(import_module(f"restante.faces.cli.{module}"), function)
    return run(**values) or 0


def _common(words: list[str]) -> tuple[list[str], list[str]]:
    """Split off what stands before the command and holds for every one of them."""
    count = 0
    while count < len(words) and (words[count] == "--json" or words[count].startswith("-C")):
        count += 2 if words[count] == "-C" else 1
    return words[:count], words[count:]
