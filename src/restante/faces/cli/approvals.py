"""``approvals``, ``approve``, ``modify``, ``decline``: what waits for a person, and what a person decides."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import NoSuchMessage, UsageError
from restante.domain.text import age, iso, one_line, visible
from restante.faces.cli.output import json_line, say
from restante.faces.cli.receivers import home_of, project_of

if TYPE_CHECKING:
    from restante.intake import Intake
    from restante.services.approving import Paused

_SUBJECT = 100


def approvals(project: str | None, agent: str | None, directory: str, as_json: bool) -> None:
    """List what waits for a person, the oldest first, with the reasons in words."""
    found = [(name, one) for name, intake in _intakes(project, agent, directory) for one in intake.approvals()]
    found.sort(key=lambda pair: (pair[1].since is not None, pair[1].since))
    if as_json:
        say(json_line({"approvals": [_as_json(name, one) for name, one in found]}))
        return
    if not found:
        say("nothing waits for you")
    for name, one in found:
        say(_as_text(name, one))


def approve(
    message: str,
    note: str | None,
    grant: str | None,
    scope: str | None,
    actor: str | None,
    project: str | None,
    agent: str | None,
    directory: str,
    as_json: bool,
) -> None:
    """Let paused work start, or go on."""
    _decide("approved", message, note, grant, scope, actor, project, agent, directory, as_json)


def modify(
    message: str,
    note: str | None,
    grant: str | None,
    scope: str | None,
    actor: str | None,
    project: str | None,
    agent: str | None,
    directory: str,
    as_json: bool,
) -> None:
    """Let paused work start with a change."""
    if not note:
        raise UsageError("what is changed?", remedy="--note 'only the tests'")
    _decide("modified", message, note, grant, scope, actor, project, agent, directory, as_json)


def decline(
    message: str,
    note: str | None,
    actor: str | None,
    project: str | None,
    agent: str | None,
    directory: str,
    as_json: bool,
) -> None:
    """Decline paused work; the message stays until the agent's next round, which archives it."""
    _decide("declined", message, note, None, None, actor, project, agent, directory, as_json)


def _decide(
    what: str,
    message: str,
    note: str | None,
    grant: str | None,
    scope: str | None,
    actor: str | None,
    project: str | None,
    agent: str | None,
    directory: str,
    as_json: bool,
) -> None:
    from restante.domain.inquiry import Ruling

    granted = None
    if scope is not None:
        from restante.wiring.intake import load_file

        granted = load_file(scope)
        grant = grant or "modified"
    found: list[tuple[str, Intake, Paused]] = []
    problem: NoSuchMessage | None = None
    for name, intake in _intakes(project, agent, directory):
        try:
            found.append((name, intake, intake.find_approval(message)))
        except NoSuchMessage as error:
            problem = error
    if len(found) > 1:
        names = ", ".join(name for name, _, _ in found)
        raise NoSuchMessage(f"{message!r} waits for several: {names}", remedy="--agent")
    if not found:
        raise problem or NoSuchMessage(f"nothing waits under {message!r}", remedy="restante approvals")
    name, intake, one = found[0]
    record = intake.decide(one.record, Ruling(what, actor or "human", note or "", grant or "", granted))
    result = record.get("result")
    outcome = result.get("human_outcome") if isinstance(result, dict) else None
    latency = outcome.get("decision_latency_seconds") if isinstance(outcome, dict) else None
    if as_json:
        told = {"message_id": one.message_id, "agent": name, "audit": one.record, "decision": what}
        say(json_line({**told, "latency_seconds": latency}))
    else:
        after = f", {latency} s after it was asked" if latency is not None else ""
        say(f"{what} {one_line(one.message_id, 200)} for {name}{after}")


def _intakes(project: str | None, agent: str | None, directory: str) -> list[tuple[str, Intake]]:
    """Return the intakes that are meant: of one agent, else of all agents of the project."""
    from restante.wiring.intake import open_intake
    from restante.wiring.oacp import agents_of

    home, place = home_of(directory), project_of(project, directory)
    names = [agent] if agent else agents_of(home, place)
    return [(name, open_intake(place, name, os.environ, home=home)) for name in names]


def _as_json(agent: str, one: Paused) -> dict[str, object]:
    return {
        "message_id": one.message_id,
        "agent": agent,
        "from": one.sender,
        "type": one.kind,
        "subject": one.subject,
        "stage": one.stage,
        "since": iso(one.since) if one.since else None,
        "reasons": [{"code": code, "meaning": meaning} for code, meaning in one.reasons],
        "breached": list(one.breached),
        "asks_grant": one.asks_grant,
        "audit": one.record,
        "path": one.file,
    }


def _as_text(agent: str, one: Paused) -> str:
    from restante.wiring.oacp import clock_of

    now = clock_of(os.environ).now()
    head = f"{one_line(one.message_id, 200)}: {one_line(one.sender, 64)} asks {agent} for a {one_line(one.kind, 64)}"
    lines = [f"{head}, {one.stage}, {age(one.since, now)}", f"  subject: {one_line(one.subject, _SUBJECT)}"]
    lines += [f"  because {meaning} ({code})" for code, meaning in one.reasons]
    lines += [f"  exceeded: {', '.join(one_line(part, 80) for part in one.breached)}"] if one.breached else []
    lines += ["  it asks for a grant for its thread; say --grant approved or denied"] if one.asks_grant else []
    return "\n".join([*lines, f"  audit record: {visible(one.record)}"])
