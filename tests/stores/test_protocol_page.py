"""docs/protocol.md promises that one can write a compatible program from it; its examples are run here."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from restante.agents.app_server_pipe import ALLOWED
from restante.domain.ids import is_well_formed
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Mark
from restante.domain.message import Priority, Scope
from restante.domain.receipt import Action, Decision
from restante.stores.worktree.grammar import Kind, scan
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.record import Record, WriteRecord
from restante.stores.worktree.store import WorktreeMailbox

if TYPE_CHECKING:
    from restante.testing import FakeClock, SequentialIds

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "protocol.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture
def mailbox(tmp_path: Path, clock: FakeClock, ids: SequentialIds) -> WorktreeMailbox:
    (tmp_path / ".git").mkdir()
    return WorktreeMailbox(find_worktree(str(tmp_path)), clock, ids)


def leave(root: Path, text: str) -> str:
    names: dict[str, Any] = {}
    exec(compile(example("python"), "protocol.md", "exec"), names)
    return str(names["leave"](str(root), text))


def test_the_example_of_a_message_is_one() -> None:
    found = scan(example("markdown").encode(), source="INBOX.md", kind=Kind.MESSAGE)
    assert found.faults == []
    (block,) = found.blocks
    assert block.complete
    assert block.body == "Leave the auth module alone. Ask me first."


def test_the_program_of_the_page_leaves_messages_that_are_read(mailbox: WorktreeMailbox, tmp_path: Path) -> None:
    first = leave(tmp_path, "First: mind the tests.")
    second = leave(tmp_path, "Ünïcode, too.")
    assert is_well_formed(first, "msg")
    entries = mailbox.entries(pending_only=True)
    assert [(entry.message.id, entry.message.body) for entry in entries] == [
        (first, "First: mind the tests."),
        (second, "Ünïcode, too."),
    ]
    assert mailbox.faults() == []
    box = tmp_path / ".codex-mailbox"
    assert (box / ".gitignore").read_text() == "*\n"
    assert not list(box.glob("*.lock"))


def test_the_program_of_the_page_waits_for_the_lock_of_a_writer(mailbox: WorktreeMailbox, tmp_path: Path) -> None:
    leave(tmp_path, "First.")
    lock = tmp_path / ".codex-mailbox" / "INBOX.md.lock"
    lock.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.sleep", lambda _: lock.rmdir())
        leave(tmp_path, "Second.")
    assert len(mailbox.entries()) == 2


def test_the_words_of_the_page_are_the_words_of_the_code() -> None:
    for words in (Priority, Scope, Decision, Action):
        assert all(f"`{word.value}`" in PAGE for word in words)
    for status in (Status.UNSEEN, Status.SEEN, Status.EXPIRED, Status.WITHDRAWN):
        assert f"*{status.value}*" in PAGE


def test_a_mark_is_a_line_of_the_form_of_the_page(mailbox: WorktreeMailbox, tmp_path: Path) -> None:
    message = leave(tmp_path, "First.")
    mailbox.mark([message], Mark.SEEN, "codex")
    line = (tmp_path / ".codex-mailbox" / ".restante" / "marks").read_text()
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z seen {message} codex\n", line)


def listed(heading: str, directory: str = "") -> set[str]:
    """The names in the first column of the table below a heading."""
    table = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return {directory + name.rstrip("/") for row in rows for name in re.findall(r"`([^`]+)`", row)}


def general(path: str) -> str:
    """A real path as the page would write it."""
    path = re.sub(r"INBOX-\d{4}-\d\d-\d\d", "INBOX-YYYY-MM-DD", path)
    path = re.sub(r"^(\.restante/)(?:sessions/)?[^/]+(\.flock|\.write|\.spare)$", r"\1<file>\2", path)
    return re.sub(r"^(\.restante/sessions/)[^/]+\.json$", r"\1<name>.json", path)


def use(root: Path) -> None:
    """Do everything with a mailbox that leaves a file."""
    payload = json.dumps({"session_id": "one", "cwd": str(root)})

    def run(entry: str, *words: str, **environment: str) -> str:
        command = [sys.executable, "-I", "-c", f"from restante.{entry} import main; main()", *words]
        given = {"PATH": "/usr/bin:/bin", "HOME": str(root / "home"), **environment}
        done = subprocess.run(command, cwd=root, env=given, input=payload, capture_output=True, text=True, check=True)
        return done.stdout

    def restante(*words: str, **environment: str) -> str:
        return run("__main__", *words, **environment)

    def checkpoint() -> None:
        run("faces.hook", "codex", "PostToolUse", RESTANTE_WORKTREE=str(root))

    restante("install")
    long = "A long text. " * 1000
    first, second = (json.loads(restante("send", "--json", text + long))["message"]["id"] for text in ("1. ", "2. "))
    restante("send", "--repeat", "30m", "Third.")
    restante("repeats", "run", RESTANTE_NOW="2030-01-01T00:00:00Z")
    checkpoint()
    restante("inbox", CODEX_THREAD_ID="one")
    restante("reply", first, "A question.")
    restante("withdraw", second)
    rest = {one["id"] for one in json.loads(restante("status", "--json"))["messages"]} - {second}
    restante("ack", *rest, "--decision", "accepted", "-m", "yes")
    restante("archive")
    for name in ("INBOX.md", "RECEIPTS.md"):
        path = root / ".codex-mailbox" / name
        os.utime(path, (path.stat().st_mtime - 60,) * 2)
    checkpoint()


def test_the_files_of_the_page_are_those_of_a_mailbox_that_was_used(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "home").mkdir()
    use(tmp_path)
    box = tmp_path / ".codex-mailbox"
    found: set[str] = set()
    for at, directories, names in os.walk(box):
        own = [name for name in directories if name.endswith(".spare")]
        assert all(stat.S_IMODE(os.stat(os.path.join(at, name)).st_mode) == 0o500 for name in own)
        found |= {general(os.path.relpath(os.path.join(at, name), box)) for name in (*names, *own)}
        assert stat.S_IMODE(os.stat(at).st_mode) in {0o700, 0o500}
        assert all(stat.S_IMODE(os.stat(os.path.join(at, name)).st_mode) == 0o600 for name in names)
    page = (listed("Where") | listed("What Restante keeps beside the files", ".restante/")) - {".restante"}
    assert found == page


def test_a_whole_append_that_nobody_was_told_of_comes_to_light(mailbox: WorktreeMailbox, tmp_path: Path) -> None:
    first = leave(tmp_path, "First.")
    mailbox.layout.make()
    inbox = tmp_path / ".codex-mailbox" / "INBOX.md"
    before = inbox.stat()
    second = leave(tmp_path, "Second.")
    data = inbox.read_bytes()[before.st_size :]
    Record(mailbox.layout, "INBOX.md").begin(WriteRecord(1, 1, before.st_ino, before.st_size, data))
    assert [entry.message.id for entry in mailbox.entries()] == [first]
    record = inbox.parent / ".restante" / "INBOX.md.write"
    os.utime(record, (record.stat().st_mtime - 11,) * 2)
    assert [entry.message.id for entry in mailbox.entries()] == [first, second]
    assert mailbox.faults() == []


def test_the_example_of_repeats_is_json_of_the_format() -> None:
    state = json.loads(example("json"))
    (repeat,) = state["automations"]
    assert is_well_formed(repeat["id"], "auto")
    assert repeat["intervalMs"] >= 5000


def test_the_page_about_the_keyboard_names_the_whole_allowlist() -> None:
    page = (DOCS / "why" / "no-hands-on-the-keyboard.md").read_text(encoding="utf-8")
    assert all(f"`{method}`" in page for method in ALLOWED)
    for target in re.findall(r"\]\(([^)#]+)\)", page):
        assert (DOCS / "why" / target).resolve().exists(), target
