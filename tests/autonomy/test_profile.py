"""The profile in a message's prose: which block counts, what it must say, what it may not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.autonomy.fixtures import HARMLESS, load, with_profile

from restante.autonomy.profile import Profile, Unparsable, extract_profile, normalize_profile, profile_block


def read(body: str) -> Profile:
    profile = extract_profile(body, load)
    assert isinstance(profile, Profile)
    return profile


def test_a_block_outside_fences_comes_before_one_inside() -> None:
    body = "```yaml\ntask_profile:\n  a: 1\n```\n\n  task_profile:\n    b: 2\n\n    c: 3\nend\n"
    assert profile_block(body) == "task_profile:\n  b: 2\n\n  c: 3\n"


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "```yaml"])
def test_a_block_inside_a_fence_counts_where_there_is_no_other(fence: str) -> None:
    closing = fence.removesuffix("yaml")
    assert profile_block(f"text\n{fence}\ntask_profile:\n  a: 1\n{closing}\n") == "task_profile:\n  a: 1\n"


def test_the_first_of_several_blocks_counts() -> None:
    assert profile_block("task_profile:\n  a: 1\ntask_profile:\n  b: 2\n") == "task_profile:\n  a: 1\n"


@pytest.mark.parametrize(
    "body", ["", "no profile", "my_task_profile:", "task_profile", "task_profile:x", "- task_profile:"]
)
def test_prose_is_no_profile(body: str) -> None:
    assert profile_block(body) is None
    assert extract_profile(body, load) is None


def test_a_profile_with_carriage_returns_is_read() -> None:
    assert read(with_profile("x").replace("\n", "\r\n")).is_complete


def test_every_flag_is_there_and_what_was_not_declared_is_false() -> None:
    profile = read("task_profile: {estimated_minutes: 1, expected_files_touched: 0, risk_tier: P0}")
    assert not profile.is_complete
    assert list(profile.values) == [
        "estimated_minutes",
        "expected_files_touched",
        "risk_tier",
        "target_repo",
        "destructive_ops",
        "external_side_effects",
        "touches_auth_config_or_secrets",
        "touches_dependencies",
        "public_visibility",
        "creates_or_updates_pr",
        "comments_on_github",
        "commits_changes",
        "merges_pr",
        "files_issues",
        "sends_oacp_reply_only",
        "continuation_grants",
    ]
    assert profile.values["merges_pr"] is False


def test_optional_keys_are_kept_only_where_they_were_declared() -> None:
    declared = normalize_profile({**HARMLESS, "sends_oacp_reply": "True", "lunch": 1})
    assert isinstance(declared, Profile)
    assert declared.values["sends_oacp_reply"] is True
    assert "lunch" not in declared.values
    assert declared.declared == {**HARMLESS, "sends_oacp_reply": "True", "lunch": 1}
    assert declared.is_complete


@pytest.mark.parametrize(
    "changes",
    [
        {"estimated_minutes": "20"},
        {"estimated_minutes": True},
        {"estimated_minutes": -1},
        {"estimated_minutes": 1.5},
        {"estimated_minutes": 10**40},
        {"expected_files_touched": None},
        {"risk_tier": "P4"},
        {"risk_tier": []},
        {"destructive_ops": "no"},
        {"merges_pr": 1},
        {"sends_oacp_reply": "maybe"},
        {"target_repo": "repo"},
        {"target_repo": ["a/b"]},
        {"continuation_grants": [1]},
        {"continuation_grants": {"a": object()}},
        {"continuation_grants": {1: 2}},
        {"continuation_grants": {"a": [[0] * 1000] * 1000}},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_profile_that_cannot_be_meant_is_unparsable(changes: dict[Any, Any]) -> None:
    assert isinstance(normalize_profile({**HARMLESS, **changes}), Unparsable)


@pytest.mark.parametrize("block", ["task_profile: [", "task_profile: text", "task_profile:", "task_profile: {a: b: c}"])
def test_a_block_that_is_no_mapping_is_unparsable(block: str) -> None:
    assert isinstance(extract_profile(block, load), Unparsable)


def test_whatever_the_reader_raises_makes_a_block_unparsable() -> None:
    def fails(text: str) -> object:
        raise RecursionError(text)

    assert extract_profile("task_profile:\n  a: 1\n", fails) == Unparsable("no YAML: RecursionError")


def test_a_bomb_of_aliases_is_unparsable() -> None:
    lines = ["task_profile:", *(f"  {key}: {value}" for key, value in HARMLESS.items()), "  continuation_grants:"]
    lines.append("    a0: &a0 [x, x, x, x, x, x, x, x, x]")
    lines += [f"    a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert extract_profile("\n".join(lines), load) == Unparsable("the profile is too large")


@pytest.mark.parametrize(
    ("pauses", "known", "warnings"),
    [
        (["dependency_changes_pause", "lunch", 7], ("dependency_changes_pause",), 2),
        (["strict_remote_code", "strict_remote_code"], ("strict_remote_code",), 0),
        ([], (), 0),
        ("lunch", None, 1),
        (None, None, 1),
    ],
)
def test_expected_pauses_that_are_no_codes_are_only_a_warning(pauses: object, known: object, warnings: int) -> None:
    profile = normalize_profile({**HARMLESS, "expected_pauses": pauses})
    assert isinstance(profile, Profile)
    assert profile.expected_pauses == known
    assert len(profile.warnings) == warnings
