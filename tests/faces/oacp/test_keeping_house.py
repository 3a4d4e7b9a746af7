"""``trust pin-script``, ``doctor --fix`` and the profiles of agents."""

from __future__ import annotations

import hashlib
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests import published

from restante.domain.errors import Refused, Unreadable
from restante.stores.oacp.reading import read_policy
from restante.stores.oacp.scripts import pin_script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Told

    Oacp = Callable[..., Told]

DIGEST = "5" * 64


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "finish.sh"
    path.write_text("#!/bin/sh\necho done\n")
    return path


def pin(oacp: Oacp, script: object, *words: str, agent: str = "codex") -> Told:
    return oacp("trust", "pin-script", script, "--project", "demo", "--agent", agent, "--json", *words)


def test_a_script_is_pinned_by_what_it_is(oacp: Oacp, demo: Path, script: Path) -> None:
    config = demo / "agents" / "codex" / "config.yaml"
    before = config.read_text()
    (told,) = pin(oacp, script, "--env", "FOO").json
    assert (told["outcome"], told["pins"], told["signed"], told["enrolled"]) == ("added", 1, False, False)
    assert told["sha256"] == hashlib.sha256(script.read_bytes()).hexdigest()
    assert config.read_text().startswith(before)
    pins = yaml.safe_load(config.read_text())["envelope"]["trusted_scripts"]
    assert pins == [{"path": str(script), "sha256": told["sha256"], "env": ["FOO"]}]
    script.write_text("#!/bin/sh\necho other\n")
    (again,) = pin(oacp, script).json
    assert (again["outcome"], again["pins"], again["env"]) == ("refreshed", 1, [])
    assert config.read_text().startswith(before)


def test_a_signed_policy_is_signed_again_and_a_changed_one_is_not_vouched_for(
    oacp: Oacp, demo: Path, script: Path
) -> None:
    config = demo / "agents" / "codex" / "config.yaml"
    kid = oacp("trust", "keygen", "--agent", "codex", "--json").json["kid"]
    (told,) = pin(oacp, script).json
    assert (told["signed"], told["enrolled"], told["signer_kids"]) == (True, True, [kid])
    config.write_text(config.read_text().replace("always_pause", "auto_review"))
    changed = config.read_text()
    told = pin(oacp, script)
    assert (told.code, config.read_text()) == (1, changed)
    assert "sign-policy vouches for it as it is" in told.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("relative.sh", "--project", "demo", "--agent", "codex"), 1),
        (("/nowhere.sh", "--project", "demo", "--agent", "codex"), 1),
        (("SCRIPT", "--project", "demo", "--agent", "nobody"), 1),
        (("SCRIPT", "--project", "demo", "--agent", "codex", "--env", "a-b"), 1),
        (("SCRIPT", "--agent", "codex"), 2),
        (("SCRIPT", "--project", "demo", "--all-projects", "--agent", "codex"), 2),
    ],
)
def test_what_cannot_be_pinned_changes_nothing(
    oacp: Oacp, demo: Path, script: Path, words: tuple[str, ...], code: int
) -> None:
    config = demo / "agents" / "codex" / "config.yaml"
    before = config.read_bytes()
    assert oacp("trust", "pin-script", *(str(script) if one == "SCRIPT" else one for one in words)).code == code
    assert config.read_bytes() == before


def test_all_projects_are_those_with_a_policy(oacp: Oacp, demo: Path, script: Path) -> None:
    assert oacp("init", "other", "--agents", "codex").code == 0
    assert oacp("init", "third", "--agents", "alice").code == 0
    told = oacp("trust", "pin-script", script, "--all-projects", "--agent", "codex", "--json")
    assert [one["project"] for one in told.json] == ["demo", "other"]


POLICIES = (
    "",
    "# only a remark\n",
    "autonomy: {default_mode: always_pause}",
    "envelope: {trusted_scripts: []}\nautonomy:\n  default_mode: always_pause\n",
    "a: 1\nenvelope:\n  # mine\n  trusted_scripts:\n  - path: /x\n    sha256: " + "a" * 64 + "\n\n# end\nb: 2\n",
    "envelope:\n  trusted_scripts:\n- bad\n",
    "envelope:\n\n\nz: |\n  envelope: no\n",
    "z: |\n  text\nenvelope:\n    other: 1\n",
)


@given(st.sampled_from(POLICIES), st.sampled_from(["/x", "~/y", "/a b: c", "/#", "/é\u2028", "/'\""]))
def test_a_policy_keeps_what_it_said(text: str, path: str) -> None:
    try:
        done = pin_script(text.encode(), path, DIGEST, ["A"])
    except (Refused, Unreadable):
        assert "bad" in text
        return
    before, after = read_policy(text.encode()) if text.strip() else None, read_policy(done.text)
    assert isinstance(after, dict)
    rest = {key: value for key, value in after.items() if key != "envelope"}
    assert rest == {key: value for key, value in (before or {}).items() if key != "envelope"}  # type: ignore[attr-defined]
    assert after["envelope"]["trusted_scripts"][-1] == {"path": path, "sha256": DIGEST, "env": ["A"]}
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in done.text.decode().split("\n") if line.startswith("#")
    ]


@pytest.mark.e2e
@pytest.mark.skipif(bool(published.reason_to_skip()), reason=published.reason_to_skip())
def test_the_original_takes_our_pins_and_we_take_its(oacp: Oacp, demo: Path, home: Path, script: Path) -> None:
    def theirs(*words: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "OACP_HOME": str(home)}
        return subprocess.run([published.program(), *words], capture_output=True, text=True, env=env, check=False)

    oacp("trust", "keygen", "--agent", "codex")
    pin(oacp, script, "--env", "FOO")
    words = ("trust", "pin-script", str(script), "--project", "demo", "--agent", "codex", "--json")
    done = theirs(*words)
    assert '"outcome": "refreshed"' in done.stdout, done.stderr
    (ours,) = pin(oacp, script).json
    assert (ours["outcome"], ours["pins"], ours["signed"]) == ("refreshed", 1, True)
    told = theirs("doctor", "--project", "demo", "--json").stdout
    assert "1 of 1 pin(s) current" in told
    assert "policy signature verified" in told


def test_the_doctor_mends_what_is_safe(oacp: Oacp, demo: Path) -> None:
    inbox = demo / "agents" / "codex" / "inbox"
    (inbox / "archive" / ".gitkeep").unlink()
    (inbox / "archive").rmdir()
    (inbox / ".gitkeep").unlink()
    inbox.rmdir()
    status = demo / "agents" / "alice" / "status.yaml"
    kept = "# mine\nruntime: claude\nstatus: busy\ncapabilities: []\n"
    status.write_text(f'{kept}updated_at: "2020-01-01T00:00:00Z"\n')
    told = oacp("doctor", "--project", "demo", "--fix", "--json")
    fixed = ["Created codex/inbox/", "Updated alice/status.yaml timestamp", "Created codex/status.yaml"]
    assert (told.code, told.json["fixed"]) == (0, fixed)
    assert (inbox / "archive").is_dir()
    assert status.read_text().startswith(kept)
    worst = {one["name"]: one["worst_severity"] for one in told.json["categories"]}
    assert (worst["Agent Status"], worst["Schemas"], worst["Inbox Health"]) == ("ok", "ok", "ok")
    assert oacp("doctor", "--project", "demo", "--fix", "--json").json["fixed"] == []


def test_the_doctor_follows_no_link_and_says_so(oacp: Oacp, demo: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.yaml"
    target.write_text('updated_at: "2020-01-01T00:00:00Z"\n')
    (demo / "agents" / "alice" / "status.yaml").symlink_to(target)
    told = oacp("doctor", "--project", "demo", "--fix")
    assert told.code == 1
    assert target.read_text() == 'updated_at: "2020-01-01T00:00:00Z"\n'


def test_the_doctor_names_malformed_and_stale_status(oacp: Oacp, demo: Path) -> None:
    (demo / "agents" / "alice" / "status.yaml").write_text("status: gone\n")
    (demo / "agents" / "codex" / "status.yaml").write_text("a: [")
    told = oacp("doctor", "--project", "demo")
    assert told.code == 1
    for words in ("missing required field 'runtime'", "status 'gone' not in", "codex/status.yaml: parse error"):
        assert words in told.out


def test_a_folder_of_records_that_others_do_not_see_is_named(oacp: Oacp, home: Path) -> None:
    last = oacp("doctor", "--audit-dir", "/x/mine", "--json").json["categories"][-1]
    assert (last["name"], last["worst_severity"]) == ("Audit", "warn")
    last = oacp("doctor", "--audit-dir", "/x/autonomy_decisions/", "--json").json["categories"][-1]
    assert last["worst_severity"] == "ok"


def test_profiles_are_made_shown_and_brought_up_to_date(oacp: Oacp, demo: Path, home: Path) -> None:
    (home / "agents" / "alice" / "profile.yaml").unlink()
    assert "missing from instance registry" in oacp("doctor").out
    assert "3 agent(s); created 1, updated 0, unchanged 2" in (
        oacp("agent", "init", "zoe", "--runtime", "codex").out + oacp("agent", "sync").out
    )
    assert "unchanged 3" in oacp("agent", "sync").out
    assert yaml.safe_load((home / "agents" / "alice" / "profile.yaml").read_text())["projects"] == ["demo"]
    assert oacp("agent", "init", "zoe", "--runtime", "claude").out.startswith("Profile already exists (unchanged)")
    assert yaml.safe_load(oacp("agent", "show", "zoe").out)["runtime"] == "codex"
    (demo / "agents" / "alice" / "agent_card.yaml").write_text('description: "who writes"\nmodel: ""\n')
    assert yaml.safe_load(oacp("agent", "show", "alice", "--project", "demo").out)["description"] == "who writes"
    assert oacp("agent", "show", "nobody").code == 1
    assert oacp("agent", "init", "../x", "--runtime", "codex").code == 1
