"""What the pages of a server need of the other homes, in the person's or an account's name."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from restante.domain.registry import Identity
from restante.roster import Roster
from restante.wiring.monitors import MonitorParts, open_host
from restante.wiring.sessions import SessionParts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from restante.vigil import Vigil


@contextmanager
def roster_for(environment: Mapping[str, str], owner: str) -> Iterator[Roster]:
    """Open the roster for somebody who proved to be that owner, or the person of this machine, within a block.

    Args:
        environment: Where settings and places come from.
        owner: The account; empty for the person of this machine.
    """
    parts = SessionParts(environment)
    try:
        yield Roster(parts, lambda: Identity(owner, verified=True))
    finally:
        # A page that is looked at asks several times a second: databases must not be left to the collector.
        parts.close()


@contextmanager
def vigil_for(environment: Mapping[str, str], owner: str) -> Iterator[Vigil]:
    """Open the vigil for the same, within a block.

    Args:
        environment: Where settings and places come from.
        owner: The account; empty for the person of this machine.
    """
    parts = MonitorParts(environment)
    try:
        yield open_host(environment, parts).hosting(owner)
    finally:
        parts.close()
