"""What a model gives a tool, read for what the tool takes. A model is told what is wrong, so that it can do better."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import UnionType

# Programs give up on a tool, or put it into the background, after about two minutes.
LONGEST_WAIT = 100.0
USUAL_WAIT = 60.0
_MOST_IDS = 100
_LONGEST = 10_000


def text_in(arguments: Mapping[str, object], name: str, *, needed: bool = False) -> str:
    """Return a text; empty where it is not given.

    Raises:
        UsageError: It is none.
    """
    value = arguments.get(name, "")
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise UsageError(f"{name} is no text", remedy="give a string")
    if needed and not value.strip():
        raise UsageError(f"{name} is missing or empty", remedy=f"give {name}")
    return value


def ids_in(arguments: Mapping[str, object], name: str) -> list[str]:
    """Return the ids of messages; none where they are not given.

    Raises:
        UsageError: It is none.
    """
    value = _meant(arguments.get(name), list) or []
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise UsageError(f"{name} is no list of message ids", remedy="inbox shows the ids")
    if len(value) > _MOST_IDS:
        raise UsageError(f"{name} holds more than {_MOST_IDS}", remedy="name fewer at once, or use through")
    return value


def flag_in(arguments: Mapping[str, object], name: str) -> bool:
    """Return whether something is said to be so.

    Raises:
        UsageError: It is none.
    """
    value = _meant(arguments.get(name), bool)
    if value not in (None, True, False):
        raise UsageError(f"{name} is neither true nor false", remedy="leave it out, or say true")
    return value is True


def check_known(arguments: Mapping[str, object], *names: str) -> None:
    """Refuse an argument that a tool does not have.

    Raises:
        UsageError: There is one.
    """
    for one in arguments:
        if one not in names:
            raise UsageError(f"there is no argument {one!r}", remedy=f"there are: {', '.join(names)}")


def seconds_in(arguments: Mapping[str, object]) -> float:
    """Return how long ``wait`` is to wait.

    Raises:
        UsageError: It is no length of time.
    """
    check_known(arguments, "seconds")
    given = _meant(arguments.get("seconds", USUAL_WAIT), int | float)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 1e9:
        raise UsageError("seconds is no number of seconds", remedy=f"0 to {LONGEST_WAIT:.0f}")
    return min(float(given), LONGEST_WAIT)


def _meant(value: object, kind: type | UnionType) -> object:
    """Return what a program wrote down as JSON in a text, as some do now and then; anything else as it is."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return value
    try:
        found: object = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, kind) else value
