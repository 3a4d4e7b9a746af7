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

    from restante.domain.checkpoint import Delivery

_MOST_INPUT = 64 * 1024 * 1024
_MOST_TROUBLES = 3
_MOST_TROUBLE = 300
# One table for both programs: they use the same names for these events.
_MOMENTS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "after_tool",
    "Stop": "stop",
    "SessionEnd": "session_end",
}


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
    moment = _MOMENTS.get(event)
    root = environment.get("RESTANTE_WORKTREE", "")
    # A subagent's tool call carries its parent's session: mail is for the main loop, which would never hear of it.
    if not isinstance(payload, dict) or moment is None or not root or payload.get("agent_id"):
        return b""
    session = payload.get("session_id")
    if not isinstance(session, str) or not session:
        return b""
    delivery = _deliver(agent, moment, session, root, payload.get("stop_hook_active") is True, environment)
    return json.dumps(_shape(event, delivery), ensure_ascii=False).encode() if delivery else b""


def _deliver(
    agent: str, moment: str, session: str, root: str, already_held: bool, environment: Mapping[str, str]
) -> Delivery | None:
    from restante.domain.checkpoint import Checkpoint, Moment
    from restante.domain.session import Caller
    from restante.wiring import open_checkpoint, other_program_holds
    from restante.wiring.checkpoints import open_desk

    caller = Caller(agent, session)
    office = open_checkpoint(root, caller, environment)
    if office is None:
        return None
    when = Moment(moment)
    desk = open_desk(root, caller, environment)
    if desk:
        desk.note(when)
    asks_who_holds = when is Moment.STOP and not already_held
    other_holds = asks_who_holds and other_program_holds(root, agent, environment)
    delivery = office.checkpoint(Checkpoint(when, caller, already_held, other_holds), desk)
    if desk and desk.troubles:
        delivery = _with(desk.troubles, delivery, holds=when is Moment.STOP)
    if desk and delivery and delivery.holds:
        desk.go_on()
    return delivery if when is not Moment.SESSION_END else None


def _with(troubles: list[str], delivery: Delivery | None, *, holds: bool) -> Delivery:
    """Put what the session has to know of its own words before its mail."""
    from restante.domain.checkpoint import Delivery
    from restante.domain.text import cut, visible

    told = "".join(f"{cut(visible(one), _MOST_TROUBLE)}\n" for one in troubles[:_MOST_TROUBLES])
    if delivery is None:
        return Delivery(told, holds, ())
    return delivery._replace(text=f"{told}\n{delivery.text}")


def _shape(event: str, delivery: Delivery) -> dict[str, object]:
    """Return the JSON that both programs take; Codex refuses any key beyond these."""
    if delivery.holds:
        return {"decision": "block", "reason": delivery.text}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": delivery.text}}
