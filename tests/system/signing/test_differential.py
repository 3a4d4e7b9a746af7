"""One tree, two programs: keys, pins, signed mail, policies, evidence and audit records of either count for the other.

``tests/published.py`` says where the program is; without it these tests are skipped and say so.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests import published
from tests.autonomy.fixtures import load
from tests.trusted import ENFORCE, TrustedHome, letter

from restante.autonomy.evaluate import evaluate
from restante.autonomy.findings import sweep
from restante.autonomy.policy import parse_policy
from restante.stores.oacp.reading import read_fields
from restante.stores.oacp.trailer import split_trailer
from restante.stores.oacp.validating import validate
from restante.system.signing import keys
from restante.system.signing.jose import check_auth
from restante.system.signing.policy import sign_policy
from restante.wiring.trusting import OacpWire, audits_of, inbox_of

CLI = published.program()
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(published.reason_to_skip()), reason=published.reason_to_skip()),
]
THRESHOLDS = """
autonomy:
  default_mode: {mode}
  auto_review_thresholds:
    max_estimated_minutes: 45
    max_expected_files_touched: 5
    destructive_ops: pause
    external_side_effects: pause
    auth_config_or_secrets: pause
    dependency_changes: pause
    public_visibility: pause
    git_push_or_deploy: pause
  allow_without_task_profile: [notification]
"""


class Both:
    """A home that the published program made."""

    def __init__(self, root: Path) -> None:
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), "OACP_HOME": str(root / "home")}
        self.root = root / "home"
        self.run("init", "demo", "--agents", "alice,dave,carl", "--json")
        self.ours = TrustedHome(self.root)
        self.ours.clock = Now()  # type: ignore[assignment]
        for agent in ("alice", "dave", "carl"):
            self.ours.agent(agent).joinpath("config.yaml").unlink(missing_ok=True)

    def run(self, *argv: str, code: int | None = 0, text: str | None = None, program: list[str] | None = None) -> str:
        done = subprocess.run(
            [*(program or [CLI]), *argv], capture_output=True, text=True, check=False, env=self.environment, input=text
        )
        assert code is None or done.returncode == code, done.stderr + done.stdout
        return done.stdout

    def json(self, *argv: str, code: int | None = 0) -> Any:
        return json.loads(self.run(*argv, "--json", code=code))

    def gate(self, path: Path, code: int = 0) -> Any:
        python = Path(CLI).with_name("python")
        where = "import oacp, os; print(os.path.join(os.path.dirname(oacp.__file__), '_scripts', 'autonomy_gate.py'))"
        script = self.run("-c", where, program=[str(python)]).strip()
        agent = self.ours.agent()
        argv = ["--config", str(agent / "config.yaml"), "--message", str(path), "--receiver", "dave"]
        argv += ["--oacp-dir", str(self.root), "--audit-dir", str(agent / "audit" / "autonomy_decisions")]
        return json.loads(self.run(script, *argv, code=code, program=[str(python)]))

    def our_gate(self, path: Path) -> Any:
        raw = path.read_bytes()
        fields = read_fields(raw)
        fields.pop("auth", None)
        config = load((self.ours.agent() / "config.yaml").read_text(encoding="utf-8"))
        now = self.ours.clock.now()

        def judge(history: Any) -> dict[str, object]:
            digest = hashlib.sha256(raw).hexdigest()
            return evaluate(fields, digest, parse_policy(config), history, now=now, receiver="dave", load=load).decision

        book = audits_of(str(self.root), "demo", "dave")
        return book.admit(fields, judge, now=now, payload_digest=hashlib.sha256(split_trailer(raw).prefix).hexdigest())

    def sent(self, **more: str) -> Path:
        argv = {"from": "alice", "to": "dave", "type": "notification", "subject": "a word", "body": "hello", **more}
        flags = [part for name, value in argv.items() for part in (f"--{name}", value)]
        return Path(self.json("send", "demo", *flags, "--sign")["inbox_path"])

    def sweep(self) -> Any:
        folder = self.ours.agent() / "audit" / "autonomy_decisions"
        return json.loads(self.run("autonomy", "finalize", str(folder), "--validate", "--sweep", "--json"))


class Now:
    """The clock on the wall, which the published program reads."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@pytest.fixture
def both(tmp_path: Path) -> Both:
    return Both(tmp_path)


def test_its_keys_pins_and_mail_count_for_us(both: Both) -> None:
    made = both.json("trust", "keygen", "--agent", "alice")
    both.run("trust", "import", made["public_stub_path"], "--project", "demo", "--agent", "dave")
    both.ours.configure(ENFORCE)
    path = both.sent()
    verified = both.ours.desk().verify(path.read_bytes(), path.name)
    assert verified.status == "verified"
    assert verified.auth["kid"] == made["kid"]
    assert [one.kid for one in keys.signing_keys(both.ours.path, "alice")] == [made["kid"]]
    assert both.ours.trust().listed() == both.json("trust", "list", "--project", "demo")


def test_our_keys_pins_and_mail_count_for_it(both: Both) -> None:
    made = both.ours.trusting()
    path = both.ours.deliver(both.ours.signed())
    told = both.json("verify", str(path), "--project", "demo", "--receiver", "dave")
    ours = both.ours.desk().verify(path.read_bytes(), path.name).auth
    assert {**told, "verified_at_utc": ""} == {**ours, "verified_at_utc": ""}
    assert list(told) == list(ours)
    (agent,) = both.json("inbox", "demo", "--agent", "dave")["agents"]
    assert (agent["verify_mode"], agent["messages"][0]["auth"]) == ("enforce", "verified")
    assert [one["kid"] for one in both.json("trust", "keys")] == [made.listed.kid]
    signed = both.sent()
    assert both.ours.desk().verify(signed.read_bytes(), signed.name).auth["kid"] == made.listed.kid


def test_both_sign_one_message_to_the_same_bytes(both: Both) -> None:
    both.ours.trusting()
    path = both.sent()
    raw = path.read_bytes()
    assert both.ours.signed(split_trailer(raw).prefix) == raw


def test_what_one_brings_in_or_revokes_the_other_knows(both: Both) -> None:
    made = both.ours.key()
    both.ours.trust().add(made.public_stub_path, "dave")
    both.ours.configure(ENFORCE)
    again = both.json("trust", "import", made.public_stub_path, "--project", "demo", "--agent", "dave")
    assert (again["catalog"], again["pins"]) == ("unchanged", "unchanged")
    theirs = both.json("trust", "keygen", "--agent", "carl")
    both.run("trust", "import", theirs["public_stub_path"], "--project", "demo", "--agent", "dave")
    assert both.ours.trust().add(theirs["public_stub_path"], "dave").pins == "unchanged"
    both.ours.trust().revoke(made.listed.kid, "dave")
    path = both.sent()
    assert both.json("verify", str(path), "--project", "demo", "--receiver", "dave", code=3)["status"] == "revoked"
    both.run("trust", "revoke", theirs["kid"], "--project", "demo", "--all-receivers")
    assert both.ours.trust().revoke(theirs["kid"]).receivers == {"dave": "unchanged"}


def test_policies_that_one_signed_the_other_believes_and_holds_to(both: Both) -> None:
    both.ours.trusting()
    both.ours.key("dave")
    sign_policy(both.ours.place(), both.ours.clock.now(), split_trailer)
    path = both.sent()
    (agent,) = both.json("inbox", "demo", "--agent", "dave")["agents"]
    assert "policy_error" not in agent
    assert agent["messages"][0]["auth"] == "verified"
    config = both.ours.agent() / "config.yaml"
    good = config.read_bytes()
    config.write_bytes(split_trailer(good).prefix)
    (agent,) = both.json("inbox", "demo", "--agent", "dave")["agents"]
    assert "stripping" in agent["policy_error"]
    config.write_bytes(split_trailer(good).prefix)
    both.run("trust", "sign-policy", "--project", "demo", "--agent", "dave")
    assert both.ours.desk().rules.auth.status == "verified"
    assert both.ours.desk().verify(path.read_bytes(), path.name).is_verified
    carl = both.json("trust", "keygen", "--agent", "carl")
    both.ours.trust().add(carl["public_stub_path"], "dave")
    (agent,) = both.json("inbox", "demo", "--agent", "dave")["agents"]
    assert agent["messages"][0]["auth"] == "verified", "pins that we changed are signed again"


def test_hundreds_of_broken_messages_prove_the_same_to_both(both: Both) -> None:
    both.ours.trusting(config=ENFORCE + "restante: {strict_audience: false}\n")
    raw = both.ours.signed()
    choose = random.Random(7)
    folder = both.root / "broken"
    folder.mkdir()
    paths = []
    for number in range(400):
        changed = bytearray(raw)
        for _ in range(choose.choice((1, 1, 1, 2, 5))):
            place = (
                choose.randrange(len(changed)) if choose.random() < 0.6 else choose.randrange(len(raw) - 9, len(raw))
            )
            what = choose.randrange(3)
            if what == 0:
                changed[place % len(changed)] = choose.choice(b'AQgw-_=" \n\r\x00\xff{}a')
            elif what == 1:
                del changed[place % len(changed)]
            else:
                changed.insert(place, choose.choice(b'AQgw-_=" \n\r\x00\xff{}a'))
        path = folder / f"{number}.yaml"
        path.write_bytes(changed)
        paths.append(path)
    listing = "".join(f"{path}\n" for path in paths)
    told = both.run("verify", "--batch", "--project", "demo", "--receiver", "dave", text=listing)
    rows = [json.loads(line) for line in told.splitlines()]
    assert len(rows) == len(paths)
    desk = both.ours.desk()
    for path, row in zip(paths, rows, strict=True):
        ours = desk.verify(path.read_bytes()).auth
        if "JSON" in str(row["reason"]):
            row["reason"] = ours["reason"]  # the words are the JSON library's
        row.pop("path")
        assert {**row, "verified_at_utc": ""} == {**ours, "verified_at_utc": "", "reason": row["reason"]}, path
        if "audience" not in str(ours["reason"]):
            assert row["reason"] == ours["reason"]


def test_it_finds_nothing_wrong_with_our_records_and_sees_a_replay_in_them(both: Both) -> None:
    both.ours.trusting(config=ENFORCE + THRESHOLDS.format(mode="auto_review"))
    path = both.sent()
    done = both.our_gate(path)
    assert done.record["decision"] == "auto_accepted"
    report = both.sweep()
    assert report["records"][done.name] == []
    assert both.gate(path)["reason_codes"] == ["message_replayed"]
    record = both.ours.agent() / "audit" / "autonomy_decisions" / done.name
    argv = ["verify", str(path), "--project", "demo", "--receiver", "dave", "--attach-audit", str(record)]
    both.run(*argv, "--json")
    assert audits_of(both.ours.path, "demo", "dave").read(done.name)["result"]["message_auth"]  # type: ignore[index]
    assert both.sweep()["records"][done.name] == []


def test_we_see_a_replay_in_its_records_and_find_nothing_wrong(both: Both) -> None:
    both.ours.trusting(config=ENFORCE + THRESHOLDS.format(mode="auto_review"))
    path = both.sent()
    assert both.gate(path)["decision"] == "auto_accepted"
    assert both.our_gate(path).is_replay
    assert not sweep(audits_of(both.ours.path, "demo", "dave").all()).has_errors


def test_each_replaces_and_adopts_what_the_other_wrote(both: Both) -> None:
    both.ours.trusting(config=ENFORCE + THRESHOLDS.format(mode="always_pause"))
    path = both.sent()
    first = both.our_gate(path)
    adopted = both.gate(path)
    assert adopted["decision"] == "paused"
    folder = both.ours.agent() / "audit" / "autonomy_decisions"
    assert len(list(folder.glob("*.yaml"))) == 1, "it adopts our record"
    both.ours.configure(ENFORCE + THRESHOLDS.format(mode="always_pause").replace("45", "44"))
    both.gate(path)
    assert len(list(folder.glob("*.yaml"))) == 2
    book = audits_of(both.ours.path, "demo", "dave")
    assert book.read(first.name)["result"]["final_state"] == "superseded"  # type: ignore[index]
    assert both.our_gate(path).is_adopted, "we adopt its record"
    both.ours.configure(ENFORCE + THRESHOLDS.format(mode="auto_review"))
    last = both.our_gate(path)
    assert len(last.superseded) == 1
    report = both.sweep()
    assert not any(report["records"].values())
    assert report["duplicate_groups"] == []
    assert not sweep(book.all()).has_errors


def test_evidence_that_one_kept_the_other_does_not_keep_again(both: Both) -> None:
    from restante.services.intake import read_verified

    both.ours.trusting(config=ENFORCE + THRESHOLDS.format(mode="auto_review"))
    path = both.ours.deliver(letter())
    told = both.gate(path, code=3)
    inbox = inbox_of(both.ours.path, "demo", "dave")
    taken = read_verified(str(path), inbox, both.ours.desk(), OacpWire(), dispose=True)
    assert taken.quarantine == told["quarantine_copy"]
    letters = [one for one in (both.ours.agent() / "dead_letter").iterdir() if one.name != ".gitkeep"]
    assert len(letters) == 1


def test_both_find_the_same_wrong_with_a_message(both: Both) -> None:
    both.ours.trusting()
    good = both.ours.signed()
    for number, raw in enumerate(
        [good, good[:-1], good + b"\n", letter(to="[alice]"), letter(priority="P7"), letter()]
    ):
        path = both.root / f"{number}.yaml"
        path.write_bytes(raw)
        done = subprocess.run(
            [CLI, "validate", str(path), "--quiet"],
            capture_output=True,
            text=True,
            check=False,
            env=both.environment,
        )
        told = [line[7:] for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        assert validate(read_fields(raw), raw, check_auth=check_auth) == told
