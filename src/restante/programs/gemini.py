"""Gemini CLI (seen with 0.61.0).

Project hooks with names and limits of its own (milliseconds). The end of a turn is held by denying it: the reason is
the next prompt. It names the session to its hooks and not to what its tools start, which see only ``GEMINI_CLI``.
"""

from restante.domain.program import Event, Program, Server

PROGRAM = Program(
    name="gemini",
    title="Gemini CLI",
    settings=".gemini/settings.json",
    events={
        "SessionStart": Event("SessionStart"),
        "BeforeAgent": Event("UserPromptSubmit"),
        "AfterTool": Event("PostToolUse"),
        "AfterAgent": Event("Stop"),
        "SessionEnd": Event("SessionEnd", 3),
    },
    ticks=1000,
    hold="deny",
    session_variable="GEMINI_SESSION_ID",
    marker="GEMINI_CLI",
    scripts=("gemini", "gemini.js"),
    guidance="GEMINI.md",
    reads_agents_file=False,
    server=Server(".gemini/settings.json", "mcpServers"),
    wake="gemini",
)
