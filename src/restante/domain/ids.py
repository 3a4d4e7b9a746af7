"""Identifiers: their forms, how to tell a well-formed one, how a person may shorten one.

``<kind>_<YYYYMMDD>T<HHMMSS>_<ulid>``: the UTC second and a ULID (https://github.com/ulid/spec) seeded
with the same instant, in lower case. The form is that of the ``.codex-mailbox`` files; every home uses
it, so that an id says the same thing wherever it is met.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from restante.domain.errors import NoSuchMessage, NothingThere, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("msg", "reply", "receipt", "auto", "sub")

_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
# Both cases are read: the published examples of the format are upper-case, its programs write lower-case.
_FORM = re.compile(r"(?:msg|reply|receipt|auto|sub)_[0-9]{8}T[0-9]{6}_[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}")
_LEAST_FRAGMENT = 6
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_SHIFTS = tuple(range(125, -1, -5))


def is_well_formed(text: str, kind: str | None = None) -> bool:
    """Tell whether a text is an id, of the given kind where one is named."""
    return _FORM.fullmatch(text) is not None and (kind is None or text.startswith(kind + "_"))


def milliseconds(at: datetime) -> int:
    """Return the whole milliseconds since 1970; in integers, since a binary fraction loses one now and then."""
    return (at - _EPOCH) // _MILLISECOND


def compose(kind: str, at: datetime, randomness: int, *, is_one_of_many: bool = False) -> str:
    """Build an id from its parts.

    Args:
        kind: One of ``KINDS``.
        at: An aware UTC instant; the second and the millisecond of it are in the id.
        randomness: 80 bits.
        is_one_of_many: Whether this process makes so many that a table pays, which takes as long as ten ids.
    """
    ulid = _in_pairs if is_one_of_many else _one_by_one
    day, second = at.year * 10_000 + at.month * 100 + at.day, at.hour * 10_000 + at.minute * 100 + at.second
    return f"{kind}_{day:08}T{second:06}_{ulid(milliseconds(at), randomness)}"


def _one_by_one(time: int, randomness: int) -> str:
    value = (time << 80) | randomness
    return "".join([_CROCKFORD[(value >> shift) & 31] for shift in _SHIFTS])


def _in_pairs(time: int, randomness: int) -> str:
    pair = _pairs()
    # In parts that fit a machine word: numbers beyond that are shifted digit by digit.
    high, low = randomness >> 40, randomness & 0xFF_FFFF_FFFF
    return (
        f"{pair[time >> 40]}{pair[time >> 30 & 1023]}{pair[time >> 20 & 1023]}{pair[time >> 10 & 1023]}"
        f"{pair[time & 1023]}{pair[high >> 30]}{pair[high >> 20 & 1023]}{pair[high >> 10 & 1023]}{pair[high & 1023]}"
        f"{pair[low >> 30]}{pair[low >> 20 & 1023]}{pair[low >> 10 & 1023]}{pair[low & 1023]}"
    )


@cache
def _pairs() -> list[str]:
    return [one + other for one in _CROCKFORD for other in _CROCKFORD]


def resolve(
    fragment: str, known: Iterable[str], *, what: str = "message", remedy: str = "restante snapshot lists the ids"
) -> str:
    """Find the one known id that a person meant.

    Args:
        fragment: A whole id, or at least six characters that it begins or ends with.
        known: The ids to choose from.
        what: What the ids name; errors call it so.
        remedy: Where to look for the ids.

    Raises:
        UsageError: The fragment is too short to mean anything.
        NoSuchMessage: No known id matches, or several do (all are named).
        NothingThere: The same, where the ids are not those of messages.
    """
    candidates = list(known)
    if fragment in candidates:
        return fragment
    if len(fragment) < _LEAST_FRAGMENT:
        raise UsageError(
            f"{fragment!r} is too short for the id of a {what}",
            remedy=f"give at least {_LEAST_FRAGMENT} characters of it",
        )
    wanted = fragment.lower()
    matches = sorted({one for one in candidates if one.lower().startswith(wanted) or one.lower().endswith(wanted)})
    if len(matches) == 1:
        return matches[0]
    kind = NoSuchMessage if what == "message" else NothingThere
    if matches:
        raise kind(f"{fragment!r} fits {len(matches)} {what}s: {', '.join(matches[:5])}", remedy="say more of it")
    raise kind(f"no {what} {fragment!r}", remedy=remedy)
