"""Moving the mail of sessions: nothing is lost, doubled, renumbered or seen anew, however often it is begun."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import MailboxDeleted, Refused
from restante.domain.lifecycle import Status
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.message import Sender
from restante.domain.overview import Fate
from restante.domain.receipt import Decision
from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.in_memory import open_memory
from restante.stores.sql.moving import columns_of, move_mail
from restante.testing import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.sql.sqlite import SqliteDatabase
    from restante.stores.sql.transaction import Database
    from restante.testing import FakeClock, SequentialIds

    Open = Callable[..., SqliteDatabase]

SENDER = Sender("session:worker", verified=True)
LIMITS = Limits(pending_messages=5)


def _fill(boxes: SqlBoxes, clock: FakeClock) -> None:
    """Give two owners mail in every state that there is."""
    for owner in ("", "ann"):
        box = boxes.box(f"one-{owner}", owner)
        lives = clock.now() + timedelta(minutes=5)
        posted = [
            box.post(make_draft(f"{number}\0\u00e9", sender=SENDER, client_id=f"c{number}", expires=lives)).message
            for number in range(4)
        ]
        box.mark([posted[0].id], Mark.SEEN, "reader")
        box.mark([posted[1].id], Mark.NOTICED, "reader")
        box.acknowledge([Acknowledgement(posted[2].id, Decision.ACCEPTED, summary="done")], "reader")
        box.reply(posted[2].id, "words", "reader")
        box.reply("", "more words", "reader")
        box.withdraw(posted[3].id)
        ended = boxes.box(f"ended-{owner}", owner)
        ended.post(make_draft("gone", sender=SENDER))
        ended.delete()


def _view(boxes: SqlBoxes) -> list[object]:
    views: list[object] = []
    for owner in ("", "ann"):
        box = boxes.box(f"one-{owner}", owner)
        entries = box.entries()
        receipts = [box.receipts(entry.message.id) for entry in entries]
        views += [entries, receipts, box.replies(), box.counts(), box.changes_since(""), box.tip(), box.ids()]
        views += [boxes.counts(owner), boxes.debts(owner), boxes.traces(SENDER.name, owner), boxes.tip(owner)]
        views += [boxes.changed_since(0, owner), boxes.changed_since(3, owner)]
    return views


@pytest.fixture
def boxes_in(clock: FakeClock, ids: SequentialIds) -> Callable[[Database], SqlBoxes]:
    return lambda database: SqlBoxes(database, clock, ids, LIMITS)


@pytest.mark.parametrize("to_disk", [True, False])
def test_s45_s51_everything_moves_as_it_is_and_moving_again_changes_nothing(
    open_database: Open,
    clock: FakeClock,
    ids: SequentialIds,
    boxes_in: Callable[[Database], SqlBoxes],
    to_disk: bool,
) -> None:
    memory, disk = open_memory(clock, ids), open_database()
    source, target = (memory, disk) if to_disk else (disk, memory)
    _fill(boxes_in(source), clock)
    before = _view(boxes_in(source))
    for _ in range(3):
        assert move_mail(source, target) == 4
        assert _view(boxes_in(target)) == before
        assert _view(boxes_in(source)) == before
    # Without one that marks the end of a page or table every number goes on where it was.
    boxes = boxes_in(target)
    assert boxes.box("one-", "").post(make_draft()).message.number == 5
    with pytest.raises(MailboxDeleted):
        boxes.box("ended-", "").entry(boxes.traces(SENDER.name, "")[0].message_id)


def test_s50_what_was_moved_expires_when_it_would_have(
    open_database: Open, clock: FakeClock, ids: SequentialIds, boxes_in: Callable[[Database], SqlBoxes]
) -> None:
    memory = open_memory(clock, ids)
    _fill(boxes_in(memory), clock)
    clock.advance(299)
    disk = open_database()
    move_mail(memory, disk)
    boxes = boxes_in(disk)
    assert boxes.counts("")["one-"].pending == 2
    clock.advance(1)
    assert boxes.counts("")["one-"].pending == 0


def test_only_the_mail_of_sessions_moves(open_database: Open, clock: FakeClock, ids: SequentialIds) -> None:
    memory = open_memory(clock, ids)
    memory.mailbox("team/reviewer").post(make_draft())
    disk = open_database()
    assert move_mail(memory, disk) == 0
    assert move_mail(open_memory(clock, ids), disk) == 0
    assert not disk.mailbox("team/reviewer").ids()


def test_a_copy_that_the_source_went_on_from_is_brought_up_to_date(
    open_database: Open, clock: FakeClock, ids: SequentialIds, boxes_in: Callable[[Database], SqlBoxes]
) -> None:
    memory, disk = open_memory(clock, ids), open_database()
    _fill(boxes_in(memory), clock)
    move_mail(memory, disk)
    boxes_in(memory).box("one-", "").post(make_draft("later"))
    boxes_in(memory).box("one-ann", "ann").delete()
    move_mail(memory, disk)
    assert _view(boxes_in(disk)) == _view(boxes_in(memory))
    boxes_in(disk).box("one-", "").post(make_draft("on the disk"))
    move_mail(memory, disk)
    assert boxes_in(disk).box("one-", "").entries()[-1].message.body == "on the disk"


def test_a_mailbox_that_is_there_from_another_time_keeps_what_it_has(
    open_database: Open, clock: FakeClock, ids: SequentialIds, boxes_in: Callable[[Database], SqlBoxes]
) -> None:
    memory, disk = open_memory(clock, ids), open_database()
    _fill(boxes_in(memory), clock)
    there = boxes_in(disk).box("one-", "")
    mine = there.post(make_draft("was here", sender=SENDER, client_id="c0")).message
    cursor, events = there.tip(), boxes_in(disk).tip("")
    came = [entry.message.id for entry in boxes_in(memory).box("one-", "").entries()]
    for _ in range(2):
        move_mail(memory, disk)
        assert there.ids() == [mine.id, *came]
        assert [entry.message.number for entry in there.entries()] == [1, 2, 3, 4, 5]
        assert [entry.standing.status for entry in there.entries()][-1] is Status.WITHDRAWN
        assert there.receipts(came[2])[0].summary == "done"
        assert [reply.to for reply in there.replies()] == [came[2], ""]
        assert len(there.changes_since(cursor).changes) == len(
            boxes_in(memory).box("one-", "").changes_since("").changes
        )
        assert there.counts().total == 5
        assert there.faults() == []
    draft = make_draft("was here", sender=SENDER, client_id="c0")
    assert there.post(draft).message == mine
    assert "one-" in boxes_in(disk).changed_since(events[1], "")
    assert boxes_in(disk).tip("")[0] == events[0]
    assert {trace.fate for trace in boxes_in(disk).traces(SENDER.name, "")} >= {Fate.ACKNOWLEDGED, Fate.DELETED}


def test_what_belongs_to_somebody_else_there_is_refused_and_nothing_moves(
    open_database: Open, clock: FakeClock, ids: SequentialIds, boxes_in: Callable[[Database], SqlBoxes]
) -> None:
    memory, disk = open_memory(clock, ids), open_database()
    _fill(boxes_in(memory), clock)
    boxes_in(disk).box("one-ann", "bob").post(make_draft())
    with pytest.raises(Refused, match="somebody else"):
        move_mail(memory, disk)
    assert boxes_in(disk).box("one-", "").ids() == []


def test_the_columns_of_a_table_are_those_it_has(open_database: Open) -> None:
    database = open_database()
    database.mailbox("x").post(make_draft())
    for table in ("mailboxes", "messages", "changes", "receipts", "replies", "shown", "deleted", "sessions"):
        with database.reading() as run:
            assert run
            rows = run.raw(f"SELECT name FROM pragma_table_info('{table}') ORDER BY cid")
        assert list(columns_of(table)) == [row[0] for row in rows]
    with pytest.raises(KeyError):
        columns_of("nothing")
