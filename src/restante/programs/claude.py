"""Claude Code (seen with 2.1.332)."""

from restante.domain.program import Event, Program, Server

PROGRAM = Program(
    name="claude",
    title="Claude Code",
    place=2,
    is_default=True,
    settings=".claude/settings.local.json",
    events={
        "SessionStart": Event("SessionStart"),
        "UserPromptSubmit": Event("UserPromptSubmit"),
        "PostToolUse": Event("PostToolUse"),
        "Stop": Event("Stop"),
        "SessionEnd": Event("SessionEnd", 3),
        # It alone tells of a dialog that waits for the person.
        "Notification": Event("Notification", 5),
    },
    calls_tools=True,
    session_variable="CLAUDE_CODE_SESSION_ID",
    processes=("claude",),
    guidance="CLAUDE.md",
    skills=".claude/skills",
    # ``alwaysLoad`` keeps the tools from being looked up first.
    server=Server(".mcp.json", "mcpServers", {"alwaysLoad": True}),
    wake="claude-rewake",
)
