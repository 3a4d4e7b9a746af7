"""What the commands about sessions work on: the window of whoever calls, and sessions as they are named."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import Refused, UsageError

if TYPE_CHECKING:
    from restante.config import Settings
    from restante.domain.overview import Row
    from restante.ports.sessions import Window

# Shorter beginnings of ids are met by accident; a name may have any length.
_LEAST_PREFIX = 8


def window_of(directory: str) -> Window:
    """Open the window of whoever calls, onto the exchange of this machine or onto a server.

    Args:
        directory: The directory that the caller works in.
    """
    from restante.wiring.sessions import open_window

    return open_window(os.environ, directory)


def sessions_are_used(settings: Settings) -> bool:
    """Tell whether there are sessions that could have mail, without opening anything."""
    if settings.server_url or settings.database_url:
        return True
    from restante import peek

    return peek.sessions_are_used(os.environ)


def checked(window: Window, reference: str) -> str:
    """Return how a session was named, unless nobody can mean it.

    Raises:
        UsageError: It is empty.
        Refused: It is too short for the beginning of an id, and no session has that name.
    """
    if not reference:
        raise UsageError("no session was named", remedy="restante ls")
    if len(reference) < _LEAST_PREFIX:
        row_of(window.sessions(), reference)
    return reference


def row_of(rows: list[Row], reference: str) -> Row:
    """Return the one row that a whole id, a name or the beginning of an id stands for.

    Raises:
        Refused: It is too short for the beginning of an id, and no session has that name.
        NoSuchSession: No session is meant by it, or several are.
    """
    for row in rows:
        if row.session.id == reference:
            return row
    found = [row for row in rows if row.session.name == reference]
    if not found and len(reference) < _LEAST_PREFIX:
        raise Refused(
            f"{reference!r} is no session's name, and too short for the beginning of an id",
            remedy=f"give at least {_LEAST_PREFIX} characters of the id, or a name: restante ls",
        )
    found = found or [row for row in rows if row.session.id.startswith(reference)]
    if len(found) == 1:
        return found[0]
    from restante.domain.errors import NoSuchSession

    if found:
        ids = ", ".join(row.session.id for row in found[:5])
        raise NoSuchSession(f"{reference!r} means {len(found)} sessions: {ids}", remedy="give the whole id of one")
    raise NoSuchSession(f"no session {reference!r}", remedy="restante ls")


def number_from(text: str, *, what: str, least: int = 0) -> int:
    """Return a whole number as it stands on a command line.

    Raises:
        UsageError: It is none, or too small.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) < least:
        raise UsageError(f"{what} {text!r} is no whole number of at least {least}", remedy=f"for example {least + 1}")
    return int(text)
