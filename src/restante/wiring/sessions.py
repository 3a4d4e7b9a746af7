"""The parts of an exchange, and how a caller of this machine gets a window onto one: here, or through a server."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from restante.config import load_settings
from restante.domain.errors import NoWorktree, Refused, RestanteError, Unauthorized
from restante.domain.limits import Limits
from restante.domain.registry import Arrival, Claim, Identity
from restante.exchange import Exchange
from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.sessions import SqlAccounts, SqlSessions
from restante.stores.sql.sqlite import SqliteDatabase
from restante.stores.worktree.locate import find_worktree
from restante.system.bells import WorktreeSessionBell
from restante.system.clock import clock_for
from restante.system.doorbells import FileDoorbells
from restante.system.identity import caller_of, is_nested, program_above
from restante.system.ids import MonotonicIds
from restante.system.places import data_directory
from restante.system.processes import LocalProcesses, agent_process, host_name
from restante.system.pulse import DataWatcher
from restante.system.secrets import digest, known_person_token, person_token, session_secret
from restante.system.turns import TurnFiles
from restante.wiring import scanners_of
from restante.wiring.closing import note
from restante.wiring.keeping import FileKeeping, FixedKeeping
from restante.wiring.role_bell import RoleBell
from restante.wiring.serving import live_server

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from restante.config import Settings
    from restante.domain.registry import Process
    from restante.domain.session import Caller
    from restante.ports import Clock, Ids, Scanner, Watcher
    from restante.ports.explaining import Surroundings
    from restante.ports.monitoring import Doorbells, Monitors, Sights, Subscriptions
    from restante.ports.roles import Roles
    from restante.ports.sessions import Accounts, Keeping, Leavings, Processes, SessionBell, Sessions, Turns, Window
    from restante.ports.teams import RoleBoxes, Teams
    from restante.roster import Roster
    from restante.stores.sql.in_memory import MemoryDatabase
    from restante.stores.sql.listening import PostgresWatcher
    from restante.stores.sql.postgres.database import PostgresDatabase
    from restante.stores.sql.transaction import Database
    from restante.system.remote import RemoteWindow

# Members, leases and the mail of roles; made by the first join.
TEAMS = "teams.db"
# No session has such an id: whoever claims to be it is nobody in particular.
_NOBODY = "~"


def open_exchange(environment: Mapping[str, str], *, holds_mail: bool = False) -> Exchange:
    """Open the exchange of this machine, or of the database that is configured. Reading creates nothing.

    Args:
        environment: Where settings and places come from.
        holds_mail: Hold mail in memory while persistence is off: for a server, which lives on.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
    """
    exchange = Exchange(SessionParts(environment, holds_mail=holds_mail))
    if holds_mail:
        with suppress(RestanteError):
            exchange.trust_person(person_token(data_directory(environment)))
    return exchange


def open_window(environment: Mapping[str, str], directory: str = ".", *, only_looks: bool = False) -> Window:
    """Open the window of whoever calls.

    Onto the server that is configured, else onto the one of this machine that is proven to live, else onto the
    exchange itself. An agent program's session is registered by its first use; one that is nested in another is no
    session here. A person is proven by the token in the data directory, which is not taken where an agent program is
    among the processes above.

    Args:
        environment: Where settings and the caller's identity come from.
        directory: Any directory of the worktree that the caller works in.
        only_looks: Make nothing for a person who has no token yet: what is asked is told to anybody.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
    """
    parts = SessionParts(environment)
    window = _open_window(parts, environment, directory, only_looks=only_looks)
    return _with_roles(window, parts)


def open_plain_window(environment: Mapping[str, str]) -> Window:
    """Open the same window without the mail of roles: onto a server it is a ``RemoteWindow``, which can do more."""
    return _open_window(SessionParts(environment), environment, ".", only_looks=False)


def open_roster(environment: Mapping[str, str], directory: str = ".", *, only_looks: bool = False) -> Roles:
    """Open the roster of whoever calls: teams, their roles and the mail of those. Reading creates nothing.

    Args:
        environment: Where settings and the caller's identity come from.
        directory: Any directory of the worktree that the caller works in.
        only_looks: Make nothing for a person who has no token yet.

    Raises:
        BadConfig: The configuration has faults.
        UsageError: There is no place for data.
    """
    parts = SessionParts(environment)
    window = _open_window(parts, environment, directory, only_looks=only_looks)
    return _roles_of(window, parts)


def open_local_roster(environment: Mapping[str, str], directory: str = ".", *, only_looks: bool = False) -> Roster:
    """Open the same for what only whoever has the data can do.

    Raises:
        Refused: A server is configured, which keeps the roles.
    """
    from restante.roster import Roster

    parts = SessionParts(environment)
    if parts.settings.server_url:
        raise Refused(
            "this needs the data of the teams, and server.url names a server that keeps it",
            remedy="run it on the server's machine; or set database.url instead of server.url",
        )
    window = _open_window(parts, environment, directory, only_looks=only_looks)
    return Roster(parts, lambda: window.identity)


def _with_roles(window: Window, parts: SessionParts) -> Window:
    """Let a window show the mail of the roles that its session holds, where there are roles."""
    if not parts.has_roles:
        return window
    from restante.roster.window import RosterWindow

    return RosterWindow(window, _roles_of(window, parts))


def _roles_of(window: Window, parts: SessionParts) -> Roles:
    """Return what the caller of a window can ask of roles: here, where the data is, or of the server configured."""
    if parts.server:
        from restante.system.remote_roster import RemoteRoster

        return RemoteRoster(parts.server, parts.clock, parts.settings)
    from restante.roster import Roster

    return Roster(parts, lambda: window.identity)


def _open_window(parts: SessionParts, environment: Mapping[str, str], directory: str, *, only_looks: bool) -> Window:
    caller = caller_of(environment)
    root = _root(directory)
    if caller.is_agent:
        caller = caller._replace(is_nested=is_nested(caller.session, root, environment))
    data = data_directory(environment)
    claim = _claim(caller, data, environment, only_looks=only_looks)
    configured = load_settings(environment).server_url
    url = configured or live_server(environment)
    if url:
        remote = _remote(url, configured != "", claim, caller, root, environment)
        # The data of a server of this machine is here; that of one that was named may be anywhere.
        parts.server = remote if configured else None
        return _leaving(remote, caller, claim, root, environment)
    exchange = Exchange(parts)
    if caller.is_nested:
        return exchange.window(Identity(claimed=caller.session))
    if not caller.is_agent:
        with suppress(RestanteError):
            if claim.secret and not only_looks:
                exchange.trust_person(claim.secret)
        return exchange.window(exchange.identify(claim))
    identity = exchange.identify(claim)
    if not (identity.verified and exchange.is_there(identity)):
        # What cannot be written down is no reason to let nobody read.
        with suppress(RestanteError):
            _register(exchange.window(identity), caller, claim, root, environment)
            identity = exchange.identify(claim)
    return _leaving(exchange.window(identity), caller, claim, root, environment)


class SessionParts:
    """The parts of an exchange; each is made when it is first asked for.

    Args:
        environment: Where settings and places come from.
        holds_mail: Hold mail in memory while persistence is off.
        clock: Where time comes from; the environment's by default.
    """

    def __init__(self, environment: Mapping[str, str], *, holds_mail: bool = False, clock: Clock | None = None) -> None:
        self._environment = environment
        self._directory = data_directory(environment)
        self._holds_mail = holds_mail
        self.settings: Settings = load_settings(environment)
        self.clock: Clock = clock or clock_for(environment)
        self.ids: Ids = MonotonicIds()
        self.processes: Processes = LocalProcesses()
        self._listener: PostgresWatcher | None = None
        # Who is asked instead, where a server is configured.
        self.server: RemoteWindow | None = None
        note(self)

    @cached_property
    def turns(self) -> Turns:
        """One file for each session in the data directory."""
        return TurnFiles(self._directory)

    @cached_property
    def bell(self) -> SessionBell:
        """The file that the guard of the hooks looks at; mail of a role rings it, too."""
        return RoleBell(WorktreeSessionBell(host_name()), self.role_mail_waits)

    def role_mail_waits(self, worktree: str) -> bool:
        """Tell whether mail waits for a role that a session of a worktree holds, whoever owns them."""
        return (
            self.has_roles
            and not self.settings.server_url
            and any(
                self.role_boxes.box(member.role, one.owner).counts().pending
                for one in self.sessions.at(worktree)
                for member in self.teams.held_by(one.id, one.owner)
            )
        )

    @cached_property
    def doorbells(self) -> Doorbells:
        """One file for each monitored mailbox, in the data directory."""
        return FileDoorbells(self._directory)

    @property
    def has_roles(self) -> bool:
        """Whether there may be teams: nothing of them is paid for where there are none."""
        return bool(self.settings.database_url or self.settings.server_url) or os.path.exists(
            os.path.join(self._directory, TEAMS)
        )

    @cached_property
    def teams(self) -> Teams:
        """Who holds which role: teams.db, or the database that is configured."""
        from restante.stores.sql.teams import SqlTeams

        return SqlTeams(self._teams)

    @cached_property
    def role_boxes(self) -> RoleBoxes:
        """The mail of roles, in the same place: each is kept until its addressee answers."""
        from restante.stores.sql.role_boxes import SqlRoleBoxes

        return SqlRoleBoxes(self._teams, self.clock, self.ids, self._limits)

    @property
    def monitors(self) -> Monitors | None:
        """Who is woken for which mailbox, in the same place; ``None`` where there is no such place yet."""
        return self._monitors if self.has_roles else None

    @cached_property
    def _monitors(self) -> Monitors:
        from restante.stores.sql.monitors import SqlMonitors

        return SqlMonitors(self._teams, self.clock)

    @cached_property
    def subscriptions(self) -> Subscriptions:
        """Who wants to be woken once, in the same place."""
        from restante.stores.sql.subscriptions import SqlSubscriptions

        return SqlSubscriptions(self._teams)

    def roles_together(self) -> AbstractContextManager[None]:
        """Make what this thread keeps there in the block durable at once, or not at all."""
        return self._teams.together()

    def way_to_wake(self, vendor: str) -> str:
        """Return the name of the usual way to wake sessions of an agent program."""
        from restante.agents.wake import DEFAULTS
        from restante.domain.outlook import NO_WAY

        return DEFAULTS.get(vendor, NO_WAY)

    @cached_property
    def sights(self) -> Sights:
        """The numbers of mailboxes there."""
        from restante.stores.sql.sights import SqlSights

        return SqlSights(self._teams, self.clock)

    def roster(self, identity: Identity) -> Roster:
        """Return what a caller can ask of the roles of teams."""
        from restante.roster import Roster

        return Roster(self, lambda: identity)

    def is_ours(self, process: Process) -> bool:
        """Tell whether the caller may run below a process; who asks a server runs anywhere."""
        if self._holds_mail:
            return True
        from restante.system.processes import may_be_above

        return may_be_above(process, self._environment)

    @cached_property
    def surroundings(self) -> Surroundings:
        """What this machine knows around its mailboxes."""
        from restante.wiring.explaining import LocalSurroundings

        return LocalSurroundings(self._environment, self._rooms, self.processes)

    def _rooms(self) -> tuple[Teams, RoleBoxes, Monitors] | None:
        monitors = self.monitors if self.has_roles else None
        return (self.teams, self.role_boxes, monitors) if monitors else None

    @cached_property
    def leavings(self) -> Leavings:
        """The files that sandboxed sessions of this machine left."""
        from restante.system.outgoing import WorktreeLeavings

        return WorktreeLeavings()

    @cached_property
    def sessions(self) -> Sessions:
        """The register: restante.db, or the database that is configured."""
        return SqlSessions(self._register)

    @cached_property
    def keeping(self) -> Keeping:
        """mail.db or memory, or the database that is configured."""
        if self.settings.database_url:
            return FixedKeeping(self._boxes(self._register), has_server=self._holds_mail)
        return self._file_keeping

    @cached_property
    def scanners(self) -> Sequence[Scanner]:
        """The secret-detection library, where it was asked for."""
        return scanners_of(self.settings)

    @cached_property
    def watcher(self) -> Watcher:
        """The data directory, or what the database that is configured tells of its own accord."""
        if isinstance(self._register, SqliteDatabase):
            return DataWatcher(self._directory)
        from restante.stores.sql.listening import PostgresWatcher

        self._listener = PostgresWatcher(self._register)
        return self._listener

    @cached_property
    def accounts(self) -> Accounts:
        """The accounts of multi-user mode, beside the register."""
        return SqlAccounts(self._register, self.clock)

    def close(self) -> None:
        """Let go of the databases, and end whoever listens to one."""
        if self._listener:
            self._listener.close()
        if not self.settings.database_url:
            self._file_keeping.close()
        if "_teams" in vars(self):
            self._teams.close()
        self._register.close()

    @cached_property
    def _register(self) -> SqliteDatabase | PostgresDatabase:
        if self.settings.database_url:
            return self._postgres()
        return self._sqlite(os.path.join(self._directory, "restante.db"))

    def _sqlite(self, path: str) -> SqliteDatabase:
        return SqliteDatabase(path, clock=self.clock, ids=self.ids, stays=self._holds_mail)

    @cached_property
    def _teams(self) -> SqliteDatabase | PostgresDatabase:
        if self.settings.database_url:
            return self._register
        return self._sqlite(os.path.join(self._directory, TEAMS))

    @property
    def _limits(self) -> Limits:
        settings = self.settings
        return Limits(settings.message_bytes, settings.session_messages, settings.session_bytes, settings.session_share)

    def _postgres(self) -> PostgresDatabase:
        from importlib.util import find_spec

        if find_spec("psycopg") is None:
            raise Refused(
                "database.url names a PostgreSQL database, and the parts for it are not installed",
                remedy="pip install 'restante[postgres]'",
            )
        from restante.stores.sql.postgres.database import open_postgres

        return open_postgres(self.settings.database_url, clock=self.clock, ids=self.ids)

    @cached_property
    def _file_keeping(self) -> FileKeeping:
        return FileKeeping(
            self._directory,
            self.sessions,
            disk=self._sqlite,
            memory=self._memory if self._holds_mail else None,
            boxes=self._boxes,
        )

    def _memory(self) -> MemoryDatabase:
        from restante.stores.sql.in_memory import open_memory

        return open_memory(self.clock, self.ids)

    def _boxes(self, database: Database, *, is_durable: bool = True) -> SqlBoxes:
        return SqlBoxes(database, self.clock, self.ids, self._limits, is_durable=is_durable)


def _remote(
    url: str, is_configured: bool, claim: Claim, caller: Caller, root: str, environment: Mapping[str, str]
) -> RemoteWindow:
    from restante.system.remote import RemoteWindow
    from restante.system.transport import place_of

    if not place_of(url).keeps_secrets:
        # Who could read it on the way could act as this session, or as the person, from then on.
        claim = Claim(session=claim.session)
    if claim == Claim() and (caller.is_nested or program_above(environment)):
        # Name and password in the URL prove a person, and below an agent program none types.
        claim = Claim(session=_NOBODY)
    # Whoever set it long ago, or in another shell, does not think of it.
    remedy = "start it: restante serve; or unset server.url, which names it" if is_configured else ""
    window = RemoteWindow(url, claim, remedy=remedy)
    if not caller.is_agent or caller.is_nested:
        return window
    try:
        if window.identity.session:
            return window
    except Unauthorized:
        # Where there are accounts, a secret proves nothing until it was registered under a name and a password.
        _register(window, caller, claim, root, environment)
        return RemoteWindow(url, claim, remedy=remedy)
    with suppress(RestanteError):
        _register(window, caller, claim, root, environment)
        return RemoteWindow(url, claim, remedy=remedy)
    return window


def _leaving(window: Window, caller: Caller, claim: Claim, root: str, environment: Mapping[str, str]) -> Window:
    """Let an agent that can read its data and not write it, as in a sandbox, leave things for its next checkpoint."""
    is_addressee = caller.is_addressee and claim.secret and root
    data = data_directory(environment)
    if not is_addressee or not os.path.isdir(data) or os.access(data, os.W_OK):
        return window
    from restante.system.outgoing import Outgoing
    from restante.wiring.leaving import LeavingWindow

    outgoing, lasts = Outgoing(root, caller.session, claim.secret), load_settings(environment).session_ttl
    return LeavingWindow(window, outgoing, clock=clock_for(environment), time_to_live=lasts)


def _root(directory: str) -> str:
    try:
        return find_worktree(directory).root
    except NoWorktree:
        return ""


def _claim(caller: Caller, data: str, environment: Mapping[str, str], *, only_looks: bool) -> Claim:
    """Return what a caller can show; a secret that cannot be had leaves a claim."""
    # Below an agent program no person types: one of its commands that drops what names its session must not become
    # the person by that.
    if caller.is_nested or (not caller.is_agent and program_above(environment)):
        return Claim()
    with suppress(RestanteError):
        if caller.is_agent:
            return Claim(session_secret(data, caller.session), caller.session)
        return Claim(known_person_token(data) if only_looks else person_token(data))
    return Claim(session=caller.session)


def _register(window: Window, caller: Caller, claim: Claim, root: str, environment: Mapping[str, str]) -> None:
    from restante.wiring.introducing import introduce

    arrival = Arrival(
        caller.session,
        vendor=caller.agent,
        worktree=root,
        process=agent_process(environment),
        secret_digest=digest(claim.secret) if claim.secret else "",
    )
    introduce(window, arrival, environment)
