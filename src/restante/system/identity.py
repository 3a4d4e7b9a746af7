"""Who is calling, as the agent programs themselves tell it.

Most give every process of their tools a variable that names the session (``programs`` says which); hooks get the
session's id on standard input. One that gives them no more than its mark is asked for by its process: a hook of ours
noted which session that is in (``noted``). Where two disagree, an agent program was started by a tool of another one: a
run nested in a live session, which the mail is not for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.session import Caller
from restante.programs import PROGRAMS
from restante.system.noted import session_noted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SESSION_VARIABLES = tuple((one.name, one.session_variable) for one in PROGRAMS.values() if one.session_variable)
_MARKERS = tuple((one.name, one.marker) for one in PROGRAMS.values() if one.marker)
_BY_PROCESS = {process: one.name for one in PROGRAMS.values() for process in one.processes}
_BY_SCRIPT = {script: one.name for one in PROGRAMS.values() for script in one.scripts}
# What a process is called whose program is a script: by its interpreter, or by that one's main thread.
_INTERPRETERS = ("node", "MainThread", "bun", "deno")
_MOST_ANCESTORS = 64
_LARGEST_RECORD = 65_536
_MOST_WORDS = 4096


def caller_of(environment: Mapping[str, str]) -> Caller:
    """Return who runs a command: the innermost agent session that the environment names, else a person."""
    named = [Caller(agent, environment[name]) for agent, name in _SESSION_VARIABLES if environment.get(name)]
    for agent, marker in _MARKERS:
        if environment.get(marker) and agent not in [one.agent for one in named]:
            found = program_above(environment)
            session = session_noted(*found, environment) if found and found[0] == agent else ""
            named += [Caller(agent, session)] if session else []
    if not named:
        return Caller()
    if len(named) > 1 and (programs := _programs_above()):
        named.sort(key=lambda caller: caller.agent != programs[0][0])
    return named[0]


def is_nested(session: str, root: str, environment: Mapping[str, str]) -> bool:
    """Tell whether a hook's session runs inside a tool of another session of the same worktree.

    Decided by the processes above where they can be seen: an agent program above the one that called us, with
    the same worktree. Where they cannot, by the session that the environment names. ``RESTANTE_NESTED=1`` says
    that a nested run is an addressee all the same.

    Args:
        session: The session's id as the hook was told.
        root: Top level of the worktree.
        environment: The hook's environment.
    """
    if environment.get("RESTANTE_NESTED") == "1":
        return False
    programs = _programs_above()
    if len(programs) > 1:
        return any(_worktree_of(pid) == root for _, pid in programs[1:])
    outer = [environment[name] for _, name in _SESSION_VARIABLES if environment.get(name)]
    return any(one != session for one in outer)


def session_around(session: str, environment: Mapping[str, str]) -> str:
    """Return the id of the session in whose tool another one was started, as the environment names it, or nothing."""
    around = [environment[name] for _, name in _SESSION_VARIABLES if environment.get(name)]
    return next((one for one in around if one != session), "")


def program_above(environment: Mapping[str, str]) -> tuple[str, int] | None:
    """Return name and process id of the agent program that called us; ``None`` where none can be seen.

    Where there is no /proc, ps is asked, and what Claude Code says of itself (``CLAUDE_PID``) counts only if it is
    among the processes above.
    """
    import os

    if os.path.exists("/proc/self/stat"):
        programs = _programs_above()
        return programs[0] if programs else None
    for pid, name in _ancestors_by_tool():
        words = _ask_tool("-o", "args=", "-p", str(pid)).split() if name.startswith(_INTERPRETERS) else []
        if found := _program_of(name, words):
            return found, pid
        if str(pid) == environment.get("CLAUDE_PID"):
            return "claude", pid
    return None


def session_now(environment: Mapping[str, str]) -> str:
    """Return the id of the session that the Claude Code above is in now, as its own record says; empty for none.

    One process goes from session to session (``/clear``, ``/resume``), and what it started before is told nothing of
    that: the environment names the first one. The record is ``sessions/PID.json`` in its configuration (2.1.332).
    """
    import json
    import os

    found = program_above(environment)
    home = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(environment.get("HOME", ""), ".claude")
    if found is None or found[0] != "claude" or not os.path.isabs(home):
        return ""
    try:
        with open(os.path.join(home, "sessions", f"{found[1]}.json"), "rb") as file:
            record = json.loads(file.read(_LARGEST_RECORD))
    except (OSError, ValueError, RecursionError):
        return ""
    session = record.get("sessionId") if isinstance(record, dict) and record.get("pid") == found[1] else None
    return session if isinstance(session, str) else ""


def _program_of(process: str, words: Sequence[str]) -> str:
    """Return which agent program a process is, by its name, or by the script among its first words; or nothing."""
    if process in _BY_PROCESS:
        return _BY_PROCESS[process]
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    return _BY_SCRIPT.get(script.rpartition("/")[2], "")


def _ask_tool(*words: str) -> str:
    import subprocess

    try:
        return subprocess.run(
            ["/bin/ps", *words],
            env={"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=5,
            check=False,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _ancestors_by_tool() -> list[tuple[int, str]]:
    import os

    table: dict[int, tuple[int, str]] = {}
    for line in _ask_tool("-axo", "pid=,ppid=,comm=").splitlines():
        words = line.split(None, 2)
        if len(words) == 3 and words[0].isdigit() and words[1].isdigit():
            table[int(words[0])] = int(words[1]), os.path.basename(words[2].strip())
    found: list[tuple[int, str]] = []
    pid = os.getppid()
    while pid > 1 and pid in table and len(found) < _MOST_ANCESTORS:
        above, name = table[pid]
        found.append((pid, name))
        pid = above
    return found


def _programs_above() -> list[tuple[str, int]]:
    """Return name and process id of the agent programs above, nearest first; empty where /proc does not tell.

    A program that started itself again (a daemon, a sandbox) counts once.
    """
    import os

    programs: list[tuple[str, int]] = []
    before = ""
    pid = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        if pid <= 1:
            break
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                stat = file.read()
        except OSError:
            break
        name = stat[stat.index("(") + 1 : stat.rindex(")")]
        name = _program_of(name, _words_of(pid) if name.startswith(_INTERPRETERS) else ())
        if name and name != before:
            programs.append((name, pid))
        before = name
        pid = int(stat[stat.rindex(")") + 2 :].split()[1])
    return programs


def _words_of(pid: int) -> list[str]:
    """Return the first words of a process's command line; none where /proc does not tell."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read(_MOST_WORDS).decode(errors="replace").split("\0")
    except OSError:
        return []


def _worktree_of(pid: int) -> str:
    """Return the top level of the worktree a process stands in; empty when it stands in none."""
    import os

    try:
        place = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""
    while place != os.path.dirname(place):
        if os.path.exists(os.path.join(place, ".git")):
            return place
        place = os.path.dirname(place)
    return ""
