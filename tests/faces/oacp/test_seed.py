"""The shell of the check-inbox skill that fleets use, run with ``oacp`` leading to us.

The text is not ours and stays outside of the repository: it is looked for beside it, or where RESTANTE_TEST_OACP_SEED
says. Its pieces are found by their first and last lines and run as they stand.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Told

SEED = Path(
    os.environ.get("RESTANTE_TEST_OACP_SEED") or ROOT.parent / "shared" / "seeds" / "3-oacp-check-inbox-skill.txt"
)
pytestmark = [
    pytest.mark.skipif(not SEED.is_file(), reason=f"NOT TESTED: the check-inbox skill is not at {SEED}"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="NOT TESTED: no bash"),
]
READER = "import os, sys\nos.execvp('oacp', ['oacp', 'read', *sys.argv[1:]])\n"
SHASUM = '#!/bin/sh\n# shasum -a 256 FILE, where Perl is missing\nshift 2\nexec sha256sum "$@"\n'


class Skill:
    """The skill's pieces of shell, and a place to run them in."""

    def __init__(self, home: Path, place: Path) -> None:
        self.text = SEED.read_text(encoding="utf-8")
        self.home = home
        self.place = place
        self.bin = place / "bin"
        scripts = place / "skill" / "scripts"
        scripts.mkdir(parents=True)
        (scripts / "read_verified_message.py").write_text(READER)
        self.bin.mkdir()
        # The launcher as it is installed: beside the interpreter that runs it.
        (self.bin / "python").symlink_to(sys.executable)
        shutil.copy(ROOT / "scripts" / "restante", self.bin / "restante")
        (self.bin / "python").unlink()
        (self.bin / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (self.bin / "python").chmod(0o755)
        (self.bin / "oacp").symlink_to("restante")
        (self.bin / "python3").symlink_to("python")
        if shutil.which("shasum") is None:
            (self.bin / "shasum").write_text(SHASUM)
            (self.bin / "shasum").chmod(0o755)

    def piece(self, first: str, last: str) -> str:
        """Return the lines from one that begins so to the next that is so."""
        found = re.search(rf"^{re.escape(first)}.*?^{re.escape(last)}$", self.text, re.MULTILINE | re.DOTALL)
        assert found, (first, last)
        return found[0]

    def run(self, script: str, **variables: object) -> subprocess.CompletedProcess[str]:
        """Run shell with these variables set."""
        env = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": str(self.place),
            "OACP_HOME": str(self.home),
            "TMPDIR": str(self.place),
            "LANG": "C.UTF-8",
            **{name: str(value) for name, value in variables.items()},
        }
        return subprocess.run(
            ["bash", "--norc", "-c", script], cwd=self.place, env=env, capture_output=True, text=True, timeout=60
        )


@pytest.fixture
def skill(home: Path, tmp_path: Path) -> Skill:
    """The skill in an empty place."""
    place = tmp_path / "place"
    place.mkdir()
    return Skill(home, place)


@pytest.fixture
def message(demo: Path, oacp: Callable[..., Told]) -> Path:
    """A notification of alice's to codex; its file."""
    told = oacp(
        *("send", "demo", "--from", "alice", "--to", "codex", "--type", "notification"),
        *("--subject", "About it", "--body", "It is done.", "--json"),
    )
    assert told.code == 0, told.err
    return Path(told.json["inbox_path"])


def test_the_runtime_is_found_new_enough(skill: Skill) -> None:
    check = skill.piece("command -v oacp >/dev/null", "PY")
    done = skill.run(check)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_watcher_is_offered_its_flags_and_told_once(skill: Skill, message: Path) -> None:
    watch = skill.piece("WATCH_HELP=", "fi").replace("<stable-subscriber-id>", "one")
    first = skill.run(watch, PROJECT="demo", OACP_ROOT=skill.home)
    assert first.returncode == 0, first.stderr
    (event,) = [json.loads(line) for line in first.stdout.splitlines()]
    assert (event["event"], event["file"]) == ("new_message", message.name)
    assert skill.run(watch, PROJECT="demo", OACP_ROOT=skill.home).stdout == ""


@pytest.mark.parametrize("marker", [".oacp", "workspace.json"])
def test_project_and_inbox_are_found(skill: Skill, message: Path, demo: Path, marker: str) -> None:
    (skill.place / marker).symlink_to(demo / "workspace.json")
    script = (
        skill.piece('PROJECT="$(python3', ')"')
        + "\n"
        + skill.piece("OACP_ROOT=", 'command rm -f -- "${INBOX_JSON_FILE}"')
    )
    done = skill.run(f'{script}\ntest -d "$INBOX_DIR" && printf "%s %s" "$PROJECT" "$INBOX_DIR"')
    assert (done.returncode, done.stdout) == (0, f"demo {message.parent}")
    section = skill.text[skill.text.index("3. Verify") :]
    listing = re.search(r"^oacp inbox [^\n]*\npython3 - .*?^PY$", section, re.MULTILINE | re.DOTALL)
    assert listing
    listed = skill.run(listing[0], PROJECT="demo", OACP_ROOT=skill.home, INBOX_JSON_FILE=skill.place / "inbox.json")
    assert listed.stdout.split() == [str(message)]


def read(skill: Skill, message: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    script = "\n".join(
        (
            skill.piece("MESSAGE_TMP_DIR=", '  >"$MESSAGE_VIEW_JSON" || READER_RC=$?'),
            'printf "rc=%s\\n" "$READER_RC"',
            'cat "$MESSAGE_VIEW_JSON"',
            more,
        )
    )
    return skill.run(
        *(script,), MSG_FILE=message, PROJECT="demo", OACP_ROOT=skill.home, SKILL_DIR=skill.place / "skill"
    )


def test_a_message_is_read_verified_with_its_snapshot(skill: Skill, message: Path) -> None:
    fields = skill.piece('python3 - "$MESSAGE_VIEW_JSON"', "PY")
    cleanup = skill.piece("oacp_snapshot_cleanup() {", "}")
    kept = 'stat -c "%a" "$MESSAGE_SNAPSHOT_RAW"; cmp "$MESSAGE_SNAPSHOT_RAW" "$MSG_FILE" && echo same'
    after = 'oacp_snapshot_cleanup; test -e "$MESSAGE_TMP_DIR" || echo gone'
    done = read(skill, message, f"printf '\\n--\\n'\n{fields}\n{kept}\n{cleanup}\n{after}")
    assert done.returncode == 0, done.stderr
    head, _, rest = done.stdout.partition("\n--\n")
    code, _, view = head.partition("\n")
    assert code == "rc=0"
    accepted = json.loads(view)
    assert accepted["validation_errors"] == []
    assert len(accepted["message_sha256"]) == 64
    shown, *facts = rest.splitlines()
    assert json.loads(shown) == accepted["message"]
    assert facts == ["600", "same", "gone"]


def test_a_held_message_is_rejected_with_evidence(skill: Skill, message: Path, demo: Path) -> None:
    (demo / "agents" / "codex" / "config.yaml").write_text("signing: {verify_mode: enforce}\n")
    code, _, view = read(skill, message).stdout.partition("\n")
    held = json.loads(view)
    assert code == "rc=3"
    assert held["disposition"] == "reject"
    assert Path(held["quarantine_copy"]).parent == demo / "agents" / "codex" / "dead_letter"
    assert held["message"] is None
    assert message.exists()


def test_a_malformed_message_is_told_apart(skill: Skill, message: Path) -> None:
    message.write_text("id: m\nfrom: alice\n")
    code, _, view = read(skill, message).stdout.partition("\n")
    assert code == "rc=4"
    assert json.loads(view)["validation_errors"]


def test_the_replies_keep_their_thread_and_the_archive_takes_the_bytes(skill: Skill, message: Path, demo: Path) -> None:
    import hashlib

    raw = message.read_bytes()
    parent = re.search(rb"^id: (.*)$", raw, re.MULTILINE)
    thread = re.search(rb"^conversation_id: (.*)$", raw, re.MULTILINE)
    assert parent
    assert thread
    templates = re.findall(r"^oacp send .*?--in-reply-to \"\$\{MSG_ID\}\"$", skill.text, re.MULTILINE | re.DOTALL)
    assert len(templates) == 2
    words = {"MSG_FROM": "alice", "MSG_SUBJECT": "About it", "REPLY_BODY": "Seen.", "MSG_ID": parent[1].decode()}
    for template in templates:
        done = skill.run(template, PROJECT="demo", OACP_ROOT=skill.home, **words)
        assert done.returncode == 0, done.stderr
    replies = [one.read_bytes() for one in (demo / "agents" / "alice" / "inbox").glob("*.yaml")]
    assert len(replies) == 2
    assert all(b"conversation_id: " + thread[1] in reply for reply in replies)
    archive = skill.piece("oacp_archive() {", "}")
    call = re.search(
        r"^oacp_archive \"\$INBOX_DIR\".*?\"\$ACCEPTED_MESSAGE_SHA256\"$", skill.text, re.MULTILINE | re.DOTALL
    )
    assert call
    digest = hashlib.sha256(raw).hexdigest()
    done = skill.run(
        f"{archive}\n{call[0]}", INBOX_DIR=message.parent, MSG_FILE=message, ACCEPTED_MESSAGE_SHA256=digest
    )
    assert done.stdout == f"ARCHIVED: {message.parent}/archive/{message.name}\n"
    assert (message.parent / "archive" / message.name).read_bytes() == raw
