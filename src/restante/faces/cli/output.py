"""Printing: data to standard output, talk to standard error, colours only on a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "magenta": 35, "cyan": 36}
_LINE_ENDS = "[\x7f-\x9f\u2028\u2029]"


def say(text: str = "", *, end: str = "\n") -> None:
    """Print data on standard output."""
    sys.stdout.write(text + end)


def tell(text: str) -> None:
    """Print talk on standard error."""
    sys.stdout.flush()
    try:
        sys.stderr.write(text + "\n")
    except OSError:
        # Talk that nobody can hear is no reason to fail.
        return


def json_line(value: object, *, sort_keys: bool = False, indent: int | None = None) -> str:
    """Return a value as JSON that is one line to every reader and does nothing to a terminal.

    JSON itself lets U+0085, U+2028 and U+2029 stand, at which many readers of lines end one, and C1 controls.

    Args:
        value: What to write.
        sort_keys: Write the keys in order.
        indent: Spread it over lines, indented by so many spaces, for people.
    """
    import json
    import re

    text = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, indent=indent)
    return text if text.isprintable() else re.sub(_LINE_ENDS, lambda one: f"\\u{ord(one[0]):04x}", text)


def paint(text: str, colour: str | None, stream: TextIO | None = None) -> str:
    """Return the text in a colour if the stream (standard output by default) is a terminal and NO_COLOR is not set."""
    stream = stream or sys.stdout
    if colour is None or os.environ.get("NO_COLOR") or not stream.isatty():
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"
