"""The ways to wake a session, a closed list: one small file each, all on ``ports.monitoring.Waker``.

A wake starts a turn that the session's user sees, by what the agent program offers for that, and says that mail waits
and how it is collected, never a word of it. docs/why/wake.md says why that keeps the promise that nothing is ever typed
into a terminal. Each file says in ``STARTS`` or ``METHODS`` what it may start or call, and can do no more than that.

    by default    claude_rewake, codex_queue, opencode; gemini (there is none, and it says so)
    by name only  codex_socket, claude_socket; notify (the person), command (the person's own), scheduled
    beneath       running (the only place that starts a process), codex_wire (the only one that speaks to Codex)

Nothing of them is imported until a person armed a mailbox that uses it.
"""

from restante.programs import PROGRAMS

# Name -> module and class.
ADAPTERS = {
    "codex-queue": ("codex_queue", "CodexQueue"),
    "codex-socket": ("codex_socket", "CodexSocket"),
    "claude-rewake": ("claude_rewake", "ClaudeRewake"),
    "claude-socket": ("claude_socket", "ClaudeSocket"),
    "opencode": ("opencode", "Opencode"),
    "gemini": ("gemini", "Gemini"),
    "notify": ("notify", "Notify"),
    "command": ("command", "OwnCommand"),
    "scheduled": ("scheduled", "Scheduled"),
}

# Ways that only a person arms: each starts a turn over a connection that the program keeps for itself.
OF_THE_PERSON = frozenset({"codex-socket", "claude-socket"})

# Agent program -> what is used without being named.
DEFAULTS = {name: one.wake for name, one in PROGRAMS.items() if one.wake}
