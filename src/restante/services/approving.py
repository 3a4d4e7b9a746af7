"""What waits for a person, in words, and what a person decides: both stand in the audit records, nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.finalize import Finalized, finalize
from restante.autonomy.grants import requested_grant
from restante.autonomy.instants import parse_instant
from restante.autonomy.outcome import record_outcome
from restante.autonomy.policy import parse_policy
from restante.autonomy.wording import in_words
from restante.autonomy.workclock import part, pause_state
from restante.domain.errors import NoSuchMessage, Refused
from restante.domain.inquiry import APPROVED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from restante.autonomy.measuring import Wish
    from restante.domain.inquiry import Ruling
    from restante.ports.receiving import PolicyText, Records


class Paused(NamedTuple):
    """Work that waits for a person.

    Attributes:
        record: The audit record's file.
        message_id: The message.
        sender: Who asks.
        kind: The message's type.
        subject: Its subject.
        file: The message's path, as the record has it.
        stage: ``admission`` before the work, ``checkpoint`` within it.
        since: Since when it waits; ``None`` where the record does not say.
        reasons: Reason codes with what they mean.
        breached: What was exceeded, of a checkpoint.
        asks_grant: Whether it asks for a grant for its thread.
    """

    record: str
    message_id: str
    sender: str
    kind: str
    subject: str
    file: str
    stage: str
    since: datetime | None
    reasons: tuple[tuple[str, str], ...]
    breached: tuple[str, ...] = ()
    asks_grant: bool = False


def waiting(book: Records) -> list[Paused]:
    """Return what waits for a person, the oldest first."""
    return [_paused(name, record) for name, record in book.waiting()]


def _paused(name: str, record: Mapping[str, object]) -> Paused:
    result = part(record, "result")
    checkpoint = part(result, "threshold_checkpoint")
    is_stopped = pause_state(result) == "waiting"
    codes = ["declaration_error" if checkpoint.get("declaration_errors") else "threshold_checkpoint_breached"]
    if not is_stopped:
        found = record.get("reason_codes")
        codes = [str(code) for code in found] if isinstance(found, list) else []
    fields = checkpoint.get("breached_fields") if is_stopped else None
    since = checkpoint.get("paused_at_utc") if is_stopped else record.get("created_at_utc")
    return Paused(
        record=name,
        message_id=str(record.get("message_id") or ""),
        sender=str(record.get("sender") or ""),
        kind=str(record.get("message_type") or ""),
        subject=str(record.get("message_subject") or ""),
        file=str(record.get("message_path") or ""),
        stage="checkpoint" if is_stopped else "admission",
        since=parse_instant(since),
        reasons=tuple((code, in_words(code)) for code in codes),
        breached=tuple(str(one) for one in fields) if isinstance(fields, list) else (),
        asks_grant=requested_grant(record.get("task_profile")).is_present,
    )


def find(book: Records, reference: str) -> Paused:
    """Return the work that waits under a message's id, or its record's name; a part that only it has is enough.

    Raises:
        NoSuchMessage: None waits under it, or more than one.
    """
    found = waiting(book)
    exact = [one for one in found if reference in (one.message_id, one.record)]
    near = exact or [one for one in found if len(reference) >= 6 and reference in f"{one.message_id} {one.record}"]
    if len(near) == 1:
        return near[0]
    if near:
        raise NoSuchMessage(f"{reference!r:.120} names {len(near)} that wait", remedy="write the whole id")
    raise NoSuchMessage(
        f"nothing waits for a person under {reference!r:.120}", remedy="restante approvals lists what does"
    )


def decide(
    book: Records, name: str, decision: Ruling, payload_of: Callable[[Mapping[str, object]], str], *, now: datetime
) -> dict[str, object]:
    """Write a person's decision into a record; return the record.

    Args:
        book: The records.
        name: The record's file.
        decision: What was decided.
        payload_of: Gives the digest by which the message of a record is remembered as let in.
        now: The time.

    Raises:
        UsageError: It is malformed or incomplete.
        Refused: The record is closed, not paused, or decided already.
        RestanteError: It could not be written; the record is as it was.
    """

    def edit(record: dict[str, object], _: Sequence[Mapping[str, object]]) -> dict[str, object]:
        is_checkpoint = pause_state(part(record, "result")) == "waiting"
        asks = requested_grant(record.get("task_profile")).scope is not None and not is_checkpoint
        grant = decision.grant or ("denied" if asks else None)
        change = {"note": decision.note} if decision.note and decision.decision == "modified" else None
        return record_outcome(
            record,
            decision=decision.decision,
            now=now,
            actor=decision.actor,
            grant_decision=grant if not is_checkpoint else None,
            grant_scope=decision.scope,
            modification=change if not is_checkpoint else None,
        ).record

    changed = book.change(name, edit)
    if decision.decision in APPROVED:
        book.remember(str(changed.get("message_id") or ""), payload_of(changed), now)
    return changed


def conclude(
    book: Records, name: str, wish: Wish, policy: PolicyText, *, now: datetime, rehearse: bool = False
) -> Finalized:
    """Write a checkpoint or the end of work into a record.

    Args:
        book: The records.
        name: The record's file.
        wish: What is to be written.
        policy: The receiver's policy.
        now: The time.
        rehearse: Only find out what would become of it.

    Raises:
        UsageError: The wish is malformed or incomplete.
        Refused: The record does not allow it.
        RestanteError: It could not be written; the record is as it was.
    """
    done: list[Finalized] = []

    def edit(record: dict[str, object], siblings: Sequence[Mapping[str, object]]) -> dict[str, object]:
        done.append(finalize(record, wish, now=now, policy=parse_policy(policy.config), siblings=siblings))
        return record if rehearse else done[-1].record

    written = book.change(name, edit)
    if not rehearse and written != done[-1].record:
        raise Refused(f"{name} was written otherwise than it was meant")
    return done[-1]
