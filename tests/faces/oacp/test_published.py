"""The published corpora through the verbs, as any other program of the format would be asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.autonomy.fixtures import AUTONOMY, ROOT, cases, covers, needs_fixtures, read
from tests.services.test_intake import matrix_bytes, matrix_message
from tests.trusted import TrustedHome

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Told

pytestmark = needs_fixtures

EXACT = (
    *("decision", "mode", "reason_codes", "matched_pattern", "breached", "co_occurring_reason_codes"),
    *("admission_axes", "pause_classification", "expected_pause_codes", "unplanned_pause_codes"),
    "scope_envelope_source",
)
WITHIN = ("continuation_grant", "result", "task_profile", "scope_envelope")
PINS = ROOT / "signing" / "pins" / "allowed_signers.yaml"


def each(folder: Path) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases(folder), ids=lambda path: path.stem)


@each(AUTONOMY / "expected")
def test_the_gate_decides_as_published(case: Path, oacp: Callable[..., Told], home: Path) -> None:
    told, want = read(case), read(case)["expected"]
    audits = home / "autonomy_decisions"
    audits.mkdir()
    for name in told.get("audits") or []:
        shutil.copy(AUTONOMY / name, audits)
    words = ["--config", AUTONOMY / told["config"], "--message", AUTONOMY / told["message"], "--receiver", "codex"]
    words += ["--oacp-dir", home, "--audit-dir", audits]
    words += ["--actuals", AUTONOMY / told["actuals"]] if told.get("actuals") else []
    words += ["--now", str(told["now"])] if told.get("now") else []
    answer = oacp("gate", *words)
    assert answer.code == 0, answer.err
    got = answer.json
    assert {key: got.get(key) for key in EXACT if key in want} == {key: want[key] for key in EXACT if key in want}
    assert all(covers(want[key], got.get(key)) for key in WITHIN if key in want)
    if "logged_notes" in want:
        noted = [one.get("matched_pattern") for one in got["logged_notes"]]
        assert noted == [one["matched_pattern"] for one in want["logged_notes"]]


def test_the_sweep_finds_in_the_published_records_what_is_published(oacp: Callable[..., Told], home: Path) -> None:
    want = read(AUTONOMY / "records" / "expected_findings.yaml")
    folder = home / "autonomy_decisions"
    folder.mkdir()
    for name in want:
        shutil.copy(AUTONOMY / "records" / name, folder)
    answer = oacp("autonomy", "finalize", folder, "--validate", "--sweep", "--json")
    found = {name: sorted(one["code"] for one in each) for name, each in answer.json["records"].items()}
    assert found == {name: sorted(codes) for name, codes in want.items()}
    assert len(found) == 37
    assert answer.code == 2


def test_signatures_prove_what_is_published(oacp: Callable[..., Told]) -> None:
    told = [read(case) for case in cases(ROOT / "signing" / "expected")]
    paths = "".join(f"{ROOT / 'signing' / one['message']}\n" for one in told)
    answer = oacp("verify", "--batch", "--pins", PINS, given=paths)
    verdicts = [json.loads(line) for line in answer.out.splitlines()]
    assert answer.code == 0
    assert len(verdicts) == len(told) == 22
    for one, verdict in zip(told, verdicts, strict=True):
        want = {key: value for key, value in one["expected"]["message_auth"].items() if key != "trust_source"}
        assert {key: verdict[key] for key in want} == want, one["case"]


@each(ROOT / "signing" / "expected")
def test_signed_messages_are_validated_as_published(case: Path, oacp: Callable[..., Told]) -> None:
    told = read(case)
    answer = oacp("validate", ROOT / "signing" / told["message"], "--quiet")
    errors = [line.removeprefix("ERROR: ") for line in answer.err.splitlines()]
    assert errors == told["expected"]["validate_errors"]
    assert answer.code == bool(errors)


@each(ROOT / "intake" / "expected")
def test_intake_does_what_is_published(case: Path, oacp: Callable[..., Told], home: Path) -> None:
    told, want = read(case), read(case)["expected"]
    agent = home / "projects" / "intake-conformance" / "agents" / "dave"
    for name in ("inbox", "trust"):
        (agent / name).mkdir(parents=True)
    shutil.copy(ROOT / "intake" / told["config"], agent / "config.yaml")
    shutil.copy(PINS, agent / "trust" / "allowed_signers.yaml")
    message = agent / "inbox" / Path(told["message"]).name
    message.write_bytes((ROOT / "intake" / told["message"]).read_bytes())
    answer = oacp("gate", "--config", agent / "config.yaml", "--message", message, "--receiver", "dave")
    letters = list((agent / "dead_letter").iterdir()) if (agent / "dead_letter").is_dir() else []
    label = want["annotation_label"]
    assert answer.code == want["exit_code"]
    assert len(letters) == want["quarantined"]
    assert f"[oacp-auth] {label}" in answer.err if label else "[oacp-auth]" not in answer.err
    # Looking again keeps no second copy of the same evidence.
    oacp("gate", "--config", agent / "config.yaml", "--message", message, "--receiver", "dave")
    assert [one.name for one in letters] == ([one.name for one in (agent / "dead_letter").iterdir()] if letters else [])


SHEETS = cases(ROOT / "intake" / "expected" / "body_schema")


@pytest.mark.slow
@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.stem)
def test_the_gate_ends_every_row_of_the_matrix_of_bodies_as_published(
    sheet: Path, oacp: Callable[..., Told], tmp_path: Path
) -> None:
    told, source = read(sheet), read(ROOT / "intake" / "body_schema.yaml")
    kind, mode = told["message_type"], told["mode"]
    assert len(told["expected"]) == 32
    home = TrustedHome(tmp_path / "matrix")
    made = home.key("carol")
    home.trust().add(made.public_stub_path, "dave")
    config = read(ROOT / "intake" / "configs" / f"{mode}.yaml")
    for name, want in told["expected"].items():
        case = source["cases"][name]
        config["autonomy"]["allow_without_task_profile"] = [] if case.get("require_profile") else [kind]
        config["autonomy"]["default_mode"] = "always_pause" if case.get("always_pause") else "auto_review"
        policy = home.configure(yaml.safe_dump(config))
        raw = matrix_bytes(home, matrix_message(kind, case, source["valid_bodies"][kind]), case.get("signing", ""))
        message = home.deliver(raw)
        answer = oacp("gate", "--config", policy, "--message", message, "--receiver", "dave", "--oacp-dir", home.path)
        got = answer.json
        assert got["decision"] == want["decision"], name
        assert answer.code == (3 if want["decision"] == "intake_rejected" else 0), name
        assert want["reason"] is None or got["reason_codes"][0] == want["reason"], name


@each(ROOT / "envelope" / "expected")
def test_envelopes_are_compiled_as_published(
    case: Path, oacp: Callable[..., Told], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, want = read(case), read(case)["expected"]
    receiver = told.get("receiver") or "claude"
    adapter = told.get("adapter") or {"runtime": "claude"}
    agent = home / "projects" / "test-proj" / "agents" / receiver
    (agent / "inbox").mkdir(parents=True)
    shutil.copy(ROOT / "envelope" / told["config"], agent / "config.yaml")
    shutil.copy(ROOT / "envelope" / told["message"], agent / "inbox" / "m.yaml")
    if adapter.get("runtime"):
        (agent / "agent_card.yaml").write_text(f"runtime: {adapter['runtime']}\n")
    repo, binaries = home / "repo", home / "bin"
    (repo / ".claude").mkdir(parents=True)
    binaries.mkdir()
    hook = {"type": "command", "command": "oacp-envelope-hook"}
    if adapter.get("registered", True):
        content = json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
        (repo / ".claude" / "settings.json").write_text("{broken" if adapter.get("probe_error") else content)
    elif adapter.get("probe_error"):
        (repo / ".claude" / "settings.json").write_text("{broken")
    if adapter.get("console_on_path", True):
        (binaries / "oacp-envelope-hook").write_text("#!/bin/sh\n")
        (binaries / "oacp-envelope-hook").chmod(0o755)
    monkeypatch.setenv("PATH", f"{binaries}:/usr/bin:/bin")
    marker = {"project_name": "test-proj", "repo_path": str(repo)}
    (home / "projects" / "test-proj" / "workspace.json").write_text(json.dumps(marker))
    answer = oacp(
        *("envelope", "compile", agent / "inbox" / "m.yaml", "--receiver", receiver, "--project", "test-proj", "--json")
    )
    if want["compiles"]:
        assert answer.code == 0, answer.err
        assert covers(want["envelope"], answer.json)
        assert oacp("envelope", "show", "--receiver", receiver, "--project", "test-proj").json == answer.json
        assert (agent / "state" / "active_envelope.json").stat().st_mode & 0o777 == 0o600
        assert oacp("envelope", "clear", "--receiver", receiver, "--project", "test-proj").code == 0
        assert oacp("envelope", "show", "--receiver", receiver, "--project", "test-proj").code == 1
    else:
        assert answer.code == 3
        assert want["error"] in answer.err
