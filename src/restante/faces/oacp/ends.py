"""How a verb ends: errors as the original words them, its exit codes, and the parser of its flags."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError, UsageError
from restante.domain.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.ports import Clock

FAILED = 1
USAGE = 2
HELD = 3
BREACHED = 4
_INTERRUPTED = 130


class Flags(argparse.ArgumentParser):
    """A parser of one verb's flags. Abbreviations are not understood: a later flag must not change what one means."""

    def __init__(self, verb: str, about: str = "") -> None:
        super().__init__(prog=f"oacp {verb}", description=about, allow_abbrev=False)

    def home(self) -> None:
        """Take ``--oacp-dir``."""
        self.add_argument("--oacp-dir", default="", metavar="DIR", help="the OACP home")

    def json(self) -> None:
        """Take ``--json``."""
        self.add_argument("--json", action="store_true", help="answer as JSON")


class Verbs:
    """The words of one verb: ``trust keygen``, ``agent add``."""

    def __init__(self, verb: str, words: Mapping[str, Callable[[list[str]], int]]) -> None:
        self._verb = verb
        self._words = words

    def run(self, words: list[str]) -> int:
        """Run what the words name."""
        home: list[str] = []
        while words[:1] == ["--oacp-dir"] and len(words) > 1:
            home, words = words[:2], words[2:]
        if not words or words[0] in ("-h", "--help"):
            sys.stdout.write(f"usage: oacp {self._verb} {{{','.join(self._words)}}} ...\n")
            return 0 if words else USAGE
        act = self._words.get(words[0])
        if act is None:
            sys.stderr.write(f"oacp {self._verb}: {words[0]!r} is none of {', '.join(self._words)}\n")
            return USAGE
        return act([*words[1:], *home])


def run(command: Callable[[list[str]], int], words: list[str]) -> int:
    """Run a verb; what it raises becomes the original's words and exit code."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")
    try:
        code = command(words)
        sys.stdout.flush()
    except RestanteError as error:
        return fail(error, as_json="--json" in words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else FAILED if stop.code else 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return code


def fail(error: RestanteError, *, as_json: bool = False, code: int | None = None) -> int:
    """Tell what went wrong; return the exit code: 2 for a call that cannot work, else 1."""
    text = f"{error.message}; {error.remedy}" if error.remedy else error.message
    if as_json:
        say_json({"error": text})
    else:
        sys.stderr.write(f"ERROR: {visible(text)}\n")
    return code if code is not None else USAGE if isinstance(error, UsageError) else FAILED


def say(text: str) -> None:
    """Print a line of data."""
    sys.stdout.write(text + "\n")


def tell(text: str) -> None:
    """Print a line of talk."""
    sys.stdout.flush()
    sys.stderr.write(visible(text) + "\n")


def say_json(value: object) -> None:
    """Print JSON as the original does."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def clock() -> Clock:
    """Return the clock of this process."""
    from restante.wiring.oacp import clock_of

    return clock_of(os.environ)


def home_of(given: str) -> str:
    """Return the OACP home that is meant."""
    from restante.wiring.oacp import home_of as find

    return find(given, os.environ, os.getcwd())


def read_yaml_file(path: str, what: str) -> object:
    """Return what a YAML file of the caller's says.

    Raises:
        UsageError: It cannot be read, or is none.
    """
    from restante.wiring.intake import load_file

    try:
        return load_file(path)
    except UsageError as error:
        raise UsageError(f"{what} {error.message}") from None
