"""One checkpoint of a session, from the agent program's words to the JSON that its hook contract takes.

Whoever runs it, a hook's own process or the MCP server that a program has started already, gets the same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.checkpoint import Delivery
    from restante.domain.session import Caller

_MOST_TROUBLES = 3
_MOST_TROUBLE = 300
# What hooks are told; a program's own names for these events are in its entry of ``programs``.
_MOMENTS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "after_tool",
    "Stop": "stop",
    "SessionEnd": "session_end",
}


def deliver(
    agent: str, event: str, session: str, root: str, environment: Mapping[str, str], *, already_held: bool
) -> dict[str, object] | None:
    """Return what a hook answers; ``None`` for nothing.

    Args:
        agent: The agent program.
        event: The hook event.
        session: The session's id, as the program says.
        root: Top level of the worktree.
        environment: The hook's environment.
        already_held: Whether this end was held up before, as the program says.
    """
    moment = _MOMENTS.get(event)
    if moment is None or not root or not session:
        return None
    delivery = _delivery(agent, moment, session, root, environment, already_held=already_held)
    return _shape(agent, event, delivery) if delivery else None


def deliver_if_rung(
    agent: str,
    event: str,
    session: str,
    root: str,
    environment: Mapping[str, str],
    *,
    already_held: bool,
    mail_waits: bool,
    sessions_are_used: bool,
) -> dict[str, object] | None:
    """Return the same for a process that lives on: it looks for the bell first, as the guard of the hooks does.

    Args:
        agent: See ``deliver``; as what is not named here.
        event: The same.
        session: The same.
        root: The same.
        environment: The same.
        already_held: The same.
        mail_waits: What ``peek`` says of the worktree.
        sessions_are_used: What it says of this machine.
    """
    from restante.system.bells import is_ringing

    is_quiet = not (mail_waits or is_ringing(root))
    if is_quiet and (not sessions_are_used or _is_signed(event, session, environment)):
        return None
    return deliver(agent, event, session, root, environment, already_held=already_held)


def _is_signed(event: str, session: str, environment: Mapping[str, str]) -> bool:
    """Leave the sign of a turn that began or ended, as the guard does; return whether nothing else is to be done."""
    from restante.domain.errors import RestanteError
    from restante.system.places import data_directory
    from restante.system.turns import TurnFiles

    try:
        turns = TurnFiles(data_directory(environment))
    except RestanteError:
        return True
    if event == "PostToolUse":
        # Whatever a dialog asked, it has been answered.
        turns.unblock(session)
        return True
    if event == "UserPromptSubmit" and turns.lacks(session):
        # A session that nobody told us of: it is registered with its prompt.
        return False
    if event in {"UserPromptSubmit", "Stop"}:
        turns.sign(session, has_ended=event == "Stop")
    return event != "SessionStart"


def _delivery(
    agent: str, moment: str, session: str, root: str, environment: Mapping[str, str], *, already_held: bool
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
    _note_process(caller, environment, has_ended=when is Moment.SESSION_END)
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


def _note_process(caller: Caller, environment: Mapping[str, str], *, has_ended: bool) -> None:
    """Note which session a process is in, where its tools are not told."""
    from contextlib import suppress

    from restante.domain.errors import RestanteError
    from restante.programs import program
    from restante.system.identity import program_above
    from restante.system.noted import forget_session, note_session

    known = program(caller.agent)
    found = program_above(environment) if known and known.marker else None
    if found is None or found[0] != caller.agent:
        return
    if has_ended:
        forget_session(found[1], environment)
        return
    with suppress(RestanteError):
        note_session(*found, caller.session, environment)


def _shape(agent: str, event: str, delivery: Delivery) -> dict[str, object]:
    """Return the JSON that a program takes; Codex refuses any key beyond these."""
    from restante.programs import program

    known = program(agent)
    if delivery.holds:
        return {"decision": known.hold if known else "block", "reason": delivery.text}
    name = known.own_event(event) if known else event
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": delivery.text}}
