"""What is fuzzed: readers of bytes that nobody vouches for, each as a function that raises where one misbehaves.

Whoever drives them (atheris with coverage, hypothesis, the mutator of ``tests.fuzz.seeds``) only makes bytes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from restante.autonomy.evaluate import evaluate
from restante.autonomy.policy import parse_policy
from restante.autonomy.profile import Profile, Unparsable, extract_profile
from restante.domain.errors import Damaged, Unreadable
from restante.stores.oacp.audit_file import facts_of, parse_record, quick_facts, render_record
from restante.stores.oacp.quick import quick_fields
from restante.stores.oacp.reading import MOST_DEPTH, NotYaml, read_fields, read_typed, read_yaml
from restante.stores.oacp.rendering import render
from restante.stores.oacp.trailer import MOST_AUTH, split_trailer
from restante.stores.oacp.validating import validate
from restante.system.signing.encoding import BadAuth
from restante.system.signing.jose import MESSAGE, check_auth, trailer_line, unseal

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)
_THRESHOLDS = {
    "max_estimated_minutes": 45,
    "max_expected_files_touched": 5,
    "external_side_effects": "allow_pr_artifacts",
    **dict.fromkeys(("destructive_ops", "auth_config_or_secrets", "dependency_changes"), "pause"),
    **dict.fromkeys(("public_visibility", "git_push_or_deploy"), "pause"),
}
_CONFIG = {"default_mode": "auto_review", "auto_review_thresholds": _THRESHOLDS, "allow_without_task_profile": []}
POLICY = parse_policy({"autonomy": _CONFIG})


def load(text: str) -> object:
    """Read YAML as the gate does."""
    return read_typed(text.encode("utf-8", "surrogatepass"))


def wire(raw: bytes) -> None:
    """Read a message, by both readers, check it, and render what is valid again."""
    try:
        fields = read_fields(raw)
    except NotYaml:
        return
    _check_depth(fields)
    quick = quick_fields(raw.decode())
    assert quick is None or quick == read_yaml(raw), "the quick reader reads otherwise than YAML"
    problems = validate(fields, raw)
    assert all(problems)
    if not problems:
        said: dict[str, Any] = {name: value for name, value in fields.items() if name != "auth"}
        again = {name: value for name, value in read_fields(render(said)).items() if value != ""}
        assert again == {name: value for name, value in said.items() if value != ""}, "rendering changed a message"


def trailer(raw: bytes) -> None:
    """Take a signed message apart, and look into the signature."""
    parts = split_trailer(raw)
    assert parts.state in ("ok", "malformed", "absent")
    if parts.state == "ok":
        assert parts.prefix + trailer_line(parts.value) == raw
        assert 0 < len(parts.value) <= MOST_AUTH
    else:
        assert (parts.prefix, parts.value) == (raw, "")
    for text in (parts.value, raw.decode("latin-1")):
        assert check_auth(text) is None or isinstance(check_auth(text), str)
        try:
            entries = unseal(text, MESSAGE)
        except BadAuth:
            continue
        assert 0 < len(entries) <= 8


def profile(raw: bytes) -> None:
    """Find and read a profile in a body."""
    body = raw.decode("utf-8", "replace")
    found = extract_profile(body, load)
    assert found is None or isinstance(found, Profile | Unparsable)
    if isinstance(found, Profile):
        minutes = found.values["estimated_minutes"]
        assert isinstance(minutes, int)
        assert 0 <= minutes <= 10**15
        _check_depth(found.declared)


def gate(raw: bytes) -> None:
    """Evaluate a message with a body; the stricter stops only ever stop more."""
    body = raw.decode("utf-8", "replace")
    message = {"id": "msg-1", "from": "iris", "to": "codex", "type": "task_request", "priority": "P2"}
    message |= {"created_at_utc": "2026-10-01T11:00:00Z", "subject": "s", "body": body}
    told = [
        evaluate(message, "0" * 64, POLICY, [], now=NOW, receiver="codex", load=load, strict=strict).decision
        for strict in (False, True)
    ]
    accepted = [one["decision"] == "auto_accepted" for one in told]
    assert not (accepted[1] and not accepted[0])
    for one, yes in zip(told, accepted, strict=True):
        assert one["reason_codes"]
        assert not yes or one["scope_envelope"] is not None
        render_record(one)


def record(raw: bytes) -> None:
    """Read an audit record; what is read can be written, and the quick look sees the same."""
    try:
        found = parse_record(raw)
    except Damaged:
        return
    quick = quick_facts(raw)
    assert quick is None or quick == facts_of(found), "the quick look sees another record"
    try:
        again = render_record(found)
    except Damaged:
        return
    assert parse_record(again) == found


def policy(raw: bytes) -> None:
    """Read a receiver's policy; what is malformed accepts nothing."""
    try:
        config = read_typed(raw, unique=True)
    except Unreadable:
        return
    assert len(parse_policy(config).digest) == 64


def _check_depth(value: object, depth: int = 0) -> None:
    assert depth <= MOST_DEPTH + 2, "deeper than anything may be"
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        _check_depth(one, depth + 1)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "wire": wire,
    "trailer": trailer,
    "profile": profile,
    "gate": gate,
    "record": record,
    "policy": policy,
}
