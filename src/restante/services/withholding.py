"""What keeps a message of an OACP inbox back from its agent, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.autonomy.instants import parse_instant
from restante.autonomy.vocabulary import PAUSED
from restante.autonomy.wording import in_words
from restante.autonomy.workclock import part, pause_state
from restante.domain.address import Home
from restante.domain.facts import Facts, Held, Intake
from restante.domain.why import Explanation, explain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from restante.domain.mailbox import Entry
    from restante.ports.receiving import Records


def explain_intake(
    entry: Entry,
    address: str,
    project: str,
    agent: str,
    records: Records,
    now: datetime,
    *,
    unproven: str = "",
    has_evidence: bool = False,
) -> Explanation:
    """Explain a message of an OACP inbox.

    Args:
        entry: The message.
        address: Its mailbox.
        project: The project.
        agent: Whose inbox.
        records: The audit records of that agent.
        now: The time.
        unproven: Why the agent's policy holds it before anything is read of it; empty where it does not.
        has_evidence: Whether a round met it, and kept evidence of it.
    """
    intake = Intake(project, agent)
    if unproven:
        intake = intake._replace(held=Held.QUARANTINED if has_evidence else Held.UNPROVEN, reasons=(unproven,))
    else:
        for _, record in records.of_message(entry.message.id):
            intake = _after(intake, record)
    message = entry.message
    return explain(
        Facts(
            message.id,
            now,
            home=Home.OACP,
            address=address,
            number=message.number,
            posted=message.created,
            course=entry.standing,
            intake=intake,
        )
    )


def _after(intake: Intake, record: Mapping[str, object]) -> Intake:
    """Return how far the intake came, by one more record: the newest that says anything counts."""
    result = part(record, "result")
    outcome = part(result, "human_outcome")
    if pause_state(result) == "waiting":
        since = parse_instant(part(result, "threshold_checkpoint").get("paused_at_utc"))
        return intake._replace(
            held=Held.FOR_A_PERSON, reasons=(in_words("threshold_checkpoint_breached"),), since=since
        )
    if outcome.get("recorded") is True:
        decision = str(outcome.get("decision") or "decided")
        return intake._replace(
            held=Held.DECIDED, reasons=(decision,), since=parse_instant(outcome.get("decided_at_utc"))
        )
    codes, since = record.get("reason_codes"), parse_instant(record.get("created_at_utc"))
    if record.get("decision") != PAUSED:
        return intake._replace(held=Held.STARTED, reasons=(), since=since)
    reasons = tuple(in_words(str(code)) for code in codes) if isinstance(codes, list) else ()
    return intake._replace(held=Held.FOR_A_PERSON, reasons=reasons, since=since)
