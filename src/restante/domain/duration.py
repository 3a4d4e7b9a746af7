"""Lengths of time as a person writes them: ``30s``, ``5m``, ``1.5h``, ``1d``, ``1h30m``; ``5`` counts minutes."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from restante.domain.errors import UsageError

_UNITS_MS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_PART = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?(ms|[wdhms])?", re.IGNORECASE)
# Far below where adding to the present would leave the calendar, far above any use.
_LONGEST_MS = 3650 * 86_400_000


def parse_duration(text: str, *, what: str = "duration") -> timedelta:
    """Read a length of time, to the millisecond. A day is 24 hours, whatever the local clock does meanwhile.

    Args:
        text: Numbers with the units ``w``, ``d``, ``h``, ``m``, ``s``, ``ms`` in any case, the largest first.
            One number without a unit counts minutes, as the original mailbox program reads it.
        what: What the error calls it.

    Raises:
        UsageError: The text is no such thing, or longer than ten years; it is named.
    """
    total = 0
    place = 0
    last = _LONGEST_MS
    wanted = text.strip()
    while match := _PART.match(wanted, place):
        whole, decimals, unit = match.groups()
        if unit is None and match.group() != wanted:
            break
        size = _UNITS_MS[(unit or "m").lower()]
        if size >= last:
            break
        total += _scaled(whole, decimals or "", size)
        last = size
        place = match.end()
    if not wanted or place != len(wanted):
        raise UsageError(f"{text!r} is not a {what}", remedy="write for example 30s, 5m, 1.5h, 1d or 1h30m")
    if total > _LONGEST_MS:
        raise UsageError(f"{what} {text!r} is longer than ten years", remedy="give a shorter one")
    return timedelta(milliseconds=total)


def format_duration(length: timedelta) -> str:
    """Return the shortest exact form in one unit, for example ``90s``; below a millisecond is rounded."""
    milliseconds = round(length / timedelta(milliseconds=1))
    if not milliseconds:
        return "0s"
    unit, size = next((unit, size) for unit, size in _UNITS_MS.items() if unit != "w" and milliseconds % size == 0)
    return f"{milliseconds // size}{unit}"


def _scaled(whole: str, decimals: str, size: int) -> int:
    """Multiply in integers: 0.1 s is 100 ms, with no binary fraction on the way. Half a millisecond counts as one."""
    scale: int = 10 ** len(decimals)
    return (int(whole + decimals) * size * 2 + scale) // (2 * scale)


def instant_from(text: str, now: datetime, *, what: str) -> datetime:
    """Return the instant that a duration from now, or an ISO time with a zone, names.

    Args:
        text: Either.
        now: The time.
        what: What the error calls it.

    Raises:
        UsageError: It is neither.
    """
    both_forms = "write 90m, 12h or 1d for so long from now, or a time with its zone like 2026-05-20T15:30:00Z"
    with suppress(UsageError, OverflowError):
        return now + parse_duration(text)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{what} {text!r} is neither a length of time nor a time", remedy=both_forms) from None
    raise UsageError(f"{what} {text!r} has no time zone", remedy=both_forms)
