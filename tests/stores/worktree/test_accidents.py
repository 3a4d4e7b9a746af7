"""What editors, crashes, wrong clocks and misplaced things do to a mailbox, and what its reader is told."""

from __future__ import annotations

import os
import socket
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.stores.worktree import original

from restante.domain.errors import Damaged, MailboxDeleted, StorageFailed
from restante.domain.lifecycle import Status
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.message import Draft
from restante.domain.receipt import Decision
from restante.stores.worktree.bell import FileBell
from restante.stores.worktree.checks import mailbox_checks
from restante.stores.worktree.layout import INBOX
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.render import HEADERS
from restante.stores.worktree.store import WorktreeMailbox
from restante.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.testing import SequentialIds

    Open = Callable[[], WorktreeMailbox]

_NO_LIMITS = Limits()


def bodies(mailbox: WorktreeMailbox) -> list[str]:
    return [entry.message.body for entry in mailbox.entries(pending_only=True)]


def reasons(mailbox: WorktreeMailbox) -> list[str]:
    return [fault.reason for fault in mailbox.faults()]


def age(path: Path, seconds: float) -> None:
    """Make a file look as if it was written so long ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def remedies(mailbox: WorktreeMailbox) -> list[str]:
    return [check.remedy for check in mailbox_checks(mailbox, FileBell(mailbox)) if check.ok is False]


# -- the end of INBOX.md -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", ["please stop", "# fenced\n", "## msg_quoted\n\rtext"])
def test_a_message_whose_last_line_end_an_editor_left_out_is_delivered(open_again: Open, box: Path, body: str) -> None:
    message = open_again().post(Draft(body)).message
    (box / INBOX).write_bytes((box / INBOX).read_bytes().rstrip(b"\n"))
    for seconds in (0, 60):
        age(box / INBOX, seconds)
        reader = open_again()
        assert bodies(reader) == [body]
        assert reader.entry(message.id).standing.status is Status.UNSEEN
        assert reader.faults() == []
    assert open_again().post(Draft("next")).message.number == 2
    assert bodies(open_again()) == bodies(reader) == [body, "next"]
    assert open_again().faults() == []


def test_a_message_written_by_hand_without_a_last_line_end_is_delivered_when_it_has_rested(
    open_again: Open, box: Path
) -> None:
    box.mkdir()
    message_id = original.new_id()
    (box / INBOX).write_bytes(HEADERS[INBOX] + original.block(message_id, "by hand").encode()[:-1])
    resident = open_again()
    for reader in (resident, open_again()):
        assert bodies(reader) == []
        assert reader.faults() == []
        with pytest.raises(Damaged, match="line end yet"):
            reader.entry(message_id)
    age(box / INBOX, 60)
    for reader in (resident, open_again()):
        assert bodies(reader) == ["by hand"]
        assert reader.faults() == []
        assert reader.entry(message_id).standing.status is Status.UNSEEN
        assert reader.counts().total == 1
    resident.acknowledge([Acknowledgement(message_id, Decision.ACCEPTED)], "agent")
    original.append(str(box), "glued on by the original program")
    assert [entry.message.number for entry in resident.entries()] == [1, 2]
    assert [entry.standing.status for entry in open_again().entries()] == [Status.ACCEPTED, Status.UNSEEN]


def test_a_post_behind_a_message_without_a_last_line_end_has_the_number_after_it(open_again: Open, box: Path) -> None:
    box.mkdir()
    (box / INBOX).write_bytes(HEADERS[INBOX] + original.block(original.new_id(), "by hand").encode()[:-1])
    assert open_again().post(Draft("ours")).message.number == 2
    assert [(entry.message.number, entry.message.body) for entry in open_again().entries()] == [
        (1, "by hand"),
        (2, "ours"),
    ]
    assert b"by hand\n\n---\n" in (box / INBOX).read_bytes()


def test_a_reply_without_a_last_line_end_is_given_when_it_has_rested(mailbox: WorktreeMailbox, box: Path) -> None:
    box.mkdir()
    (box / "OUTBOX.md").write_text(f"# Outbox\n\n---\n\n## {original.new_id('reply')}\n\nfrom: agent\n\nHalf a sen")
    begin = mailbox.tip()
    assert mailbox.replies() == []
    age(box / "OUTBOX.md", 60)
    mailbox.desk.ledger.replies.reset()
    assert [reply.body for reply in mailbox.replies()] == ["Half a sen"]
    assert [one.reply.body for one in mailbox.changes_since(begin).changes if one.reply] == ["Half a sen"]


def test_a_torn_body_with_another_programs_block_behind_it_is_never_delivered_nor_seen(
    open_again: Open, box: Path
) -> None:
    message = open_again().post(Draft("Do not delete the table unless the backup exists.")).message
    data = (box / INBOX).read_bytes()
    (box / INBOX).write_bytes(data[: data.index(b" unless")])
    (box / ".restante" / "INBOX.md.write").unlink()
    original.append(str(box), "from the original program")
    age(box / INBOX, 60)
    for reader in (open_again(), open_again()):
        assert bodies(reader) == ["from the original program"]
        reader.mark([message.id], Mark.SEEN, "agent")
        with pytest.raises(Damaged, match="23 of 49 bytes"):
            reader.entry(message.id)
    (fault,) = reader.faults()
    assert (fault.source, fault.line) == (INBOX, data[: data.index(b"## msg_")].count(b"\n") + 1)
    assert not (box / ".restante" / "marks").exists()
    assert any(f"at line {fault.line}" in remedy for remedy in remedies(open_again()))


def test_an_inbox_that_became_something_else_is_reported_and_not_called_deleted(open_again: Open, box: Path) -> None:
    message = open_again().post(Draft("text")).message
    (box / INBOX).write_text((box / INBOX).read_text(), encoding="utf-16")
    reader = open_again()
    assert bodies(reader) == []
    assert "not a mailbox file" in reasons(reader)[0]
    with pytest.raises(MailboxDeleted, match=r"INBOX\.md does not hold it any more"):
        reader.entry(message.id)


# -- clocks ------------------------------------------------------------------------------------------------------


@pytest.fixture
def open_at(root: Path, ids: SequentialIds) -> Callable[..., WorktreeMailbox]:
    """Open the mailbox with a clock that is so many days ahead of the system's, which gives files their times."""
    start = datetime.now(UTC)

    def opened(days: float = 0, limits: Limits = _NO_LIMITS) -> WorktreeMailbox:
        return WorktreeMailbox(find_worktree(str(root)), FakeClock(start + timedelta(days=days)), ids, limits)

    return opened


@pytest.mark.parametrize("pending", [None, 100])
def test_a_sender_whose_clock_is_ahead_expires_no_mail(
    open_at: Callable[..., WorktreeMailbox], pending: int | None
) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    resident = open_at()
    for number in range(20):
        resident.post(Draft(f"{number} " + "x" * 2000, expires=tomorrow))
    assert len(bodies(resident)) == 20
    open_at(365, Limits(pending_messages=pending)).post(Draft("from next year"))
    for reader in (resident, open_at()):
        assert len(bodies(reader)) == 21
        assert all(entry.standing.is_pending for entry in reader.entries())
    # Somebody whose clock is ahead finds them expired, and leaves an index of what it found.
    ahead = open_at(365)
    (last,) = ahead.entries(pending_only=True)
    ahead.mark([last.message.id], Mark.SEEN, "agent")
    ahead.post(Draft("again " + "x" * 9000))
    reader = open_at()
    assert len(bodies(reader)) == 22
    assert bodies(reader) == [entry.message.body for entry in open_at().entries()]


def test_what_expired_for_an_object_stays_so_and_a_record_of_this_day_proves_it_to_others(
    open_at: Callable[..., WorktreeMailbox],
) -> None:
    old = open_at().post(Draft("old", expires=datetime.now(UTC) + timedelta(seconds=1))).message
    reader = open_at(0.5)
    assert reader.entry(old.id).standing.status is Status.EXPIRED
    reader.desk.clock = open_at(-0.5).desk.clock
    assert reader.entry(old.id).standing.status is Status.EXPIRED
    assert open_at(-0.5).entry(old.id).standing.status is Status.UNSEEN


# -- things in the wrong place -----------------------------------------------------------------------------------


def put(path: Path, what: str) -> None:
    if what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    elif what == "link":
        path.symlink_to("/nowhere")
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(os.path.relpath(path))
    else:
        path.write_text("text")


@pytest.mark.parametrize("what", ["fifo", "directory", "link"])
def test_a_write_record_that_is_no_file_stops_no_reader_and_a_writer_names_it(
    open_again: Open, box: Path, what: str
) -> None:
    open_again().post(Draft("text"))
    record = box / ".restante" / "INBOX.md.write"
    record.unlink()
    put(record, what)
    reader = open_again()
    assert bodies(reader) == ["text"]
    original.append(str(box), "more")
    assert bodies(reader) == bodies(open_again()) == ["text", "more"]
    with pytest.raises(StorageFailed, match=r"INBOX\.md\.write") as caught:
        open_again().post(Draft("refused"))
    assert f"remove {record}" in caught.value.remedy
    assert f"remove {record}" in remedies(open_again())
    assert bodies(open_again()) == ["text", "more"]


@pytest.mark.parametrize("what", ["fifo", "file", "socket"])
def test_a_mailbox_that_is_no_directory_is_named(
    open_again: Open, box: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resident = open_again()
    # A socket's name must be short.
    monkeypatch.chdir(box.parent)
    put(box, what)
    for use in (open_again, resident.entries, resident.tip, lambda: resident.post(Draft("text"))):
        with pytest.raises(StorageFailed, match=r"\.codex-mailbox is not a directory"):
            use()


@pytest.mark.parametrize("what", ["page", "directory"])
def test_a_link_in_place_of_a_sessions_page_is_named(open_again: Open, box: Path, tmp_path: Path, what: str) -> None:
    open_again().post(Draft("text"))
    sessions = box / ".restante" / "sessions"
    assert remedies(open_again()) == []
    if what == "directory":
        sessions.symlink_to(tmp_path)
        assert remedies(open_again()) == [f"remove {sessions}"]
    else:
        sessions.mkdir()
        (sessions / "one.json").symlink_to(tmp_path / "elsewhere")
        (sessions / "two.json").write_text("{}")
        assert remedies(open_again()) == [f"remove {sessions / 'one.json'}"]


def test_on_a_read_only_disk_nobody_is_told_to_change_permissions(
    mailbox: WorktreeMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox.post(Draft("text"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert all(remedy.startswith("chmod u+w ") for remedy in remedies(mailbox))
    real = os.statvfs(mailbox.layout.box)
    read_only = os.statvfs_result([*real[:8], real.f_flag | os.ST_RDONLY, real.f_namemax])
    monkeypatch.setattr(os, "statvfs", lambda _: read_only)
    assert remedies(mailbox)
    assert not [remedy for remedy in remedies(mailbox) if "chmod" in remedy]
