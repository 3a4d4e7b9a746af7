"""Who may let paused work go on, and how far: answers to a checkpoint's pause, ranked and measured.

After OACP 0.5.3, section 6.10 of the specification. The receiver's own person comes before the sender, whenever either
answered; a comment on a forge is heard and decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.axes import side_effects
from restante.autonomy.instants import show_instant
from restante.autonomy.vocabulary import ARTIFACTS, EFFECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from restante.autonomy.actuals import Actuals, Answer
    from restante.autonomy.policy import Policy

_KEYS = (
    "presented",
    "channel",
    "decision",
    "decided_at_utc",
    "actor",
    "source_message_id",
    "requested_scope",
    "scope",
    "disposition",
    "cleared_paused_at_utc",
    "advisory",
)
# What a sender can never give itself.
_NEVER_FROM_SENDER = frozenset({"merges_pr", "writes_findings_packet", "sends_oacp_reply", "submits_github_review"})


class Pause(NamedTuple):
    """What an answer is about.

    Attributes:
        at: When the work was stopped.
        fields: What was breached, as field paths.
        actuals: What was measured.
        envelope: What the task declared.
        policy: The receiver's, for what a sender may widen; None where it is not known.
        newest: The latest answer that is on record already.
        started_at: When the work began.
    """

    at: datetime
    fields: tuple[str, ...]
    actuals: Actuals
    envelope: Mapping[str, object]
    policy: Policy | None = None
    newest: datetime | None = None
    started_at: datetime | None = None


def budget_of(block: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the budget that stands after a checkpoint; an answer that did not end its pause gave none."""
    scope = block.get("scope")
    gives = block.get("disposition") not in ("declined", "stale", "insufficient")
    return scope if gives and isinstance(scope, dict) else None


def no_answer(disposition: str | None, scope: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return the block of a pause that nobody answered, or of a checkpoint without one.

    Args:
        disposition: ``unanswered``, ``not_required`` or None.
        scope: A budget from an earlier answer, which stands for the rest of the task.
    """
    return {
        **dict.fromkeys(_KEYS),
        "presented": disposition == "not_required",
        "scope": dict(scope) if scope else None,
        "disposition": disposition,
        "advisory": [],
    }


def judge(answers: Sequence[Answer], pause: Pause, standing: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return the block ``reauthorization`` of a breached checkpoint.

    Args:
        answers: What was said, the channel that counts most first.
        pause: What it was said to.
        standing: A budget from an earlier answer, which stands for the rest of the task.
    """
    governing = next((one for one in answers if one.channel != "gh_comment"), None)
    advisory = [_advice(one, governing) for one in answers if one is not governing]
    if governing is None:
        block = no_answer("advisory_only" if answers else "unanswered", standing)
        return {**block, "presented": bool(answers), "advisory": advisory}
    assert governing.at is not None
    scope = _effective(governing, pause, standing)
    disposition, cleared = _disposition(governing, pause, scope)
    by_human = governing.channel == "receiver_human"
    return {
        "presented": True,
        "channel": governing.channel,
        "decision": governing.decision,
        "decided_at_utc": show_instant(governing.at),
        "actor": governing.by if by_human else None,
        "source_message_id": None if by_human else governing.by,
        "requested_scope": governing.scope,
        "scope": scope,
        "disposition": disposition,
        "cleared_paused_at_utc": show_instant(cleared) if cleared else None,
        "advisory": advisory,
    }


def _advice(answer: Answer, governing: Answer | None) -> dict[str, object]:
    if answer.channel == "gh_comment" or governing is None:
        reason = "never_authoritative"
    else:
        reason = f"overridden_by_{governing.channel}"
    return {"channel": answer.channel, "decision": answer.decision, "reason": reason}


def _effective(answer: Answer, pause: Pause, standing: Mapping[str, object] | None) -> dict[str, object] | None:
    """Return the budget that holds from now on: what was said, within what its channel may give, and what stands."""
    said = answer.scope
    if said is None:
        return dict(standing) if standing else None
    given = _within_sender_caps(said, pause) if answer.channel == "sender_reply" else dict(said)
    before = standing or {}
    numbers = {}
    for key in ("max_actual_minutes", "max_actual_files_touched"):
        values = [value for one in (given, before) if isinstance(value := one.get(key), int)]
        if values:
            numbers[key] = max(values)
    named = [effect for effect in EFFECTS if effect in ARTIFACTS or effect in given or effect in before]
    return {**numbers, **{effect: given.get(effect) is True or before.get(effect) is True for effect in named}}


def _within_sender_caps(said: Mapping[str, object], pause: Pause) -> dict[str, object]:
    policy = pause.policy
    caps = {
        "max_actual_minutes": policy.max_minutes if policy else None,
        "max_actual_files_touched": policy.max_files if policy else None,
    }
    given: dict[str, object] = {}
    for key, value in said.items():
        if isinstance(value, bool):
            wanted = {**pause.envelope, key: True}
            allowed = policy is not None and key not in _NEVER_FROM_SENDER and not side_effects(wanted, policy)
            given[key] = value and allowed
        elif isinstance(value, int):
            cap = caps[key]
            if cap is not None:
                given[key] = min(value, cap)
    return given


def _disposition(answer: Answer, pause: Pause, scope: Mapping[str, object] | None) -> tuple[str, datetime | None]:
    """Return what an answer does, and when it ends the pause."""
    assert answer.at is not None
    is_fresh = answer.at >= pause.at
    if answer.decision == "declined":
        return "declined", None
    if answer.scope is None:
        return ("resumed", answer.at) if is_fresh else ("stale", None)
    covers = all(_is_covered(field, scope or {}, pause.actuals) for field in pause.fields)
    if is_fresh:
        return ("resumed", answer.at) if covers else ("insufficient", None)
    is_newest = pause.newest is None or answer.at > pause.newest
    is_in_task = pause.started_at is None or answer.at >= pause.started_at
    return ("resumed", pause.at) if covers and is_newest and is_in_task else ("stale", None)


def _is_covered(field: str, scope: Mapping[str, object], actuals: Actuals) -> bool:
    measured = {"actual_minutes": actuals.minutes, "actual_files_touched": actuals.files}
    if field in measured:
        limit = scope.get(f"max_{field}")
        return isinstance(limit, int) and measured[field] <= limit
    return scope.get(field.rpartition(".")[2]) is True
