"""Is the original mailbox program's hook installed here? Asked at a checkpoint, so: only os and json."""

from __future__ import annotations

import json
import os

from restante.agents.gitplaces import git_places

_MOST_BYTES = 4_000_000


def original_hook_present(root: str, env: dict[str, str], agent: str) -> bool:
    """Tell whether an agent program is told to run the original program's hook for a worktree.

    The original installs itself for Codex only; for Claude Code a person may have. Looks into the files that
    the agent program reads: the worktree's (for Codex a linked worktree's are those of the main one) and the
    person's own. Never raises: what cannot be read holds no hook that would run.
    """
    return bool(_claude_files(root, env) if agent == "claude" else original_hook_files(root, env))


def original_hook_files(root: str, env: dict[str, str]) -> list[str]:
    """Return the files in which Codex is told to run the original program's hook."""
    places = [os.path.join(git_places(root).hooks_root, ".codex"), os.path.join(root, ".codex")]
    home = _home(env, "CODEX_HOME", ".codex")
    files = [os.path.join(place, "hooks.json") for place in dict.fromkeys([*places, home]) if place]
    return [path for path in files if _holds_it(path)]


def _claude_files(root: str, env: dict[str, str]) -> list[str]:
    here = os.path.join(root, ".claude")
    home = _home(env, "CLAUDE_CONFIG_DIR", ".claude")
    files = [os.path.join(here, "settings.local.json"), os.path.join(here, "settings.json")]
    files += [os.path.join(home, "settings.json")] if home else []
    return [path for path in files if _holds_it(path)]


def _home(env: dict[str, str], variable: str, directory: str) -> str:
    return env.get(variable) or (os.path.join(env["HOME"], directory) if env.get("HOME") else "")


def _holds_it(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES)
        if b"odex" not in data:
            return False
        return _search(json.loads(data))
    except (OSError, ValueError, RecursionError):
        return False


def _search(document: object) -> bool:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            command, status = value.get("command"), value.get("statusMessage")
            if isinstance(command, str) and "codexpigeon_mailbox_hook.py" in command:
                return True
            if isinstance(status, str) and "CodexPigeon" in status:
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False
