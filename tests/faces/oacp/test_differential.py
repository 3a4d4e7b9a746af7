"""One tree, two programs, verb by verb: what either wrote, the other lists, reads, gates and sweeps alike.

``tests/published.py`` says where the program is; without it these tests are skipped and say so.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests import published
from tests.autonomy.fixtures import HARMLESS, with_profile
from tests.inboxes import AUTO_REVIEW

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Told

CLI = published.program()
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(published.reason_to_skip()), reason=published.reason_to_skip()),
]
# Times, chance and places differ between two calls of one program, too.
_OWN = ("evaluation_id", "evaluator", "runtime", "created_at_utc")
LIST = ("inbox", "demo", "--agent", "codex", "--json")


class Both:
    """A tree, and both programs."""

    def __init__(self, home: Path, ours: Callable[..., Told]) -> None:
        self.home = home
        self.ours = ours
        self.agent = home / "projects" / "demo" / "agents" / "codex"

    def theirs(self, *words: object, program: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "OACP_HOME": str(self.home)}
        return subprocess.run(
            [*(program or [CLI]), *map(str, words)], capture_output=True, text=True, env=env, timeout=60, check=False
        )

    def their_gate(self, message: Path, audits: Path) -> subprocess.CompletedProcess[str]:
        python = Path(CLI).with_name("python")
        (script,) = python.parent.parent.glob("lib/python*/site-packages/oacp/_scripts/autonomy_gate.py")
        words = ("--config", self.agent / "config.yaml", "--message", message, "--audit-dir", audits)
        return self.theirs(*words, "--receiver", "codex", program=[str(python), str(script)])

    def our_gate(self, message: Path, audits: Path) -> Told:
        words = ("--config", self.agent / "config.yaml", "--message", message, "--audit-dir", audits)
        return self.ours("gate", *words, "--receiver", "codex")


@pytest.fixture(params=["ours", "theirs"])
def both(request: pytest.FixtureRequest, home: Path, oacp: Callable[..., Told]) -> Both:
    """A tree that one of them made."""
    tree = Both(home, oacp)
    words = ("init", "demo", "--agents", "alice,codex", "--json")
    if request.param == "ours":
        assert oacp(*words).code == 0
    else:
        assert tree.theirs(*words).returncode == 0
    return tree


def send(both: Both, program: str, body: str, kind: str = "task_request") -> Path:
    words = ("send", "demo", "--from", "alice", "--to", "codex", "--type", kind, "--subject", "About it")
    if program == "ours":
        return Path(both.ours(*words, "--body", body, "--json").json["inbox_path"])
    return Path(json.loads(both.theirs(*words, "--body", body, "--json").stdout)["inbox_path"])


def shared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("from", "type", "priority", "subject", "created_at_utc", "age", "path")
    return sorted(({name: row[name] for name in names} for row in rows), key=lambda row: str(row["path"]))


def test_both_list_and_validate_what_either_sent(both: Both) -> None:
    paths = [send(both, program, "It is: #1\n  two\n", "notification") for program in ("ours", "theirs")]
    mine = both.ours(*LIST).json
    yours = json.loads(both.theirs(*LIST).stdout)
    assert shared(mine["agents"][0]["messages"]) == shared(yours["agents"][0]["messages"])
    assert {key: value for key, value in mine["agents"][0].items() if key != "messages"} == {
        key: value for key, value in yours["agents"][0].items() if key != "messages"
    }
    for path in paths:
        assert both.ours("validate", path).out == both.theirs("validate", path).stdout == f"OK: {path}\n"
        ours, theirs = (
            both.ours("verify", path, "--json").json,
            json.loads(both.theirs("verify", path, "--json").stdout),
        )
        assert {**ours, "verified_at_utc": ""} == {**theirs, "verified_at_utc": ""}


def test_both_watch_with_one_cursor(both: Both) -> None:
    words = ("watch", "--project", "demo", "--agent", "codex", "--since", "epoch", "--json")
    first = send(both, "theirs", "one", "notification")
    told = both.ours(*words).out
    assert json.loads(told)["file"] == first.name
    assert both.theirs(*words).stdout == ""
    second = send(both, "ours", "two", "notification")
    event = json.loads(both.theirs(*words).stdout)
    assert event["file"] == second.name
    assert list(event) == list(json.loads(told))
    assert both.ours(*words).out == ""


@pytest.mark.parametrize("program", ["ours", "theirs"])
@pytest.mark.parametrize(
    ("text", "profile"),
    [
        ("Update one paragraph.", HARMLESS),
        ("Update one paragraph.", {**HARMLESS, "estimated_minutes": 400}),
        ("Then run rm -rf build and deploy it.", HARMLESS),
        ("No profile at all.", None),
    ],
)
def test_both_decide_alike_whoever_sent_it(
    both: Both, tmp_path: Path, program: str, text: str, profile: dict[str, Any] | None
) -> None:
    (both.agent / "config.yaml").write_text(AUTO_REVIEW.replace("strict: true", "strict: false"))
    message = send(both, program, text if profile is None else with_profile(text, profile))
    mine = both.our_gate(message, tmp_path / "mine" / "autonomy_decisions")
    (tmp_path / "theirs").mkdir()
    yours = both.their_gate(message, tmp_path / "theirs" / "autonomy_decisions")
    assert (mine.code, yours.returncode) == (0, 0), mine.err + yours.stderr
    ours, theirs = mine.json, json.loads(yours.stdout)
    assert set(ours) == set(theirs)
    assert {key: one for key, one in ours.items() if key not in _OWN} == {
        key: one for key, one in theirs.items() if key not in _OWN
    }
    assert theirs["decision"] == (
        "auto_accepted" if (text, profile) == ("Update one paragraph.", HARMLESS) else "paused"
    )


def test_each_goes_on_with_the_others_records(both: Both) -> None:
    (both.agent / "config.yaml").write_text("autonomy:\n  default_mode: always_pause\n")
    audits = both.agent / "audit" / "autonomy_decisions"
    first, second = send(both, "ours", "a"), send(both, "theirs", "b")
    assert both.our_gate(first, audits).code == 0
    assert both.their_gate(second, audits).returncode == 0
    # The same evaluation again is adopted by either.
    assert both.their_gate(first, audits).returncode == 0
    assert both.our_gate(second, audits).code == 0
    records = sorted(audits.glob("*.yaml"))
    assert len(records) == 2
    for record in records:
        began = yaml.safe_load(record.read_text())["created_at_utc"]
        mine = record.name.endswith(f"{yaml.safe_load(first.read_text())['id']}.yaml")
        decided = ("autonomy", "outcome", record, "--decision", "approved", "--actor", "kim")
        done = ("--final-state", "done", "--started-at", began, "--actual-files-touched", "1")
        ended = ("autonomy", "finalize", record, *done)
        if mine:
            assert both.theirs(*decided).returncode == 0
            assert both.theirs(*ended).returncode == 0, both.theirs(*ended).stderr
        else:
            assert both.ours(*decided).code == 0
            assert both.ours(*ended).code == 0, both.ours(*ended).err
    sweep = ("autonomy", "finalize", audits, "--validate", "--sweep", "--json")
    yours = both.theirs(*sweep)
    assert yours.returncode == 0, yours.stdout
    assert both.ours(*sweep).json["records"] == json.loads(yours.stdout)["records"]


def test_their_doctor_finds_our_tree_sound(both: Both) -> None:
    send(both, "ours", "a", "notification")
    told = both.theirs("doctor", "--project", "demo", "--json")
    assert told.returncode == 0, told.stdout
    assert both.ours("doctor", "--project", "demo").code == 0
