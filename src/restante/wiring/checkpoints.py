"""What a checkpoint does about sessions, where they are used: tells the register, and brings the session's own mail.

Whatever goes wrong here, the worktree's mail is delivered all the same.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.checkpoint import Moment
from restante.domain.errors import NoSuchSession, RestanteError
from restante.domain.registry import Presence
from restante.programs import PROGRAMS
from restante.system.bells import WorktreeSessionBell, is_ringing
from restante.system.places import data_directory
from restante.system.turns import TurnFiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.domain.mailbox import Entry
    from restante.domain.overview import Row
    from restante.domain.registry import Process
    from restante.domain.session import Caller
    from restante.ports.sessions import Window
    from restante.system.outgoing import Outgoing

_VARIABLES = {one.name: one.session_variable for one in PROGRAMS.values() if one.session_variable}


def open_desk(root: str, caller: Caller, environment: Mapping[str, str]) -> SessionDesk | None:
    """Return the session's side of a checkpoint; ``None`` where sessions are not used.

    Args:
        root: Top level of the worktree.
        caller: The session, which is nested in no other one.
        environment: The hook's environment.
    """
    with suppress(RestanteError):
        data = data_directory(environment)
        turns = TurnFiles(data)
        if turns.is_in_use and caller.agent in PROGRAMS:
            return SessionDesk(root, caller, environment, data, turns)
    return None


class SessionDesk:
    """A session at a checkpoint. Nothing here raises an error of ours. A ``ports.sessions.OwnMail``.

    Args:
        root: Top level of the worktree.
        caller: The session.
        environment: The hook's environment.
        data: The data directory.
        turns: What hooks leave behind about turns.

    Attributes:
        troubles: What the session has to know of things it left that could not be done.
        names: What the sessions that wrote are called, by their addresses, after ``entries``.
    """

    def __init__(self, root: str, caller: Caller, environment: Mapping[str, str], data: str, turns: TurnFiles) -> None:
        self._root = root
        self._caller = caller
        self._environment = environment
        self._data = data
        self._turns = turns
        self._opened: Window | None = None
        self._is_read = False
        self.troubles: list[str] = []
        self.names: Mapping[str, str] = {}

    def note(self, moment: Moment) -> None:
        """Tell the register of a session's start or end, and leave the sign of a turn's."""
        session = self._caller.session
        with suppress(RestanteError):
            self._carry()
        with suppress(RestanteError):
            is_unknown = moment is Moment.PROMPT and (self._turns.lacks(session) or not self._is_known(session))
            if moment is Moment.SESSION_START or is_unknown:
                self._register()
            elif moment is Moment.SESSION_END:
                self._detach()
        if moment in (Moment.PROMPT, Moment.STOP):
            self._turns.sign(session, has_ended=moment is Moment.STOP)

    def go_on(self) -> None:
        """Take back that a turn ended: its end was held."""
        self._turns.sign(self._caller.session, has_ended=False)

    def entries(self, moment: Moment) -> list[Entry]:
        """Return the session's pending mail; nothing where no bell rings for it, or it cannot be looked into."""
        if moment is not Moment.SESSION_START and not is_ringing(self._root):
            return []
        try:
            reading = self._window().read()
        except RestanteError:
            return []
        self._is_read = True
        self.names = reading.names
        return list(reading.entries)

    def notice(self, message_ids: Sequence[str]) -> None:
        """Record that messages were shown; it is not known whether anybody read them."""
        with suppress(RestanteError):
            self._window().confirm(message_ids, only_noticed=True)

    def rest(self) -> None:
        """Let the bell rest, unless mail waits for another session that works in this worktree."""
        if self._is_read and is_ringing(self._root):
            with suppress(RestanteError):
                WorktreeSessionBell("").hush(self._root, self._waits)

    def _outgoing(self) -> Outgoing | None:
        """Return what the session left in its worktree because a sandbox let it write nowhere else, if anything."""
        if not os.path.isdir(os.path.join(self._root, ".codex-mailbox", ".restante", "outgoing")):
            return None
        if not self._is_known(self._caller.session):
            return None
        from restante.system.outgoing import Outgoing
        from restante.system.secrets import session_secret

        return Outgoing(self._root, self._caller.session, session_secret(self._data, self._caller.session))

    def _carry(self) -> None:
        from restante.wiring.leaving import carry_on

        outgoing = self._outgoing()
        if outgoing:
            self.troubles = carry_on(outgoing, self._window)

    def _waits(self) -> bool:
        """Tell whether something of this session is still to be carried on, or mail waits for a neighbour."""
        outgoing = self._outgoing()
        if outgoing and outgoing.words():
            return True
        window = self._window()
        return (
            self._others_wait(window.identity.owner)
            or any(
                row.counts.pending
                for row in window.sessions()
                if row.session.worktree == self._root and row.presence in (Presence.ALIVE, Presence.UNKNOWN)
            )
            or self._roles_wait()
        )

    def _roles_wait(self) -> bool:
        """Tell whether mail waits for a role that a session of this worktree holds."""
        from restante.wiring.sessions import SessionParts

        parts = SessionParts(self._environment)
        try:
            return parts.role_mail_waits(self._root)
        finally:
            parts.close()

    def _others_wait(self, owner: str) -> bool:
        """Tell whether mail may wait for a neighbour of another owner: no server tells one owner of that."""
        from restante.wiring.sessions import open_exchange

        exchange = open_exchange(self._environment)
        try:
            return exchange.is_awaited(self._root, owner)
        finally:
            exchange.close()

    def _window(self) -> Window:
        if self._opened is None:
            self._opened = self._window_of(self._caller.session)
        return self._opened

    def _window_of(self, session: str) -> Window:
        from restante.wiring.sessions import open_window

        # Hooks get the session's id on standard input; what their environment names may be another one's.
        own = {name: session if agent == self._caller.agent else "" for agent, name in _VARIABLES.items()}
        # The name is given where the parent is known, too: in _register.
        return open_window({**self._environment, **own, "RESTANTE_NAME": ""}, self._root)

    def _is_known(self, session: str) -> bool:
        from restante.system.secrets import has_secret

        return has_secret(self._data, session)

    def _register(self) -> None:
        from restante.domain.registry import Arrival
        from restante.system.processes import agent_process
        from restante.system.secrets import digest, session_secret
        from restante.wiring.introducing import introduce

        caller = self._caller
        process = agent_process(self._environment)
        secret = session_secret(self._data, caller.session)
        arrival = Arrival(caller.session, caller.agent, "", self._root, "", process, digest(secret))
        introduce(self._window(), arrival, self._environment)
        if process and not (PROGRAMS[caller.agent].shares_process or _holds_several(process)):
            for row in self._window().sessions():
                if _is_former(row, process, caller.session):
                    with suppress(RestanteError):
                        self._window_of(row.session.id).detach()

    def _detach(self) -> None:
        """Detach the session, unless it never was registered or another process of it lives."""
        from restante.system.processes import agent_process

        if not self._is_known(self._caller.session):
            return
        row = next((one for one in self._window().sessions() if one.session.id == self._caller.session), None)
        if row is None:
            raise NoSuchSession(f"no session {self._caller.session!r}")
        ours, theirs = agent_process(self._environment), row.session.process
        if ours and theirs and ours != theirs and row.presence is Presence.ALIVE:
            return
        self._window().detach()


def _is_former(row: Row, process: Process, session: str) -> bool:
    """Tell whether a session is what a process was before: a program may begin anew without telling of an end."""
    return row.session.process == process and row.session.id != session and not row.session.detached


def _holds_several(process: Process) -> bool:
    """Tell whether a process holds several sessions at once, as Codex's app server does."""
    try:
        with open(f"/proc/{process.pid}/cmdline", "rb") as file:
            return b"app-server" in file.read(65_536).split(b"\0")
    except OSError:
        return False
