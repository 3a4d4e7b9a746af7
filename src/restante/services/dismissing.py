"""Removing an account of multi-user mode: what becomes of the sessions of its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.account import Dismissed
from restante.domain.errors import NothingThere

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.registry import Session
    from restante.ports.sessions import Accounts, Sessions


def dismiss(
    name: str, accounts: Accounts, sessions: Sessions, end: Callable[[Session], None], *, ends_sessions: bool
) -> Dismissed:
    """Remove an account; its sessions stay, shut out until it is made again, or end for good with their mail.

    Args:
        name: Whose.
        accounts: All accounts.
        sessions: The register.
        end: Ends a session for good, with its mail.
        ends_sessions: End them; then an account that is gone already is no error as long as it left some.

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
            end(one)
        ended += len(left)
        # A session that was not ended yet may have registered another one.
        left = sessions.all(name)
    return Dismissed(ended, len(left))
