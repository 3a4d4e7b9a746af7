"""The worktree's mailbox beyond the contract: its files, its neighbours, its accidents."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.stores.worktree import original

from restante.domain.errors import Damaged, MailboxDeleted, NoSuchMessage, StorageFailed, Unsafe, UsageError
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Acknowledgement, ChangeKind, Mark
from restante.domain.message import Draft
from restante.domain.receipt import Action, Decision
from restante.stores.worktree.layout import INBOX
from restante.stores.worktree.record import read_record
from restante.stores.worktree.render import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.stores.worktree.store import WorktreeMailbox

    Open = Callable[[], WorktreeMailbox]


def bodies(mailbox: WorktreeMailbox) -> list[str]:
    return [entry.message.body for entry in mailbox.entries()]


def reasons(mailbox: WorktreeMailbox) -> list[str]:
    return [fault.reason for fault in mailbox.faults()]


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def rest(path: Path) -> None:
    """Make a file look as if nobody had written it for a while."""
    then = time.time() - 60
    os.utime(path, (then, then))


def test_the_first_post_makes_a_mailbox_that_is_its_owners_only(
    mailbox: WorktreeMailbox, root: Path, box: Path
) -> None:
    mailbox.post(Draft("text"))
    assert (box / "INBOX.md").read_bytes().startswith(HEADERS[INBOX] + b"\n---\n\n## msg_")
    for path in [box, *box.rglob("*"), root / ".git" / "restante" / "posted"]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600) or path.name.endswith(".spare"), path
    assert (box / ".gitignore").read_text() == (box / ".restante" / ".gitignore").read_text() == "*\n"


def test_the_first_post_makes_the_state_that_the_original_program_expects(mailbox: WorktreeMailbox, box: Path) -> None:
    mailbox.post(Draft("text"))
    text = (box / "STATE.json").read_text()
    assert text.endswith("}\n")
    state: dict[str, Any] = json.loads(text)
    assert list(state) == ["version", "mode", "updatedAt", "automations"]
    assert (state["version"], state["mode"], state["automations"]) == (1, "mailbox-only", [])
    assert state["updatedAt"] == "2026-05-20T15:30:00.000Z"
    (box / "STATE.json").write_text("{broken")
    mailbox.post(Draft("text"))
    assert (box / "STATE.json").read_text() == "{broken"


def test_the_agents_side_makes_no_file_of_the_humans_side(mailbox: WorktreeMailbox, box: Path) -> None:
    box.mkdir()
    message_id = original.append(str(box), "theirs")
    mailbox.acknowledge([Acknowledgement(message_id, Decision.ACCEPTED)], "agent")
    mailbox.reply(message_id, "done", "agent")
    mailbox.mark([message_id], Mark.SEEN, "agent")
    assert sorted(name for name in os.listdir(box) if not name.startswith(".")) == [
        "INBOX.md",
        "OUTBOX.md",
        "RECEIPTS.md",
    ]


def test_the_agents_side_needs_nothing_outside_of_the_mailbox(mailbox: WorktreeMailbox, root: Path) -> None:
    message = mailbox.post(Draft("text")).message
    shutil.rmtree(root / ".git")
    (root / ".git").write_text("gitdir: /nowhere\n")
    mailbox.mark([message.id], Mark.SEEN, "agent")
    mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "agent")
    mailbox.reply(message.id, "done", "agent")
    assert mailbox.entry(message.id).standing.status is Status.ACCEPTED
    assert not (root / ".git").is_dir()


def test_the_trace_is_never_left_through_a_link(mailbox: WorktreeMailbox, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / ".git" / "restante").symlink_to(tmp_path / "outside")
    mailbox.post(Draft("text"))
    assert os.listdir(tmp_path / "outside") == []
    assert bodies(mailbox) == ["text"]


def test_a_post_stays_a_success_where_no_trace_can_be_left(mailbox: WorktreeMailbox, root: Path) -> None:
    (root / ".git" / "restante").write_text("in the way")
    mailbox.post(Draft("text"))
    assert bodies(mailbox) == ["text"]


def test_mail_of_the_original_program_is_read_and_answered(mailbox: WorktreeMailbox, box: Path) -> None:
    first = original.append(str(box), "Note: one\n\nand more")
    second = mailbox.post(Draft("two")).message
    third = original.append(str(box), "three")
    assert bodies(mailbox) == ["Note: one\n\nand more", "two", "three"]
    assert [entry.message.id for entry in mailbox.entries()] == [first, second.id, third]
    assert [entry.message.number for entry in mailbox.entries()] == [1, 2, 3]
    with (box / "RECEIPTS.md").open("a") as file:
        file.write(
            f"## {original.new_id('receipt')}\n\nmessage_id: {first}\ndecision: accepted\naction_status: applied\n"
        )
    assert mailbox.entry(first).standing.status is Status.APPLIED
    assert mailbox.faults() == []


def test_a_post_after_text_without_a_line_end_makes_no_heading_of_it(mailbox: WorktreeMailbox, box: Path) -> None:
    box.mkdir()
    (box / "INBOX.md").write_bytes(HEADERS[INBOX] + original.block(original.new_id(), "by hand").encode()[:-1])
    mailbox.post(Draft("ours"))
    assert bodies(mailbox) == ["by hand", "ours"]


@pytest.mark.parametrize("opened", ["```\nnever closed", "<!-- never closed", "<script>", "~~~~\nx"])
def test_an_open_fence_of_another_message_hides_no_mail(mailbox: WorktreeMailbox, box: Path, opened: str) -> None:
    original.append(str(box), opened)
    mailbox.post(Draft("ours"))
    original.append(str(box), "theirs")
    assert bodies(mailbox)[1:] == ["ours", "theirs"]


def test_one_file_serves_two_readers_that_stay_in_step(open_again: Open) -> None:
    one, two = open_again(), open_again()
    message = one.post(Draft("text")).message
    assert bodies(two) == ["text"]
    two.acknowledge([Acknowledgement(message.id, None, Action.BLOCKED)], "agent")
    assert one.entry(message.id).standing.status is Status.BLOCKED
    assert two.post(Draft("next")).message.number == 2
    assert one.counts() == two.counts()


def test_a_deleted_mailbox_is_told_from_an_unknown_message(open_again: Open, box: Path) -> None:
    mailbox = open_again()
    gone = mailbox.post(Draft("gone")).message
    mailbox.entries()
    cursor = mailbox.tip()
    shutil.rmtree(box)
    for one in (mailbox, open_again()):
        with pytest.raises(MailboxDeleted, match=gone.id):
            one.entry(gone.id)
        with pytest.raises(NoSuchMessage):
            one.entry(gone.id[:-1] + "z")
        assert one.entries() == []
        one.mark([gone.id], Mark.SEEN, "agent")
    assert not box.exists()
    assert mailbox.changes_since(cursor).changes == ()
    new = mailbox.post(Draft("new")).message
    assert bodies(mailbox) == ["new"]
    told = mailbox.changes_since(cursor).changes
    assert [(one.kind, one.message_id) for one in told] == [(ChangeKind.POSTED, new.id)]


def test_tidying_with_git_takes_no_mail_along(open_again: Open, root: Path, box: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("NOT TESTED: no git on this machine")

    def git(*words: str) -> str:
        settings = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "init.defaultBranch=main")
        done = subprocess.run(["git", *settings, *words], cwd=root, capture_output=True, text=True, check=True)
        return done.stdout

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    message = open_again().post(Draft("text")).message
    open_again().mark([message.id], Mark.SEEN, "agent")
    reader = open_again()
    reader.entries()
    before = tree(box)
    for _ in range(2):
        git("stash", "-u")
    assert git("status", "--porcelain", "--untracked-files=all") == ""
    assert tree(box) == before
    assert reader.entry(message.id).standing.status is Status.SEEN
    git("clean", "-fdxq")
    with pytest.raises(MailboxDeleted):
        reader.entry(message.id)
    new = reader.post(Draft("a longer text than the one before")).message
    assert [entry.message for entry in open_again().entries()] == [entry.message for entry in reader.entries()] == [new]


def test_a_mailbox_made_anew_is_told_from_its_beginning(open_again: Open, box: Path) -> None:
    mailbox = open_again()
    for number in range(3):
        mailbox.post(Draft(f"old {number}"))
    cursor = mailbox.tip()
    shutil.rmtree(box)
    for number in range(5):
        mailbox.post(Draft(f"new {number}"))
    told = [one.message.body for one in mailbox.changes_since(cursor).changes if one.message]
    assert told == [f"new {number}" for number in range(5)]


def test_a_cursor_of_another_worktree_is_refused(mailbox: WorktreeMailbox, tmp_path: Path) -> None:
    mailbox.post(Draft("text"))
    cursor = mailbox.tip()
    tag = cursor.split(".")[1]
    with pytest.raises(UsageError, match="not a cursor"):
        mailbox.changes_since(cursor.replace(tag, f"{int(tag, 16) ^ 1:08x}"))


def test_a_message_that_is_cut_short_is_reported_and_never_delivered(open_again: Open, box: Path) -> None:
    open_again().post(Draft("kept"))
    whole = (box / "INBOX.md").read_bytes()
    open_again().post(Draft("a message of some length\n\nwith two paragraphs"))
    data = (box / "INBOX.md").read_bytes()
    for cut in range(len(whole) + 1, len(data) - 1):
        (box / "INBOX.md").write_bytes(data[:cut])
        reader = open_again()
        assert bodies(reader) == ["kept"]
        assert reader.faults() == []
    rest(box / "INBOX.md")
    assert bodies(open_again()) == ["kept"]
    assert "44 of 45 bytes" in reasons(open_again())[0]
    (box / "INBOX.md").write_bytes(data)
    assert len(bodies(reader)) == 2


def test_a_message_that_was_cut_short_stays_so_behind_later_mail(open_again: Open, box: Path) -> None:
    open_again().post(Draft("kept"))
    open_again().post(Draft("a message of some length"))
    data = (box / "INBOX.md").read_bytes()
    (box / "INBOX.md").write_bytes(data[:-8])
    assert open_again().post(Draft("later")).message.number == 2
    for reader in (open_again(), open_again()):
        assert bodies(reader) == ["kept", "later"]
    assert any("torn" in reason for reason in reasons(open_again()))


def test_a_message_that_a_person_edited_is_read_as_it_is_now(open_again: Open, box: Path) -> None:
    message = open_again().post(Draft("Leave the auth module alone, please.")).message
    open_again().post(Draft("later"))
    text = (box / "INBOX.md").read_text()
    shorter = text.replace(", please", "")
    (box / "INBOX.md").write_text(shorter)
    assert bodies(open_again()) == ["later"]
    with pytest.raises(Damaged, match=r"28 of 36 bytes.*body_bytes"):
        open_again().entry(message.id)
    (box / "INBOX.md").write_text(shorter.replace("body_bytes: 36\n", ""))
    assert bodies(open_again()) == ["Leave the auth module alone.", "later"]
    (box / "INBOX.md").write_text(text.replace("please", "if you please"))
    assert bodies(open_again()) == ["Leave the auth module alone, if you please.", "later"]


def test_a_second_block_of_one_id_is_reported_and_the_first_counts(open_again: Open, box: Path) -> None:
    message = open_again().post(Draft("text")).message
    data = (box / "INBOX.md").read_bytes()
    (box / "INBOX.md").write_bytes(data + data[len(HEADERS[INBOX]) :])
    reader = open_again()
    assert [entry.message for entry in reader.entries()] == [message]
    assert reader.post(Draft("next")).message.number == 2
    (fault,) = reader.faults()
    assert (fault.source, fault.line) == ("INBOX.md", data.count(b"\n") + 4)
    assert message.id in fault.reason


def test_a_record_that_is_not_what_it_should_be_stops_nobody(mailbox: WorktreeMailbox, box: Path) -> None:
    message = mailbox.post(Draft("text")).message
    (box / "RECEIPTS.md").write_text("## receipt_nonsense\n\nmessage_id: x\n\n## no id\n\ndecision: perhaps\n")
    (box / "OUTBOX.md").write_bytes(b"\xff\xfe## reply_x\n")
    (box / ".restante" / "marks").write_bytes(b"nonsense\n\n2026 seen x y\n" + b"\xff" * 50 + b"\n")
    assert mailbox.entry(message.id).standing.status is Status.UNSEEN
    assert {fault.source for fault in mailbox.faults()} >= {"RECEIPTS.md", ".restante/marks"}


@pytest.mark.parametrize("name", ["INBOX.md", "RECEIPTS.md", "OUTBOX.md"])
def test_a_fifo_in_place_of_a_file_hangs_nothing(mailbox: WorktreeMailbox, box: Path, name: str) -> None:
    box.mkdir()
    os.mkfifo(box / name)
    with pytest.raises(StorageFailed, match="not a regular file"):
        mailbox.tip()


@pytest.mark.parametrize("name", ["INBOX.md", "RECEIPTS.md", "OUTBOX.md", ".restante", "archive"])
def test_a_link_out_of_the_worktree_is_refused_and_nothing_is_written_there(
    open_again: Open, tmp_path: Path, box: Path, name: str
) -> None:
    mailbox = open_again()
    message = mailbox.post(Draft("text")).message
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    path = box / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(outside if name in (".restante", "archive") else outside / "file")
    refused = 0
    for use in (
        lambda: mailbox.post(Draft("more")),
        lambda: mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "agent"),
        lambda: mailbox.reply("", "text", "agent"),
        mailbox.archive,
        mailbox.tip,
    ):
        try:
            use()
        except Unsafe:
            refused += 1
        except NoSuchMessage:
            continue
    assert os.listdir(outside) == ["file"]
    assert (outside / "file").read_bytes() == b""
    assert refused


def test_a_withdrawal_keeps_every_other_byte(mailbox: WorktreeMailbox, box: Path) -> None:
    original.append(str(box), "theirs  \n\n\n## not a message\n")
    message = mailbox.post(Draft("ours")).message
    original.append(str(box), "more")
    before = (box / "INBOX.md").read_bytes()
    mailbox.withdraw(message.id)
    after = (box / "INBOX.md").read_bytes()
    start = before.index(message.id.encode())
    assert after[:start] == before[:start]
    assert (
        after.replace(b"status: cancelled\n", b"status: unread\n").replace(
            b"withdrawn_at: 2026-05-20T15:30:00.000Z\n", b""
        )
        == before
    )
    assert mailbox.entry(message.id).standing.status is Status.WITHDRAWN


def test_a_change_made_without_the_lock_is_never_overwritten(
    mailbox: WorktreeMailbox, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from restante.stores.worktree import posting

    message = mailbox.post(Draft("ours")).message

    def read_then_edit(path: str) -> bytes:
        with open(path, "r+b") as file:
            data = file.read()
            file.write(b"\nedited meanwhile\n")
        return data

    monkeypatch.setattr(posting, "read_file", read_then_edit)
    with pytest.raises(StorageFailed, match="changed by another program"):
        mailbox.withdraw(message.id)
    assert (box / "INBOX.md").read_bytes().endswith(b"edited meanwhile\n")
    assert mailbox.entry(message.id).standing.status is Status.UNSEEN


def test_nothing_is_left_of_a_finished_append(mailbox: WorktreeMailbox, box: Path) -> None:
    mailbox.post(Draft("text"))
    assert read_record(mailbox.layout, INBOX) is None
    assert not (box / "INBOX.md.lock").exists()


def test_a_durable_append_syncs_the_file_once_and_its_directory_only_at_first(
    mailbox: WorktreeMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def count(fd: int) -> None:
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
        fsync(fd)

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("NOT TESTED: no /proc on this machine")
    monkeypatch.setattr(os, "fsync", count)
    mailbox.post(Draft("first"))
    assert synced.index("INBOX.md") < len(synced) - 1
    assert ".codex-mailbox" in synced[synced.index("INBOX.md") :]
    synced.clear()
    mailbox.post(Draft("second"))
    assert synced == ["INBOX.md"]


def test_marks_survive_a_torn_line(open_again: Open, box: Path) -> None:
    mailbox = open_again()
    one, two = (mailbox.post(Draft(text)).message for text in ("one", "two"))
    mailbox.mark([one.id], Mark.SEEN, "a reader\nwith a line end")
    with (box / ".restante" / "marks").open("ab") as file:
        file.write(f"2026-05-20T15:30:00.000Z seen {two.id}".encode()[:-3])
    mailbox.mark([two.id], Mark.NOTICED, "agent")
    statuses = [entry.standing.status for entry in open_again().entries()]
    assert statuses == [Status.SEEN, Status.UNSEEN]
    assert open_again().entries()[1].standing.noticed_at is not None
    assert mailbox.faults() == []
