"""docs/protocol.md promises that one can write a compatible program from it; its examples are run here."""

from __future__ import annotations

import json
import os
import re
import stat
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


def test_the_files_of_the_page_are_the_files_of_the_code(mailbox: WorktreeMailbox, tmp_path: Path) -> None:
    message = leave(tmp_path, "First.")
    mailbox.mark([message], Mark.SEEN, "codex")
    box = tmp_path / ".codex-mailbox"
    line = (box / ".restante" / "marks").read_text()
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z seen {message} codex\n", line)
    assert stat.S_IMODE(os.stat(box).st_mode) == 0o700
    named = {path.name for path in (*box.iterdir(), *(box / ".restante").iterdir())} - {".restante", ".gitignore"}
    for name in named:
        assert f"`{name}`" in PAGE or (name.endswith((".flock", ".write")) and "<file>.flock" in PAGE), name


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
