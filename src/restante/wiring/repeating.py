"""Guidance that is posted again and again, in all worktrees that a person knows, for the faces for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import RestanteError, UsageError
from restante.wiring import open_office

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from restante.domain.repeat import Repeat

ACTIONS = ("pause", "resume", "remove")


class Kept(NamedTuple):
    """The repeats of one worktree, or why they cannot be read."""

    path: str
    repeats: tuple[Repeat, ...]
    problem: str = ""


def repeats_in(environment: Mapping[str, str], worktrees: Iterable[str]) -> list[Kept]:
    """Return the repeats of worktrees; those that have none, and no fault, are left out.

    Args:
        environment: Where settings and places come from.
        worktrees: Where to look.
    """
    found = []
    for path in worktrees:
        try:
            one = Kept(path, tuple(open_office(path, environment=environment).repeats()))
        except RestanteError as error:
            one = Kept(path, (), error.message)
        if one.repeats or one.problem:
            found.append(one)
    return found


def change_repeat(environment: Mapping[str, str], path: str, repeat: str, action: str) -> None:
    """Pause, resume or remove a repeat.

    Args:
        environment: Where settings and places come from.
        path: Its worktree.
        repeat: Its id.
        action: One of ``ACTIONS``.

    Raises:
        UsageError: That cannot be done with a repeat.
        NothingThere: There is no such repeat.
    """
    if action not in ACTIONS:
        raise UsageError("that cannot be done here", remedy="load the page again")
    office = open_office(path, environment=environment)
    if action == "remove":
        office.remove_repeat(repeat)
    else:
        office.set_repeat_active(repeat, action == "resume")
