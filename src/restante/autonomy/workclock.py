"""How long was worked: from start to end, without pauses and without time that a person took off.

After OACP 0.5.3, section 6.10 of the specification. Overlapping spans count once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.autonomy.instants import parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    Span = tuple[datetime, datetime]


_ANSWERED = {"resumed_after_reauthorization": "resumed", "reauthorization_declined": "declined"}


def part(record: Mapping[str, object], *names: str) -> Mapping[str, object]:
    """Return a mapping inside a record, an empty one where there is none."""
    inner: object = record
    for name in names:
        inner = inner.get(name) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else {}


def entries(result: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    """Return the mappings of a list inside a result."""
    values = result.get(key)
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def minutes_worked(start: datetime, end: datetime, away: Iterable[Span]) -> int:
    """Return the minutes from start to end without the spans away, each begun minute counted."""
    seconds, reached = (end - start).total_seconds(), start
    for begin, stop in sorted(away):
        first, last = max(begin, reached), min(stop, end)
        if last > first:
            seconds -= (last - first).total_seconds()
            reached = last
    return max(0, -int(-seconds // 60))


def outcome_after(result: Mapping[str, object], paused: datetime) -> datetime | None:
    """Return when a person decided on the task after it was stopped, None where nobody has."""
    outcome = part(result, "human_outcome")
    decided = parse_instant(outcome.get("decided_at_utc"))
    return decided if outcome.get("recorded") is True and decided is not None and decided >= paused else None


def answered_at(result: Mapping[str, object]) -> datetime | None:
    """Return when the pause of the current checkpoint was answered, None where it was not.

    The first answer of a task that nobody had to let in stands where the answer to an admission belongs.
    """
    paused = paused_at(result)
    if paused is None:
        return None
    cleared = parse_instant(part(result, "threshold_checkpoint", "reauthorization").get("cleared_paused_at_utc"))
    return cleared or outcome_after(result, paused)


def pause_state(result: Mapping[str, object]) -> str:
    """Return what became of the current checkpoint: ``none``, ``waiting``, ``resumed`` or ``declined``."""
    checkpoint = part(result, "threshold_checkpoint")
    if checkpoint.get("breached") is not True:
        return "none"
    action, paused = checkpoint.get("action"), paused_at(result)
    if action in _ANSWERED:
        return _ANSWERED[str(action)]
    if paused is None or outcome_after(result, paused) is None:
        return "waiting"
    return "declined" if part(result, "human_outcome").get("decision") == "declined" else "resumed"


def away_spans(result: Mapping[str, object], end: datetime | None = None) -> list[Span]:
    """Return every span that was not worked: answered pauses, the current pause, adjustments.

    Args:
        result: ``result`` of a record.
        end: Until when a pause lasts that nobody answered; without it that pause does not count.
    """
    named = [
        (parse_instant(one.get(first)), parse_instant(one.get(last)))
        for key, first, last in (
            ("pause_intervals", "paused_at_utc", "cleared_paused_at_utc"),
            ("clock_adjustments", "from_utc", "to_utc"),
        )
        for one in entries(result, key)
    ]
    named.append((paused_at(result), answered_at(result) or end))
    return [(begin, stop) for begin, stop in named if begin is not None and stop is not None and begin < stop]


def paused_at(result: Mapping[str, object]) -> datetime | None:
    """Return when the current checkpoint stopped the work, None where it did not."""
    return parse_instant(part(result, "threshold_checkpoint").get("paused_at_utc"))
