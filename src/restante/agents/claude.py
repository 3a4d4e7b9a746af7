"""Claude Code: where its hooks go, and what switches hooks off (seen with 2.1.332)."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from restante.agents.habits import Habits
from restante.agents.regular import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping


class ClaudeHabits(Habits):
    """Those of Claude Code."""

    waits = True
    # Empty in the main loop; Codex refuses a placeholder for what an event does not have.
    tool_input: Mapping[str, str] = {"subagent": "${agent_id}"}
    server_notes = ("Claude Code asks once, at a terminal, whether it may start the server of .mcp.json",)

    def switched_off_by(self, root: str, env: Mapping[str, str], etc: str) -> str:
        """See ``Habits``."""
        return switched_off_by(root, env, etc)


def hooks_file(root: str) -> str:
    """Return the settings file that is the person's own in a worktree."""
    return os.path.join(root, ".claude", "settings.local.json")


def switched_off_by(root: str, env: Mapping[str, str], etc: str) -> str:
    """Return the file that keeps Claude Code from running the worktree's hooks, or nothing.

    ``disableAllHooks`` of the nearest settings counts; managed settings stand above all others and may also
    say ``allowManagedHooksOnly``.
    """
    managed = os.path.join(etc, "claude-code", "managed-settings.json")
    if sys.platform == "darwin" and etc == "/etc":
        managed = "/Library/Application Support/ClaudeCode/managed-settings.json"
    policy = _settings(managed)
    if policy.get("allowManagedHooksOnly") is True:
        return managed
    home = env.get("CLAUDE_CONFIG_DIR") or (os.path.join(env["HOME"], ".claude") if env.get("HOME") else "")
    project = os.path.join(root, ".claude", "settings.json")
    own = [os.path.join(home, "settings.json")] if home else []
    for path in (managed, hooks_file(root), project, *own):
        value = _settings(path).get("disableAllHooks")
        if isinstance(value, bool):
            return path if value else ""
    return ""


def _settings(path: str) -> dict[str, object]:
    try:
        value = json.loads(read_regular(path).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
