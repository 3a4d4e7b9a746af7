"""The published decisions: 90 cases of the gate, 46 replayed records of a fleet, 30 scopes of grants."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.autonomy.fixtures import AUTONOMY, cases, covers, history, instant, load, needs_fixtures, read, rows

from restante.autonomy.evaluate import evaluate
from restante.autonomy.grants import parse_scope
from restante.autonomy.policy import parse_policy
from restante.autonomy.vocabulary import REASON_CODES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_fixtures

EXACT = (
    "matched_pattern",
    "breached",
    "co_occurring_reason_codes",
    "admission_axes",
    "pause_classification",
    "expected_pause_codes",
    "unplanned_pause_codes",
    "scope_envelope_source",
)
WITHIN = ("continuation_grant", "result", "task_profile", "scope_envelope")
CORPUS = AUTONOMY / "ledger_replay" / "corpus.yaml"


def decide(case: dict[str, Any], *, strict: bool = False) -> dict[str, Any]:
    path = AUTONOMY / case["message"]
    evaluation = evaluate(
        read(path),
        hashlib.sha256(path.read_bytes()).hexdigest(),
        parse_policy(read(AUTONOMY / case["config"])),
        history(case.get("audits")),
        now=instant(case.get("now")),
        receiver="codex",
        load=load,
        actuals=read(AUTONOMY / case["actuals"]) if case.get("actuals") else None,
        strict=strict,
    )
    return evaluation.decision


def assert_sound(decision: dict[str, Any], body: str) -> None:
    hits = decision["matched_patterns"]
    assert all(0 <= hit["span"]["start"] < hit["span"]["end"] <= len(body) for hit in hits)
    assert hits == sorted(
        hits, key=lambda hit: (hit["span"]["start"], hit["span"]["end"], hit["category"], hit["pattern"])
    )
    assert set(decision["reason_codes"]) <= REASON_CODES
    blocking = decision.get("matched_pattern")
    hard = {hit["pattern"] for hit in hits if hit["demotion_basis"] in ("affirmative", "non_demotable")}
    assert blocking is None or blocking in hard


@pytest.mark.parametrize("path", cases(AUTONOMY / "expected"), ids=lambda path: path.stem)
def test_the_gate_decides_as_published(path: Path) -> None:
    case = read(path)
    wanted, got = case["expected"], decide(case)
    assert {key: got[key] for key in ("decision", "mode", "reason_codes")} == {
        key: wanted[key] for key in ("decision", "mode", "reason_codes")
    }
    assert {key: got.get(key) for key in EXACT if key in wanted} == {key: wanted[key] for key in EXACT if key in wanted}
    for key in WITHIN:
        assert covers(wanted.get(key, {}), got[key] or {}), (key, wanted[key], got[key])
    if "logged_notes" in wanted:
        notes = wanted["logged_notes"]
        assert [note["matched_pattern"] for note in got["logged_notes"]] == [one["matched_pattern"] for one in notes]
        assert all(covers(one, note) for one, note in zip(notes, got["logged_notes"], strict=True))
    assert_sound(got, read(AUTONOMY / case["message"])["body"])


def replay(row: dict[str, Any]) -> dict[str, Any]:
    corpus = read(CORPUS)["policy"]
    thresholds = {
        **{key: corpus[key] for key in ("max_estimated_minutes", "max_expected_files_touched")},
        "external_side_effects": corpus["external_side_effects"],
        **dict.fromkeys(
            (
                "destructive_ops",
                "auth_config_or_secrets",
                "dependency_changes",
                "public_visibility",
                "git_push_or_deploy",
            ),
            "pause",
        ),
    }
    config = {
        "autonomy": {
            "default_mode": "auto_review",
            "auto_review_thresholds": thresholds,
            "allow_without_task_profile": ["brainstorm_request"],
            "private_repo_allowlist": corpus["private_repo_allowlist"],
        }
    }
    block = yaml.safe_dump({"task_profile": row["task_profile"]}, sort_keys=False)
    message = {
        "id": f"msg-20260801000000-alice-{row['case']}",
        "from": "alice",
        "to": "codex",
        "type": row.get("type", "task_request"),
        "priority": "P2",
        "created_at_utc": "2026-08-01T00:00:00Z",
        "subject": "Replay",
        "body": f"{row['body_line']}\n\n{block}",
    }
    decision = evaluate(message, "0" * 64, parse_policy(config), [], now=instant(None), receiver="codex", load=load)
    return decision.decision


LEDGER = [
    *rows(CORPUS, "cases"),
    *rows(CORPUS, "content_sensitivity", "cases"),
    *rows(CORPUS, "declared_capability", "cases"),
]


@pytest.mark.parametrize("row", LEDGER, ids=lambda row: row["case"])
def test_a_replayed_record_keeps_its_verdict_and_records_every_axis(row: dict[str, Any]) -> None:
    got = replay(row)
    assert got["decision"] == "paused"
    assert got["reason_codes"] == row["expected_reason_codes"]
    assert got.get("matched_pattern") == row.get("expected_matched_pattern")
    axes = got["admission_axes"]
    held = [code for key in ("thresholds", "declared_risk", "declaration", "side_effects") for code in axes[key]]
    assert sorted(held) == sorted(row["expected_axes"])
    others = set(row["expected_axes"]) - set(row["expected_reason_codes"])
    assert got["co_occurring_reason_codes"] == sorted(others)
    assert "expected_notes" not in row or got["logged_notes"] == row["expected_notes"]


THREADS = rows(CORPUS, "thread_grants", "cases")


@pytest.mark.parametrize("row", THREADS, ids=lambda row: row["case"])
def test_a_grant_for_a_thread_is_replayed(row: dict[str, Any]) -> None:
    message = read(AUTONOMY / "messages" / "thread_grant_request.yaml")
    message["type"] = row.get("message_type", message["type"])
    body = load(message["body"])
    assert isinstance(body, dict)
    message["body"] = yaml.safe_dump({**body, **row.get("body", {})}, sort_keys=False)
    earlier = [] if row.get("omit_approval") else history(["audits/prior_generic_grant_approved.yaml"])
    for record in earlier:
        record["result"]["human_outcome"]["grant"]["granted_scope"].update(row.get("scope", {}))
    earlier += history(row.get("prior_audits"))
    config = read(AUTONOMY / "configs" / "auto_review_continuation_enabled.yaml")
    config["autonomy"]["continuation_grants"]["enabled"] = row.get("enabled", True)
    got = evaluate(
        message,
        "0" * 64,
        parse_policy(config),
        earlier,
        now=instant(row.get("now", "2026-05-26T12:30:00Z")),
        receiver="codex",
        load=load,
    ).decision
    grant = got["continuation_grant"]
    assert isinstance(grant, dict)
    assert got["decision"] == row["expected_decision"]
    assert got["reason_codes"] == row["expected_reason_codes"]
    assert grant["decision"] == row["expected_grant_decision"]
    assert grant["effective_round"] == row.get("expected_effective_round", grant["effective_round"])


SCOPES = AUTONOMY / "thread_grants" / "corpus.yaml"


@pytest.mark.parametrize("row", rows(SCOPES, "scope_cases"), ids=lambda row: row["case"])
def test_a_scope_is_read_as_published(row: dict[str, Any]) -> None:
    scope = {**read(SCOPES)["base_scope"], **row.get("set", {})}
    for key in row.get("remove", []):
        del scope[key]
    answer = parse_scope(scope)
    assert (answer.scope is not None) is row["valid"]
    assert answer.error == row.get("error", "")


def test_the_corpora_are_whole() -> None:
    counts = [len(cases(AUTONOMY / "expected")), len(LEDGER) + len(THREADS), len(rows(SCOPES, "scope_cases"))]
    assert counts == [90, 46, 30]
