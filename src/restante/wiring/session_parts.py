"""The parts of an exchange, and of the roles and monitors beside it; each is imported when it is first asked for."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from restante.config import load_settings
from restante.domain.errors import Refused
from restante.stores.sql.sessions import SqlSessions
from restante.stores.sql.sqlite import SqliteDatabase
from restante.system.clock import clock_for
from restante.system.ids import MonotonicIds
from restante.system.places import data_directory
from restante.system.processes import LocalProcesses
from restante.wiring.closing import note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from restante.config import Settings
    from restante.domain.limits import Limits
    from restante.domain.registry import Identity, Process
    from restante.ports import Clock, Ids, Scanner, Watcher
    from restante.ports.explaining import Surroundings
    from restante.ports.monitoring import Doorbells, Monitors, Sights, Subscriptions
    from restante.ports.sessions import Accounts, Keeping, Leavings, Processes, SessionBell, Sessions, Turns
    from restante.ports.teams import RoleBoxes, Teams
    from restante.roster import Roster
    from restante.stores.sql.boxes import SqlBoxes
    from restante.stores.sql.in_memory import MemoryDatabase
    from restante.stores.sql.listening import PostgresWatcher
    from restante.stores.sql.postgres.database import PostgresDatabase
    from restante.stores.sql.transaction import Database
    from restante.system.remote import RemoteWindow
    from restante.wiring.keeping import FileKeeping

# Members, leases and the mail of roles; made by the first join.
TEAMS = "teams.db"


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
        from restante.system.turns import TurnFiles

        return TurnFiles(self._directory)

    @cached_property
    def bell(self) -> SessionBell:
        """The file that the guard of the hooks looks at; mail of a role rings it, too."""
        from restante.system.bells import WorktreeSessionBell
        from restante.system.processes import host_name
        from restante.wiring.role_bell import RoleBell

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
        from restante.system.doorbells import FileDoorbells

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

    @property
    def role_rooms(self) -> tuple[Teams, RoleBoxes] | None:
        """Where roles are, and their mail; ``None`` where there are none yet."""
        has_them = self.has_roles and not self.settings.server_url
        return (self.teams, self.role_boxes) if has_them else None

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
            from restante.wiring.keeping import FixedKeeping

            return FixedKeeping(self._boxes(self._register), has_server=self._holds_mail)
        return self._file_keeping

    @cached_property
    def scanners(self) -> Sequence[Scanner]:
        """The secret-detection library, where it was asked for."""
        from restante.wiring import scanners_of

        return scanners_of(self.settings)

    @cached_property
    def watcher(self) -> Watcher:
        """The data directory, or what the database that is configured tells of its own accord."""
        if isinstance(self._register, SqliteDatabase):
            from restante.system.pulse import DataWatcher

            return DataWatcher(self._directory)
        from restante.stores.sql.listening import PostgresWatcher

        self._listener = PostgresWatcher(self._register)
        return self._listener

    @cached_property
    def accounts(self) -> Accounts:
        """The accounts of multi-user mode, beside the register."""
        from restante.stores.sql.sessions import SqlAccounts

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
        from restante.domain.limits import Limits

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
        from restante.wiring.keeping import FileKeeping

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
        from restante.stores.sql.boxes import SqlBoxes

        return SqlBoxes(database, self.clock, self.ids, self._limits, is_durable=is_durable)
