"""Is the original mailbox program's hook installed here? Asked at a checkpoint, so: only os and json."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from restante.agents.gitplaces import git_places
from restante.agents.regular import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_BYTES = 4_000_000
_SCRIPT = "codexpigeon_mailbox_hook.py"


def original_hook_files(root: str, env: Mapping[str, str], agent: str) -> list[str]:
    """Return the files in which an agent program is told to run the original program's hook.

    The original installs itself for Codex only; for Claude Code a person may have. Looks into the files that
    the agent program reads: the worktree's (for Codex a linked worktree's are those of the main one) and the
    person's own. What cannot be read holds no hook that would run.
    """
    if agent == "claude":
        names = ("settings.local.json", "settings.json")
        files = [os.path.join(root, ".claude", name) for name in names]
        home = _home(env, "CLAUDE_CONFIG_DIR", ".claude")
        files += [os.path.join(home, "settings.json")] if home else []
    elif agent != "codex":
        return []
    else:
        places = [os.path.join(one, ".codex") for one in (git_places(root).hooks_root, root)]
        home = _home(env, "CODEX_HOME", ".codex")
        files = [os.path.join(place, "hooks.json") for place in dict.fromkeys([*places, home]) if place]
    return [path for path in files if _holds_it(path)]


def is_originals(entry: object) -> bool:
    """Tell whether a hook entry, as parsed, is one of the original program's."""
    if not isinstance(entry, dict):
        return False
    command, status = entry.get("command"), entry.get("statusMessage")
    return (isinstance(command, str) and _SCRIPT in command) or (isinstance(status, str) and "CodexPigeon" in status)


def _home(env: Mapping[str, str], variable: str, directory: str) -> str:
    return env.get(variable) or (os.path.join(env["HOME"], directory) if env.get("HOME") else "")


def _holds_it(path: str) -> bool:
    try:
        data = read_regular(path, _MOST_BYTES)
        # Both spellings of its name end so, and no hook of ours does.
        return b"igeon" in data and _search(json.loads(data))
    except (OSError, ValueError, RecursionError):
        return False


def _search(document: object) -> bool:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if is_originals(value):
            return True
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False
