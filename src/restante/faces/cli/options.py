"""What commands have in common: options, and how free text is told from options."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from restante.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.office import Office

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_NUMBER = re.compile(r"-\d")
# No argument of a process can hold a NUL, so that it can mark what is text.
_TEXT = "\0"


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a command works, and how it answers.

    Attributes:
        directory: Any directory of the worktree.
        as_json: Answer as JSON.
    """

    directory: str
    as_json: bool

    def open(self) -> Office:
        """Open the office."""
        from restante.wiring import open_office

        try:
            return open_office(self.directory)
        except FileNotFoundError:
            # The working directory itself may be gone: an agent can remove the worktree it stands in.
            from restante.domain.errors import NoWorktree

            raise NoWorktree("the current directory no longer exists", remedy="cd to a worktree, or use -C") from None


def common(function: _Function) -> _Function:
    """Add ``-C`` and ``--json``."""
    function = click.option("--json", "as_json", is_flag=True, help="Answer as JSON (schema: docs/reference/json.md).")(
        function
    )
    return click.option(
        "-C",
        "directory",
        metavar="DIR",
        default=".",
        help="Work in the worktree of this directory instead of the current one.",
    )(function)


class TextCommand(click.Command):
    """A command whose positional texts may begin with a dash, as list items do.

    An argument that begins with a dash is text if it holds white space or begins like a negative number, unless
    it is the value of an option before it or begins with the name of an option. A lone dash stays what it is.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Mark texts before the options are parsed."""
        return super().parse_args(ctx, self._marked(args))

    def _marked(self, args: list[str]) -> list[str]:
        flags, takers = self._option_names()
        marked: list[str] = []
        takes_next = False
        for place, arg in enumerate(args):
            if arg == "--" and not takes_next:
                return marked + args[place:]
            known = arg in flags or arg in takers or arg.partition("=")[0] in takers
            if (
                not takes_next
                and arg.startswith("-")
                and not known
                and (any(map(str.isspace, arg)) or _NUMBER.match(arg))
            ):
                marked.append(_TEXT + arg)
            else:
                marked.append(arg)
            takes_next = not takes_next and arg in takers
        return marked

    def _option_names(self) -> tuple[set[str], set[str]]:
        flags = {"-h", "--help"}
        takers: set[str] = set()
        for parameter in self.params:
            if isinstance(parameter, click.Option):
                (flags if parameter.is_flag else takers).update([*parameter.opts, *parameter.secondary_opts])
        return flags, takers


class Text(click.ParamType[str]):
    """A free text."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take the mark off that ``TextCommand`` put on."""
        return value.removeprefix(_TEXT)


TEXT = Text()


def text_from(words: tuple[str, ...], file: str | None, *, limit: int) -> str:
    """Return the text that a command was given: as words, by ``-`` on standard input, in a file, or from an editor.

    Args:
        words: The positional arguments.
        file: The value of ``--file``.
        limit: Bytes after which reading stops; the text is then over any limit.

    Raises:
        UsageError: There is none, there are two, or it is not UTF-8.
    """
    if words and file is not None:
        raise UsageError("both a text and --file were given", remedy="give one of them")
    if file is not None:
        try:
            with open(file, "rb") as stream:
                return _decoded(stream.read(limit + 1), file)
        except OSError as error:
            raise UsageError(f"cannot read {file}: {error.strerror}", remedy="name a file that can be read") from None
    if words == ("-",):
        import sys

        return _decoded(sys.stdin.buffer.read(limit + 1), "standard input")
    if words:
        return " ".join(words)
    return _edited()


def _edited() -> str:
    if not _at_terminal():
        raise UsageError("no text", remedy="give it as an argument, - for standard input, or --file")
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise UsageError("no text, and no EDITOR is set", remedy="give the text as an argument, or set EDITOR")
    text: str | None = click.edit(require_save=True)
    return (text or "").removesuffix("\n")


def _at_terminal() -> bool:
    import sys

    return sys.stdin.isatty() and sys.stdout.isatty()


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{source}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8", remedy="convert it to UTF-8"
        ) from None


def seconds_from(text: str) -> float:
    """Return how long to wait, in seconds: a bare number counts seconds, as in every tool that waits.

    Raises:
        UsageError: It is no length of time.
    """
    from restante.domain.duration import parse_duration

    bare = text.replace(".", "", 1).isdigit()
    return parse_duration(f"{text}s" if bare else text).total_seconds()
