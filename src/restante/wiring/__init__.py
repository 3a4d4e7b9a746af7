"""The only place that names concrete parts; each is imported when it is first asked for."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING

from restante.config import load_settings
from restante.domain.errors import UsageError
from restante.system.clock import SystemClock, clock_for
from restante.system.identity import caller_of
from restante.system.ids import MonotonicIds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.agents.codex_threads import CodexThreads
    from restante.agents.installer import FileInstaller
    from restante.config import Settings
    from restante.domain.session import Caller
    from restante.domain.setup import Check
    from restante.office import Office
    from restante.ports import Clock, Mailbox, Scanner
    from restante.stores.worktree.archive import WorktreeArchive
    from restante.stores.worktree.bell import FileBell
    from restante.stores.worktree.locate import Worktree
    from restante.stores.worktree.notebook import FileNotebook
    from restante.stores.worktree.repeats import StateBook
    from restante.stores.worktree.store import WorktreeMailbox
    from restante.system.doorbells import FileDoorbells
    from restante.system.watch import DirectoryWatcher


def open_office(
    directory: str = ".", *, environment: Mapping[str, str] | None = None, anywhere: bool = False
) -> Office:
    """Open the office of the worktree that a directory belongs to. Nothing is created by it.

    Args:
        directory: Any directory of the worktree.
        environment: Where settings and the caller's identity come from; the process's own by default.
        anywhere: Open it outside of worktrees too; whatever needs one raises ``NoWorktree`` when it is asked for.

    Raises:
        NoWorktree: The directory belongs to no worktree.
        Unsafe: The mailbox is a symbolic link that leads out of the worktree.
        BadConfig: The configuration has faults.
    """
    from restante.office import Office

    parts = WorktreeParts(directory, os.environ if environment is None else environment)
    if not anywhere:
        parts.find()
    return Office(parts)


def open_checkpoint(root: str, caller: Caller, environment: Mapping[str, str]) -> Office | None:
    """Open the office for a checkpoint of a session; ``None`` when the session is no addressee of this worktree."""
    from restante.office import Office
    from restante.system.identity import is_nested

    if is_nested(caller.session, root, environment):
        return None
    parts = WorktreeParts(root, environment)
    parts.find()
    parts.caller = caller
    return Office(parts)


def other_program_holds(root: str, agent: str, environment: Mapping[str, str]) -> bool:
    """Tell, for a hook that runs, whether the original mailbox program's hook holds ends beside it in a worktree."""
    from restante.agents.holding import original_hook_present

    return original_hook_present(root, environment, agent, from_hook=True)


def scanners_of(settings: Settings) -> Sequence[Scanner]:
    """Return what screens a text beside our own rules: the secret-detection library, where it was asked for."""
    if not settings.screening_library:
        return ()
    from restante.system.scanning import KingfisherScanner

    return (KingfisherScanner(),)


class WorktreeParts:
    """The parts of an office over a worktree's files.

    Args:
        directory: Any directory of the worktree.
        environment: Where settings and the caller's identity come from.
    """

    def __init__(self, directory: str, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = environment
        self.settings: Settings = load_settings(environment)
        self.clock: Clock = clock_for(environment)
        self.ids = MonotonicIds()

    def find(self) -> Worktree:
        """Return the worktree.

        Raises:
            NoWorktree: The directory belongs to none.
        """
        return self._worktree

    @cached_property
    def caller(self) -> Caller:
        """Who is calling, as the agent programs tell it."""
        caller = caller_of(self._environment)
        if not caller.is_agent:
            return caller
        from restante.system.identity import is_nested

        return caller._replace(is_nested=is_nested(caller.session, self._worktree.root, self._environment))

    @cached_property
    def _worktree(self) -> Worktree:
        from restante.stores.worktree.locate import find_worktree

        return find_worktree(self._directory)

    @cached_property
    def command(self) -> str:
        """How an agent calls this installation: the bare name where PATH finds it, else the whole path."""
        from restante.agents.calling import command_name

        return command_name(self._bin, self._environment)

    @property
    def _bin(self) -> str:
        return os.path.dirname(sys.executable)

    @cached_property
    def mailbox(self) -> WorktreeMailbox:
        """The worktree's mailbox."""
        from restante.domain.limits import Limits
        from restante.stores.worktree.store import WorktreeMailbox

        limits = Limits(message_bytes=self.settings.message_bytes)
        return WorktreeMailbox(self._worktree, self.clock, self.ids, limits)

    @cached_property
    def archive(self) -> WorktreeArchive:
        """Archiving of its INBOX.md."""
        from restante.stores.worktree.archive import WorktreeArchive

        return WorktreeArchive(self.mailbox)

    @cached_property
    def notebook(self) -> FileNotebook:
        """One file for each session."""
        from restante.stores.worktree.notebook import FileNotebook

        return FileNotebook(self._worktree, self.clock)

    @cached_property
    def bell(self) -> FileBell:
        """The file that the guard of the hooks looks at."""
        from restante.stores.worktree.bell import FileBell

        return FileBell(self.mailbox)

    @cached_property
    def doorbells(self) -> FileDoorbells:
        """One file for each monitored mailbox, in the data directory; none where no place for one is known."""
        from restante.system.doorbells import FileDoorbells
        from restante.system.places import data_directory

        try:
            return FileDoorbells(data_directory(self._environment))
        except UsageError:
            return FileDoorbells(os.devnull)

    @cached_property
    def repeats(self) -> StateBook:
        """STATE.json."""
        from restante.stores.worktree.repeats import StateBook

        return StateBook(self._worktree, self.clock)

    @cached_property
    def scanners(self) -> Sequence[Scanner]:
        """The secret-detection library, where it was asked for."""
        return scanners_of(self.settings)

    @cached_property
    def watcher(self) -> DirectoryWatcher:
        """The mailbox's directory."""
        from restante.system.watch import DirectoryWatcher

        return DirectoryWatcher(os.path.join(self._worktree.root, ".codex-mailbox"))

    @cached_property
    def installer(self) -> FileInstaller:
        """The files that the agent programs read."""
        from restante.agents.installer import FileInstaller

        waits = self.doorbells.are_used
        return FileInstaller(self._worktree.root, self._bin, self._environment, waits=waits)

    @cached_property
    def threads(self) -> CodexThreads:
        """The Codex program's App Server, read-only."""
        from restante.agents.codex_threads import CodexThreads

        return CodexThreads(environ=self._environment)

    def mailbox_checks(self) -> list[Check]:
        """Look at the mailbox's files."""
        from restante.stores.worktree.checks import mailbox_checks

        return mailbox_checks(self.mailbox, self.bell)

    def pending_in(self, directory: str) -> int | None:
        """Count what waits in another worktree; ``None`` where there is no mailbox that can be read."""
        from restante.domain.errors import RestanteError

        if not directory:
            return None
        try:
            return WorktreeParts(directory, self._environment).mailbox.counts().pending
        except RestanteError:
            return None


def open_mailbox(address: str, *, environment: Mapping[str, str] | None = None) -> Mailbox:
    """Open the mailbox that an address names.

    Raises:
        BadAddress: It names none.
        NothingThere: The tree, or that part of it, is not there.
    """
    from restante.domain.address import Home, parse_address

    environment = os.environ if environment is None else environment
    parsed = parse_address(address)
    if parsed.home is Home.WORKTREE:
        return WorktreeParts(parsed.name, environment).mailbox
    if parsed.home is Home.OACP:
        from restante.stores.oacp.layout import Tree, find_home
        from restante.stores.oacp.store import OacpMailbox

        project, agent = parsed.name.split("/")
        tree = Tree(find_home(os.getcwd(), environment))
        from restante.domain.limits import Limits

        limits = Limits(message_bytes=load_settings(environment).message_bytes)
        return OacpMailbox(tree, project, agent, clock=clock_for(environment), ids=MonotonicIds(), limits=limits)
    from restante.stores.sql.sqlite import open_sqlite
    from restante.system.places import data_directory

    path = os.path.join(data_directory(environment), "restante.db")
    from restante.domain.limits import Limits

    limits = Limits(message_bytes=load_settings(environment).message_bytes)
    return open_sqlite(path, address=str(parsed), clock=SystemClock(), ids=MonotonicIds(), limits=limits)
