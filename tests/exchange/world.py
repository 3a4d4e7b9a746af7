"""A machine with sessions, for tests of the exchange: real stores in a directory, a clock to set, processes to kill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.message import Draft
from restante.domain.registry import Arrival, Claim, Identity, Presence, Process
from restante.exchange import Exchange
from restante.system.secrets import digest
from restante.wiring.sessions import SessionParts

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.message import Message
    from restante.domain.overview import Row
    from restante.exchange.window import LocalWindow
    from restante.testing import FakeClock

TOKEN = "token of the person"  # nothing that anybody could use


class FakeProcesses:
    """Processes that live until a test ends them."""

    def __init__(self) -> None:
        self.dead: set[int] = set()

    def presence(self, process: Process) -> Presence:
        if process.host != "here":
            return Presence.UNKNOWN
        return Presence.GONE if process.pid in self.dead else Presence.ALIVE


class World:
    """One data directory, and the exchange on it.

    Args:
        path: Where everything is.
        clock: The time.
        holds_mail: Whether the exchange is a server's.
        options: Further environment.
    """

    def __init__(self, path: Path, clock: FakeClock, *, holds_mail: bool = True, **options: str) -> None:
        self.data = path / "data"
        self.clock = clock
        self.environment = {"RESTANTE_DATA": str(self.data), "HOME": str(path), **options}
        self.processes = FakeProcesses()
        self.pids = 100
        self.open(holds_mail=holds_mail)

    def open(self, *, holds_mail: bool = True) -> Exchange:
        """Open another exchange on the same data, as another process would; it becomes the one of this world."""
        self.exchange = self.another(holds_mail=holds_mail)
        return self.exchange

    def another(self, *, holds_mail: bool = False) -> Exchange:
        """Return an exchange of another process on the same data."""
        parts = SessionParts(self.environment, holds_mail=holds_mail, clock=self.clock)
        parts.processes = self.processes
        self.parts = parts
        return Exchange(parts)

    def restart(self, *, holds_mail: bool = True) -> None:
        """End the process and start another one."""
        self.exchange.close()
        self.open(holds_mail=holds_mail)

    def session(
        self,
        session_id: str,
        *,
        name: str = "",
        parent: str = "",
        owner: str = "",
        worktree: str = "",
        host: str = "here",
    ) -> LocalWindow:
        """Register a session with a process and a secret, and return its window."""
        self.pids += 1
        secret = f"secret of {session_id}"
        arrival = Arrival(session_id, "codex", name, worktree, parent, Process(host, self.pids, "then"), digest(secret))
        self.exchange.window(Identity(owner)).register(arrival)
        return self.window(session_id, owner)

    def window(self, session_id: str, owner: str = "") -> LocalWindow:
        """Return the window of a session that proves itself by its secret."""
        identity = self.exchange.identify(Claim(f"secret of {session_id}"))
        assert identity == Identity(owner, session_id, verified=True)
        return self.exchange.window(identity)

    def claiming(self, reference: str, owner: str | None = None) -> LocalWindow:
        """Return the window of somebody who only claims to be a session."""
        return self.exchange.window(self.exchange.identify(Claim(session=reference, owner=owner)))

    @property
    def person(self) -> LocalWindow:
        """The window of the person."""
        self.exchange.trust_person(TOKEN)
        return self.exchange.window(self.exchange.identify(Claim(TOKEN)))

    @property
    def nobody(self) -> LocalWindow:
        """The window of a caller that shows nothing."""
        return self.claiming("")

    def kill(self, session_id: str) -> None:
        """End the process of a session."""
        session = self.parts.sessions.session(session_id, "")
        assert session
        assert session.process
        self.processes.dead.add(session.process.pid)

    def row(self, session_id: str, owner: str = "") -> Row:
        """Return the row of one session, as its owner's tools see it."""
        rows = self.exchange.window(Identity(owner)).sessions()
        return next(row for row in rows if row.session.id == session_id)

    def holds(self, text: str) -> list[str]:
        """Return the files below the data directory that hold a text."""
        found = []
        for path in self.data.rglob("*"):
            if path.is_file() and text.encode() in path.read_bytes():
                found.append(path.name)
        return sorted(found)


def send(window: LocalWindow, to: str, text: str = "Look at the parser.", **words: str) -> Message:
    """Post a text and return the message."""
    return window.post(to, Draft(text, **words), allow_warnings=True).posted.message  # type: ignore[arg-type]


def bodies(window: LocalWindow, session: str = "") -> list[str]:
    """Return the bodies of what is pending."""
    return [entry.message.body for entry in window.read(session).entries]


def take(window: LocalWindow) -> list[str]:
    """Read whole, as a receiver does: the messages are seen then. Returns their ids."""
    ids = [entry.message.id for entry in window.read().entries]
    window.confirm(ids)
    return ids
