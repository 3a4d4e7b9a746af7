"""What holds for every message, profile, policy and record, whatever is in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.autonomy.fixtures import HARMLESS, NOW, load, message, policy, with_profile
from tests.autonomy.test_strict import DISGUISED, LET_THROUGH

from restante.autonomy.evaluate import evaluate
from restante.autonomy.findings import sweep, validate_record
from restante.autonomy.lexicon import CLASSES
from restante.autonomy.policy import Policy, parse_policy
from restante.autonomy.vocabulary import ARTIFACTS, BASIC_FLAGS, MESSAGE_TYPES, REASON_CODES, STRICT_CODES
from restante.autonomy.workclock import minutes_worked

# Pieces of messages that matter to the gates, so that random texts are not merely prose.
PIECES = [
    "deploy",
    "publish",
    "merge",
    "merge method",
    "auth",
    "secrets",
    "credentials",
    "config.yaml",
    "all files",
    "pricing",
    "push to main",
    "rotate credentials",
    "install the dependency",
    "public repo",
    "memory SSOT",
    "rm -rf",
    "--force",
    "do not",
    "never",
    "no",
    "without",
    "skip",
    "Out of scope:",
    "# Not this",
    "\n",
    "\n\n",
    ". ",
    "; ",
    " — ",
    ": ",
    " ",
    "```oacp-guardrails\n",
    "```\n",
    "~~~\n",
    "task_profile:",
    "  task_profile:\n    a: 1\n",
    "PR",
    "github",
    "\u200b",
    "\uff52\uff4d",
    "\u202e",
    "git push -f",
    "curl x | sh",
    ".env",
    "~/.ssh/id_rsa",
    "pip install x",
    "what a pip install pulls",
    "\t",
    "\r\n",
    "\x85",
    "\U000e0041",
    "é",
    "x" * 50,
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=14).map("".join)
values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=10),
        st.dates(),
        st.datetimes(),
        st.binary(max_size=4),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.text(max_size=8), st.integers()), inner, max_size=4)
    ),
    max_leaves=12,
)
profiles = st.fixed_dictionaries(
    {
        "estimated_minutes": st.integers(0, 90),
        "expected_files_touched": st.integers(0, 9),
        "risk_tier": st.sampled_from(["P0", "P3"]),
    },
    optional={
        **{flag: st.booleans() for flag in (*BASIC_FLAGS, *ARTIFACTS, "sends_oacp_reply_only", "sends_oacp_reply")},
        "target_repo": st.sampled_from(["", "example-org/private-repo", "a/b"]),
        "expected_pauses": st.lists(st.sampled_from([*sorted(REASON_CODES)[:9], "lunch"]), max_size=3),
    },
)
policies = st.builds(
    lambda external, exempt, enabled: policy(
        thresholds={"external_side_effects": external},
        allow_without_task_profile=exempt,
        continuation_grants={"enabled": enabled},
    ),
    st.sampled_from(["pause", "allow_pr_artifacts", "allow"]),
    st.lists(st.sampled_from(MESSAGE_TYPES), max_size=3),
    st.booleans(),
)
kinds = st.sampled_from(MESSAGE_TYPES)
HARD = [
    "rm -rf build",
    "push to main",
    "the memory SSOT",
    *[text for text, _ in LET_THROUGH],
    *[text for text, _ in DISGUISED],
]


def decide(one: Any, known: Policy, *, strict: bool, history: Any = ()) -> dict[str, Any]:
    return evaluate(one, "0" * 64, known, history, now=NOW, receiver="codex", load=load, strict=strict).decision


def assert_sound(decision: dict[str, Any], one: dict[str, Any]) -> None:
    assert decision["decision"] in ("auto_accepted", "paused")
    assert decision["reason_codes"]
    assert set(decision["reason_codes"]) <= REASON_CODES | set(STRICT_CODES)
    json.dumps(decision)
    for hit in decision["matched_patterns"]:
        assert 0 <= hit["span"]["start"] < hit["span"]["end"] <= len(one["body"])
    for hit in decision.get("strict_matches", []):
        assert 0 <= hit["span"]["start"] <= hit["span"]["end"] <= len(one[hit["field"]])
    errors = [finding for finding in validate_record(decision) if finding.severity == "error"]
    assert errors == []
    if decision["decision"] == "auto_accepted":
        assert decision["scope_envelope"] is not None
        assert decision["co_occurring_reason_codes"] == []
        hard = [
            hit for hit in decision["matched_patterns"] if hit["demotion_basis"] in ("affirmative", "non_demotable")
        ]
        assert hard == []


@given(texts, texts, texts, kinds, policies, st.one_of(st.none(), profiles), st.booleans())
def test_any_message_is_judged_soundly_and_the_same_twice(
    body: str, subject: str, keys: str, kind: str, known: Policy, profile: Any, strict: bool
) -> None:
    whole = body if profile is None else with_profile(body, profile)
    one = message(body=whole or "x", subject=subject or "x", context_keys=keys, type=kind)
    decision = decide(one, known, strict=strict)
    assert_sound(decision, one)
    assert decide(one, known, strict=strict) == decision


@given(values, policies, st.booleans())
def test_any_profile_is_judged_soundly(profile: Any, known: Policy, strict: bool) -> None:
    one = message()

    def reader(text: str) -> object:
        return {"task_profile": {**HARMLESS, **profile} if isinstance(profile, dict) else profile}

    decision = evaluate(one, "0", known, [], now=NOW, receiver="codex", load=reader, strict=strict).decision
    assert_sound(decision, one)


@given(st.dictionaries(st.sampled_from([*message(), "expires_at", "context_keys", "parent_message_id"]), values))
def test_a_message_of_anything_is_never_accepted_by_mistake(one: dict[str, Any]) -> None:
    decision = decide({**message(), **one}, policy(), strict=True)
    assert decision["decision"] in ("auto_accepted", "paused")
    decide(one, policy(), strict=False)


@given(values)
def test_any_configuration_is_read_and_what_is_malformed_pauses(config: Any) -> None:
    for known in (parse_policy(config), parse_policy({"autonomy": config}), parse_policy({"restante": config})):
        assert len(known.digest) == 64
        assert decide(message(), known, strict=False)["decision"] == "paused"


@given(st.dictionaries(st.sampled_from(["default_mode", "auto_review_thresholds", "continuation_grants"]), values))
def test_a_policy_with_one_part_replaced_accepts_only_where_it_is_sound(changes: dict[str, Any]) -> None:
    known = policy(**changes)
    accepted = decide(message(), known, strict=False)["decision"] == "auto_accepted"
    assert not (accepted and known.is_malformed)


@given(
    texts,
    st.sampled_from(HARD),
    st.sampled_from(["body", "subject", "context_keys"]),
    kinds,
    policies,
    profiles,
    st.booleans(),
)
def test_a_hard_stop_that_is_added_never_lets_a_message_through(
    body: str, hard: str, field: str, kind: str, known: Policy, profile: Any, strict: bool
) -> None:
    before = message(body=with_profile(body, profile), subject="Work", context_keys="", type=kind)
    added = f"{before[field]}\n\n{hard}\n" if field != "body" else with_profile(f"{body}\n\n{hard}", profile)
    after = {**before, field: added}
    if decide(before, known, strict=strict)["decision"] == "paused":
        assert decide(after, known, strict=strict)["decision"] == "paused"


@given(st.sampled_from(HARD), texts)
def test_strictly_a_hard_stop_holds_whatever_stands_before_it(hard: str, body: str) -> None:
    decision = decide(message(f"{body}\n\n{hard}"), policy(), strict=True)
    assert decision["decision"] == "paused"


@given(st.dictionaries(st.text(max_size=12), values, max_size=6), values)
def test_any_record_is_validated_and_no_history_breaks_an_evaluation(record: dict[str, Any], result: Any) -> None:
    odd = {**decide(message(), policy(), strict=False), **record, "result": result}
    validate_record(odd)
    sweep({"a": odd, "b": record, "c": None})
    enabled = policy(continuation_grants={"enabled": True})
    decide(message(parent_message_id=message()["id"], id="msg-2"), enabled, strict=True, history=[odd, record])


@given(st.dictionaries(st.sampled_from(["threshold_checkpoint", "human_outcome", "pause_intervals"]), values))
def test_a_record_with_any_part_replaced_is_validated(parts: dict[str, Any]) -> None:
    record = decide(message(), policy(), strict=False)
    record["result"].update(parts)
    for state in ("done", "paused", "cancelled", "superseded", "error"):
        record["result"]["final_state"] = state
        validate_record(record)


MINUTES = st.integers(0, 600)


@given(MINUTES, MINUTES, st.lists(st.tuples(MINUTES, MINUTES), max_size=6))
def test_no_span_is_taken_off_twice(start: int, length: int, away: list[tuple[int, int]]) -> None:
    base = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

    def instant(minute: int) -> datetime:
        return datetime.fromtimestamp(base + 60 * minute, UTC)

    spans = [(min(one), max(one)) for one in away]
    worked = set(range(start, start + length))
    for begin, end in spans:
        worked -= set(range(begin, end))
    counted = minutes_worked(instant(start), instant(start + length), [(instant(a), instant(b)) for a, b in spans])
    assert counted == len(worked)


def test_every_label_of_the_table_is_its_own() -> None:
    labels = [pattern.label for kind in CLASSES for pattern in kind.patterns]
    assert len(labels) == len(set(labels))
