"""An audit record from its evaluation to its end: decisions of people, checkpoints, clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.autonomy.fixtures import HARMLESS, load, message, policy

from restante.autonomy.evaluate import evaluate
from restante.autonomy.finalize import Finalized, finalize
from restante.autonomy.findings import validate_record
from restante.autonomy.instants import show_instant
from restante.autonomy.measuring import Wish
from restante.autonomy.outcome import record_outcome
from restante.autonomy.record import printed, runtime_block
from restante.autonomy.succession import succeed
from restante.autonomy.workclock import pause_state
from restante.domain.errors import BadConfig, Damaged, Refused, UsageError

START = datetime(2026, 10, 1, 12, 0, tzinfo=UTC)
SCOPE = {
    "allowed_types": ["task_request"],
    "max_round": 3,
    "expires_at_utc": "2099-01-01T00:00:00Z",
    "max_actual_minutes": 30,
    "max_actual_files_touched": 3,
}


def at(minutes: int) -> str:
    return show_instant(START + timedelta(minutes=minutes))


def evaluated(one: dict[str, Any] | None = None, *, later: int = 0, digest: str = "0" * 64) -> dict[str, Any]:
    now = START + timedelta(minutes=later)
    return evaluate(one or message(), digest, policy(), [], now=now, receiver="codex", load=load).decision


def too_large() -> dict[str, Any]:
    return evaluated(message(profile={**HARMLESS, "expected_files_touched": 9}))


def decide(record: dict[str, Any], decision: str = "approved", *, minute: int = 5, **more: Any) -> dict[str, Any]:
    more = {"actor": "alice", **more}
    return record_outcome(record, decision=decision, now=START + timedelta(minutes=minute), **more).record


def carry_on(record: dict[str, Any], *, minute: int = 60, **wish: Any) -> Finalized:
    siblings = wish.pop("siblings", ())
    known = wish.pop("policy", policy())
    done = finalize(record, Wish(**wish), now=START + timedelta(minutes=minute), policy=known, siblings=siblings)
    assert [one for one in validate_record(done.record, list(siblings)) if one.severity == "error"] == []
    return done


def result_of(record: Any) -> Any:
    return record["result"]


def check_of(record: Any) -> Any:
    return record["result"]["threshold_checkpoint"]


def stopped(minutes: int = 25, **more: Any) -> dict[str, Any]:
    """A task of twenty minutes that was stopped at a checkpoint after twenty-five."""
    actuals = {"actual_minutes": minutes, "actual_files_touched": 1, "paused_at_utc": at(30), **more}
    halted = carry_on(evaluated(), actuals=actuals, started_at=at(5), minute=30)
    assert halted.is_breached
    return halted.record


# -- what a new record looks like


def test_the_keys_of_a_record_stand_in_the_order_of_the_format() -> None:
    assert list(too_large()) == [
        "decision",
        "mode",
        "reason_codes",
        "scope_envelope",
        "logged_notes",
        "continuation_grant",
        "result",
        "message_sha256",
        "policy_sha256",
        "schema_version",
        "spec_version",
        "evaluator",
        "receiver",
        "sender",
        "message_id",
        "message_type",
        "conversation_id",
        "parent_message_id",
        "task_profile",
        "scope_envelope_source",
        "breached",
        "co_occurring_reason_codes",
        "admission_axes",
        "pause_classification",
        "expected_pause_codes",
        "unplanned_pause_codes",
        "matched_patterns",
        "created_at_utc",
        "message_subject",
        "message_path",
        "policy_path",
        "thresholds",
        "runtime",
        "evaluation_id",
        "supersedes_evaluation_id",
    ]


def test_a_new_record_has_no_findings_and_its_name_is_of_its_four_parts() -> None:
    assert validate_record(evaluated()) == []
    assert validate_record(too_large()) == []
    assert evaluated()["evaluation_id"] == evaluated()["evaluation_id"]
    assert (
        len({evaluated()["evaluation_id"], evaluated(later=1)["evaluation_id"], evaluated(digest="1")["evaluation_id"]})
        == 3
    )


def test_a_policy_whose_signature_is_wrong_is_not_even_looked_at() -> None:
    forged = {"status": "invalid", "reason": "bad signature"}
    got = evaluate(message(), "0", policy(), [], now=START, receiver="codex", load=load, policy_auth=forged).decision
    assert got["reason_codes"] == ["policy_auth_invalid"]
    assert got["mode"] == "always_pause"
    assert result_of(got)["completion_kind"] == "config_malformed"
    assert got["policy_auth"] == {
        "status": "invalid",
        "signer_agent": None,
        "signer_kid": None,
        "reason": "bad signature",
    }


def test_a_message_that_ran_is_a_replay() -> None:
    again = evaluate(message(), "1", policy(), [evaluated()], now=START, receiver="codex", load=load).decision
    assert again["reason_codes"] == ["message_replayed"]
    other = evaluate(message(), "1", policy(), [evaluated()], now=START, receiver="claude", load=load)
    assert other.is_accepted


@pytest.mark.parametrize(
    "changes",
    [
        {"from": None},
        {"id": ""},
        {"body": 7},
        {"created_at_utc": START},
        {"created_at_utc": "now"},
        {"expires_at": "x"},
    ],
)
def test_a_message_that_is_half_read_is_never_accepted(changes: dict[str, Any]) -> None:
    got = evaluated(message(**changes))
    assert got["reason_codes"] == ["message_invalid"]
    assert got["message_validation_errors"]


def test_measurements_that_are_malformed_are_refused_with_every_fault() -> None:
    with pytest.raises(BadConfig) as caught:
        evaluate(
            message(),
            "0",
            policy(),
            [],
            now=START,
            receiver="codex",
            load=load,
            actuals={"actual_minutes": "x", "side_effects_actual": {"deploys": True}, "paused_at_utc": "noon"},
        )
    assert len(caught.value.problems) == 4


# -- a person's decision


def test_a_decision_says_who_when_and_how_long_it_took() -> None:
    outcome = result_of(decide(too_large(), minute=7))["human_outcome"]
    assert outcome == {
        "recorded": True,
        "actor": "alice",
        "decision": "approved",
        "decided_at_utc": at(7),
        "decision_latency_seconds": 420,
        "pause_reason_codes": ["expected_files_touched_exceeds_threshold"],
        "grant": {
            "decision": "not_requested",
            "request_present": False,
            "request_error": None,
            "requested_scope": None,
            "granted_scope": None,
        },
    }


def test_the_same_decision_again_changes_nothing() -> None:
    once = decide(too_large())
    again = record_outcome(once, decision="approved", actor="alice", now=START + timedelta(hours=2))
    assert not again.is_changed
    assert again.record == once


def test_another_decision_replaces_the_first_only_where_that_is_said() -> None:
    once = decide(too_large())
    with pytest.raises(Refused):
        decide(once, "declined", minute=9)
    assert result_of(decide(once, "declined", minute=9, replace=True))["human_outcome"]["decision"] == "declined"


def test_nothing_is_decided_on_what_is_not_paused_or_is_closed() -> None:
    with pytest.raises(Refused):
        decide(evaluated())
    done = carry_on(decide(too_large()), final_state="done", started_at=at(6), actual_files_touched=1, minute=10).record
    with pytest.raises(Refused):
        decide(done, "declined", minute=20)


@pytest.mark.parametrize(
    "wrong",
    [
        {"decision": "yes"},
        {"actor": "two words"},
        {"actor": ""},
        {"decided_at": "noon"},
        {"decided_at": at(-1)},
        {"grant_decision": "perhaps"},
        {"grant_decision": "approved"},
        {"grant_decision": "modified"},
        {"grant_decision": "denied", "grant_scope": SCOPE},
        {"grant_decision": "approved", "grant_scope": {**SCOPE, "max_round": 0}},
        {"decision": "declined", "grant_decision": "approved", "grant_scope": SCOPE},
        {"modification": {"a": 1}},
        {"decision": "modified", "modification": "text"},
    ],
    ids=str,
)
def test_a_decision_that_is_malformed_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        decide(too_large(), **{"decision": "approved", **wrong})


def test_a_name_that_names_nobody_is_a_warning() -> None:
    assert record_outcome(too_large(), decision="approved", now=START).warnings
    assert not record_outcome(too_large(), decision="approved", now=START, actor="alice").warnings


def asking() -> dict[str, Any]:
    grants = {"approved_thread_continuation": {"scope": SCOPE}}
    return evaluated(message(profile={**HARMLESS, "expected_files_touched": 9, "continuation_grants": grants}))


def test_a_grant_that_is_asked_for_is_decided_on_its_own() -> None:
    with pytest.raises(UsageError):
        decide(asking())
    with pytest.raises(UsageError):
        decide(asking(), grant_decision="not_requested")
    denied = result_of(decide(asking(), grant_decision="denied"))["human_outcome"]["grant"]
    assert (denied["decision"], denied["granted_scope"]) == ("denied", None)
    granted = result_of(decide(asking(), grant_decision="approved"))["human_outcome"]["grant"]
    assert granted["granted_scope"] == granted["requested_scope"]
    narrower = {**SCOPE, "max_round": 2}
    modified = result_of(decide(asking(), grant_decision="modified", grant_scope=narrower))["human_outcome"]["grant"]
    assert modified["granted_scope"]["max_round"] == 2


def test_an_approved_grant_lets_the_next_message_of_the_thread_run_and_only_there() -> None:
    first = decide(asking(), grant_decision="approved", minute=1)
    grants = {"approved_thread_continuation": {"scope": SCOPE}}
    profile = {**HARMLESS, "continuation_grants": grants}
    enabled = policy(continuation_grants={"enabled": True})

    def follow(**changes: Any) -> Any:
        fields = {"id": "msg-2", "parent_message_id": message()["id"], "created_at_utc": at(10), **changes}
        one = message(profile=profile, **fields)
        now = START + timedelta(minutes=11)
        return evaluate(one, "1", enabled, [first], now=now, receiver="codex", load=load).decision

    accepted = follow()
    assert accepted["reason_codes"][-1] == "continuation_grant_accepted"
    assert accepted["continuation_grant"]["decision"] == "accepted"
    assert follow(parent_message_id="msg-other")["reason_codes"] == ["continuation_grant_missing_approval"]
    assert follow(**{"from": "mallory"})["reason_codes"] == ["continuation_grant_missing_approval"]
    assert follow(type="question")["reason_codes"] == ["continuation_grant_type_not_granted"]
    assert follow(created_at_utc=at(0))["reason_codes"] == ["continuation_grant_missing_approval"]
    assert follow(parent_message_id="")["reason_codes"] == ["continuation_grant_missing_thread"]
    assert follow(id=message()["id"])["reason_codes"] == ["continuation_grant_missing_approval"]


# -- checkpoints and ends


def test_work_within_what_was_declared_is_done() -> None:
    done = carry_on(
        evaluated(),
        final_state="done",
        started_at=at(5),
        completed_at=at(20),
        actual_files_touched=1,
        reply_message_id="msg-9",
        artifacts=("a.md",),
        minute=30,
    )
    result = result_of(done.record)
    assert not done.is_breached
    assert (result["final_state"], result["completion_kind"]) == ("done", "auto_accepted")
    assert (result["actual_minutes"], result["completed_at_utc"]) == (15, at(20))
    assert result["finalizer"] == {"name": "oacp autonomy-finalize", "schema_version": 1}
    assert check_of(done.record)["action"] == "within_declared_envelope"
    assert done.summary("a.yaml", dry_run=False) == {
        "audit_file": "a.yaml",
        "dry_run": False,
        "final_state": "done",
        "completion_kind": "auto_accepted",
        "evaluation_id": done.record["evaluation_id"],
        "checkpoint_action": "within_declared_envelope",
    }


def test_the_original_record_is_not_touched() -> None:
    record = evaluated()
    before = repr(record)
    carry_on(record, final_state="done", started_at=at(5), actual_files_touched=1, minute=10)
    assert repr(record) == before


def test_work_that_nobody_let_in_has_no_checkpoint_and_no_end() -> None:
    ends: list[dict[str, Any]] = [{"final_state": "done"}, {}, {"final_state": "cancelled", "cancelled_by": "human"}]
    for wish in ends:
        with pytest.raises(Refused):
            carry_on(too_large(), started_at=at(5), actual_files_touched=1, **wish)
    with pytest.raises(Refused):
        carry_on(decide(too_large(), "declined"), final_state="done", started_at=at(5), actual_files_touched=1)


@pytest.mark.parametrize("state", ["", "done", "error"])
def test_the_beginning_of_the_work_is_said_once(state: str) -> None:
    with pytest.raises(UsageError):
        carry_on(evaluated(), final_state=state, actual_files_touched=1)
    with pytest.raises(Refused):
        carry_on(evaluated(later=10), final_state=state, actual_files_touched=1, started_at=at(5))
    begun = carry_on(evaluated(), started_at=at(5), actual_files_touched=1, minute=10).record
    with pytest.raises(Refused):
        carry_on(begun, final_state=state, actual_files_touched=1, started_at=at(6))
    assert carry_on(begun, final_state=state, actual_files_touched=1, minute=20).record


def test_more_than_was_declared_stops_the_work() -> None:
    record = stopped()
    result, block = result_of(record), check_of(record)
    assert (result["final_state"], result["completion_kind"]) == ("paused", "checkpoint_paused")
    assert (block["action"], block["breached_fields"]) == ("paused_for_reauthorization", ["actual_minutes"])
    assert block["paused_at_utc"] == at(30)
    assert record["decision"] == "auto_accepted"


def test_a_stop_is_stamped_once() -> None:
    with pytest.raises(Refused):
        carry_on(stopped(), actuals={"actual_minutes": 25, "actual_files_touched": 2, "paused_at_utc": at(44)})
    again = carry_on(stopped(), actuals={"actual_minutes": 25, "actual_files_touched": 2})
    assert check_of(again.record)["paused_at_utc"] == at(30)
    assert check_of(again.record)["breached_fields"] == ["actual_minutes", "actual_files_touched"]


def test_a_stop_does_not_go_away_by_measuring_less() -> None:
    again = carry_on(stopped(), actuals={"actual_minutes": 3, "actual_files_touched": 1})
    assert again.is_breached
    assert check_of(again.record)["breached_fields"] == ["actual_minutes"]


def test_a_plain_yes_lets_exactly_this_much_go_on() -> None:
    answered = decide(stopped(), minute=40)
    assert pause_state(result_of(answered)) == "resumed"
    assert result_of(answered)["human_outcome"]["decision_latency_seconds"] == 600
    done = carry_on(answered, final_state="done", completed_at=at(40), actual_files_touched=1)
    assert not done.is_breached
    assert check_of(done.record)["action"] == "resumed_after_reauthorization"
    assert result_of(done.record)["actual_minutes"] == 25, "the pause of ten minutes is no work"
    with pytest.raises(Refused):
        carry_on(answered, final_state="done", completed_at=at(41), actual_files_touched=1)
    more = carry_on(answered, actuals={"actual_minutes": 33, "actual_files_touched": 1, "paused_at_utc": at(48)})
    assert more.is_breached
    assert result_of(more.record)["pause_intervals"] == [
        {
            "paused_at_utc": at(30),
            "cleared_paused_at_utc": at(40),
            "breached_fields": ["actual_minutes"],
            "channel": "receiver_human",
            "decided_at_utc": at(40),
            "recorded_at_utc": at(60),
        }
    ]


def test_a_little_more_each_time_is_not_a_way_around_a_plain_yes() -> None:
    record = decide(stopped(), minute=40)
    record = carry_on(record, actuals={"actual_minutes": 25, "actual_files_touched": 1}).record
    assert carry_on(record, actuals={"actual_minutes": 26, "actual_files_touched": 1}).is_breached


def test_a_second_yes_ends_the_second_stop_and_leaves_the_first_decision() -> None:
    once = decide(stopped(), minute=40)
    twice = carry_on(once, actuals={"actual_minutes": 33, "actual_files_touched": 1, "paused_at_utc": at(48)}).record
    answered = decide(twice, minute=55, actor="bob")
    assert result_of(answered)["human_outcome"]["actor"] == "alice"
    assert check_of(answered)["reauthorization"]["actor"] == "bob"
    done = carry_on(answered, final_state="done", completed_at=at(55), actual_files_touched=1)
    assert not done.is_breached
    assert result_of(done.record)["actual_minutes"] == 33


def test_a_no_ends_it() -> None:
    declined = decide(stopped(), "declined", minute=40)
    assert pause_state(result_of(declined)) == "declined"
    with pytest.raises(Refused):
        carry_on(declined, final_state="done", completed_at=at(40), actual_files_touched=1)
    assert carry_on(declined, actuals={"actual_minutes": 25, "actual_files_touched": 1}).is_breached
    cancelled = carry_on(declined, final_state="cancelled", cancelled_by="human", cancelled_at=at(42), reason="no")
    assert result_of(cancelled.record)["final_state"] == "cancelled"


def answer(channel: str, minute: int, decision: str = "approved", **more: Any) -> dict[str, Any]:
    signed = {"receiver_human": "actor", "sender_reply": "source_message_id", "gh_comment": "author"}[channel]
    return {channel: {"decision": decision, "decided_at_utc": at(minute), signed: "alice", **more}}


def test_a_budget_stands_for_the_rest_of_the_task() -> None:
    said = answer("receiver_human", 35, scope={"max_actual_minutes": 60, "commits_changes": True})
    measured = {"actual_minutes": 25, "actual_files_touched": 1, "reauthorization": said}
    record = carry_on(stopped(), actuals=measured).record
    assert check_of(record)["action"] == "resumed_after_reauthorization"
    within = carry_on(record, actual_minutes=55, actual_files_touched=1, realized=("commits_changes",))
    assert not within.is_breached
    assert not carry_on(within.record, actual_minutes=58, actual_files_touched=1).is_breached
    assert carry_on(within.record, actual_minutes=61, actual_files_touched=1).is_breached
    assert carry_on(within.record, actual_minutes=58, actual_files_touched=2).is_breached


def test_a_sender_widens_nothing_beyond_the_policy() -> None:
    said = answer("sender_reply", 35, scope={"max_actual_minutes": 600, "merges_pr": True, "commits_changes": True})
    record = carry_on(
        stopped(), actuals={"actual_minutes": 25, "actual_files_touched": 1, "reauthorization": said}
    ).record
    scope = check_of(record)["reauthorization"]["scope"]
    assert (scope["max_actual_minutes"], scope["merges_pr"], scope["commits_changes"]) == (45, False, False)
    unknown = carry_on(
        stopped(), actuals={"actual_minutes": 25, "actual_files_touched": 1, "reauthorization": said}, policy=None
    )
    assert unknown.is_breached
    assert check_of(unknown.record)["reauthorization"]["disposition"] == "insufficient"


def test_a_comment_is_heard_and_decides_nothing() -> None:
    said = answer("gh_comment", 35)
    halted = carry_on(stopped(), actuals={"actual_minutes": 25, "actual_files_touched": 1, "reauthorization": said})
    assert halted.is_breached
    assert check_of(halted.record)["reauthorization"]["disposition"] == "advisory_only"


@pytest.mark.parametrize(
    ("minute", "scope", "disposition"),
    [
        (31, None, "resumed"),
        (29, None, "stale"),
        (31, {"max_actual_minutes": 25}, "resumed"),
        (31, {"max_actual_minutes": 24}, "insufficient"),
        (31, {"commits_changes": True}, "insufficient"),
        (29, {"max_actual_minutes": 25}, "resumed"),
        (29, {"max_actual_minutes": 24}, "stale"),
        (4, {"max_actual_minutes": 25}, "stale"),
    ],
)
def test_an_answer_counts_for_what_it_says_and_when(minute: int, scope: object, disposition: str) -> None:
    said = answer("receiver_human", minute, scope=scope)
    record = carry_on(
        stopped(), actuals={"actual_minutes": 25, "actual_files_touched": 1, "reauthorization": said}
    ).record
    block = check_of(record)["reauthorization"]
    assert block["disposition"] == disposition
    cleared = at(max(minute, 30)) if disposition == "resumed" else None
    assert block["cleared_paused_at_utc"] == cleared


def test_an_end_that_is_too_much_is_pinned_until_somebody_lets_it_stand() -> None:
    halted = carry_on(evaluated(), final_state="done", started_at=at(5), completed_at=at(50), actual_files_touched=1)
    assert halted.is_breached
    block = check_of(halted.record)
    assert (block["terminal_time"], block["paused_at_utc"], block["completed_at_utc"]) == (True, at(50), at(50))
    assert result_of(halted.record)["completed_at_utc"] is None
    answered = decide(halted.record, minute=70)
    with pytest.raises(Refused):
        carry_on(answered, final_state="done", completed_at=at(71), actual_files_touched=1, minute=80)
    done = carry_on(answered, final_state="done", actual_files_touched=1, minute=80)
    assert not done.is_breached
    assert (result_of(done.record)["completed_at_utc"], result_of(done.record)["actual_minutes"]) == (at(50), 45)


def test_what_is_about_to_happen_can_be_asked_for_before_it_does() -> None:
    about = {"actual_minutes": 5, "actual_files_touched": 1, "declared_intent_fields": ["task_profile.commits_changes"]}
    asked = carry_on(evaluated(), actuals=about, started_at=at(5), minute=10)
    assert (asked.is_breached, check_of(asked.record)["breach_basis"]) == (True, "declared_intent")
    plain = decide(asked.record, minute=12)
    wish: dict[str, Any] = {"final_state": "done", "completed_at": at(14), "actual_files_touched": 1}
    assert not carry_on(plain, **wish).is_breached
    with pytest.raises(Refused):
        carry_on(plain, **wish, realized=("commits_changes",))
    said = answer("receiver_human", 12, scope={"commits_changes": True})
    widened = carry_on(asked.record, actuals={**about, "reauthorization": said}, minute=13).record
    assert not carry_on(widened, **wish, realized=("commits_changes",)).is_breached
    with pytest.raises(Refused):
        carry_on(widened, **wish, realized=("merges_pr",))


@pytest.mark.parametrize(
    "about",
    [
        {"side_effects_actual": {"merges_pr": True}},
        {"actual_minutes": 25},
        {"predicted_risk_materialized": True},
        {"breach_basis": "realized"},
        {"breach_sub_basis": "waiting_on_peer"},
        {"declared_intent_fields": ["task_profile.lunch"]},
    ],
    ids=str,
)
def test_what_is_about_to_happen_has_not_happened(about: dict[str, Any]) -> None:
    whole = {
        "actual_minutes": 5,
        "actual_files_touched": 1,
        "declared_intent_fields": ["task_profile.merges_pr"],
        **about,
    }
    with pytest.raises(BadConfig):
        carry_on(evaluated(), actuals=whole, started_at=at(5))


def test_what_happened_stays_happened() -> None:
    record = carry_on(
        evaluated(message(profile={**HARMLESS, "sends_oacp_reply": True})),
        started_at=at(5),
        actual_files_touched=1,
        realized=("sends_oacp_reply",),
        minute=10,
    ).record
    done = carry_on(record, final_state="done", actual_files_touched=1, minute=12)
    assert check_of(done.record)["side_effects_actual"]["sends_oacp_reply"] is True


def test_effects_that_only_a_grant_allows_are_refused_without_one() -> None:
    for effect in ("sends_oacp_reply", "writes_findings_packet", "submits_github_review"):
        with pytest.raises(Refused):
            carry_on(evaluated(), started_at=at(5), actual_files_touched=1, realized=(effect,))
    with pytest.raises(UsageError):
        carry_on(evaluated(), started_at=at(5), actual_files_touched=1, realized=("lunch",))


def test_time_that_a_person_takes_off_is_taken_off_once() -> None:
    off = {"from_utc": at(10), "to_utc": at(20), "actor": "alice", "decided_at_utc": at(21), "reason": "lunch"}
    wish = {"actuals": {"actual_files_touched": 1, "clock_adjustments": [off]}}
    record = carry_on(evaluated(), started_at=at(5), minute=25, **wish).record
    again = carry_on(record, final_state="done", completed_at=at(25), minute=26, **wish).record
    assert len(result_of(again)["clock_adjustments"]) == 1
    assert result_of(again)["actual_minutes"] == 10
    with pytest.raises(BadConfig):
        carry_on(evaluated(), started_at=at(5), actuals={"clock_adjustments": [{**off, "to_utc": at(10)}]})


def test_minutes_that_are_far_from_the_clock_are_refused_at_the_end() -> None:
    with pytest.raises(Refused):
        carry_on(
            evaluated(),
            final_state="done",
            started_at=at(5),
            completed_at=at(20),
            actual_minutes=3,
            actual_files_touched=1,
        )


def test_work_is_not_done_beside_another_live_evaluation() -> None:
    other = evaluated(later=1)
    with pytest.raises(Refused):
        carry_on(evaluated(), final_state="done", started_at=at(5), actual_files_touched=1, siblings=[other])


def test_a_failed_task_needs_no_checkpoint() -> None:
    failed = carry_on(evaluated(), final_state="error", started_at=at(5), completed_at=at(50), actual_files_touched=9)
    result = result_of(failed.record)
    assert (failed.is_breached, result["final_state"], result["actual_minutes"]) == (False, "error", 45)
    assert check_of(failed.record)["action"] == "not_evaluated"


def test_a_task_is_called_off_before_or_during_its_work() -> None:
    before = carry_on(evaluated(), final_state="cancelled", cancelled_by="human", cancelled_at=at(3), reason="old")
    result = result_of(before.record)
    assert (result["actual_minutes"], result["actual_files_touched"], result["completed_at_utc"]) == (0, 0, at(3))
    assert (result["cancelled_by"], result["reason"], result["deliverables_landed"]) == ("human", "old", [])
    during = carry_on(
        evaluated(),
        final_state="cancelled",
        cancelled_by="human",
        cancelled_at=at(15),
        started_at=at(5),
        actual_files_touched=1,
        deliverables_landed=("a.md",),
    )
    assert result_of(during.record)["actual_minutes"] == 10
    with pytest.raises(UsageError):
        carry_on(evaluated(), final_state="cancelled", cancelled_by="human", actual_minutes=3)
    with pytest.raises(UsageError):
        carry_on(evaluated(), final_state="cancelled")


def test_a_closed_record_is_closed() -> None:
    done = carry_on(evaluated(), final_state="done", started_at=at(5), actual_files_touched=1, minute=10).record
    with pytest.raises(Refused):
        carry_on(done, final_state="done", actual_files_touched=1, minute=11)
    again = carry_on(done, final_state="done", actual_files_touched=1, minute=11, replace=True)
    assert result_of(again.record)["completed_at_utc"] == at(11)


def test_a_record_that_was_born_done_is_finalized_once() -> None:
    record = evaluated()
    record["result"]["final_state"] = "done"
    assert [one.code for one in validate_record(record)] == ["legacy_born_done_unfinalized"]
    done = carry_on(record, final_state="done", started_at=at(5), actual_files_touched=1, minute=10).record
    with pytest.raises(Refused):
        carry_on(done, final_state="done", actual_files_touched=1)


def test_a_new_evaluation_replaces_the_live_ones_and_names_them() -> None:
    first, second = too_large(), evaluated(message(), later=5, digest="1" * 64)
    step = succeed(second, {"a.yaml": first}, now=START + timedelta(minutes=5))
    closed = step.closed["a.yaml"]
    assert step.adopted == ""
    assert step.record["supersedes_evaluation_id"] == first["evaluation_id"]
    assert closed["superseded_by_evaluation_id"] == second["evaluation_id"]
    assert result_of(closed)["final_state"] == "superseded"
    assert validate_record(closed, [step.record]) == []
    assert [one.code for one in validate_record(closed, [second])] == ["superseded_missing_successor"]
    assert validate_record(closed) == []
    with pytest.raises(Refused):
        carry_on(closed, final_state="done", started_at=at(6), actual_files_touched=1, replace=True)
    by_hand = carry_on(first, final_state="superseded", superseded_by=second["evaluation_id"], siblings=[step.record])
    assert result_of(by_hand.record)["final_state"] == "superseded"


def test_several_live_evaluations_are_replaced_together() -> None:
    earlier = {"a": too_large(), "b": evaluated(later=1, digest="1")}
    step = succeed(evaluated(later=2, digest="2"), earlier, now=START)
    assert step.record["superseded_evaluation_ids"] == [one["evaluation_id"] for one in earlier.values()]
    for closed in step.closed.values():
        assert validate_record(closed, [step.record]) == []


def test_the_same_evaluation_again_is_adopted() -> None:
    first = evaluated()
    step = succeed(evaluated(later=5), {"a.yaml": first}, now=START)
    assert (step.adopted, step.record, step.closed) == ("a.yaml", first, {})


def test_a_record_is_superseded_by_something_and_only_by_one_that_names_it() -> None:
    wishes: list[dict[str, Any]] = [{}, {"superseded_by": "eval-1", "superseded_by_message": {"message_id": "m"}}]
    for wish in wishes:
        with pytest.raises(UsageError):
            carry_on(too_large(), final_state="superseded", **wish)
    with pytest.raises(Refused):
        carry_on(too_large(), final_state="superseded", superseded_by="eval-1", siblings=[evaluated()])
    with pytest.raises(Refused):
        carry_on(too_large(), final_state="superseded", superseded_by_message={"message_id": "m"})
    review = {**too_large(), "message_type": "review_request"}
    by_message = carry_on(review, final_state="superseded", superseded_by_message={"message_id": "m"}).record
    assert result_of(by_message)["superseded_by_message"] == {"message_id": "m"}


@pytest.mark.parametrize("record", [{}, {"result": None}, {"result": {"x": object()}}])
def test_a_damaged_record_is_not_written(record: dict[str, Any]) -> None:
    with pytest.raises(Damaged):
        record_outcome(record, decision="approved", now=START, actor="alice")
    with pytest.raises(Damaged):
        finalize(record, Wish(final_state="error"), now=START)


def test_a_record_of_an_earlier_schema_is_brought_up() -> None:
    assert decide({**too_large(), "schema_version": 1})["schema_version"] == 2


def test_an_unknown_end_is_refused() -> None:
    with pytest.raises(UsageError):
        carry_on(evaluated(), final_state="finished")


def test_a_decision_is_printed_without_its_place() -> None:
    left_out = set(too_large()) - set(printed(too_large()))
    assert left_out == {
        "created_at_utc",
        "message_subject",
        "message_path",
        "policy_path",
        "thresholds",
        "runtime",
        "supersedes_evaluation_id",
    }


def test_the_program_that_evaluates_is_named_as_far_as_it_is_known() -> None:
    assert runtime_block("codex", "name[1m]", "high") == {
        "agent": "codex",
        "model": "name",
        "model_source": "env:OACP_RUNTIME_MODEL",
        "model_context": "1m",
        "model_raw": "name[1m]",
        "effort": "high",
        "effort_source": "env:OACP_RUNTIME_EFFORT",
    }
    unknown = runtime_block("codex", "", "lunch")
    assert (unknown["model"], unknown["model_source"], unknown["effort"]) == (None, None, None)
    assert unknown["effort_raw"] == "lunch"
    assert {"model_unknown_reason", "effort_unknown_reason"} <= set(unknown)
    assert runtime_block("codex")["effort_source"] is None
