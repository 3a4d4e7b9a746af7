"""What is to be known of an agent program: where it reads settings, what it tells its hooks, how it is told of mail."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Event(NamedTuple):
    """One of the moments at which a program runs a hook of ours.

    Attributes:
        ours: What we call it: SessionStart, UserPromptSubmit, PostToolUse, Stop, SessionEnd or Notification.
        seconds: How long the hook may take.
    """

    ours: str
    seconds: int = 10


class Server(NamedTuple):
    """Where a program reads of its MCP servers.

    Attributes:
        file: The file, below the worktree's top level.
        section: The member, or table, that holds servers by name.
        extra: What an entry holds beside the command.
        is_one_list: Whether the command and its words are one list.
    """

    file: str
    section: str
    extra: Mapping[str, Any] = _NOTHING
    is_one_list: bool = False


class Plugin(NamedTuple):
    """A file of ours that a program loads, where it has no hooks in its settings.

    Attributes:
        file: The file, below the worktree's top level.
        text: What it holds; ``@BIN@`` stands for the installation's directory as a JSON string.
    """

    file: str
    text: str


class Program(NamedTuple):
    """An agent program.

    Attributes:
        name: The word for it, on the command line, in the register and in what guards are told.
        title: What people call it.
        place: Where it stands in lists; those of the same place go by name.
        is_default: Whether ``install`` teaches it without being told to.
        settings: The JSON file with the hooks of one person, below the worktree's top level; empty for none.
        events: The hooks of ours, by the program's own names for the events.
        ticks: What a second is in the program's settings.
        asks_trust: Whether it skips hooks until the person trusted them, which ``install --trust`` says for them.
        hold: The word by which the end of a turn is held up.
        calls_tools: Whether a hook of it can call a tool of our server.
        plugin: What it loads instead of hooks.
        session_variable: The variable that names the session to what its tools or hooks start.
        marker: The variable that says no more than that a tool of it started something; empty where the session is
            named. The session is then the one that a hook of the same process was of.
        processes: Names of its process.
        shares_process: Whether one process holds several sessions at once.
        scripts: Names of the file that an interpreter runs, where the process has the interpreter's name.
        guidance: The file that it reads at the start, below the worktree's top level.
        reads_agents_file: Whether it reads AGENTS.md where that file is not there.
        skills: The directory of its skills, below the worktree's top level.
        server: Where it is told of MCP servers.
        wake: The way to wake a session of it that is used without being named; empty for none.
    """

    name: str
    title: str
    place: int = 100
    is_default: bool = False
    settings: str = ""
    events: Mapping[str, Event] = _NOTHING
    ticks: int = 1
    asks_trust: bool = False
    hold: str = "block"
    calls_tools: bool = False
    plugin: Plugin | None = None
    session_variable: str = ""
    marker: str = ""
    processes: tuple[str, ...] = ()
    shares_process: bool = False
    scripts: tuple[str, ...] = ()
    guidance: str = "AGENTS.md"
    reads_agents_file: bool = True
    skills: str = ".agents/skills"
    server: Server | None = None
    wake: str = ""

    def own_event(self, ours: str) -> str:
        """Return the program's name for a moment; ours where it has none."""
        return next((name for name, event in self.events.items() if event.ours == ours), ours)
