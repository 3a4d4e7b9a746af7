"""The line an agent program runs at a checkpoint, and how one of ours is told from another's.

A line depends on nothing but the installation's directory, the program, the event and the kind of shell:
programs that ask a person to trust a hook ask again when one byte of it changes.
"""

from __future__ import annotations

import os
from typing import Any

from restante.domain.errors import BadText
from restante.programs import PROGRAMS

# Our names of the events that every program has, with the seconds that a hook may take.
TIMEOUTS = {"SessionStart": 10, "UserPromptSubmit": 10, "PostToolUse": 10, "Stop": 10, "SessionEnd": 3}

_POSIX_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "pdksh", "yash", "busybox"})
_GUARD = '[ -r "$RESTANTE_BIN/restante-hook" ] && . "$RESTANTE_BIN/restante-hook"; exit 0'
_WAITER = '[ -r "$RESTANTE_BIN/restante-waiter" ] && . "$RESTANTE_BIN/restante-waiter"; exit 0'

# The events of Claude Code at which a waiter begins, where mailboxes are monitored; see scripts/restante-waiter.
WAITING = ("SessionStart", "Stop")
# Seconds; it is ended sooner, with its session or by what it waits for.
_WAITS = 7 * 86_400


def timeouts_of(agent: str) -> dict[str, int]:
    """Return the events of an agent program that we have a hook for, with the seconds that each may take."""
    return {name: event.seconds for name, event in PROGRAMS[agent].events.items()}


def quote(text: str) -> str:
    """Quote a text for a POSIX shell, always, so that the same text has one form."""
    return "'" + text.replace("'", "'\\''") + "'"


def needs_wrapping(env: dict[str, str]) -> bool:
    """Tell whether the person's shell does not read POSIX sh; a program may hand our line to it."""
    shells = [env.get("SHELL", "")]
    try:
        import pwd

        shells.append(pwd.getpwuid(os.getuid()).pw_shell)
    except (ImportError, KeyError):
        pass
    names = {os.path.basename(shell) for shell in shells if shell}
    return bool(names - _POSIX_SHELLS - {"nologin", "false"})


def check_place(bin_dir: str) -> None:
    """Check that an installation can be named in a file that an agent program reads.

    Raises:
        BadText: The directory's name is not UTF-8.
    """
    try:
        bin_dir.encode()
    except UnicodeEncodeError:
        raise BadText(
            f"the installation's directory {bin_dir!r} has a name that is not UTF-8",
            remedy="install Restante elsewhere",
        ) from None


def command_line(bin_dir: str, agent: str, event: str, *, wrapped: bool = False, waits: bool = False) -> str:
    """Return the line for one event.

    Args:
        bin_dir: Directory of the guard script and the interpreter.
        agent: The agent program.
        event: One of the program's events; see ``timeouts_of``.
        wrapped: Hand the line to ``sh`` by itself, for shells that are not POSIX-like.
        waits: The line of the waiter instead of the guard's.

    Raises:
        BadText: The directory's name is not UTF-8 and cannot stand in a settings file.
    """
    check_place(bin_dir)
    known = PROGRAMS[agent].events.get(event)
    ours = known.ours if known else event
    rest = f"RESTANTE_AGENT={agent} RESTANTE_EVENT={ours}; {_WAITER if waits else _GUARD}"
    # The directory travels as an argument there: quotes within quotes mean something else in every shell.
    return f"sh -c 'RESTANTE_BIN=$1 {rest}' sh {quote(bin_dir)}" if wrapped else f"RESTANTE_BIN={quote(bin_dir)} {rest}"


def handler(bin_dir: str, agent: str, event: str, *, wrapped: bool = False) -> dict[str, Any]:
    """Return the hook entry for one event, in the shape that the programs share."""
    command = command_line(bin_dir, agent, event, wrapped=wrapped)
    return {"type": "command", "command": command, "timeout": timeouts_of(agent)[event] * PROGRAMS[agent].ticks}


def waiter(bin_dir: str, agent: str, event: str, *, wrapped: bool = False) -> dict[str, Any]:
    """Return the hook entry by which a waiter begins at one event of Claude Code.

    Its ``asyncRewake`` lets it run in the background, and wakes the session where it ends with 2 (2.1.332).
    """
    command = command_line(bin_dir, agent, event, wrapped=wrapped, waits=True)
    return {"type": "command", "command": command, "asyncRewake": True, "timeout": _WAITS}


def is_ours(value: object) -> bool:
    """Tell whether a hook entry, as parsed, is one of ours, of whatever version or installation."""
    return is_guard(value) or is_waiter(value)


def is_guard(value: object) -> bool:
    """Tell whether a hook entry is our guard's."""
    return _runs(value, "/restante-hook") or calls_tool(value)


def calls_tool(value: object) -> bool:
    """Tell whether a hook entry is our checkpoint's that calls a tool; see ``mcp_hooks``."""
    if not isinstance(value, dict):
        return False
    return (value.get("type"), value.get("server"), value.get("tool")) == ("mcp_tool", "restante", "checkpoint")


def is_waiter(value: object) -> bool:
    """Tell whether a hook entry is our waiter's."""
    return _runs(value, "/restante-waiter")


def _runs(value: object, script: str) -> bool:
    command = value.get("command") if isinstance(value, dict) else None
    return isinstance(command, str) and "RESTANTE_EVENT=" in command and script in command
