"""What really happened so far: the measurements a receiver hands in at a checkpoint, and answers to a pause.

After OACP 0.5.3, section 6.10 of the specification. What is malformed is refused whole, with every fault named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.grants import is_count
from restante.autonomy.instants import parse_instant, show_instant
from restante.autonomy.vocabulary import ARTIFACTS, BASIC_FLAGS, EFFECTS
from restante.domain.errors import BadConfig

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

# The first two may answer a pause, the first before the second; the third never does.
CHANNELS = ("receiver_human", "sender_reply", "gh_comment")
DECISIONS = ("approved", "modified", "declined")
_SIGNED_BY = {"receiver_human": "actor", "sender_reply": "source_message_id", "gh_comment": "author"}
_SCOPE_NUMBERS = ("max_actual_minutes", "max_actual_files_touched")
_INTENTS = (*EFFECTS, *BASIC_FLAGS)


class Answer(NamedTuple):
    """What somebody said to a pause.

    Attributes:
        channel: Where it was said.
        decision: ``approved``, ``modified`` or ``declined``.
        at: When; None only where the channel never counts.
        by: Who said it, or the id of the message that says it; None where that is not told.
        scope: The budget it gives, every artifact named; None for a plain yes.
    """

    channel: str
    decision: str
    at: datetime | None
    by: str | None
    scope: dict[str, object] | None = None


class Actuals(NamedTuple):
    """Measurements of work under way or done.

    Attributes:
        minutes: Minutes of work.
        files: Deliverables touched.
        effects: Which effects happened.
        risk: Whether the predicted risk came true; None where nobody said.
        started_at: When the work began.
        paused_at: When it was stopped.
        completed_at: When it ended.
        intents: Declared flags that the work is about to break, as ``task_profile.<flag>``.
        basis: What the receiver calls the breach; None where it does not say.
        sub_basis: ``waiting_on_peer`` or None.
        adjustments: Time that a person took off the clock.
        answers: What was said to the pause, by channel.
    """

    minutes: int
    files: int
    effects: dict[str, bool]
    risk: bool | None = None
    started_at: datetime | None = None
    paused_at: datetime | None = None
    completed_at: datetime | None = None
    intents: tuple[str, ...] = ()
    basis: str | None = None
    sub_basis: str | None = None
    adjustments: tuple[dict[str, object], ...] = ()
    answers: tuple[Answer, ...] = ()


def parse_actuals(raw: object) -> Actuals:
    """Return the measurements that a mapping holds; keys that mean nothing here are left out.

    Raises:
        BadConfig: Something in it is malformed; every fault is named.
    """
    faults: list[str] = []
    values: Mapping[object, object] = raw if isinstance(raw, dict) else {}
    if not isinstance(raw, dict):
        faults.append("no mapping")
    counts = ("actual_minutes", "actual_files_touched")
    faults += [f"{key}: no number from 0" for key in counts if not is_count(values.get(key))]
    times = {key: _time(values, key, faults) for key in ("work_started_at_utc", "paused_at_utc", "completed_at_utc")}
    risk, basis = values.get("predicted_risk_materialized"), values.get("breach_basis")
    sub_basis = values.get("breach_sub_basis")
    if not (risk is None or isinstance(risk, bool)):
        faults.append("predicted_risk_materialized: neither true nor false")
    if basis not in (None, "realized", "declared_intent"):
        faults.append(f"breach_basis: {basis!r:.80}")
    if sub_basis not in (None, "waiting_on_peer"):
        faults.append(f"breach_sub_basis: {sub_basis!r:.80}")
    effects = _effects(values.get("side_effects_actual"), faults)
    intents = _intents(values.get("declared_intent_fields"), faults)
    adjustments = _adjustments(values.get("clock_adjustments"), faults)
    answers = _answers(values.get("reauthorization"), faults)
    if faults:
        raise BadConfig(tuple(faults), source="actuals")
    minutes, files = (int(str(values[key])) for key in counts)
    started, paused, completed = times.values()
    return Actuals(
        minutes=minutes,
        files=files,
        effects=effects,
        risk=risk if isinstance(risk, bool) else None,
        started_at=started,
        paused_at=paused,
        completed_at=completed,
        intents=intents,
        basis=str(basis) if basis else None,
        sub_basis=str(sub_basis) if sub_basis else None,
        adjustments=adjustments,
        answers=answers,
    )


def _time(values: Mapping[object, object], key: str, faults: list[str], where: str = "") -> datetime | None:
    value = values.get(key)
    instant = parse_instant(value)
    if value is not None and instant is None:
        faults.append(f"{where}{key}: {value!r:.80} is no UTC time like 2026-05-12T12:30:00Z")
    return instant


def _effects(raw: object, faults: list[str]) -> dict[str, bool]:
    happened = dict.fromkeys(ARTIFACTS, False)
    if raw is None:
        return happened
    if not isinstance(raw, dict):
        faults.append("side_effects_actual: no mapping")
        return happened
    for effect, value in raw.items():
        if effect not in EFFECTS or not isinstance(value, bool):
            faults.append(f"side_effects_actual.{effect!s:.80}: no effect that is true or false")
        else:
            happened[effect] = value
    return {effect: happened[effect] for effect in EFFECTS if effect in happened}


def _intents(raw: object, faults: list[str]) -> tuple[str, ...]:
    if raw is None:
        return ()
    known = [f"task_profile.{flag}" for flag in _INTENTS]
    if not isinstance(raw, list) or not all(isinstance(one, str) and one in known for one in raw):
        faults.append("declared_intent_fields: no list of task_profile.<flag>")
        return ()
    return tuple(dict.fromkeys(raw))


def _adjustments(raw: object, faults: list[str]) -> tuple[dict[str, object], ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list) or not all(isinstance(one, dict) and is_adjustment(one) for one in raw):
        faults.append("clock_adjustments: each needs from_utc before to_utc, actor, decided_at_utc and reason")
        return ()
    keys = ("from_utc", "to_utc", "decided_at_utc")
    made = []
    for one in raw:
        shown = {key: show_instant(at) for key in keys if (at := parse_instant(one[key]))}
        made.append(
            {
                "from_utc": shown["from_utc"],
                "to_utc": shown["to_utc"],
                "actor": one["actor"],
                "decided_at_utc": shown["decided_at_utc"],
                "reason": one["reason"],
            }
        )
    return tuple(made)


def is_adjustment(entry: Mapping[str, object]) -> bool:
    """Tell whether an entry takes time off the clock in a way that can be checked."""
    begin, end, decided = (parse_instant(entry.get(key)) for key in ("from_utc", "to_utc", "decided_at_utc"))
    reason = entry.get("reason")
    named = is_actor(entry.get("actor")) and isinstance(reason, str) and bool(reason.strip())
    return begin is not None and end is not None and decided is not None and begin < end and named


def is_actor(value: object) -> bool:
    """Tell whether a value names somebody: one word."""
    return isinstance(value, str) and bool(value) and len(value.split()) == 1 and value == value.strip()


def _answers(raw: object, faults: list[str]) -> tuple[Answer, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, dict) or not set(raw) <= set(CHANNELS):
        faults.append(f"reauthorization: only {', '.join(CHANNELS)}")
        return ()
    said = ((channel, raw.get(channel)) for channel in CHANNELS)
    answers = [_answer(channel, entry, faults) for channel, entry in said if entry is not None]
    return tuple(answer for answer in answers if answer is not None)


def _answer(channel: str, entry: object, faults: list[str]) -> Answer | None:
    where = f"reauthorization.{channel}."
    values: Mapping[object, object] = entry if isinstance(entry, dict) else {}
    before = len(faults)
    decision, by = values.get("decision"), values.get(_SIGNED_BY[channel])
    at = _time(values, "decided_at_utc", faults, where)
    if decision not in DECISIONS:
        faults.append(f"{where}decision: none of {', '.join(DECISIONS)}")
    if not (isinstance(by, str) or by is None):
        faults.append(f"{where}{_SIGNED_BY[channel]}: no name")
    if at is None and values.get("decided_at_utc") is None and channel != "gh_comment":
        faults.append(f"{where}decided_at_utc: missing")
    scope = None
    if values.get("scope") is not None:
        scope = _scope(values["scope"], f"{where}scope", faults)
        if channel == "gh_comment":
            faults.append(f"{where}scope: a comment gives none")
    elif decision == "modified" and channel != "gh_comment":
        faults.append(f"{where}scope: needed where the decision is modified")
    return (
        Answer(channel, str(decision), at, by if isinstance(by, str) else None, scope)
        if len(faults) == before
        else None
    )


def _scope(raw: object, where: str, faults: list[str]) -> dict[str, object]:
    if not isinstance(raw, dict):
        faults.append(f"{where}: no mapping")
        return {}
    for key, value in raw.items():
        good = is_count(value) if key in _SCOPE_NUMBERS else key in EFFECTS and isinstance(value, bool)
        if not good:
            faults.append(f"{where}.{key!s:.80}: {value!r:.80}")
    whole = {**dict.fromkeys(ARTIFACTS, False), **raw}
    return {key: whole[key] for key in (*_SCOPE_NUMBERS, *EFFECTS) if key in whole}
