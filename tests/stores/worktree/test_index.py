"""Incremental reads: what a look costs, and that no shortcut changes what is seen."""

from __future__ import annotations

import json
import os
import time
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stores.worktree import original
from tests.trying import examples

from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Entry, Mark
from restante.domain.message import Draft, Message
from restante.domain.receipt import Decision, Receipt
from restante.stores.worktree.layout import INBOX, RECEIPTS
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.render import HEADERS, render_message, render_receipt
from restante.stores.worktree.store import WorktreeMailbox
from restante.testing import FakeClock, SequentialIds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Open = Callable[[], WorktreeMailbox]

BODY = "Please look at this when you come round to it.\nIt can wait, and it says so at some length: " + "x" * 200


def fill(box: Path, clock: FakeClock, ids: SequentialIds, total: int, acknowledged: int) -> None:
    """Write a mailbox with so many messages, the first of them acknowledged."""
    box.mkdir(mode=0o700)
    (box / ".restante").mkdir(mode=0o700)
    inbox, receipts = [HEADERS[INBOX]], [HEADERS[RECEIPTS]]
    for number in range(1, total + 1):
        message_id = ids.new("msg", clock.now())
        inbox.append(render_message(Message(message_id, number, "", clock.now(), BODY)))
        if number <= acknowledged:
            receipt_id = ids.new("receipt", clock.now())
            receipts.append(render_receipt(Receipt(receipt_id, message_id, clock.now(), Decision.ACCEPTED)))
    (box / INBOX).write_bytes(b"".join(inbox))
    (box / RECEIPTS).write_bytes(b"".join(receipts))


def bytes_read(mailbox: WorktreeMailbox) -> int:
    ledger = mailbox.desk.ledger
    return sum(stream.bytes_read for stream in (ledger.inbox, ledger.receipts, ledger.replies, ledger.marks))


def cost_of_a_checkpoint(open_again: Open) -> tuple[int, list[Entry]]:
    """Return what a new process reads to learn what is pending, and what it learns."""
    mailbox = open_again()
    pending = mailbox.entries(pending_only=True)
    mailbox.counts()
    return bytes_read(mailbox) + os.path.getsize(mailbox.layout.own("index.json")), pending


def everything(mailbox: WorktreeMailbox) -> list[object]:
    return [mailbox.entries(pending_only=True), mailbox.counts(), mailbox.entries(), mailbox.counts()]


def without_index(open_again: Open, box: Path) -> list[object]:
    """Return what is seen where there is no index."""
    path = box / ".restante" / "index.json"
    data = path.read_bytes()
    path.unlink()
    seen = everything(open_again())
    path.write_bytes(data)
    return seen


def test_a_checkpoint_costs_what_is_pending_whatever_the_history(
    tmp_path: Path, clock: FakeClock, ids: SequentialIds
) -> None:
    costs = {}
    for total in (10, 100, 10_000):
        root = tmp_path / str(total)
        (root / ".git").mkdir(parents=True)

        def open_again(root: Path = root) -> WorktreeMailbox:
            return WorktreeMailbox(find_worktree(str(root)), clock, ids)

        fill(root / ".codex-mailbox", clock, ids, total, total - 4)
        first = open_again()
        first.mark([entry.message.id for entry in first.entries(pending_only=True)], Mark.NOTICED, "agent")
        first.post(Draft(BODY * 20))
        costs[total], pending = cost_of_a_checkpoint(open_again)
        assert [entry.message.number for entry in pending] == [*range(total - 3, total + 2)]
        assert all(entry.standing.noticed_at for entry in pending[:4])
        before = bytes_read(reader := open_again())
        reader.entries(pending_only=True)
        assert reader.desk.ledger.is_sparse or total == 10, before
    assert costs[10_000] < costs[10] * 1.2
    assert costs[10_000] < 30_000


def test_after_one_append_a_reader_reads_only_what_is_new(
    open_again: Open, box: Path, clock: FakeClock, ids: SequentialIds
) -> None:
    fill(box, clock, ids, 2000, 0)
    reader = open_again()
    assert len(reader.entries()) == 2000
    for number in range(3):
        open_again().post(Draft(f"new {number}"))
        before = bytes_read(reader)
        assert len(reader.entries()) == 2001 + number
        assert bytes_read(reader) - before < 2000
    before = bytes_read(reader)
    reader.entries()
    assert bytes_read(reader) == before


def test_the_second_append_costs_a_twentieth_of_the_first_look(
    open_again: Open, box: Path, clock: FakeClock, ids: SequentialIds
) -> None:
    fill(box, clock, ids, 5000, 0)
    reader, writer = open_again(), open_again()
    begin = time.process_time()
    reader.entries()
    cold = time.process_time() - begin
    writer.counts()
    warm = []
    for number in range(5):
        writer.post(Draft(f"new {number}"))
        begin = time.process_time()
        reader.counts()
        warm.append(time.process_time() - begin)
    assert min(warm) * 20 < cold


def test_reading_saves_no_index(open_again: Open, box: Path, clock: FakeClock, ids: SequentialIds) -> None:
    fill(box, clock, ids, 100, 50)
    reader = open_again()
    everything(reader)
    reader.changes_since("")
    assert os.listdir(box / ".restante") == []


def test_a_mailbox_without_our_directory_gets_none_by_reading(open_again: Open, box: Path) -> None:
    original.append(str(box), "x" * 10_000)
    everything(open_again())
    assert os.listdir(box) == ["INBOX.md"]


@pytest.fixture
def indexed(open_again: Open, box: Path, clock: FakeClock, ids: SequentialIds) -> Open:
    """A mailbox with an index that leaves most of it out."""
    fill(box, clock, ids, 60, 50)
    first = open_again()
    pending = first.entries(pending_only=True)
    first.mark([pending[1].message.id], Mark.SEEN, "agent")
    first.acknowledge([Acknowledgement(pending[2].message.id)], "agent")
    first.post(Draft("last"))
    assert open_again().counts().pending == 11
    return open_again


def test_the_index_and_the_files_say_the_same(indexed: Open, box: Path) -> None:
    reader = indexed()
    reader.counts()
    assert reader.desk.ledger.is_sparse
    assert everything(indexed()) == without_index(indexed, box)


def test_an_entry_that_the_index_left_out_can_be_asked_for(indexed: Open) -> None:
    old = indexed().entries()[3]
    reader = indexed()
    reader.counts()
    assert reader.entry(old.message.id) == old
    assert reader.receipts(old.message.id)[0].decision is Decision.ACCEPTED


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"version":1}', b'{"version":1,"crc":0,"content":"{}"}']
)
def test_an_index_that_is_none_is_passed_over(indexed: Open, box: Path, content: bytes) -> None:
    expected = without_index(indexed, box)
    (box / ".restante" / "index.json").write_bytes(content)
    assert everything(indexed()) == expected


def forge(box: Path, **changes: Any) -> None:
    """Write an index with other content and a fitting check."""
    path = box / ".restante" / "index.json"
    content = json.loads(json.loads(path.read_bytes())["content"])
    for name, change in changes.items():
        content[name] = change(content[name])
    body = json.dumps(content, separators=(",", ":"))
    path.write_text(json.dumps({"version": 2, "crc": zlib.crc32(body.encode()), "content": body}))


@pytest.mark.parametrize(
    "changes",
    [
        {"inbox": lambda one: {**one, "spans": [[start + 1, end, line] for start, end, line in one["spans"]]}},
        {"inbox": lambda one: {**one, "spans": [[start, end - 1, line] for start, end, line in one["spans"]]}},
        {"inbox": lambda one: {**one, "spans": [[0, 5, 1], *one["spans"][1:]]}},
        {"inbox": lambda one: {**one, "spans": one["spans"][1:]}},
        {"inbox": lambda one: {**one, "spans": [[-5, -1, 1]] * len(one["spans"])}},
        {"inbox": lambda one: {**one, "spans": "nonsense"}},
        {"inbox": lambda one: {**one, "resume": [one["resume"][0] - 1, one["resume"][1]]}},
        {"inbox": lambda one: {**one, "resume": [1 << 80, 1]}},
        {"inbox": lambda one: {**one, "check": "00" * 256}},
        {"inbox": lambda one: {**one, "check": "zz"}},
        {"inbox": lambda one: {**one, "file": [1, 2, 3, 4]}},
        {"inbox": lambda _: None},
        {"receipts": lambda one: {**one, "resume": [one["resume"][0] - 7, 1]}},
        {"numbers": lambda _: None},
        {"archived": lambda _: "5-1"},
        {"last": lambda _: "x"},
    ],
)
def test_an_index_that_does_not_fit_is_passed_over(indexed: Open, box: Path, changes: dict[str, Any]) -> None:
    expected = without_index(indexed, box)
    forge(box, **changes)
    assert everything(indexed()) == expected


def test_a_file_that_was_replaced_or_edited_makes_the_index_void(indexed: Open, box: Path) -> None:
    data = (box / INBOX).read_bytes()
    edited = data.replace(b"Please", b"Kindly", 1)
    for content in (edited, data[:-200], data[:2000], b"", edited + data[-300:]):
        (box / INBOX).write_bytes(content)
        assert everything(indexed()) == without_index(indexed, box)
    (box / INBOX).unlink()
    assert indexed().counts().total == 0


@pytest.mark.parametrize("name", [INBOX, RECEIPTS])
@pytest.mark.parametrize("append", [True, False])
def test_an_edit_in_place_makes_the_index_void_even_where_the_file_grew(
    indexed: Open, box: Path, name: str, append: bool
) -> None:
    resident = indexed()
    everything(resident)
    pending = [entry.message.id for entry in resident.entries(pending_only=True)]
    old = next(entry.message.id for entry in resident.entries() if entry.message.id not in pending)
    data = (box / name).read_bytes()
    # Of the same length: another message's receipt, or another body.
    edited = data.replace(old.encode(), pending[-1].encode(), 1) if name == RECEIPTS else data.replace(b"Pl", b"LP", 1)
    assert len(edited) == len(data) != 0
    assert edited != data
    with (box / name).open("r+b") as file:
        file.write(edited + (data[data.rindex(b"\n---\n") :] if append else b""))
    expected = without_index(indexed, box)
    assert everything(indexed()) == expected
    assert everything(resident) == expected
    if name == RECEIPTS:
        assert old in [entry.message.id for entry in indexed().entries(pending_only=True)]


def test_a_change_of_times_alone_is_read_as_no_change(indexed: Open, box: Path) -> None:
    for name in (INBOX, RECEIPTS):
        os.utime(box / name, (1, 1))
    reader = indexed()
    assert reader.counts().pending == 11
    assert reader.desk.ledger.is_sparse


def summed(mailbox: WorktreeMailbox) -> int:
    ledger = mailbox.desk.ledger
    return sum(stream.bytes_summed for stream in (ledger.inbox, ledger.receipts, ledger.replies, ledger.marks))


def test_only_what_others_wrote_makes_a_look_sum_up_the_history_and_only_until_the_next_write(
    open_again: Open, box: Path, clock: FakeClock, ids: SequentialIds
) -> None:
    fill(box, clock, ids, 2000, 1996)
    resident = open_again()
    resident.entries()
    for _ in range(3):
        message = open_again().post(Draft("ours")).message
        for use in (
            lambda reader: None,
            lambda reader: reader.mark([message.id], Mark.SEEN, "agent"),  # noqa: B023 - used at once
            lambda reader: reader.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "agent"),  # noqa: B023
        ):
            reader = open_again()
            use(reader)
            reader.counts()
            resident.counts()
            assert reader.desk.ledger.is_sparse
            assert summed(reader) < 1000
    assert summed(resident) == resident.desk.ledger.marks.bytes_summed < 10_000
    theirs = original.append(str(box), "theirs")
    size = (box / INBOX).stat().st_size
    for _ in range(2):
        reader = open_again()
        assert reader.counts().pending == 5
        assert reader.desk.ledger.is_sparse
        assert size * 0.9 < summed(reader) < size
        assert bytes_read(reader) < 10_000
    reader.mark([theirs], Mark.NOTICED, "agent")
    reader = open_again()
    reader.counts()
    assert summed(reader) == 0


def test_a_message_pasted_a_second_time_behind_the_index_is_not_new(indexed: Open, box: Path) -> None:
    data = (box / INBOX).read_bytes()
    begin = data.index(b"\n---\n\n## msg_")
    old = data[begin : data.index(b"\n---\n\n## msg_", begin + 1)]
    with (box / INBOX).open("ab") as file:
        file.write(old)
    assert indexed().counts().pending == 11
    assert everything(indexed()) == without_index(indexed, box)


def test_an_id_from_the_far_future_makes_no_later_look_dear(
    open_again: Open, box: Path, clock: FakeClock, ids: SequentialIds
) -> None:
    box.mkdir()
    far = "msg_99991231T235959_7zzzzzzzzzzzzzzzzzzzzzzzzz"
    (box / INBOX).write_text(original.block(far, "x" * 5000))
    first = open_again()
    first.acknowledge([Acknowledgement(far, Decision.REJECTED)], "agent")
    for _ in range(40):
        first.acknowledge([Acknowledgement(first.post(Draft(BODY)).message.id, Decision.ACCEPTED)], "agent")
    first.post(Draft("last"))
    reader = open_again()
    assert [entry.message.number for entry in reader.entries(pending_only=True)] == [42]
    assert reader.desk.ledger.is_sparse
    assert everything(open_again()) == without_index(open_again, box)


def test_a_receipt_written_by_hand_behind_the_index_counts(indexed: Open, box: Path) -> None:
    pending = indexed().entries(pending_only=True)[0].message.id
    with (box / RECEIPTS).open("a") as file:
        file.write(f"\n---\n\n## {original.new_id('receipt')}\n\n- **message_id**: `{pending}`\n- decision: accepted\n")
    assert indexed().counts().pending == 10


def test_receipts_that_were_deleted_make_mail_pending_again(indexed: Open, box: Path) -> None:
    (box / RECEIPTS).unlink()
    assert indexed().counts().pending == 61


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("post"), st.sampled_from(["short", "## heading\n~~~", "x" * 3000])),
        st.tuples(st.just("original"), st.sampled_from(["short", "Note: x", "y" * 3000])),
        st.tuples(st.just("mark"), st.integers(0, 5)),
        st.tuples(st.just("acknowledge"), st.integers(0, 5)),
        st.tuples(st.just("bare"), st.integers(0, 5)),
        st.tuples(st.just("withdraw"), st.integers(0, 5)),
        st.tuples(st.just("archive"), st.just(0)),
        st.tuples(st.just("later"), st.integers(1, 400)),
    ),
    max_size=25,
)


@given(steps=STEPS)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_history_is_the_same_with_and_without_shortcuts(
    steps: list[tuple[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("tree")
    (root / ".git").mkdir()
    box, clock, ids = root / ".codex-mailbox", FakeClock(), SequentialIds()

    def open_again() -> WorktreeMailbox:
        return WorktreeMailbox(find_worktree(str(root)), clock, ids, Limits())

    resident = open_again()
    for word, value in steps:
        fresh = open_again()
        pending = fresh.entries(pending_only=True)
        chosen = pending[value % len(pending)].message.id if isinstance(value, int) and pending else None
        if word == "post":
            fresh.post(Draft(value, expires=clock.now().replace(year=2027) if len(value) > 100 else None))
        elif word == "original":
            original.append(str(box), value)
        elif word == "archive":
            fresh.archive()
        elif word == "later":
            clock.advance(value * 86_400)
        elif chosen and word == "mark":
            fresh.mark([chosen], Mark.SEEN, "agent")
        elif chosen and word == "withdraw":
            fresh.withdraw(chosen)
        elif chosen:
            decision = Decision.ACCEPTED if word == "acknowledge" else None
            fresh.acknowledge([Acknowledgement(chosen, decision)], "agent")
        assert resident.entries(pending_only=True) == open_again().entries(pending_only=True)
        assert resident.counts() == open_again().counts()
    index = box / ".restante" / "index.json"
    index.unlink(missing_ok=True)
    plain = open_again()
    assert resident.entries() == plain.entries()
    assert resident.entries(pending_only=True) == plain.entries(pending_only=True)
