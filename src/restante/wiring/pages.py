"""What the pages of a server need of the other homes, in the person's or an account's name."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NothingThere, RestanteError
from restante.domain.registry import Identity
from restante.roster import Roster
from restante.wiring.monitors import MonitorParts, open_host
from restante.wiring.sessions import SessionParts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from restante.domain.mailbox import Counts
    from restante.ports import Mailbox
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


class FileBox(NamedTuple):
    """A mailbox that is files of this machine: its address, what it is called, and its numbers."""

    address: str
    name: str
    counts: Counts


def file_boxes(environment: Mapping[str, str], worktrees: Iterable[str]) -> list[FileBox]:
    """Return the mailboxes of worktrees, and of the OACP homes around, in which anything ever was.

    Those that cannot be read are left out; ``restante doctor``, and the page of the worktree, say why.

    Args:
        environment: Where settings and places come from.
        worktrees: The worktrees that are known.
    """
    from restante.wiring import open_mailbox

    known = tuple(worktrees)
    named = [(f"worktree:{one}", one, environment) for one in known]
    with suppress(RestanteError):
        named += [
            (f"oacp:{who}", who, dict(environment) | {"OACP_HOME": home}) for home, who in _agents(environment, known)
        ]
    found: list[FileBox] = []
    for address, name, place in named:
        with suppress(RestanteError):
            counts = open_mailbox(address, environment=place).counts()
            found += [FileBox(address, name, counts)] if counts.total else []
    return found


def oacp_box(environment: Mapping[str, str], worktrees: Iterable[str], agent: str) -> Mailbox:
    """Return the inbox of an agent of the OACP homes around.

    Args:
        environment: Where settings and places come from.
        worktrees: Where homes may be marked.
        agent: ``PROJECT/AGENT``.

    Raises:
        NothingThere: No home has it.
        Refused: The library that reads such homes is not installed.
    """
    from restante.wiring import open_mailbox

    for home, one in _agents(environment, worktrees):
        if one == agent:
            return open_mailbox(f"oacp:{agent}", environment=dict(environment) | {"OACP_HOME": home})
    raise NothingThere(f"no inbox of {agent!r} is known here", remedy="choose one of the overview")


def _agents(environment: Mapping[str, str], worktrees: Iterable[str]) -> list[tuple[str, str]]:
    from restante.wiring.grounds import homes_of
    from restante.wiring.oacp import agents_of, projects_of

    homes = homes_of(environment, worktrees)
    return [(home, f"{one}/{agent}") for home in homes for one in projects_of(home) for agent in agents_of(home, one)]
