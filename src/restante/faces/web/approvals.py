"""What waits for a person before work may start or go on, and the form to decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import RedirectResponse

from restante.domain.errors import Forbidden, RestanteError, UsageError
from restante.domain.inquiry import Ruling
from restante.faces.web.grounds import homes_of, known_worktrees
from restante.faces.web.rendering import HEADERS, ROOT, page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from restante.faces.web.entering import Visitor
    from restante.faces.web.hub import Hub
    from restante.intake import Intake
    from restante.services.approving import Paused

DECISIONS = ("approved", "modified", "declined")


class Waiting(NamedTuple):
    """One message that waits for a person.

    Attributes:
        home: The OACP home that it is in.
        project: The project.
        agent: Whose inbox.
        paused: What is known of it.
        limits: What was declared beside what the receiver allows, one line for each measure.
        record: The audit record, as it is on disk.
    """

    home: str
    project: str
    agent: str
    paused: Paused
    limits: tuple[tuple[str, str, str], ...]
    record: str


async def show(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Show what waits, the oldest first."""
    return page("approvals.html", await _values(hub, visitor, done=request.query_params.get("done", "")), visitor)


async def decide(hub: Hub, visitor: Visitor, request: Request) -> Response:
    """Write a decision into the audit record."""
    form = {name: str(value) for name, value in (await request.form()).items()}
    decision, note = form.get("decision", ""), form.get("note", "").strip()
    try:
        if decision not in DECISIONS:
            raise UsageError("that is no decision", remedy="press one of the buttons")
        if decision == "modified" and not note:
            raise UsageError("what is changed?", remedy="say it in the note")
        found = await _waiting(hub, visitor)
        chosen = [one for one in found if _key(one) == form.get("key", "")]
        if not chosen:
            raise UsageError("it does not wait any more", remedy="it may have been decided elsewhere")
        ruling = Ruling(decision, "human", note, form.get("grant", "") if chosen[0].paused.asks_grant else "", None)
        await hub.apart(lambda: _intake(hub, chosen[0]).decide(chosen[0].paused.record, ruling))
    except RestanteError as error:
        return page("approvals.html", await _values(hub, visitor, error=error), visitor, status=error.http_status)
    return RedirectResponse(f"{ROOT}/approvals?done={decision}", 303, headers=HEADERS)


async def count(hub: Hub, visitor: Visitor) -> int:
    """Return how many messages wait for a person; none where that cannot be told."""
    try:
        return len(await _waiting(hub, visitor))
    except RestanteError:
        return 0


async def _values(hub: Hub, visitor: Visitor, *, done: str = "", error: RestanteError | None = None) -> dict[str, Any]:
    now = await hub.run(visitor.claim, lambda exchange, _: exchange.clock.now())
    found = await _waiting(hub, visitor)
    return {
        "waiting": [(_key(one), one) for one in found],
        "now": now,
        "error": error,
        "done": done if done in DECISIONS else "",
    }


async def _waiting(hub: Hub, visitor: Visitor) -> Sequence[Waiting]:
    if visitor.owner:
        raise Forbidden(
            "approvals are in files of this machine, which are nobody's account", remedy="restante approvals"
        )
    places = await known_worktrees(hub, visitor)
    return await hub.apart(lambda: _look(hub, places))


def _look(hub: Hub, worktrees: Sequence[str]) -> list[Waiting]:
    from restante.wiring.intake import open_intake
    from restante.wiring.oacp import agents_of, projects_of

    found: list[Waiting] = []
    for home in homes_of(hub.environment, worktrees):
        for project in projects_of(home):
            for agent in agents_of(home, project):
                intake = open_intake(project, agent, hub.environment, home=home)
                found += [Waiting(home, project, agent, one, *_details(intake, one)) for one in intake.approvals()]
    return sorted(found, key=lambda one: (one.paused.since is not None, one.paused.since))


def _details(intake: Intake, one: Paused) -> tuple[tuple[tuple[str, str, str], ...], str]:
    """Return what was declared beside the limits, and the record as text."""
    import json

    record = intake.record(one.record)
    declared, limits = record.get("task_profile"), record.get("thresholds")
    measures = limits.items() if isinstance(limits, dict) else ()
    said = declared if isinstance(declared, dict) else {}
    lines = tuple(
        (str(name), str(said.get(str(name).removeprefix("max_"), "")), str(limit)) for name, limit in measures
    )
    return lines, json.dumps(record, indent=2, ensure_ascii=False)


def _intake(hub: Hub, one: Waiting) -> Intake:
    from restante.wiring.intake import open_intake

    return open_intake(one.project, one.agent, hub.environment, home=one.home)


def _key(one: Waiting) -> str:
    from hashlib import sha256

    # A form sends line ends of its own, and these are paths.
    return sha256("\n".join((one.home, one.project, one.agent, one.paused.record)).encode(errors="replace")).hexdigest()
