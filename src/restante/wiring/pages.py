"""What the pages of a server need of the other homes, in the person's or an account's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.registry import Identity
from restante.roster import Roster
from restante.wiring.sessions import SessionParts

if TYPE_CHECKING:
    from collections.abc import Mapping


def roster_for(environment: Mapping[str, str], owner: str) -> Roster:
    """Open the roster for somebody who proved to be that owner, or the person of this machine.

    Args:
        environment: Where settings and places come from.
        owner: The account; empty for the person of this machine.
    """
    return Roster(SessionParts(environment), lambda: Identity(owner, verified=True))
