"""Who is calling, as the agent programs themselves tell it.

Codex gives every process of its tools ``CODEX_THREAD_ID``, Claude Code gives them ``CLAUDE_CODE_SESSION_ID``;
hooks get the session's id on standard input. Where the two disagree, an agent program was started by a tool
of another one: a run nested in a live session, which the mail is not for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.session import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping

_SESSION_VARIABLES = (("claude", "CLAUDE_CODE_SESSION_ID"), ("codex", "CODEX_THREAD_ID"))
_PROGRAMS = frozenset({"claude", "codex"})
_MOST_ANCESTORS = 64
_LARGEST_RECORD = 65_536


def caller_of(environment: Mapping[str, str]) -> Caller:
    """Return who runs a command: the innermost agent session that the environment names, else a person."""
    named = [Caller(agent, environment[name]) for agent, name in _SESSION_VARIABLES if environment.get(name)]
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
        if name in _PROGRAMS:
            return name, pid
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


def _ancestors_by_tool() -> list[tuple[int, str]]:
    import os
    import subprocess

    try:
        done = subprocess.run(
            ["/bin/ps", "-axo", "pid=,ppid=,comm="],
            env={"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    table: dict[int, tuple[int, str]] = {}
    for line in done.stdout.splitlines():
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
        if name in _PROGRAMS and name != before:
            programs.append((name, pid))
        before = name
        pid = int(stat[stat.rindex(")") + 2 :].split()[1])
    return programs


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
