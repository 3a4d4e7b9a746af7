"""A receiver's policy: what is allowed, and that a policy with a fault allows nothing."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.autonomy.fixtures import policy

from restante.autonomy.policy import parse_policy, policy_digest


def test_the_standard_policy_is_read() -> None:
    standard = policy()
    assert (standard.mode, standard.max_minutes, standard.max_files) == ("auto_review", 45, 5)
    assert standard.external == "allow_pr_artifacts"
    assert standard.without_profile == {"brainstorm_request"}
    assert standard.private_repos == ("example-org/private-repo",)
    assert not standard.is_malformed
    assert not standard.grants_enabled


@pytest.mark.parametrize("config", [None, {}, {"signing": {"verify_mode": "off"}}])
def test_no_policy_pauses_everything_and_is_no_fault(config: object) -> None:
    parsed = parse_policy(config)
    assert parsed.mode == "always_pause"
    assert not parsed.is_malformed


@pytest.mark.parametrize(
    "changes",
    [
        {"default_mode": "auto"},
        {"default_mode": None},
        {"default_mode": ["auto_review"]},
        {"thresholds": {"max_estimated_minutes": True}},
        {"thresholds": {"max_estimated_minutes": -1}},
        {"thresholds": {"max_expected_files_touched": "5"}},
        {"thresholds": {"destructive_ops": "allow"}},
        {"thresholds": {"external_side_effects": "always"}},
        {"thresholds": {"external_side_effects": []}},
        {"auto_review_thresholds": None},
        {"auto_review_thresholds": "standard"},
        {"allow_without_task_profile": "brainstorm_request"},
        {"allow_without_task_profile": ["Brain storm"]},
        {"allow_without_task_profile": [["brainstorm_request"]]},
        {"private_repo_allowlist": ["private-repo"]},
        {"private_repo_allowlist": [7]},
        {"continuation_grants": {"enabled": "yes"}},
        {"continuation_grants": True},
    ],
    ids=str,
)
def test_a_fault_makes_a_policy_that_pauses_everything(changes: dict[str, Any]) -> None:
    parsed = policy(**changes)
    assert parsed.is_malformed
    assert parsed.mode == "always_pause"
    assert parsed.max_minutes is None


@pytest.mark.parametrize("config", ["text", 7, [], {"autonomy": None}, {"autonomy": []}])
def test_what_is_no_policy_is_a_fault(config: object) -> None:
    assert parse_policy(config).is_malformed


def test_all_faults_are_named_at_once() -> None:
    assert len(policy(default_mode="x", private_repo_allowlist=[1], thresholds={"destructive_ops": "x"}).faults) == 3


def test_a_digest_is_of_what_is_said_and_not_of_how_or_by_whom() -> None:
    one = {"b": 1, "a": {"d": 2, "c": [3]}}
    assert policy_digest(one) == policy_digest({"a": {"c": [3], "d": 2}, "b": 1, "auth": "signed"})
    assert policy_digest(one) != policy_digest({"b": 1})
    assert policy_digest({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"


def test_what_no_json_holds_has_a_digest_too() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert len({policy_digest(one) for one in (loop, {"a": date(2026, 1, 1)}, {1: 2, "a": 3}, None)}) == 4
