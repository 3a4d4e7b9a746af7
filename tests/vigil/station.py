"""A machine with sessions, roles and monitors: real stores in a directory, a clock to set, processes to kill.

What would wake a session is played by an adapter that writes down whom it was to wake, when, and with what text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.exchange.world import FakeProcesses, World

from restante.domain.message import Draft, Sender
from restante.domain.monitor import Wake, Woken
from restante.domain.monitoring import RULES, Word
from restante.domain.receiving import wake_text
from restante.domain.registry import Identity
from restante.roster import Roster
from restante.vigil import Vigil
from restante.wiring.monitors import MonitorParts

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from restante.domain.message import Message
    from restante.domain.monitoring import Answer
    from restante.testing import FakeClock

T1 = "0199aaaa-0000-7000-8000-00000000000a"
T2 = "0199bbbb-0000-7000-8000-00000000000b"
ALICE = "team/alice"
BOB = "team/bob"
MARKER = "XYZZY-not-for-the-collector"


class Station:
    """One data directory with monitors.

    Attributes:
        turns: What the adapter was asked: session, text, time.
        woken: What the adapter answers.
    """

    def __init__(self, path: Path, clock: FakeClock, **options: str) -> None:
        self.clock = clock
        self.world = World(path, clock, holds_mail=False, **options)
        self.data = self.world.data
        self.processes: FakeProcesses = self.world.processes
        for session, worktree in ((T1, "/somewhere/p"), (T2, "/somewhere/q")):
            self.world.session(session, worktree=worktree)
        self.world.person.set_persistence(True)
        self.turns: list[tuple[str, str, datetime]] = []
        self.woken = Woken(Wake.CONFIRMED)
        self.opened: list[MonitorParts] = []
        self.restart()

    def restart(self) -> None:
        """Let other processes go on with what is kept."""
        self.close()
        self.parts = MonitorParts(self.world.environment, clock=self.clock)
        self.parts.processes = self.processes
        self.opened.append(self.parts)
        self.host = Vigil(self.parts).hosting()

    def close(self) -> None:
        """Let go of the databases."""
        while self.opened:
            self.opened.pop().close()

    def vigil(self, session: str = "") -> Vigil:
        """Return the vigil of a session that is proven, or of the person."""
        # No process of a test runs below the made-up ones of its sessions.
        self.parts.is_ours = lambda process: process is not None  # type: ignore[method-assign]
        return Vigil(self.parts, lambda: Identity("", session, verified=True))

    def roster(self, session: str = "") -> Roster:
        """Return the roster of a session that is proven, or of the person."""
        parts = self.parts
        # No process of a test runs below the made-up ones of its sessions.
        parts.is_ours = lambda process: process is not None  # type: ignore[method-assign]
        return Roster(parts, lambda: Identity("", session, verified=True))

    def arm(self, mailbox: str = ALICE, session: str = T1, **options: object) -> Answer:
        """Let a session join a role and arm it."""
        if "/" in mailbox and ":" not in mailbox:
            self.roster(session).join(mailbox)
        return self.vigil(session).arm(mailbox, **options)  # type: ignore[arg-type]

    def post(self, mailbox: str = ALICE, text: str = "Look at the parser.", **words: object) -> Message:
        """Post to a role, as bob."""
        draft = Draft(text, Sender("session:bob", False))._replace(**words)  # type: ignore[arg-type]
        message = self.parts.role_boxes.post(mailbox, "", draft).message
        self.parts.doorbells.ring(mailbox)
        return message

    def look(self, mailbox: str = ALICE) -> Answer:
        """Do what a host does when a bell rings: check, wake where it says so, and keep what became of it."""
        answer = self.host.check(mailbox)
        if answer.word is Word.WAKE:
            assert answer.monitor
            self.turns.append((answer.monitor.session, wake_text([mailbox], "restante"), self.clock.now()))
            if self.woken.wake is Wake.CONFIRMED:
                self.host.confirmed(mailbox, answer.mark, token=answer.monitor.token)
            elif self.woken.wake is Wake.UNCONFIRMED:
                self.host.failed(mailbox, answer.mark, self.woken.reason)
            else:
                self.turns.pop()
                self.host.hindered(mailbox, self.woken.reason, mark=answer.mark)
        return answer

    def looks(self, count: int, mailbox: str = ALICE, *, every: float = RULES.retry.total_seconds()) -> list[Word]:
        """Look several times, with time in between."""
        words = []
        for _ in range(count):
            words.append(self.look(mailbox).word)
            self.clock.advance(every)
        return words

    def collect(self, session: str = T1, mailbox: str = ALICE) -> list[str]:
        """Let the holder read its inbox whole; return the ids."""
        roster = self.roster(session)
        ids = [entry.message.id for entry in roster.read(mailbox).entries]
        roster.confirm(mailbox, ids)
        return ids

    def unseen(self, mailbox: str = ALICE) -> int:
        """Return how many messages are unseen."""
        return self.parts.role_boxes.box(mailbox, "").counts().unseen

    def bells(self) -> list[str]:
        """Return the files of bells."""
        return sorted(path.name for path in (self.data / "bells").glob("*"))

    def rows(self) -> list[str]:
        """Return which mailboxes have a monitor, with its state."""
        return [f"{one.mailbox} {one.state}" for one in self.parts.monitors.all()]
