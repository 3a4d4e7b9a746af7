"""What commands work on: the office of a directory, and texts from wherever a person has them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from restante.domain.errors import Refused, UsageError

if TYPE_CHECKING:
    from datetime import datetime

    from restante.office import Office


def office_of(directory: str, *, anywhere: bool = False) -> Office:
    """Open the office of the worktree that a directory belongs to.

    Args:
        directory: The directory.
        anywhere: Also where there is no worktree, for what needs none.

    Raises:
        NoWorktree: It belongs to none.
    """
    from restante.wiring import open_office

    return open_office(directory, anywhere=anywhere)


def text_from(words: tuple[str, ...], file: str | None, *, limit: int) -> str:
    """Return the text that a command was given: as words, by ``-`` on standard input, in a file, or from an editor.

    Standard input and files are taken byte for byte; an editor's final line feed is left out.

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
        return _decoded(sys.stdin.buffer.read(limit + 1), "standard input")
    return " ".join(words) if words else _edited()


def seconds_from(text: str) -> float:
    """Return how long to wait, in seconds: a bare number counts seconds, as in every tool that waits.

    Raises:
        UsageError: It is no length of time.
    """
    from restante.domain.duration import parse_duration

    bare = text.replace(".", "", 1).isdigit()
    return parse_duration(f"{text}s" if bare else text).total_seconds()


def when_from(text: str, now: datetime) -> datetime:
    """Return the instant that a duration from now, or an ISO time with a zone, names.

    Raises:
        UsageError: It is neither.
    """
    from restante.domain.duration import instant_from

    return instant_from(text, now, what="--expires")


def confirmed(question: str) -> bool:
    """Ask a person at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def at_terminal() -> bool:
    """Whether a person is there to answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _edited() -> str:
    """Let a person write the text in an editor; as git does, the variable is a command line for the shell."""
    if not at_terminal():
        raise UsageError("no text", remedy="give it as an argument, - for standard input, or --file")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError("no text, and no EDITOR is set", remedy="give the text as an argument, or set EDITOR")
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="restante-") as place:
        path = os.path.join(place, "message.md")
        with open(path, "wb"):
            pass
        done = subprocess.run(["sh", "-c", f'{editor} "$1"', "sh", path], check=False)
        if done.returncode != 0:
            raise Refused(
                f"the editor ended with {done.returncode}; nothing was sent", remedy="send again when it works"
            )
        with open(path, "rb") as stream:
            return _decoded(stream.read(), "the text").removesuffix("\n")


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{source}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8", remedy="convert it to UTF-8"
        ) from None
