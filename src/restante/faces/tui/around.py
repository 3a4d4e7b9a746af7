"""What the screen asks beside mail: approvals, repeats, monitors, settings. Each takes the ground that it asks on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.config import OPTIONS, load_settings, shown_value
from restante.domain.errors import RestanteError
from restante.wiring import approvals
from restante.wiring.grounds import worktrees_around
from restante.wiring.repeating import change_repeat, repeats_in
from restante.wiring.switching import waiting_on_disk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.config import Option
    from restante.domain.outlook import Outlook
    from restante.domain.overview import Persistence
    from restante.domain.repeat import Repeat
    from restante.faces.tui.ground import Ground


class Repeats(NamedTuple):
    """Guidance that is posted again and again, each with its worktree; what could not be read, in words; the time."""

    found: Sequence[tuple[str, Repeat]]
    problems: tuple[str, ...]
    now: datetime


class Monitors(NamedTuple):
    """Monitors, what their sessions are called by their ids, why none can be told, and the time."""

    found: Sequence[Outlook]
    names: Mapping[str, str]
    problem: str
    now: datetime


class Force(NamedTuple):
    """What is in force.

    Attributes:
        persistence: Whether mail between sessions is kept on disk.
        waiting: How many messages that wait would go if it were not any more; 0 where none would.
        values: The options, each with its value as it may be shown.
    """

    persistence: Persistence
    waiting: int
    values: Sequence[tuple[Option, str]]


def waiting(ground: Ground) -> tuple[list[approvals.Waiting], datetime]:
    """Return what waits for an approval, the oldest first, and the time of the look."""
    worktrees = worktrees_around(row.session.worktree for row in ground.window.sessions())
    return approvals.waiting(ground.environment, worktrees), ground.now()


def decide(ground: Ground, key: str, decision: str, note: str, grant: str) -> None:
    """Write a decision into an audit record; see ``wiring.approvals.decide``."""
    approvals.decide(ground.environment, waiting(ground)[0], key, decision, note, grant)


def repeats(ground: Ground) -> Repeats:
    """Return the repeats of all worktrees that are known."""
    known = worktrees_around([*(row.session.worktree for row in ground.window.sessions()), ground.directory])
    kept = repeats_in(ground.environment, known)
    found = [(place.path, one) for place in kept for one in place.repeats]
    return Repeats(found, tuple(place.problem for place in kept if place.problem), ground.now())


def change(ground: Ground, path: str, repeat: str, action: str) -> None:
    """Pause, resume or remove a repeat; see ``wiring.repeating.change_repeat``."""
    change_repeat(ground.environment, path, repeat, action)


def monitors(ground: Ground) -> Monitors:
    """Return how the person's monitors stand."""
    names = {row.session.id: row.session.title for row in ground.window.sessions()}
    try:
        return Monitors(ground.vigil.outlooks(), names, "", ground.now())
    except RestanteError as error:
        # A server that is configured keeps them, and they are not asked for from here.
        return Monitors((), names, f"{error.message}; {error.remedy}", ground.now())


def stop(ground: Ground, mailbox: str) -> None:
    """Stop watching a mailbox; mail stays where it is."""
    ground.vigil.stop(mailbox)


def force(ground: Ground) -> Force:
    """Return what is in force."""
    persistence, settings = ground.window.persistence(), load_settings(ground.environment)
    is_lost = persistence.is_on and not (persistence.is_fixed or persistence.has_server)
    waiting = waiting_on_disk(ground.environment) if is_lost else 0
    return Force(persistence, waiting, [(one, shown_value(settings, one)) for one in OPTIONS])


def keep(ground: Ground, is_on: bool) -> None:
    """Keep mail between sessions on disk from now on, or no longer."""
    ground.window.set_persistence(is_on)
