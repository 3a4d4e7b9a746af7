"""The checkpoint as a hook that calls a tool of the server: no process is started for it.

Codex 0.171.0 and Claude Code 2.1.332 take the tool's text for what a command would have printed, and call a tool that
is not in the server's list. Neither can call one when a session ends, and Claude Code none when it starts: those
checkpoints stay commands.
"""

from __future__ import annotations

from typing import Any

from restante.agents.hookline import TIMEOUTS
from restante.agents.mcp_servers import SERVER
from restante.agents.quirks import habits_of

TOOL = "checkpoint"
EVENTS = ("UserPromptSubmit", "PostToolUse", "Stop")


def handler(agent: str, event: str) -> dict[str, Any]:
    """Return the hook entry for one event."""
    given = {"event": event, "session": "${session_id}"}
    given |= habits_of(agent).tool_input
    if event == "Stop":
        given["held"] = "${stop_hook_active}"
    return {"type": "mcp_tool", "server": SERVER, "tool": TOOL, "input": given, "timeout": TIMEOUTS[event]}
