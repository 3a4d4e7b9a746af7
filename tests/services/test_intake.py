"""The reader: one read, verified before it is parsed; every way to fail leaves the message where it is."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.autonomy.fixtures import ROOT, load, needs_fixtures
from tests.oacp import make_tree
from tests.trusted import (
    ENFORCE,
    SIGNING,
    TrustedHome,
    letter,
    mode_of,
    published_cases,
    read_yaml,
)

from restante.autonomy.evaluate import evaluate
from restante.autonomy.policy import parse_policy
from restante.services.intake import read_verified
from restante.stores.oacp.audit import FOLDER, AuditStore
from restante.stores.oacp.evidence import OwnInbox
from restante.stores.oacp.layout import Tree
from restante.stores.oacp.ledger import Ledger
from restante.system.signing.jose import trailer_line
from restante.wiring.trusting import OacpWire, audits_of

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.intake import Intake
    from restante.ports.intake import Admission

INTAKE = ROOT / "intake"
KEYS = [
    "path",
    "verify_mode",
    "policy_error",
    "held",
    "message_auth",
    "message_sha256",
    "snapshot_path",
    "validation_errors",
    "message",
    "disposition",
    "quarantine_copy",
    "error",
]


@pytest.fixture
def home(tmp_path: Path) -> TrustedHome:
    return TrustedHome(tmp_path)


def inbox_of(home: TrustedHome, receiver: str = "dave", project: str = "demo") -> OwnInbox:
    return OwnInbox(Tree(home.path), project, receiver, home.clock)


def take(home: TrustedHome, reference: Path | str, *, receiver: str = "dave", snapshot: str = "") -> Intake:
    desk = home.desk(receiver)
    inbox = inbox_of(home, receiver)
    return read_verified(str(reference), inbox, desk, OacpWire(), snapshot=snapshot, dispose=True)


def letters(home: TrustedHome, receiver: str = "dave") -> list[Path]:
    return sorted((home.agent(receiver) / "dead_letter").iterdir())


def test_an_accepted_message_is_shown_without_its_signature_and_kept_as_it_was_read(home: TrustedHome) -> None:
    home.trusting()
    path = home.deliver(home.signed())
    snapshot = home.root / "private.yaml"
    taken = take(home, path, snapshot=str(snapshot))
    report = taken.report()
    assert taken.exit_code == 0
    assert list(report) == KEYS
    assert report["message_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert snapshot.read_bytes() == path.read_bytes()
    assert mode_of(snapshot) == 0o600
    assert isinstance(report["message"], dict)
    assert "auth" not in report["message"]
    assert report["message"]["body"] == "what there is to say"
    assert (report["held"], report["validation_errors"], report["disposition"]) == (False, [], None)


def test_a_message_may_be_named_by_its_file_alone(home: TrustedHome) -> None:
    path = home.deliver(letter())
    taken = take(home, path.name)
    assert (taken.exit_code, taken.mode) == (0, "off")
    assert taken.report()["message_auth"] is None


def test_a_held_message_shows_nothing_of_itself_and_is_kept_as_evidence(home: TrustedHome) -> None:
    home.trusting()
    raw = home.signed().replace(b"what there is", b"rm -rf /; it is")
    path = home.deliver(raw)
    snapshot = home.root / "private.yaml"
    taken = take(home, path, snapshot=str(snapshot))
    report = taken.report()
    assert taken.exit_code == 3
    assert (report["held"], report["message"], report["disposition"]) == (True, None, "reject")
    assert "rm -rf" not in str(report)
    assert path.read_bytes() == raw
    assert not snapshot.exists()
    (copy,) = letters(home)
    assert copy.read_bytes() == raw
    assert mode_of(copy) == 0o600
    assert report["quarantine_copy"] == str(copy)
    auth = report["message_auth"]
    assert isinstance(auth, dict)
    assert auth["quarantine_copy"] == str(copy)
    digest = hashlib.sha256(raw).hexdigest()
    assert copy.name == f"{path.name}.{digest[:8]}.20261001T120000Z"


def test_evidence_of_the_same_bytes_is_kept_once_however_often_they_are_looked_at(home: TrustedHome) -> None:
    home.configure(ENFORCE)
    path = home.deliver(letter())
    first = take(home, path)
    home.clock.sleep(90)
    assert take(home, path).quarantine == first.quarantine
    assert len(letters(home)) == 1
    path.write_bytes(letter(body="something else"))
    assert take(home, path).quarantine != first.quarantine
    assert len(letters(home)) == 2


def test_without_being_asked_to_the_reader_keeps_no_evidence(home: TrustedHome) -> None:
    home.configure(ENFORCE)
    path = home.deliver(letter())
    taken = read_verified(str(path), inbox_of(home), home.desk(), OacpWire())
    assert (taken.exit_code, taken.disposition, letters(home)) == (3, None, [])


def test_nothing_is_parsed_of_a_message_that_is_held(home: TrustedHome) -> None:
    class NoWire(OacpWire):
        def parse(self, raw: bytes) -> dict[str, object]:
            raise AssertionError(raw)

    home.configure(ENFORCE)
    path = home.deliver(b"[" * 1000)
    assert read_verified(str(path), inbox_of(home), home.desk(), NoWire()).exit_code == 3


def test_a_policy_that_cannot_be_used_holds_even_what_would_be_proven(home: TrustedHome) -> None:
    home.trusting()
    path = home.deliver(home.signed())
    home.configure("signing: {verify_mode: enforced}\n")
    taken = take(home, path)
    assert (taken.exit_code, taken.mode) == (3, "enforce")
    assert "'enforced' is none of off, warn, enforce" in str(taken.policy_error)


@pytest.mark.parametrize("mode", ["off", "warn"])
def test_a_message_that_is_not_as_it_should_be_is_shown_with_what_is_wrong(home: TrustedHome, mode: str) -> None:
    home.configure(f"signing: {{verify_mode: {mode}}}\n")
    taken = take(home, home.deliver(letter(priority="P9", channel="no such/channel")))
    assert taken.exit_code == 4
    assert len(taken.errors) == 2
    assert taken.fields is not None


@pytest.mark.parametrize(
    "raw", [b"][", b"- a\n", b"a: " + b"[" * 5000, b"\xff\xfe", b"x" * 1_048_577, b"a: &a [1]\nb: *a\n", b""]
)
def test_what_is_no_message_is_an_error_and_is_still_kept_as_it_was_read(home: TrustedHome, raw: bytes) -> None:
    path = home.deliver(raw)
    snapshot = home.root / "private.yaml"
    taken = take(home, path, snapshot=str(snapshot))
    if raw:
        assert taken.exit_code == 2
        assert taken.report()["error"]
        assert snapshot.read_bytes() == raw
    else:
        assert taken.exit_code == 4
    assert path.read_bytes() == raw


def test_links_are_not_followed(home: TrustedHome) -> None:
    secret = home.root / "secret.yaml"
    secret.write_bytes(letter())
    path = home.agent() / "inbox" / "20261001120000_alice_notification_0a1b.yaml"
    path.symlink_to(secret)
    taken = take(home, path)
    assert taken.exit_code == 2
    assert taken.report() == {"path": str(path), "held": False, "message": None, "error": taken.error}
    assert "symbolic link" in str(taken.error)


@pytest.mark.parametrize(
    "where", ["archive", "other agent", "elsewhere", "up", "directory", "fifo", "no yaml", "hidden"]
)
def test_only_a_waiting_file_of_ones_own_inbox_is_read(home: TrustedHome, where: str) -> None:
    path = home.deliver(letter())
    inbox = path.parent
    if where == "archive":
        path = path.rename(inbox / "archive" / path.name)
    elif where == "other agent":
        path = path.rename(home.agent("carl") / "inbox" / path.name)
    elif where == "elsewhere":
        path = path.rename(home.root / path.name)
    elif where == "up":
        (inbox.parent / path.name).write_bytes(letter())
        path = inbox / ".." / path.name
    elif where == "directory":
        path.unlink()
        path.mkdir()
    elif where == "fifo":
        path.unlink()
        os.mkfifo(path)
    elif where == "no yaml":
        path = path.rename(path.with_suffix(".txt"))
    else:
        path = path.rename(inbox / f".{path.name}")
    taken = take(home, path)
    assert (taken.exit_code, taken.fields) == (2, None)


def test_an_inbox_that_is_a_link_is_not_entered(home: TrustedHome) -> None:
    path = home.deliver(letter())
    path.parent.rename(home.root / "moved")
    path.parent.symlink_to(home.root / "moved")
    assert take(home, path).exit_code == 2


def test_a_snapshot_replaces_nothing_and_follows_nothing(home: TrustedHome) -> None:
    path = home.deliver(letter())
    there = home.root / "there.yaml"
    there.write_text("kept", encoding="utf-8")
    link = home.root / "link.yaml"
    link.symlink_to(home.root / "target.yaml")
    for snapshot in (there, link, home.root / "no" / "such" / "place.yaml"):
        taken = take(home, path, snapshot=str(snapshot))
        assert (taken.exit_code, taken.snapshot) == (2, None)
    assert there.read_text(encoding="utf-8") == "kept"
    assert not (home.root / "target.yaml").exists()


def test_what_was_accepted_is_what_was_read_and_not_what_lies_there_later(home: TrustedHome) -> None:
    home.trusting()
    path = home.deliver(home.signed())

    class Swapping(OacpWire):
        def parse(self, raw: bytes) -> dict[str, object]:
            path.write_bytes(letter(body="swapped"))
            return super().parse(raw)

    taken = read_verified(str(path), inbox_of(home), home.desk(), Swapping())
    assert taken.fields is not None
    assert taken.fields["body"] == "what there is to say"
    assert taken.digest != hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_message_of_another_project_is_held_for_an_addressee_of_the_same_name(home: TrustedHome) -> None:
    make_tree(home.root, "other", "alice", "dave")
    home.trusting()
    home.trusting(project="other")
    path = home.deliver(home.signed())
    carried = home.agent(project="other") / "inbox" / path.name
    carried.write_bytes(path.read_bytes())
    assert take(home, path).exit_code == 0
    inbox = inbox_of(home, project="other")
    assert read_verified(str(carried), inbox, home.desk(project="other"), OacpWire()).exit_code == 3


# The gate, as far as these corpora need one: read, then evaluate what was read, then write it down.


def gate(home: TrustedHome, path: Path, config: object, book: AuditStore) -> tuple[Intake, Admission | None]:
    taken = take(home, path)
    if taken.is_held:
        return taken, None
    message = taken.fields or {}
    errors = taken.gate_errors

    def judge(history: Any) -> dict[str, object]:
        return evaluate(
            message,
            taken.digest,
            parse_policy(config),
            history,
            now=home.clock.now(),
            receiver="dave",
            load=load,
            validation_errors=errors,
        ).decision

    return taken, book.admit(message, judge, now=home.clock.now(), payload_digest=taken.payload_digest)


@needs_fixtures
@pytest.mark.parametrize("case", published_cases(INTAKE / "expected"), ids=lambda path: path.stem)
def test_a_published_intake_ends_as_published(home: TrustedHome, case: Path) -> None:
    value = read_yaml(case)
    expected = value["expected"]
    home.configure((INTAKE / value["config"]).read_text(encoding="utf-8"))
    pins = home.agent() / "trust"
    pins.mkdir()
    (pins / "allowed_signers.yaml").write_bytes((SIGNING / "pins" / "allowed_signers.yaml").read_bytes())
    source = INTAKE / value["message"]
    path = home.deliver(source.read_bytes(), name=source.name)
    taken, admission = gate(home, path, read_yaml(INTAKE / value["config"]), audits_of(home.path, "demo", "dave"))
    assert (0 if admission else 3) == expected["exit_code"]
    assert ("proceed" if admission else "reject") == expected["intake_action"]
    assert (len(letters(home)) > 0) == expected["quarantined"]
    label = expected["annotation_label"]
    told = taken.verified.annotation if taken.verified else None
    assert told == label or (label and f"[oacp-auth] {label}" in str(told))
    records = home.agent() / "audit" / "autonomy_decisions"
    assert len(list(records.glob("*.yaml"))) == (1 if admission else 0)


def test_the_intake_corpus_is_whole() -> None:
    if ROOT.is_dir():
        assert len(published_cases(INTAKE / "expected")) == 13


MATRIX = (
    [
        (path, name)
        for path in published_cases(INTAKE / "expected" / "body_schema")
        for name in read_yaml(path)["expected"]
    ]
    if ROOT.is_dir()
    else []
)


def matrix_message(kind: str, case: dict[str, Any], valid: str) -> dict[str, Any]:
    body = case.get("body", valid)
    if "repeat_body" in case:
        body = "x" * case["repeat_body"]
    if "append_body" in case:
        body = body.rstrip("\n") + "\n" + case["append_body"]
    fields: dict[str, Any] = {
        "id": "msg-20260914120000-carol-0001",
        "from": "carol",
        "to": "dave",
        "type": kind,
        "priority": "P2",
        "created_at_utc": "2026-09-14T12:00:00Z",
        "subject": "a body",
        "body": body,
        **case.get("set", {}),
    }
    return {name: value for name, value in fields.items() if name not in case.get("remove", [])}


def matrix_bytes(home: TrustedHome, fields: dict[str, Any], signing: str) -> bytes:
    import yaml

    prefix = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True).encode()
    if signing == "absent":
        return prefix
    raw = home.signed(prefix, "carol")
    if signing == "malformed":
        return prefix + trailer_line("AAAA")
    if signing == "nonfinal":
        return raw[len(prefix) :] + prefix
    return raw


@needs_fixtures
def test_the_matrix_of_bodies_is_whole() -> None:
    assert len(MATRIX) == 192


@needs_fixtures
@pytest.mark.parametrize(("path", "name"), MATRIX, ids=lambda value: value if isinstance(value, str) else value.stem)
def test_a_published_row_of_the_matrix_ends_as_published(home: TrustedHome, path: Path, name: str) -> None:
    sheet = read_yaml(path)
    source = read_yaml(INTAKE / "body_schema.yaml")
    case, expected = source["cases"][name], sheet["expected"][name]
    kind, mode = sheet["message_type"], sheet["mode"]
    made = home.key("carol")
    home.trust().add(made.public_stub_path, "dave")
    config = read_yaml(INTAKE / "configs" / f"{mode}.yaml")
    config["autonomy"]["allow_without_task_profile"] = [] if case.get("require_profile") else [kind]
    if case.get("always_pause"):
        config["autonomy"]["default_mode"] = "always_pause"
    home.configure(f"signing: {{verify_mode: '{mode}'}}\n")
    fields = matrix_message(kind, case, source["valid_bodies"][kind])
    raw = matrix_bytes(home, fields, case.get("signing", ""))
    taken, admission = gate(home, home.deliver(raw), config, AuditStore(home.path, FOLDER, "dave"))
    if expected["decision"] == "intake_rejected":
        assert (taken.exit_code, admission) == (3, None)
        return
    assert admission is not None
    auth = [one for one in taken.errors if one.startswith("field 'auth'")]
    assert [one for one in taken.errors if one not in auth] == expected["validation_errors"]
    at_gate = [one for one in taken.gate_errors if one in auth]
    assert (bool(auth), bool(at_gate)) == {
        None: (False, False),
        "framing": (True, False),
        "structure": (True, True),
    }[expected.get("auth_error")]
    record = admission.record
    assert record["decision"] == expected["decision"]
    codes = record["reason_codes"]
    assert isinstance(codes, list)
    assert expected["reason"] is None or codes[0] == expected["reason"]


def test_a_message_that_was_accepted_is_a_replay_even_when_all_records_are_gone(home: TrustedHome) -> None:
    home.trusting()
    config = {**(read_yaml(INTAKE / "configs" / "enforce.yaml") if ROOT.is_dir() else CONFIG)}
    path = home.deliver(home.signed())
    taken, first = gate(home, path, config, audits_of(home.path, "demo", "dave"))
    assert first is not None
    assert first.record["decision"] == "auto_accepted"
    records = home.agent() / "audit" / "autonomy_decisions"
    for one in list(records.iterdir()):
        one.unlink()
    _, second = gate(home, path, config, audits_of(home.path, "demo", "dave"))
    assert second is not None
    assert second.is_replay
    assert second.record["reason_codes"] == ["message_replayed"]
    assert not list(records.glob("*.yaml"))
    assert Ledger(home.path).is_spent(taken.payload_digest, "demo", "dave")


@pytest.mark.parametrize("mode", ["off", "warn"])
def test_without_signatures_the_memory_holds_too_and_a_signature_that_is_taken_off_deceives_nobody(
    home: TrustedHome, mode: str
) -> None:
    home.key()
    home.configure(f"signing: {{verify_mode: '{mode}'}}\n")
    raw = home.signed()
    book = audits_of(home.path, "demo", "dave")
    _, first = gate(home, home.deliver(raw), CONFIG, book)
    assert first is not None
    assert not first.is_replay
    for one in (home.agent() / "audit" / "autonomy_decisions").glob("*.yaml"):
        one.unlink()
    bare = home.deliver(raw[: raw.rindex(b"auth: ")], name="20261001120001_alice_notification_ffff.yaml")
    _, second = gate(home, bare, CONFIG, book)
    assert second is not None
    assert second.is_replay


def test_the_same_words_under_a_doubled_signature_are_the_same_message(home: TrustedHome) -> None:
    import json

    from restante.system.signing.encoding import decode, encode

    home.trusting()
    raw = home.signed()
    start = raw.rindex(b"auth: ")
    entries = json.loads(decode(raw[start + 7 : -2].decode()))["signatures"]
    twice = json.dumps({"signatures": entries * 2}, sort_keys=True, separators=(",", ":")).encode()
    doubled = raw[:start] + trailer_line(encode(twice))
    assert home.desk().verify(doubled).is_verified
    book = audits_of(home.path, "demo", "dave")
    _, first = gate(home, home.deliver(raw), CONFIG, book)
    assert first is not None
    assert not first.is_replay
    for one in (home.agent() / "audit" / "autonomy_decisions").glob("*.yaml"):
        one.unlink()
    _, second = gate(home, home.deliver(doubled, name="20261001120001_alice_notification_ffff.yaml"), CONFIG, book)
    assert second is not None
    assert second.is_replay


CONFIG = {
    "autonomy": {
        "default_mode": "auto_review",
        "auto_review_thresholds": {
            "max_estimated_minutes": 45,
            "max_expected_files_touched": 5,
            "destructive_ops": "pause",
            "external_side_effects": "pause",
            "auth_config_or_secrets": "pause",
            "dependency_changes": "pause",
            "public_visibility": "pause",
            "git_push_or_deploy": "pause",
        },
        "allow_without_task_profile": ["notification"],
    }
}
