"""Moving answered mail aside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.stores.worktree import original

from restante.domain.errors import StorageFailed
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Acknowledgement, Archived, ChangeKind
from restante.domain.message import Draft
from restante.domain.receipt import Decision
from restante.stores.worktree.desk import Desk
from restante.stores.worktree.layout import INBOX
from restante.stores.worktree.numbers import Numbers, archived_numbers, with_archived
from restante.stores.worktree.render import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.stores.worktree.store import WorktreeMailbox
    from restante.testing import FakeClock

    Open = Callable[[], WorktreeMailbox]

DAY = "archive/INBOX-2026-05-20.md"


def answer(mailbox: WorktreeMailbox, *message_ids: str) -> None:
    mailbox.acknowledge([Acknowledgement(one, Decision.ACCEPTED) for one in message_ids], "agent")


def numbers(mailbox: WorktreeMailbox) -> list[int]:
    return [entry.message.number for entry in mailbox.entries()]


def test_what_stays_keeps_every_byte_and_what_nobody_understands_stays(mailbox: WorktreeMailbox, box: Path) -> None:
    done = mailbox.post(Draft("done")).message
    stray = b"\n---\n\n## msg_not_an_id\n\nfrom: nobody\n\nSome text that belongs to nothing.\n"
    with (box / INBOX).open("ab") as file:
        file.write(stray)
    kept = mailbox.post(Draft("## kept\n\n```\nx")).message
    block = (box / INBOX).read_bytes().partition(stray)[2]
    answer(mailbox, done.id)
    assert mailbox.archive() == Archived(1, 1, str(box / DAY))
    head = HEADERS[INBOX] + b"\n<!-- restante archived: 1 -->\n"
    assert (box / INBOX).read_bytes() == head + stray + block
    assert [entry.message for entry in mailbox.entries()] == [kept]


def test_an_inbox_of_which_all_was_moved_is_as_new(mailbox: WorktreeMailbox, box: Path) -> None:
    answer(mailbox, *(mailbox.post(Draft(str(number))).message.id for number in range(3)))
    mailbox.archive()
    assert (box / INBOX).read_bytes() == HEADERS[INBOX] + b"\n<!-- restante archived: 1-3 -->\n"
    assert mailbox.post(Draft("next")).message.number == 4
    assert mailbox.faults() == []


def test_the_archive_can_be_read_by_anyone(mailbox: WorktreeMailbox, box: Path) -> None:
    message = mailbox.post(Draft("Leave the auth module alone.", subject="auth")).message
    answer(mailbox, message.id)
    mailbox.archive()
    text = (box / DAY).read_text()
    assert text.startswith("# Codex Mailbox - Archive\n\n")
    assert f"\n---\n\n## {message.id}\n\nfrom: human\n" in text
    assert "number: 1\n" in text
    assert text.endswith("\nMesaj:\nLeave the auth module alone.\n")


def test_numbers_never_change_whatever_is_moved(open_again: Open, box: Path) -> None:
    messages = [open_again().post(Draft(str(number))).message for number in range(1, 9)]
    for done in ((2, 3), (8,), (1, 5), (4,)):
        answer(open_again(), *(messages[number - 1].id for number in done))
        open_again().archive()
        for message in messages:
            assert open_again().entry(message.id).message == message
    assert numbers(open_again()) == [6, 7]
    assert open_again().post(Draft("next")).message.number == 9
    assert open_again().counts().high_water == 9
    assert archived_numbers((box / INBOX).read_bytes()).ranges == [(1, 5), (8, 8)]


@pytest.mark.parametrize(
    "body", ["Note: raw\n\nscope: thread\n", "## Steps\n\n1. one\n2. two", "```\nnever closed", ""]
)
def test_mail_of_the_original_program_keeps_its_words(mailbox: WorktreeMailbox, box: Path, body: str) -> None:
    message_id = original.append(str(box), body)
    before = mailbox.entry(message_id).message
    answer(mailbox, message_id)
    mailbox.archive()
    assert mailbox.entries() == []
    assert mailbox.entry(message_id).message == before


def test_mail_written_by_hand_keeps_its_words(mailbox: WorktreeMailbox, box: Path) -> None:
    box.mkdir()
    message_id = original.new_id().upper().replace("MSG_", "msg_")
    (box / INBOX).write_text(
        f"Mail\n\n## **{message_id}**\n- From: human\n- Priority: `high`\n\nMessage:\n\nby hand\n\nand more"
    )
    mailbox.post(Draft("ours"))
    before = mailbox.entries()[0].message
    assert before.body == "by hand\n\nand more"
    answer(mailbox, before.id)
    mailbox.archive()
    assert mailbox.entry(before.id).message == before
    assert numbers(mailbox) == [2]


def test_a_crash_between_the_two_files_leaves_each_message_once(
    open_again: Open, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox = open_again()
    done, kept = (mailbox.post(Draft(text)).message for text in ("done", "kept"))
    answer(mailbox, done.id)

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Desk, "rewrite", crash)
        with pytest.raises(KeyboardInterrupt):
            mailbox.archive()
    for reader in (mailbox, open_again()):
        assert [entry.message for entry in reader.entries()] == [done, kept]
        assert reader.entry(done.id).standing.status is Status.ACCEPTED
        assert reader.faults() == []
    once = (box / DAY).read_bytes()
    assert open_again().archive().moved == 1
    assert (box / DAY).read_bytes() == once
    assert [entry.message for entry in open_again().entries()] == [kept]
    posted = [one.message_id for one in open_again().changes_since("").changes if one.kind is ChangeKind.POSTED]
    assert posted == [done.id, kept.id]


def test_a_torn_copy_in_the_archive_is_passed_over(open_again: Open, box: Path) -> None:
    mailbox = open_again()
    one, two = (mailbox.post(Draft(f"~~~\n{text} text of some length")).message for text in ("one", "two"))
    answer(mailbox, one.id, two.id)
    before = [mailbox.entry(message.id) for message in (one, two)]
    mailbox.archive()
    whole = (box / DAY).read_bytes()
    second = whole.index(f"\n---\n\n## {two.id}".encode())
    (box / DAY).write_bytes(whole[: second - 20] + whole[whole.index(b"\n---\n\n## ") :])
    reader = open_again()
    assert [reader.entry(message.id) for message in (one, two)] == before


def test_an_archive_that_cannot_be_written_moves_nothing(mailbox: WorktreeMailbox, box: Path) -> None:
    answer(mailbox, mailbox.post(Draft("done")).message.id)
    (box / "archive").write_text("in the way")
    before = (box / INBOX).read_bytes()
    with pytest.raises(StorageFailed):
        mailbox.archive()
    assert (box / INBOX).read_bytes() == before
    assert numbers(mailbox) == [1]


def test_nothing_to_move_writes_nothing(mailbox: WorktreeMailbox, box: Path) -> None:
    assert mailbox.archive() == Archived(0, 0, "")
    assert not box.exists()
    mailbox.post(Draft("pending"))
    before = {name: (box / name).stat().st_mtime_ns for name in os.listdir(box)}
    assert mailbox.archive() == Archived(0, 1, "")
    assert {name: (box / name).stat().st_mtime_ns for name in os.listdir(box)} == before


def test_what_expired_stays_expired_in_the_archive_when_the_clock_is_set_back(
    open_again: Open, clock: FakeClock
) -> None:
    mailbox = open_again()
    message = mailbox.post(Draft("late", expires=clock.now().replace(hour=16))).message
    clock.advance(7200)
    mailbox.archive()
    clock.advance(-7200)
    assert open_again().entry(message.id).standing.status is Status.EXPIRED


def test_what_is_withdrawn_and_archived_between_two_looks_is_told(open_again: Open, clock: FakeClock) -> None:
    mailbox = open_again()
    taken, late = (
        mailbox.post(Draft(text, expires=clock.now().replace(hour=16))).message for text in ("taken", "late")
    )
    cursor = mailbox.tip()
    mailbox.withdraw(taken.id)
    clock.advance(7200)
    mailbox.archive()
    told = [(one.kind, one.message_id) for one in open_again().changes_since(cursor).changes]
    assert sorted(told) == [(ChangeKind.EXPIRED, late.id), (ChangeKind.WITHDRAWN, taken.id)]
    again = open_again().changes_since(cursor)
    assert open_again().changes_since(again.cursor).changes == ()


def test_a_comment_that_makes_no_sense_counts_for_nothing() -> None:
    for text in ("0", "5-1", "1,2", "x", "1-", "3,1", "1" * 13):
        assert archived_numbers(f"head\n<!-- restante archived: {text} -->\n".encode()).ranges == []
    found = archived_numbers(with_archived(with_archived(b"head\n", Numbers.of([1])), Numbers.of([7, 3, 4])))
    assert found.ranges == [(3, 4), (7, 7)]
    assert [found.next_free(after) for after in (0, 2, 3, 5, 6)] == [1, 5, 5, 6, 8]
