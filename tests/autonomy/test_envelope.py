"""The runtime envelope: the ten published compilations, and what they leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.autonomy.fixtures import HARMLESS, NOW, ROOT, cases, covers, load, message, needs_fixtures, policy, read

from restante.autonomy.envelope import Compiled, compile_envelope, detect_adapter, with_counters
from restante.autonomy.policy import parse_policy

if TYPE_CHECKING:
    from pathlib import Path

ENVELOPE = ROOT / "envelope"
RESOLVED = detect_adapter("claude", has_console=True, is_registered=True)


def compiled(one: dict[str, Any], config: object = None, **changes: Any) -> Compiled:
    asked = {"project": "p", "receiver": "codex", "adapter": RESOLVED, "now": NOW, "load": load, **changes}
    return compile_envelope(one, "0" * 64, policy(), config, **asked)


@needs_fixtures
@pytest.mark.parametrize("path", cases(ENVELOPE / "expected"), ids=lambda path: path.stem)
def test_an_envelope_compiles_as_published(path: Path) -> None:
    case = read(path)
    found, wanted = case.get("adapter") or {"runtime": "claude"}, case["expected"]
    config = read(ENVELOPE / case["config"])
    adapter = detect_adapter(
        found["runtime"],
        has_console=found.get("console_on_path", True),
        is_registered=found.get("registered", True),
        fault="broken settings" if found.get("probe_error") else "",
    )
    got = compile_envelope(
        read(ENVELOPE / case["message"]),
        "0" * 64,
        parse_policy(config),
        config,
        load=load,
        project="test-proj",
        receiver=case.get("receiver", "claude"),
        adapter=adapter,
        now=NOW,
    )
    if wanted["compiles"]:
        assert covers(wanted["envelope"], got.envelope)
    else:
        assert got.envelope is None
        assert got.error


@needs_fixtures
def test_the_corpus_is_whole() -> None:
    assert len(cases(ENVELOPE / "expected")) == 10


def test_keys_stand_in_the_order_of_the_format() -> None:
    got = compiled(message(), adapter=detect_adapter("codex"))
    assert got.envelope is not None
    assert list(got.envelope) == [
        "envelope_version",
        "spec_version",
        "compiler",
        "compiled_at_utc",
        "project",
        "receiver",
        "message_id",
        "message_sha256",
        "constraints",
        "counters",
        "enforcement",
        "enforcement_reason",
        "adapter",
        "session_id",
    ]
    assert got.reason == "adapter_unsupported"
    constraints = got.envelope["constraints"]
    assert isinstance(constraints, dict)
    assert len(constraints) == 17


def test_a_public_task_that_a_person_let_in_has_no_envelope_and_says_why() -> None:
    public = message(profile={**HARMLESS, "public_visibility": True})
    approved = {"decision": "paused", "result": {"human_outcome": {"recorded": True, "decision": "approved"}}}
    waiting = {"decision": "paused", "result": {"human_outcome": {"recorded": False}}}
    assert compiled(public, admission=approved) == Compiled(None, reason="public_visibility_admission_approved")
    assert compiled(public, admission=waiting).envelope is not None
    assert compiled(public).envelope is not None


def test_a_type_that_needs_no_profile_gets_the_default_envelope() -> None:
    got = compiled(message(type="brainstorm_request", body="Think about it."))
    assert got.envelope is not None
    assert covers({"constraints": {"estimated_minutes": 25, "sends_oacp_reply_only": True}}, got.envelope)


@pytest.mark.parametrize("name", ["", "-x", "a b", "a/b", "x" * 129, 7])
def test_a_message_whose_id_can_name_no_envelope_is_refused(name: object) -> None:
    assert compiled(message(id=name)).error


@pytest.mark.parametrize(
    "scripts", ["x", [{"path": "a"}], [{"path": "a", "sha256": "zz"}], [{"path": "a", "sha256": "0" * 64, "more": 1}]]
)
def test_scripts_that_cannot_be_pinned_are_refused(scripts: object) -> None:
    assert compiled(message(), {"envelope": {"trusted_scripts": scripts}}).error


def test_trusted_scripts_are_part_of_the_constraints() -> None:
    scripts = [{"path": "run.sh", "sha256": "0" * 64, "env": ["CI"]}]
    got = compiled(message(), {"envelope": {"trusted_scripts": scripts}})
    assert covers({"constraints": {"trusted_scripts": scripts}}, got.envelope)


def test_an_envelope_that_extends_another_goes_on_counting() -> None:
    got = compiled(message())
    assert got.envelope is not None
    counted = with_counters(got.envelope, {"counters": {"files_touched": ["a.py"]}})
    assert counted["counters"] == {"files_touched": ["a.py"]}
    assert with_counters(got.envelope, {}) == got.envelope


@pytest.mark.parametrize(
    ("adapter", "state"),
    [
        (detect_adapter(None), "failed"),
        (detect_adapter("claude", fault="broken"), "failed"),
        (detect_adapter("codex", fault="broken"), "unsupported"),
        (detect_adapter("claude", has_console=True), "expected_missing"),
        (detect_adapter("claude", is_registered=True), "expected_missing"),
        (RESOLVED, "resolved"),
    ],
)
def test_an_adapter_says_what_is_missing(adapter: Any, state: str) -> None:
    assert adapter.state == state
    assert (adapter.reason is None) == (state == "resolved")
    assert (adapter.detail is None) == (state == "resolved")
