"""The bell, as the guard, Python and the checkpoint see it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.stores.worktree import original

import restante
from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Draft
from restante.domain.receipt import Decision
from restante.peek import mail_waits
from restante.stores.worktree.bell import FileBell
from restante.stores.worktree.layout import INBOX
from restante.stores.worktree.record import Record, WriteRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.stores.worktree.store import WorktreeMailbox

GUARD = os.path.join(os.path.dirname(restante.__file__), "..", "..", "scripts", "restante-hook")


def rest(box: Path) -> None:
    """Make both files look as if nobody had written them for a while."""
    then = time.time_ns() - 60_000_000_000
    for name in ("INBOX.md", "RECEIPTS.md"):
        if (box / name).exists():
            os.utime(box / name, ns=(then, then))


def age(path: Path, seconds: int) -> None:
    """Make a file look as if it was written so long ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def answer(mailbox: WorktreeMailbox, message_id: str) -> None:
    mailbox.acknowledge([Acknowledgement(message_id, Decision.ACCEPTED)], "agent")


@pytest.fixture
def guard_rings(root: Path, tmp_path: Path) -> Callable[[], bool]:
    """Run the guard with a stand-in for the interpreter that only says that it was started."""
    place = tmp_path / "bin"
    place.mkdir()
    shutil.copy(GUARD, place / "restante-hook")
    (place / "python").write_text("#!/bin/sh\necho rings\n")
    (place / "python").chmod(0o755)
    line = f"RESTANTE_BIN='{place}' RESTANTE_AGENT=codex RESTANTE_EVENT=Stop; . '{place}/restante-hook'; exit 0"

    def rings() -> bool:
        done = subprocess.run(["sh", "-c", line], cwd=root, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout == "rings\n"

    return rings


@pytest.fixture
def all_ring(mailbox: WorktreeMailbox, root: Path, guard_rings: Callable[[], bool]) -> Callable[[], bool]:
    """Ask the guard, the peek and the port, which must agree."""

    def rings() -> bool:
        answers = {guard_rings(), mail_waits(str(root)), FileBell(mailbox).is_ringing()}
        assert len(answers) == 1
        return answers.pop()

    return rings


def test_a_post_rings_until_a_checkpoint_finds_it_answered(
    mailbox: WorktreeMailbox, box: Path, all_ring: Callable[[], bool]
) -> None:
    bell = FileBell(mailbox)
    assert not all_ring()
    message = mailbox.post(Draft("text")).message
    rest(box)
    bell.hush()
    assert all_ring()
    answer(mailbox, message.id)
    assert all_ring()
    rest(box)
    bell.hush()
    assert not all_ring()
    mailbox.post(Draft("more"))
    assert all_ring()


def test_a_message_of_the_original_program_rings(
    mailbox: WorktreeMailbox, box: Path, all_ring: Callable[[], bool]
) -> None:
    answer(mailbox, original.append(str(box), "one"))
    rest(box)
    FileBell(mailbox).hush()
    assert not all_ring()
    original.append(str(box), "two")
    assert all_ring()


def test_a_withdrawal_rings_once_and_rests(mailbox: WorktreeMailbox, box: Path, all_ring: Callable[[], bool]) -> None:
    message = mailbox.post(Draft("text")).message
    mailbox.withdraw(message.id)
    assert all_ring()
    rest(box)
    FileBell(mailbox).hush()
    assert not all_ring()


def test_an_inbox_that_was_just_written_is_never_taken_for_quiet(
    mailbox: WorktreeMailbox, root: Path, box: Path
) -> None:
    answer(mailbox, mailbox.post(Draft("text")).message.id)
    now = time.time_ns() + 3_600_000_000_000
    os.utime(box / "INBOX.md", ns=(now, now))
    FileBell(mailbox).hush()
    assert mail_waits(str(root))
    assert not (box / ".restante" / "quiet").exists()


def test_a_post_at_the_moment_of_hushing_is_not_missed(
    mailbox: WorktreeMailbox, root: Path, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(mailbox, mailbox.post(Draft("text")).message.id)
    rest(box)
    utime = os.utime

    def post_first(path: int | str, ns: tuple[int, int]) -> None:
        monkeypatch.undo()
        original.append(str(box), "at this moment")
        utime(path, ns=ns)

    monkeypatch.setattr(os, "utime", post_first)
    FileBell(mailbox).hush()
    assert mail_waits(str(root))
    assert not (box / ".restante" / "quiet").exists()


@pytest.mark.parametrize("content", [None, b"", b"\0" * 100])
def test_an_answer_that_is_lost_rings(
    mailbox: WorktreeMailbox, box: Path, all_ring: Callable[[], bool], content: bytes | None
) -> None:
    answer(mailbox, mailbox.post(Draft("text")).message.id)
    rest(box)
    FileBell(mailbox).hush()
    assert not all_ring()
    if content is None:
        (box / "RECEIPTS.md").unlink()
    else:
        (box / "RECEIPTS.md").write_bytes(content)
        os.utime(box / "RECEIPTS.md", (1, 1))
    assert all_ring()
    FileBell(mailbox).hush()
    assert all_ring()
    assert len(mailbox.entries(pending_only=True)) == 1


def test_an_answer_that_comes_when_all_is_quiet_rings_once(
    mailbox: WorktreeMailbox, box: Path, all_ring: Callable[[], bool]
) -> None:
    mailbox.withdraw(mailbox.post(Draft("text")).message.id)
    rest(box)
    FileBell(mailbox).hush()
    assert not all_ring()
    (box / "RECEIPTS.md").write_text("by hand\n")
    assert all_ring()
    rest(box)
    FileBell(mailbox).hush()
    assert not all_ring()
    (box / "RECEIPTS.md").unlink()
    assert all_ring()
    FileBell(mailbox).hush()
    assert not all_ring()


def test_the_bell_rings_on_while_the_end_of_the_inbox_is_unfinished(
    mailbox: WorktreeMailbox, box: Path, all_ring: Callable[[], bool]
) -> None:
    answer(mailbox, mailbox.post(Draft("text")).message.id)
    whole = (box / "INBOX.md").read_bytes()
    (box / "INBOX.md").write_bytes(whole + original.block(original.new_id(), "by hand").encode()[:-1])
    age(box / "INBOX.md", 5)
    FileBell(mailbox).hush()
    assert mailbox.entries(pending_only=True) == []
    assert all_ring()
    age(box / "INBOX.md", 60)
    assert [entry.message.body for entry in mailbox.entries(pending_only=True)] == ["by hand"]
    assert all_ring()


def test_the_bell_rings_on_while_an_append_has_not_ended(
    mailbox: WorktreeMailbox, box: Path, all_ring: Callable[[], bool]
) -> None:
    answer(mailbox, mailbox.post(Draft("text")).message.id)
    size = (box / "INBOX.md").stat().st_size
    original.append(str(box), "its writer died before it could say so")
    data = (box / "INBOX.md").read_bytes()
    record = WriteRecord(1, 1, (box / "INBOX.md").stat().st_ino, size, data[size:])
    Record(mailbox.layout, INBOX).begin(record)
    age(box / "INBOX.md", 5)
    FileBell(mailbox).hush()
    assert mailbox.entries(pending_only=True) == []
    assert all_ring()
    age(box / ".restante" / "INBOX.md.write", 60)
    assert len(mailbox.entries(pending_only=True)) == 1


def test_hushing_twice_reads_nothing(mailbox: WorktreeMailbox, root: Path, box: Path) -> None:
    answer(mailbox, mailbox.post(Draft("text")).message.id)
    rest(box)
    FileBell(mailbox).hush()
    before = (box / ".restante" / "quiet").stat()
    FileBell(mailbox).hush()
    assert (box / ".restante" / "quiet").stat() == before
    assert not mail_waits(str(root))


def test_a_mailbox_that_cannot_be_written_rings_on_and_fails_nobody(
    mailbox: WorktreeMailbox, root: Path, box: Path
) -> None:
    answer(mailbox, mailbox.post(Draft("text")).message.id)
    rest(box)
    (box / ".restante" / "quiet").mkdir()
    FileBell(mailbox).hush()
    assert mail_waits(str(root))


def test_hushing_where_there_is_no_mailbox_makes_none(mailbox: WorktreeMailbox, box: Path) -> None:
    FileBell(mailbox).hush()
    assert not box.exists()


def test_peeking_imports_nothing_that_python_has_not_loaded_already() -> None:
    program = "import sys, os; before = set(sys.modules); import restante.peek; print(set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.strip(" '{}") for name in done.stdout.strip().split(",")}
    assert loaded <= {"restante", "restante.peek", "__future__"}


def test_a_clock_that_was_ahead_once_does_not_silence_what_waits_by_the_systems(
    mailbox: WorktreeMailbox, box: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime, timedelta

    from restante.domain.limits import Limits
    from restante.stores.worktree.locate import find_worktree
    from restante.stores.worktree.store import WorktreeMailbox
    from restante.system.clock import FixedClock
    from restante.system.ids import MonotonicIds

    def at(days: int) -> WorktreeMailbox:
        now = datetime.now(UTC) + timedelta(days=days)
        return WorktreeMailbox(find_worktree(str(root)), FixedClock(now), MonotonicIds(), Limits())

    at(0).post(Draft("text", expires=datetime.now(UTC) + timedelta(days=1)))
    rest(box)
    ahead = at(365)
    assert ahead.entries(pending_only=True) == []
    FileBell(ahead).hush()
    assert FileBell(at(0)).is_ringing()
    assert mail_waits(str(root))


def test_the_bell_is_not_hushed_while_an_answer_is_fresh(mailbox: WorktreeMailbox, box: Path) -> None:
    answer(mailbox, mailbox.post(Draft("text")).message.id)
    age(box / "INBOX.md", 60)
    FileBell(mailbox).hush()
    assert FileBell(mailbox).is_ringing()
    rest(box)
    FileBell(mailbox).hush()
    assert not FileBell(mailbox).is_ringing()


def test_a_link_in_the_place_of_a_stamp_does_not_silence_the_bell(
    mailbox: WorktreeMailbox, box: Path, root: Path, guard_rings: Callable[[], bool]
) -> None:
    mailbox.post(Draft("text"))
    (box / ".restante" / "quiet").unlink(missing_ok=True)
    (box / ".restante" / "quiet").symlink_to("../INBOX.md")
    assert FileBell(mailbox).is_ringing()
    assert mail_waits(str(root))
    assert guard_rings()
