"""The checkpoint's entry: what the guard starts when the bell rings.

Standard input is the agent program's JSON, standard output is what that program's hook contract takes
and nothing else. Whatever goes wrong, the agent's turn goes on: no output, success. What went wrong is told on
standard error where ``RESTANTE_DEBUG`` is set, and nowhere else.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_INPUT = 64 * 1024 * 1024


def main() -> None:
    """Run one checkpoint; arguments are the agent program and the event."""
    try:
        # Asked for first: what cannot be handed over must not be noted as shown.
        out = sys.stdout.buffer
        output = answer(sys.argv[1], sys.argv[2], _read_all(), os.environ)
        if output:
            out.write(output)
            out.flush()
    except Exception:  # noqa: BLE001 - whatever it is, the turn goes on
        if os.environ.get("RESTANTE_DEBUG"):
            import traceback

            traceback.print_exc()
    # The interpreter's own tidying is not worth the agent's time.
    os._exit(0)


def _read_all() -> bytes:
    """Read standard input to its end: a program that writes into a closed pipe may call that a failure."""
    data = sys.stdin.buffer.read(_MOST_INPUT)
    while sys.stdin.buffer.read(1024 * 1024):
        pass
    return data


def answer(agent: str, event: str, data: bytes, environment: Mapping[str, str]) -> bytes:
    """Return what a hook prints; empty for nothing.

    Args:
        agent: The agent program.
        event: The hook event.
        data: The program's JSON.
        environment: The hook's environment; ``RESTANTE_WORKTREE`` is the top level that the guard found.
    """
    import json

    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        return b""
    root = environment.get("RESTANTE_WORKTREE", "")
    # A subagent's tool call carries its parent's session: mail is for the main loop, which would never hear of it.
    if not isinstance(payload, dict) or payload.get("agent_id"):
        return b""
    session = payload.get("session_id")
    if not isinstance(session, str):
        return b""
    from restante.wiring.delivering import deliver

    held = payload.get("stop_hook_active") is True
    told = deliver(agent, event, session, root, environment, already_held=held)
    return json.dumps(told, ensure_ascii=False).encode() if told else b""
