"""Does a person's earlier word cover this message? Found in the audit records of its thread, nowhere else.

What a message claims about itself grants nothing. After OACP 0.5.3, section 6.7 of the specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.grants import KIND, Requested, is_count, parse_scope, requested_grant
from restante.autonomy.instants import parse_instant
from restante.autonomy.vocabulary import EFFECTS, GRANTED_TYPES, REVIEW_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from restante.autonomy.policy import Policy

# Under this key the caller of ``evaluate`` says in which file a record of the history lies.
AUDIT_FILE = "audit_file"
ACCEPTED_GRANT = "accepted"

_REVIEW_EFFECTS = ("writes_findings_packet", "sends_oacp_reply")
_CODES = {
    "accepted": "continuation_grant_accepted",
    "ignored_disabled": "continuation_grant_ignored_disabled",
    "missing_approval": "continuation_grant_missing_approval",
    "revoked": "continuation_grant_revoked",
    "type_not_granted": "continuation_grant_type_not_granted",
    "context_only": "continuation_grant_type_not_granted",
    "scope_exceeded": "continuation_grant_scope_exceeded",
    "round_exceeded": "continuation_grant_round_exceeded",
    "expired": "continuation_grant_expired",
}


class Resolution(NamedTuple):
    """What became of a grant.

    Attributes:
        decision: ``accepted``, ``not_present`` or why not.
        code: The reason code; empty where no grant was asked for or found.
        request: What the message asks for.
        is_enabled: Whether the policy recognises grants.
        scope: What a person granted, where that was found.
        source: The record with the person's word.
        round: The number of this round, or what the message calls it, whichever is higher.
        exceeded: What the message needs and the scope does not hold.
    """

    decision: str = "not_present"
    code: str = ""
    request: Requested = Requested()
    is_enabled: bool = False
    scope: dict[str, object] | None = None
    source: Mapping[str, object] | None = None
    round: int | None = None
    exceeded: tuple[str, ...] = ()

    @property
    def is_accepted(self) -> bool:
        """Whether the grant covers the message."""
        return self.decision == ACCEPTED_GRANT

    @property
    def usable_scope(self) -> dict[str, object] | None:
        """The scope that the message may use."""
        return self.scope if self.is_accepted else None

    def block(self) -> dict[str, object]:
        """Return the resolution as audit records hold it."""
        source = self.source or {}
        return {
            "present": self.request.is_present or self.source is not None,
            "request_present": self.request.is_present,
            "standing_grant_found": self.source is not None,
            "enabled": self.is_enabled,
            "kind": KIND,
            "decision": self.decision,
            "reason_codes": [self.code] if self.code else [],
            "requested_scope": self.request.scope,
            "scope": self.scope,
            "source_audit": source.get(AUDIT_FILE),
            "source_message_id": source.get("message_id"),
            "effective_round": self.round,
            "exceeded_fields": list(self.exceeded),
        }


class _Word(NamedTuple):
    """One person's word: when it was given, whether it is a yes, and the record it is in."""

    at: datetime
    is_approval: bool
    record: Mapping[str, object]


def resolve_grant(
    message: Mapping[str, object],
    holder: object,
    policy: Policy,
    history: Sequence[Mapping[str, object]],
    *,
    receiver: str,
    now: datetime,
) -> Resolution:
    """Return whether a person's earlier word covers a message.

    Args:
        message: The message, valid.
        holder: The mapping that may ask for a grant and name round and effects: the profile, or a review's body.
        policy: What the receiver allows; without ``grants_enabled`` nothing is recognised.
        history: Audit records, each with its file's name under ``AUDIT_FILE``.
        receiver: Who evaluates.
        now: The instant of the evaluation.
    """
    is_review = message.get("type") in REVIEW_TYPES
    request = requested_grant(holder)
    # What is asked for is read only where a grant can be recognised at all.
    found = Resolution(request=Requested(request.is_present), is_enabled=policy.grants_enabled)
    if message.get("type") not in GRANTED_TYPES:
        return _ended(found, "context_only")
    if not policy.grants_enabled:
        return _ended(found, "ignored_disabled") if is_review or request.is_present else found
    if not (message.get("conversation_id") or message.get("parent_message_id")):
        if is_review or request.is_present:
            return found._replace(decision="invalid", code="continuation_grant_missing_thread")
        return found
    found = found._replace(request=request)
    if request.error:
        return found._replace(decision="invalid", code=request.error)
    thread = [one for one in history if _is_of_thread(one, message, receiver)]
    created = parse_instant(message.get("created_at_utc")) or now
    word = _governing(_words(thread), min(created, now), now)
    if word is None:
        return _ended(found, "missing_approval") if is_review or found.request.is_present else found
    found = found._replace(source=word.record)
    if not word.is_approval:
        return _ended(found, "revoked")
    granted = parse_scope(_granted(word.record))
    if granted.scope is None:
        return found._replace(decision="invalid", code=granted.error)
    found = found._replace(scope=granted.scope)
    return _measured(found, message, holder if is_review else None, thread, (created, now))


def _ended(found: Resolution, decision: str) -> Resolution:
    return found._replace(decision=decision, code=_CODES[decision])


def _measured(
    found: Resolution,
    message: Mapping[str, object],
    body: object,
    thread: Iterable[Mapping[str, object]],
    clocks: tuple[datetime, datetime],
) -> Resolution:
    """Hold a message against the scope: type, what it declares, round, expiry."""
    scope = found.scope or {}
    types = scope["allowed_types"]
    assert isinstance(types, list)
    if message.get("type") not in types:
        return _ended(found._replace(exceeded=("allowed_types",)), "type_not_granted")
    said = body if isinstance(body, dict) else {}
    round_said, effects = said.get("round", 1), said.get("side_effects", _REVIEW_EFFECTS if body is not None else ())
    wrong = [] if is_count(round_said, least=1) else ["declared.round"]
    if not isinstance(effects, list | tuple) or not all(one in EFFECTS for one in effects):
        wrong.append("declared.side_effects")
    exceeded = wrong or [one for one in EFFECTS if one in effects and scope.get(one) is not True]
    if exceeded:
        return _ended(found._replace(exceeded=tuple(exceeded)), "scope_exceeded")
    ran = {str(one.get("message_id")) for one in thread if one.get("message_type") in types and _ran(one)}
    found = found._replace(round=max(round_said, 1 + len(ran)))
    most, expires = scope["max_round"], parse_instant(scope["expires_at_utc"])
    assert isinstance(most, int)
    if found.round is not None and found.round > most:
        return _ended(found, "round_exceeded")
    if expires is None or any(clock >= expires for clock in clocks):
        return _ended(found, "expired")
    return _ended(found, "accepted")


def _is_of_thread(record: Mapping[str, object], message: Mapping[str, object], receiver: str) -> bool:
    result = record.get("result")
    conversation, parent = message.get("conversation_id"), message.get("parent_message_id")
    return (
        record.get("schema_version") == 2
        and record.get("receiver") == receiver
        and record.get("sender") == message.get("from")
        and record.get("message_id") != message.get("id")
        and not record.get("superseded_by_evaluation_id")
        and isinstance(result, dict)
        and result.get("final_state") != "superseded"
        and (
            (bool(conversation) and record.get("conversation_id") == conversation)
            or (bool(parent) and record.get("message_id") == parent)
        )
    )


def _outcome(record: Mapping[str, object]) -> Mapping[str, object]:
    result = record.get("result")
    outcome = result.get("human_outcome") if isinstance(result, dict) else None
    return outcome if isinstance(outcome, dict) and outcome.get("recorded") is True else {}


def _grant(record: Mapping[str, object]) -> Mapping[str, object]:
    grant = _outcome(record).get("grant")
    return grant if isinstance(grant, dict) else {}


def _granted(record: Mapping[str, object]) -> object:
    return _grant(record).get("granted_scope")


def _words(thread: Iterable[Mapping[str, object]]) -> list[_Word]:
    words = []
    for record in thread:
        decision, grant = _outcome(record).get("decision"), _grant(record).get("decision")
        at = parse_instant(_outcome(record).get("decided_at_utc"))
        is_approval = decision in ("approved", "modified") and grant in ("approved", "modified")
        if at is not None and (is_approval or decision == "declined" or grant == "denied"):
            words.append(_Word(at, is_approval, record))
    return words


def _governing(words: list[_Word], before: datetime, now: datetime) -> _Word | None:
    """Return the word that counts: the latest yes from before the message, unless a no has come since."""
    approvals = [word for word in words if word.is_approval and word.at <= before]
    denials = [word for word in words if not word.is_approval and word.at <= now]
    approval = max(approvals, key=lambda word: word.at, default=None)
    denial = max(denials, key=lambda word: word.at, default=None)
    if approval is None or denial is None:
        return approval or denial
    return denial if denial.at >= approval.at else approval


def _ran(record: Mapping[str, object]) -> bool:
    result = record.get("result")
    if not isinstance(result, dict):
        return False
    measured = result.get("actual_minutes") is not None or result.get("actual_files_touched") is not None
    # A record that was born done says nothing of work; one that was finished says when.
    is_finished = result.get("final_state") == "done" and result.get("completed_at_utc") is not None
    return bool(result.get("work_started_at_utc")) or is_finished or measured
