"""The checkpoint as a tool that a program's hook calls: the same answer as the command hook's, without a process.

No model is told of it. Whose checkpoint it is, the program proves as with every other call; where the hook names
another session, nothing is answered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from restante import peek
from restante.faces.mcp.telling import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.faces.mcp.places import CallPlace

_NOTHING = "{}"


def checkpoint(place: CallPlace, arguments: Mapping[str, object]) -> Told:
    """Run a checkpoint. Whatever goes wrong, the turn goes on.

    An empty object stands for nothing: of an answer without text, Claude Code tells its model that the hook succeeded.
    """
    try:
        return Told(_told(place, arguments) or _NOTHING)
    except Exception:  # noqa: BLE001 - whatever it is, the turn goes on
        return Told(_NOTHING)


def _told(place: CallPlace, arguments: Mapping[str, object]) -> str:
    from restante.wiring.calls import worktree_of
    from restante.wiring.delivering import deliver_if_rung

    caller, environment = place.call.caller, place.call.environment
    event = arguments.get("event")
    # A subagent's tool call carries its parent's session: mail is for the main loop, which would never hear of it.
    if not isinstance(event, str) or not caller.is_agent or arguments.get("subagent"):
        return ""
    if arguments.get("session") not in (None, "", caller.session):
        return ""
    root = worktree_of(place.call.directory)
    if not root:
        return ""
    told = deliver_if_rung(
        caller.agent,
        event,
        caller.session,
        root,
        environment,
        already_held=arguments.get("held") in (True, "true"),
        mail_waits=peek.mail_waits(root),
        sessions_are_used=peek.sessions_are_used(environment),
    )
    return json.dumps(told, ensure_ascii=False) if told else ""
