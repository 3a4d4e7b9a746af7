"""Which session a reference means: a whole id, a name, or the beginning of an id that is long enough."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from restante.domain.errors import NoSuchSession, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from restante.domain.registry import Session

# Shorter beginnings of ids are met by accident.
LEAST_PREFIX = 8

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_LONGEST_NAME = 100

# Letters of Cyrillic and Greek that most fonts draw as Latin ones (Unicode Technical Standard 39, confusables).
_LOOKS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u03bf\u03b1\u03bd\u03b9\u03c1\u03c5\u03ba\u043a\u043c\u0442\u043d\u0432",
    "aeopcxyijshdqwoavipukkmthb",
)


def check_id(session_id: str) -> None:
    """Refuse what is no session's id: ASCII letters, digits and ``._:-``, at most 128 of them.

    Raises:
        UsageError: It is none.
    """
    if not _ID.fullmatch(session_id):
        raise UsageError(
            f"{session_id!r} is no session's id",
            remedy="an id begins with an ASCII letter or digit; '.', '_', ':' and '-' may follow, 128 in all",
        )


def check_name(name: str) -> None:
    """Refuse a name that could pass for another: with line ends, control or invisible characters, or too long.

    Raises:
        UsageError: It is one.
    """
    # Cc are controls, Cf formats such as those that change writing direction, Zl and Zp line ends, Cs no text at all.
    if any(unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for one in name):
        raise UsageError(f"the name {name!r} has characters that are not to be seen", remedy="leave them out")
    if len(name) > _LONGEST_NAME or name != name.strip():
        raise UsageError(
            f"{name!r} is no name for a session", remedy=f"at most {_LONGEST_NAME} characters, no space at its ends"
        )


def look_alikes(sessions: Iterable[Session]) -> list[list[Session]]:
    """Return the groups of sessions whose names differ and can hardly be told apart by the eye.

    Upper and lower case, forms of one letter in Unicode, and letters of other scripts that look like Latin ones count
    as the same: a name is what people and models go by.
    """
    groups: dict[str, list[Session]] = {}
    for one in sessions:
        if one.name:
            seen = unicodedata.normalize("NFKD", one.name.casefold()).translate(_LOOKS)
            groups.setdefault(seen, []).append(one)
    return [group for group in groups.values() if len({one.name for one in group}) > 1]


def check_apart(session_id: str, name: str, candidates: Iterable[Session]) -> None:
    """Refuse to let one session's name be another's id, or the other way round: mail for one would go to the other.

    Args:
        session_id: The session that is registered, or named.
        name: Its name; empty for none.
        candidates: Sessions of its owner that may be in the way.

    Raises:
        UsageError: One is.
    """
    for one in candidates:
        if one.id != session_id and (one.id == name or one.name == session_id):
            raise UsageError(
                f"{(one.name if one.name == session_id else name)!r} is what another session is called by",
                remedy="take another name, or another id",
            )


def claimed(reference: str, candidates: Iterable[Session], is_live: Callable[[Session], bool]) -> Session | None:
    """Return the session that a caller claims to be; ``None`` is never an error, it is "the user, unverified".

    A live session, by its exact id or by a beginning of at least 8 characters that no other live one has: the rule
    by which Codeman resolves the parent of a session.

    Args:
        reference: What was claimed.
        candidates: Sessions of the caller's owner; others are passed over.
        is_live: Tells whether a session lives.
    """
    live = [one for one in candidates if one.id.startswith(reference) and is_live(one)]
    for one in live:
        if one.id == reference:
            return one
    return live[0] if len(live) == 1 and len(reference) >= LEAST_PREFIX else None


def meant(reference: str, candidates: Sequence[Session]) -> Session:
    """Return the session that somebody names, dead ones too.

    Args:
        reference: A whole id, a name that only one has, or a beginning of at least 8 characters of an id.
        candidates: The owner's sessions, or those of them that may be meant.

    Raises:
        NoSuchSession: None is meant, or several are: those are listed. A foreign session is an unknown one.
    """
    for one in candidates:
        if one.id == reference:
            return one
    # By both at once: a list shows the beginnings of ids, and whoever takes one of them for a name must not get the
    # mail of the session that is meant by it.
    is_beginning = len(reference) >= LEAST_PREFIX
    found = [
        one
        for one in candidates
        if reference and (one.name == reference or (is_beginning and one.id.startswith(reference)))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(one.id for one in found[:5])
        raise NoSuchSession(f"{reference!r} means {len(found)} sessions: {ids}", remedy="give the whole id of one")
    raise unknown(reference)


def unknown(reference: str) -> NoSuchSession:
    """Return the error for a session that is not there, or not the caller's: the two must not be told apart."""
    return NoSuchSession(f"no session {reference!r}", remedy="restante ls")
