"""Codex (seen with 0.171.0)."""

from restante.domain.program import Event, Program, Server

# It gives a server none but these of the person's variables, and settings may stand in them.
_VARIABLES = (
    *("RESTANTE_CONFIG", "RESTANTE_DATA", "RESTANTE_DATABASE_URL", "RESTANTE_NAME", "RESTANTE_NESTED"),
    *("RESTANTE_SERVER_URL", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
)

PROGRAM = Program(
    name="codex",
    title="Codex",
    place=1,
    is_default=True,
    settings=".codex/hooks.json",
    events={
        "SessionStart": Event("SessionStart"),
        "UserPromptSubmit": Event("UserPromptSubmit"),
        "PostToolUse": Event("PostToolUse"),
        "Stop": Event("Stop"),
        # It cuts this one to 3 seconds and warns about more.
        "SessionEnd": Event("SessionEnd", 3),
    },
    asks_trust=True,
    calls_tools=True,
    session_variable="CODEX_THREAD_ID",
    processes=("codex",),
    # ``required``: else the tools of a server that is a moment late are missing in the first request.
    server=Server(".codex/config.toml", "mcp_servers", {"env_vars": list(_VARIABLES), "required": True}),
    wake="codex-queue",
)
