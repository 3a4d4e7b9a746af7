"""Which processes of this machine live, proven: a number alone proves nothing, since it is given again."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from restante.domain.registry import Presence, Process
from restante.system.identity import program_above

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOOL_SECONDS = 5


class LocalProcesses:
    """``ports.sessions.Processes`` of this machine."""

    def presence(self, process: Process) -> Presence:
        """Tell whether a process lives.

        Gone is: no process has that number, another one has it, it is a zombie, or the machine was started again.
        Unknown is: another machine, another container, or nothing that could be asked.
        """
        if process.host != host_name() or process.pid <= 0 or not process.started:
            return Presence.UNKNOWN
        return _on_linux(process) if os.path.exists("/proc/self/stat") else _by_tool(process)


def host_name() -> str:
    """Return this machine's name."""
    return os.uname().nodename


def process_of(pid: int) -> Process:
    """Return what tells a process of this machine apart; ``started`` is empty where that cannot be told."""
    if os.path.exists("/proc/self/stat"):
        status = _status(pid)
        return Process(host_name(), pid, f"{_realm()}.{status[1]}" if status else "")
    return Process(host_name(), pid, _ask_tool(pid)[1])


def owner_of(pid: int) -> int | None:
    """Return the user whose rights a process of this machine has; ``None`` where that cannot be told."""
    if not os.path.exists("/proc/self/stat"):
        user = _ps(pid, "uid=").strip()
        return int(user) if user.isdecimal() else None
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            return next((int(line.split()[2]) for line in file if line.startswith("Uid:")), None)
    except (OSError, ValueError, IndexError):
        return None


def agent_process(environment: Mapping[str, str]) -> Process | None:
    """Return the process of the agent program that we were called by; ``None`` where none can be seen."""
    found = program_above(environment)
    if found is None:
        return None
    process = process_of(found[1])
    return process if process.started else None


def may_be_above(process: Process, environment: Mapping[str, str]) -> bool:
    """Tell whether we may run below a process: false only where it lives here and is proven not to be above us.

    Two programs can go by the same session, as when one is continued in two terminals.
    """
    if process.host != host_name() or not os.path.exists("/proc/self/stat") or program_above(environment) is None:
        return True
    if _on_linux(process) is not Presence.ALIVE:
        return True
    pid = os.getppid()
    while pid > 1:
        if pid == process.pid:
            return True
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                stat = file.read()
        except OSError:
            return True
        pid = int(stat[stat.rindex(")") + 2 :].split()[1])
    return False


def _on_linux(process: Process) -> Presence:
    place, _, ticks = process.started.rpartition(".")
    theirs, ours = place.split("."), _realm().split(".")
    if len(theirs) != len(ours) or theirs[0] != ours[0]:
        return Presence.UNKNOWN
    if theirs[1] != ours[1]:
        return Presence.GONE
    if theirs[2] != ours[2]:
        return Presence.UNKNOWN
    status = _status(process.pid)
    if status is None:
        # Where /proc hides what is others', only this says whether there is one.
        return Presence.GONE if _is_free(process.pid) else Presence.UNKNOWN
    return Presence.ALIVE if status[1] == ticks and status[0] not in "ZX" else Presence.GONE


def _is_free(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def _status(pid: int) -> tuple[str, str] | None:
    """Return state and start time (clock ticks since the boot) of a process: fields 3 and 22 of proc(5)'s stat."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return fields[0], fields[19]


@cache
def _realm() -> str:
    """Return what a number and a start time mean something in: machine, boot, a container's own count of processes."""
    return f"{_line('/etc/machine-id')}.{_line('/proc/sys/kernel/random/boot_id')}.{_namespace()}"


def _line(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.readline().strip().replace(".", "")[:12]
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return ""


def _by_tool(process: Process) -> Presence:
    state, started = _ask_tool(process.pid)
    if started:
        return Presence.ALIVE if started == process.started and "Z" not in state else Presence.GONE
    return Presence.GONE if _is_free(process.pid) else Presence.UNKNOWN


def _ask_tool(pid: int) -> tuple[str, str]:
    """Return state and start time of a process by ps, where there is no /proc; empty when it is not there."""
    state, _, started = _ps(pid, "stat=", "lstart=").strip().partition(" ")
    return state, " ".join(started.split())


def _ps(pid: int, *columns: str) -> str:
    import subprocess

    try:
        done = subprocess.run(
            ["/bin/ps", *(word for column in columns for word in ("-o", column)), "-p", str(pid)],
            env={"LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TOOL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
