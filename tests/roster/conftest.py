"""Teams in a data directory, or a PostgreSQL database, with sessions that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.exchange.world import World

from restante.domain.message import Draft
from restante.domain.registry import Identity
from restante.roster import Roster
from restante.roster.window import RosterWindow
from restante.system.bells import WorktreeSessionBell
from restante.wiring.role_bell import RoleBell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from restante.domain.mailbox import Entry
    from restante.exchange import Exchange
    from restante.testing import FakeClock

ALICE = "a11ce000-0000-4000-8000-000000000001"
BOB = "b0b00000-0000-4000-8000-000000000002"
CAROL = "ca401000-0000-4000-8000-000000000003"
ROLE = "parser/reviewer"


class Town(World):
    """A machine with teams. Each question of anybody is asked by a roster of its own, as each command does."""

    def another(self, *, holds_mail: bool = False) -> Exchange:
        """Return an exchange of another process, whose bells are for the processes of this world."""
        exchange = super().another(holds_mail=holds_mail)
        self.parts.bell = RoleBell(WorktreeSessionBell("here"), self.parts.role_mail_waits)
        return exchange

    def by(self, session: str = "", *, verified: bool = True, owner: str = "") -> Roster:
        """Return the roster of a session; of the person without one."""
        return Roster(self.parts, lambda: Identity(owner, session, verified))

    def window_of(self, session: str) -> RosterWindow:
        """Return what a session reads its mail by."""
        return RosterWindow(self.window(session), self.by(session))

    def post(self, text: str, to: str = ROLE, sender: str = "") -> str:
        """Post to a role and return the message's id."""
        (copy,) = self.by(sender).post(to, Draft(text))
        assert copy.posted
        return copy.posted.message.id

    def entries(self, role: str = ROLE) -> list[Entry]:
        """Return everything in a role's mailbox, as the person sees it."""
        return self.by().history(role, limit=1000)[0]

    def kill(self, session: str) -> None:
        """End the process of a session without a word."""
        found = self.exchange.window(Identity()).find(session)
        assert found.process
        self.processes.dead.add(found.process.pid)


@pytest.fixture
def town(tmp_path: Path, clock: FakeClock) -> Iterator[Town]:
    """Three sessions and no team; mail between sessions is kept on disk."""
    made = Town(tmp_path, clock, holds_mail=False)
    for session, name in ((ALICE, "alice"), (BOB, "bob"), (CAROL, "carol")):
        made.session(session, name=name, worktree=str(tmp_path / name))
        (tmp_path / name / ".codex-mailbox").mkdir(parents=True)
    made.person.set_persistence(True)
    yield made
    made.exchange.close()
