"""What waits for a person in the OACP homes of this machine before work may start or go on, and deciding it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import UsageError
from restante.domain.inquiry import Ruling
from restante.wiring.grounds import homes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
        effects: What was declared that the work would do beside changing files, one name for each.
        denied: What was declared that it would not.
    """

    home: str
    project: str
    agent: str
    paused: Paused
    limits: tuple[tuple[str, str, str], ...]
    record: str
    effects: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What names it in a form: one line of ASCII, since these are paths."""
        named = "\n".join((self.home, self.project, self.agent, self.paused.record))
        return sha256(named.encode(errors="replace")).hexdigest()


def waiting(environment: Mapping[str, str], worktrees: Iterable[str]) -> list[Waiting]:
    """Return what waits, the oldest first.

    Args:
        environment: Where the usual home comes from.
        worktrees: Where homes may be marked.

    Raises:
        Refused: The library that reads such homes is not installed.
    """
    # Trees need libraries that not every installation has; whoever has none is told only here.
    from restante.wiring.intake import open_intake
    from restante.wiring.oacp import agents_of, projects_of

    found: list[Waiting] = []
    for home in homes_of(environment, worktrees):
        for project in projects_of(home):
            for agent in agents_of(home, project):
                intake = open_intake(project, agent, environment, home=home)
                found += [Waiting(home, project, agent, one, *_details(intake, one)) for one in intake.approvals()]
    return sorted(found, key=lambda one: (one.paused.since is not None, one.paused.since))


def decide(
    environment: Mapping[str, str], found: Iterable[Waiting], key: str, decision: str, note: str, grant: str = ""
) -> None:
    """Write a person's decision into the audit record.

    Args:
        environment: Names program and model.
        found: What waits now.
        key: Which of it.
        decision: One of ``DECISIONS``.
        note: What was changed, or why.
        grant: ``approved`` or ``denied``, where it asks for a grant.

    Raises:
        UsageError: That is no decision, it lacks its note, or nothing of this key waits.
    """
    from restante.wiring.intake import open_intake

    if decision not in DECISIONS:
        raise UsageError("that is no decision", remedy="press one of the buttons")
    if decision == "modified" and not note.strip():
        raise UsageError("what is changed?", remedy="say it in the note")
    one = next((one for one in found if one.key == key), None)
    if one is None:
        raise UsageError("it does not wait any more", remedy="it may have been decided elsewhere")
    ruling = Ruling(decision, "human", note.strip(), grant if one.paused.asks_grant else "", None)
    open_intake(one.project, one.agent, environment, home=one.home).decide(one.paused.record, ruling)


def _details(
    intake: Intake, one: Paused
) -> tuple[tuple[tuple[str, str, str], ...], str, tuple[str, ...], tuple[str, ...]]:
    """Return what was declared beside the limits, the record as text, and the effects that were declared, or denied."""
    record = intake.record(one.record)
    declared, limits = record.get("task_profile"), record.get("thresholds")
    measures = limits.items() if isinstance(limits, dict) else ()
    said = declared if isinstance(declared, dict) else {}
    lines = tuple(
        (str(name), str(said.get(str(name).removeprefix("max_"), "")), str(limit)) for name, limit in measures
    )
    # The envelope has every flag, and says False of one that nobody declared.
    whole = record.get("scope_envelope")
    effects = tuple(str(name) for name, it in (whole if isinstance(whole, dict) else said).items() if it is True)
    denied = tuple(str(name) for name, it in said.items() if it is False)
    return lines, json.dumps(record, indent=2, ensure_ascii=False), effects, denied
