"""Measurements for a record: what was handed in, the record's own clock, and what earlier checkpoints left behind.

After OACP 0.5.3, section 6.10 of the specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.actuals import Actuals, parse_actuals
from restante.autonomy.editing import instant_of
from restante.autonomy.grants import is_count
from restante.autonomy.instants import parse_instant, show_instant
from restante.autonomy.vocabulary import EFFECTS, REPLY_EFFECTS
from restante.autonomy.workclock import answered_at, away_spans, entries, minutes_worked, part, pause_state, paused_at
from restante.domain.errors import Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Wish(NamedTuple):
    """What is to be written into a record.

    Attributes:
        final_state: ``done``, ``error``, ``superseded`` or ``cancelled``; empty for a checkpoint.
        actuals: Measurements as a mapping, see ``actuals.parse_actuals``.
        actual_minutes: Minutes of work, over those of ``actuals``; by the clock where nobody says.
        actual_files_touched: Deliverables, over those of ``actuals``.
        realized: Effects that happened, beside those of ``actuals``.
        started_at: When the work began.
        completed_at: When it ended.
        reply_message_id: The message that answered.
        artifacts: What was made, as addresses.
        runtime: Which program and model worked, see ``record.runtime_block``; not known where it is left out.
        superseded_by: The evaluation that replaces this one.
        superseded_by_message: The message that replaces this one's.
        cancelled_by: Who called the work off: ``human`` or ``sender``.
        cancelled_at: When.
        reason: Why.
        deliverables_landed: What was delivered before.
        replace: Whether a closed record may be closed again.
    """

    final_state: str = ""
    actuals: Mapping[str, object] | None = None
    actual_minutes: int | None = None
    actual_files_touched: int | None = None
    realized: tuple[str, ...] = ()
    started_at: object = None
    completed_at: object = None
    reply_message_id: str | None = None
    artifacts: tuple[str, ...] = ()
    runtime: Mapping[str, object] | None = None
    superseded_by: str = ""
    superseded_by_message: Mapping[str, object] | None = None
    cancelled_by: str = ""
    cancelled_at: object = None
    reason: str = ""
    deliverables_landed: tuple[str, ...] = ()
    replace: bool = False


def start_work(record: Mapping[str, object], result: dict[str, object], wish: Wish) -> datetime:
    """Return when the work began, and stamp it where it was not.

    Raises:
        UsageError: Nobody says when.
        Refused: It lies before the evaluation, or is not what was stamped before.
    """
    named = (wish.started_at, (wish.actuals or {}).get("work_started_at_utc"))
    said = next((instant_of(value, "work_started_at_utc") for value in named if value is not None), None)
    stamped, created = parse_instant(result.get("work_started_at_utc")), parse_instant(record.get("created_at_utc"))
    if stamped is not None and said is not None and said != stamped:
        raise Refused(f"the work began at {show_instant(stamped)}: that is stamped and stays")
    started = stamped or said
    if started is None:
        raise UsageError("work_started_at_utc is missing: when did the work begin?")
    if created is not None and started < created:
        raise Refused(
            f"the work cannot begin at {show_instant(started)}, before it was let in at {show_instant(created)}"
        )
    result["work_started_at_utc"] = show_instant(started)
    return started


def measure(result: dict[str, object], wish: Wish, *, started: datetime, end: datetime, now: datetime) -> Actuals:
    """Return the measurements of a wish, completed by the record; adjustments of the clock are added to the record.

    Args:
        result: The record's result, changed in place.
        wish: What was handed in.
        started: When the work began.
        end: Until when it is measured.
        now: The instant, for what is recorded now.

    Raises:
        BadConfig: The measurements are malformed.
        UsageError: An effect has no such name.
    """
    unknown = [one for one in wish.realized if one not in EFFECTS]
    if unknown:
        raise UsageError(f"realized {unknown[0]!r}: one of {', '.join(EFFECTS)}")
    raw: dict[str, object] = dict(wish.actuals or {})
    _add_adjustments(result, raw, now)
    if wish.actual_files_touched is not None:
        raw["actual_files_touched"] = wish.actual_files_touched
    if wish.actual_minutes is not None:
        raw["actual_minutes"] = wish.actual_minutes
    if raw.get("actual_minutes") is None:
        raw["actual_minutes"] = minutes_worked(started, end, away_spans(result, end))
    effects = raw.get("side_effects_actual")
    if wish.realized:
        raw["side_effects_actual"] = {
            **(effects if isinstance(effects, dict) else {}),
            **dict.fromkeys(wish.realized, True),
        }
    actuals = parse_actuals(raw)
    return actuals._replace(started_at=started, effects=_with_earlier(result, actuals))


def _add_adjustments(result: dict[str, object], raw: Mapping[str, object], now: datetime) -> None:
    if raw.get("clock_adjustments") is None:
        return
    read = parse_actuals(
        {"actual_minutes": 0, "actual_files_touched": 0, "clock_adjustments": raw["clock_adjustments"]}
    )
    known = [dict(one) for one in entries(result, "clock_adjustments")]
    bare = [{key: value for key, value in one.items() if key != "recorded_at_utc"} for one in known]
    new = [{**one, "recorded_at_utc": show_instant(now)} for one in read.adjustments if one not in bare]
    if known or new:
        result["clock_adjustments"] = known + new


def _with_earlier(result: Mapping[str, object], actuals: Actuals) -> dict[str, bool]:
    """Return the effects with those of earlier checkpoints: what has happened stays happened."""
    if actuals.intents:
        return actuals.effects
    before = part(result, "threshold_checkpoint", "side_effects_actual")
    happened = {**actuals.effects, **{one: True for one in EFFECTS if before.get(one) is True}}
    return {one: happened[one] for one in EFFECTS if one in happened}


def check_reply_effects(wish: Wish, covered: frozenset[str]) -> None:
    """Refuse effects that only a grant allows and that nobody granted.

    Raises:
        Refused: One of them was named.
    """
    for effect in wish.realized:
        if effect in REPLY_EFFECTS and effect not in covered:
            raise Refused(f"{effect} was not granted", remedy="record it as a breach with --actuals at a checkpoint")


def is_cleared(result: Mapping[str, object], actuals: Actuals, fields: tuple[str, ...]) -> bool:
    """Tell whether a plain yes to the last pause still covers what is measured: no more than was measured then."""
    checkpoint = part(result, "threshold_checkpoint")
    before = checkpoint.get("breached_fields")
    if not isinstance(before, list) or not set(fields) <= set(before):
        return False
    measured = (("actual_minutes", actuals.minutes), ("actual_files_touched", actuals.files))
    then = {key: checkpoint.get(key) for key, _ in measured}
    return all(key not in fields or (is_count(then[key]) and value <= int(str(then[key]))) for key, value in measured)


def shelve_pause(result: dict[str, object], now: datetime) -> None:
    """Move an answered pause to the intervals, before a newer checkpoint takes its place."""
    checkpoint = part(result, "threshold_checkpoint")
    paused, answered = paused_at(result), answered_at(result)
    if pause_state(result) == "waiting" or paused is None or answered is None:
        return
    answer = part(checkpoint, "reauthorization")
    known = [dict(one) for one in entries(result, "pause_intervals")]
    decided = answer.get("decided_at_utc") or part(result, "human_outcome").get("decided_at_utc")
    known.append(
        {
            "paused_at_utc": show_instant(paused),
            "cleared_paused_at_utc": show_instant(answered),
            "breached_fields": checkpoint.get("breached_fields"),
            "channel": answer.get("channel") or "receiver_human",
            "decided_at_utc": decided,
            "recorded_at_utc": show_instant(now),
        }
    )
    result["pause_intervals"] = known
