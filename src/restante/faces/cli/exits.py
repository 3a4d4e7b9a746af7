"""Where errors become words and exit codes, and nowhere else."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.domain.text import visible
from restante.faces.cli.output import json_line, paint, tell

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 1
INTERRUPTED = 130


def run(command: Callable[[list[str]], int], words: list[str]) -> int:
    """Run a command and return the exit code: 0 ok, 1 failed, 2 usage, 3 nothing there, 4 refused, 5 timeout."""
    _prepare_streams()
    try:
        code = command(words)
        sys.stdout.flush()
    except RestanteError as error:
        options = words[: words.index("--")] if "--" in words else words
        _report(error, as_json="--json" in options)
        return error.exit_code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return FAILED
    except OSError as error:
        _give_up_output()
        tell(f"error: the answer could not be written ({error.strerror or error}); what was asked for may be done")
        return FAILED
    return code


def _prepare_streams() -> None:
    """Make the streams fit for any text; one that was closed swallows what it is given."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
        elif isinstance(stream, io.TextIOWrapper):
            # A terminal whose encoding lacks a character shows its number instead of ending the command.
            stream.reconfigure(errors="backslashreplace")


def _give_up_output() -> None:
    """Send what is still buffered nowhere: a second error while the process ends would be noise."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: RestanteError, *, as_json: bool) -> None:
    if as_json:
        problem = {"code": error.code, "message": error.message, "remedy": error.remedy, "details": list(error.details)}
        tell(json_line({"error": problem}))
        return
    tell(paint("error: ", "red", sys.stderr) + visible(error.message))
    for detail in (one for one in error.details if "title" in one):
        line = f"line {detail['line']}: " if detail.get("line") else ""
        tell(f"  {line}{detail.get('title', '')} ({detail.get('code', '')}): {visible(str(detail.get('excerpt', '')))}")
    if error.remedy:
        tell(f"  try: {visible(error.remedy)}")
