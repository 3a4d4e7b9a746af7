"""The parts of a tracer: the worktree's mailbox, the window of whoever calls, the inboxes of an OACP tree."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere, NoWorktree, UsageError
from restante.system.places import data_directory
from restante.tracing import Tracer
from restante.wiring import WorktreeParts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from restante.ports import Clock
    from restante.ports.explaining import Surroundings
    from restante.ports.sessions import Window
    from restante.stores.oacp.audit import AuditStore
    from restante.stores.oacp.store import OacpMailbox
    from restante.stores.worktree.bell import FileBell
    from restante.stores.worktree.store import WorktreeMailbox


def open_tracer(directory: str = ".", environment: Mapping[str, str] | None = None) -> Tracer:
    """Open the tracer of whoever calls. Nothing is created by it.

    Args:
        directory: Any directory, of a worktree or not.
        environment: Where settings and the caller's identity come from; the process's own by default.

    Raises:
        BadConfig: The configuration has faults.
    """
    return Tracer(LocalTracerParts(directory, os.environ if environment is None else environment))


class LocalTracerParts:
    """A ``tracing.TracerParts`` of this machine.

    Args:
        directory: Where the caller works.
        environment: Where settings and the caller's identity come from.
    """

    def __init__(self, directory: str, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = environment
        self._worktree = WorktreeParts(directory, environment)
        self.clock: Clock = self._worktree.clock

    @cached_property
    def root(self) -> str:
        """See the protocol."""
        try:
            return self._worktree.find().root
        except NoWorktree:
            return ""

    @property
    def mailbox(self) -> WorktreeMailbox:
        """See the protocol."""
        return self._worktree.mailbox

    @property
    def bell(self) -> FileBell:
        """See the protocol."""
        return self._worktree.bell

    @cached_property
    def window(self) -> Window | None:
        """See the protocol."""
        settings = self._worktree.settings
        if not (settings.server_url or settings.database_url or self._has_register()):
            return None
        from restante.wiring.sessions import open_window

        return open_window(self._environment, self._directory, only_looks=True)

    @property
    def registers(self) -> bool:
        """See the protocol."""
        from restante.system.turns import TurnFiles

        settings = self._worktree.settings
        with suppress(UsageError):
            turns = TurnFiles(data_directory(self._environment))
            return bool(settings.server_url or settings.database_url) or (turns.is_in_use and not turns.is_refused)
        return False

    @cached_property
    def surroundings(self) -> Surroundings:
        """See the protocol."""
        from restante.wiring.sessions import SessionParts

        return SessionParts(self._environment).surroundings

    def _has_register(self) -> bool:
        """Tell whether sessions are registered on this machine, or would be."""
        try:
            place = data_directory(self._environment)
        except UsageError:
            return False
        return any(os.path.exists(os.path.join(place, name)) for name in ("turns", "restante.db", "server.json"))

    def inboxes(self) -> Iterator[OacpInbox]:
        """See the protocol."""
        from restante.stores.oacp.layout import Tree, find_home

        with suppress(NothingThere):
            home = find_home(self._directory, self._environment)
            tree = Tree(home)
            for project in tree.projects() if os.path.isdir(home) else ():
                for agent in tree.agents(project):
                    yield OacpInbox(home, project, agent, self.clock)


class OacpInbox:
    """A ``tracing.TreeInbox`` in the files of a tree."""

    def __init__(self, home: str, project: str, agent: str, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        self.project = project
        self.agent = agent

    @cached_property
    def mailbox(self) -> OacpMailbox:
        """See the protocol."""
        from restante.stores.oacp.layout import Tree
        from restante.stores.oacp.store import OacpMailbox
        from restante.system.ids import MonotonicIds

        return OacpMailbox(Tree(self._home), self.project, self.agent, clock=self._clock, ids=MonotonicIds())

    @cached_property
    def records(self) -> AuditStore:
        """See the protocol."""
        from restante.stores.oacp.audit import AuditStore

        return AuditStore.of_agent(self._home, self.project, self.agent)

    def held(self, message_id: str) -> tuple[str, bool]:
        """See the protocol."""
        from restante.stores.oacp.evidence import LETTERS
        from restante.stores.oacp.layout import Tree
        from restante.stores.oacp.threads import find_message
        from restante.wiring.mailing import Mail

        listing = Mail(self._home, self.project, self._clock).waiting(self.agent)
        # Of what is held the listing tells no id, which might be a lie.
        found = find_message(Tree(self._home), self.project, self.agent, message_id)
        name = os.path.basename(found.path) if found else ""
        row = next((row for row in listing.rows if row.name == name), None)
        if row is None or not listing.is_held(row):
            return "", False
        why = listing.policy_error or f"its signature is {row.standing or 'missing'}, and the policy enforces one"
        letters = os.path.join(os.path.dirname(listing.path), LETTERS)
        names = os.listdir(letters) if os.path.isdir(letters) else []
        return why, any(one.startswith(row.name) for one in names)
