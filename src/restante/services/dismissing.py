"""Removing an account of multi-user mode: what becomes of the sessions of its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.account import Dismissed
from restante.domain.errors import NothingThere
from restante.services import enrolling

if TYPE_CHECKING:
    from datetime import datetime

    from restante.ports.sessions import Accounts, Boxes, SessionBell, Sessions, Turns


def dismiss(
    name: str,
    accounts: Accounts,
    sessions: Sessions,
    turns: Turns,
    bell: SessionBell,
    boxes: Boxes | None,
    now: datetime,
    *,
    ends_sessions: bool,
) -> Dismissed:
    """Remove an account; its sessions stay, shut out until it is made again, or end for good with their mail.

    With ``ends_sessions`` an account that is gone already is no error as long as sessions of it are left.

    Raises:
        NothingThere: There is no such account.
    """
    # The password first: nobody registers by it what would be overlooked.
    was_there = accounts.remove(name)
    left = sessions.all(name)
    if not was_there and not (ends_sessions and left):
        raise NothingThere(f"there is no account {name!r}", remedy="restante account list")
    ended = 0
    while ends_sessions and left:
        for one in left:
            enrolling.delete(one, sessions, turns, bell, boxes, now)
        ended += len(left)
        # A session that was not ended yet may have registered another one.
        left = sessions.all(name)
    return Dismissed(ended, len(left))
