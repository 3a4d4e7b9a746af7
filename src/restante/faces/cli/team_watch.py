"""``restante watch`` of a session that holds roles: what happens in the worktree's mailbox and in those of its roles.

The cursor is that of the worktree's mailbox and, behind it, ``,TEAM/ROLE=`` with that of each role.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.domain.mailbox import Changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.office import Office
    from restante.ports.roles import Roles

# How long is waited for the worktree's mailbox before those of roles are looked at.
_SLICE_SECONDS = 0.5


class Places:
    """How far each mailbox was told.

    Args:
        cursor: The cursor of them together.
    """

    def __init__(self, cursor: str) -> None:
        self.worktree, *parts = cursor.split(",")
        self.roles: dict[str, str] = {}
        for part in parts:
            role, sign, place = part.partition("=")
            if not sign:
                raise UsageError(f"{cursor!r} is no cursor")
            self.roles[role] = place

    @property
    def cursor(self) -> str:
        """The cursor to go on with."""
        return ",".join([self.worktree, *(f"{role}={place}" for role, place in sorted(self.roles.items()))])


def roster_with_roles(directory: str) -> Roles | None:
    """Return the roster of a session that holds roles; ``None`` for anybody else."""
    from restante.wiring.teams import TeamParts, open_roster

    parts = TeamParts(os.environ)
    if not parts.has_roles or parts.settings.server_url:
        return None
    roster = open_roster(os.environ, directory)
    return roster if roster.mine() else None


def begin(office: Office, roster: Roles, since: str | None) -> Places:
    """Return where to begin: behind a cursor, at the beginning with an empty one, without one with what comes now."""
    places = Places(office.tip() if since is None else since)
    for role in roster.mine():
        places.roles.setdefault(role, "" if since == "" else roster.tip(role))
    return places


def follow(office: Office, roster: Roles, places: Places, seconds: float | None) -> Iterator[tuple[str, Changes]]:
    """Yield what happens, with the role in whose mailbox it does; with none for the worktree's.

    Args:
        office: The worktree's office.
        roster: The session's roster; a role that it no longer holds is followed no longer.
        places: Where to begin; moved on with what is told.
        seconds: End after so long; ``None`` to go on until stopped.
    """
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        left = _SLICE_SECONDS if end is None else min(_SLICE_SECONDS, max(0.0, end - time.monotonic()))
        for batch in office.follow(places.worktree, left):
            places.worktree = batch.cursor
            yield "", Changes(batch.changes, places.cursor)
        for role in roster.mine():
            changes = roster.changes(role, places.roles.setdefault(role, roster.tip(role)))
            places.roles[role] = changes.cursor
            if changes.changes:
                yield role, Changes(changes.changes, places.cursor)
        if end is not None and time.monotonic() >= end:
            return
