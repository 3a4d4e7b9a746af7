"""From words on a command line to a command and its values."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, NoReturn

from restante.domain.errors import UsageError
from restante.faces.cli.table import COMMANDS

if TYPE_CHECKING:
    from restante.faces.cli.command import Argument, Command

# No argument of a process can hold a NUL, so that it can mark what is text.
_TEXT = "\0"
_NUMBER = re.compile(r"-\d")
_UNKNOWN = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    """An argument parser that raises our error instead of ending the process.

    Attributes:
        arguments: What the command takes.
    """

    arguments: tuple[Argument, ...] = ()

    def error(self, message: str) -> NoReturn:
        """Raise ``UsageError``."""
        remedy = f"{self.prog} --help"
        if message.startswith(_UNKNOWN + "-"):
            remedy = self._way_out(message.removeprefix(_UNKNOWN).split()[0].partition("=")[0], remedy)
        raise UsageError(message.replace(_TEXT, ""), remedy=remedy)

    def _way_out(self, unknown: str, remedy: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(unknown, [flag for one in self.arguments for flag in one.flags], n=1)
        ways = [f"{near[0]}, or {remedy}" if near else remedy]
        if any(one.is_text for one in self.arguments):
            ways.append("text that begins with a dash goes behind --")
        return "; ".join(ways)


class _Formatter(argparse.HelpFormatter):
    """Help of one width everywhere."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


def find_command(words: list[str]) -> tuple[Command, list[str]]:
    """Return the command that the words begin with, and the words behind its name.

    Raises:
        UsageError: No command has this name; the nearest are named.
    """
    for count in (2, 1):
        name = " ".join(words[:count])
        for command in COMMANDS:
            if command.name == name and len(words) >= count:
                return command, words[count:]
    below = [one.name for one in COMMANDS if one.name.startswith(words[0] + " ")]
    if below and len(words) == 1:
        raise UsageError(f"{words[0]} needs one more word", remedy=f"one of: {', '.join(below)}")
    from difflib import get_close_matches

    if below:
        near = get_close_matches(words[1], [one.split()[1] for one in below])
        remedy = f"restante {words[0]} {near[0]}" if near else f"restante help {words[0]}"
        raise UsageError(f"no command {' '.join(words[:2])!r}", remedy=remedy)
    near = get_close_matches(words[0], [command.name for command in COMMANDS])
    raise UsageError(f"no command {words[0]!r}", remedy=f"restante {near[0]}" if near else "restante help")


def parse(command: Command, words: list[str]) -> dict[str, Any]:
    """Return the values of a command's arguments, by name.

    Raises:
        UsageError: A word fits no argument, or one is missing.
    """
    arguments = command.all_arguments
    parser = Parser(
        prog=f"restante {command.name}",
        # Left to itself argparse makes a usage line at each start, and imports shutil to measure the terminal for it.
        usage=usage_of(command),
        formatter_class=_Formatter,
        description=f"{command.summary} {command.details}".strip(),
        allow_abbrev=False,
    )
    parser.arguments = arguments
    for argument in arguments:
        _add(parser, argument)
    try:
        given = vars(parser.parse_intermixed_args(_marked(words, arguments)))
    except UsageError as error:
        error.exit_code = command.misuse
        raise
    values = {name: _unmarked(value) for name, value in given.items()}
    for argument in command.arguments:
        # Leaving an option out means something; the empty value of a variable that is not set must not mean the same.
        if argument.flags and argument.default is None and argument.bare is None and values[argument.name] == "":
            raise UsageError(f"{argument.flags[-1]} was given without a value", remedy=f"restante help {command.name}")
    return values


def usage_of(command: Command) -> str:
    """Return how a command is typed."""
    parts = [f"restante {command.name}"]
    for one in command.arguments:
        value = one.metavar + ("..." if one.many else "")
        if one.flags:
            value = value if one.bare is None else f"[{value}]"
            value = f"{one.flags[0]} {value}" if one.metavar else one.flags[0]
        parts.append(value if one.needed else f"[{value}]")
    return " ".join(parts)


def _add(parser: argparse.ArgumentParser, argument: Argument) -> None:
    text = argument.help
    if argument.words and argument.metavar != "|".join(argument.words):
        text = f"{text.removesuffix('.')}: {', '.join(argument.words)}."
    if argument.flags and argument.default not in {None, "", "."}:
        text += f" Default: {argument.default}."
    text = text.replace("%", "%%")
    if not argument.flags:
        count = ("+" if argument.needed else "*") if argument.many else None if argument.needed else "?"
        parser.add_argument(argument.name, metavar=argument.metavar, nargs=count, help=text)
    elif not argument.metavar:
        parser.add_argument(*argument.flags, dest=argument.name, action="store_true", help=text)
    else:
        parser.add_argument(
            *argument.flags,
            dest=argument.name,
            metavar=argument.metavar,
            default=argument.default,
            nargs=None if argument.bare is None else "?",
            const=argument.bare,
            help=text,
        )


def _marked(words: list[str], arguments: tuple[Argument, ...]) -> list[str]:
    """Mark what is text although it begins with a dash.

    That is the value of an option; what stands behind ``--``; and, for a command that takes a text, a word that holds
    white space or begins like a negative number, and does not begin with the name of an option.
    """
    takers = {flag for one in arguments if one.metavar for flag in one.flags}
    flags = {flag for one in arguments for flag in one.flags} | {"-h", "--help"}
    takes_text = any(one.is_text for one in arguments)
    marked: list[str] = []
    is_value = False
    for place, word in enumerate(words):
        if word == "--" and not is_value:
            return marked + [_TEXT + text if text.startswith("-") else text for text in words[place + 1 :]]
        known = word in flags or word.partition("=")[0] in takers
        looks_like_text = takes_text and (any(map(str.isspace, word)) or _NUMBER.match(word) is not None)
        text = word.startswith("-") and word != "-" and not known and (is_value or looks_like_text)
        marked.append(_TEXT + word if text else word)
        is_value = not is_value and word in takers
    return marked


def _unmarked(value: object) -> object:
    if isinstance(value, str):
        return value.removeprefix(_TEXT)
    return tuple(map(_unmarked, value)) if isinstance(value, list) else value
