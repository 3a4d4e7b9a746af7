"""What the commands about sessions work on: the window of whoever calls, and sessions as they are named."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import Refused, UsageError
from restante.domain.text import one_line
from restante.faces.cli.output import paint, tell

if TYPE_CHECKING:
    from restante.config import Settings
    from restante.domain.message import Sender
    from restante.domain.overview import Row
    from restante.domain.registry import Identity
    from restante.ports.sessions import Window


def window_of(directory: str, *, only_looks: bool = False) -> Window:
    """Open the window of whoever calls, onto the exchange of this machine or onto a server.

    Args:
        directory: The directory that the caller works in.
        only_looks: Make nothing for a person, who asks what anybody is told.
    """
    from restante.wiring.sessions import open_window

    return open_window(os.environ, directory, only_looks=only_looks)


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
        Refused: It is too little of a session's id, and no session has that name.
        NoSuchSession: It is too short for the beginning of an id, and no session is meant by it.
    """
    if not reference:
        raise UsageError("no session was named", remedy="restante ls")
    from restante.domain.naming import LEAST_PREFIX

    if len(reference) < LEAST_PREFIX:
        # Nobody means a session by so little of its id: a name is looked for before anything is sent.
        row_of(window.sessions(), reference)
    return reference


def row_of(rows: list[Row], reference: str) -> Row:
    """Return the one row that a whole id, a name or the beginning of an id stands for.

    Raises:
        Refused: It is too little of a session's id, and no session has that name.
        NoSuchSession: No session is meant by it, or several are.
    """
    from restante.domain.naming import LEAST_PREFIX, meant

    sessions = [row.session for row in rows]
    is_short = 0 < len(reference) < LEAST_PREFIX and not any(reference in (one.id, one.name) for one in sessions)
    if is_short and any(one.id.startswith(reference) for one in sessions):
        raise Refused(
            f"{reference!r} begins a session's id, and is too short to name it by",
            remedy=f"give at least {LEAST_PREFIX} characters of the id, or a name: restante ls",
        )
    found = meant(reference, sessions)
    return next(row for row in rows if row.session.id == found.id)


def number_from(text: str, *, what: str, least: int = 0) -> int:
    """Return a whole number as it stands on a command line.

    Raises:
        UsageError: It is none, or too small.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) < least:
        raise UsageError(f"{what} {text!r} is no whole number of at least {least}", remedy=f"for example {least + 1}")
    return int(text)


def warn_of(sender: Sender, identity: Identity) -> None:
    """Warn whoever posted and proved nothing."""
    if not sender.name.startswith("session:") and not sender.verified:
        claimed = f"{one_line(identity.claimed, 80)!r} names no live session of yours" if identity.claimed else ""
        tell(
            paint("warning: ", "yellow")
            + (f"{claimed}: it" if claimed else "nothing proved who sent this: it")
            + " was sent as user (unverified), and the receiver is told so"
        )
