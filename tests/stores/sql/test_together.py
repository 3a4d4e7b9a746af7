"""Steps made durable at once: in files, against other threads and processes, and when the disk refuses."""

from __future__ import annotations

import os
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import pytest

from restante.domain.errors import Busy, Damaged, MailboxFull, StorageFailed
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, ChangeKind, Mark
from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.in_memory import open_memory
from restante.testing import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.sql.engine import Engine
    from restante.stores.sql.sqlite import SqliteDatabase
    from restante.testing import FakeClock, SequentialIds

    Open = Callable[..., SqliteDatabase]


def _statements(database: Engine, act: Callable[[], object]) -> list[str]:
    """Return what SQLite was asked for, by first words."""
    connection = database._connection
    assert connection
    told: list[str] = []
    connection.set_trace_callback(lambda sql: told.append(" ".join(sql.split()[:2])))
    act()
    connection.set_trace_callback(None)
    return told


def test_many_steps_are_one_commit(open_database: Open) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one", limits=Limits(pending_messages=100, sender_share=0.5))
    mailbox.post(make_draft())

    def post_many() -> None:
        with database.together():
            for _ in range(10):
                mailbox.post(make_draft())

    told = _statements(database, post_many)
    assert [one for one in told if one.split()[0] in {"BEGIN", "COMMIT", "ROLLBACK"}] == ["BEGIN IMMEDIATE", "COMMIT"]
    # What one more post costs, in statements: the figures of the server hang on it.
    assert len(told) <= 7 + 10 * 2


def test_others_see_nothing_before_the_end_and_all_of_it_after(open_database: Open) -> None:
    database, other = open_database(), open_database()
    mailbox, seen_by_other = (one.mailbox("session:one") for one in (database, other))
    mailbox.post(make_draft("before"))
    with database.together():
        mailbox.post(make_draft("within"))
        assert len(mailbox.ids()) == 2
        assert len(seen_by_other.ids()) == 1
    assert len(seen_by_other.ids()) == 2


def test_another_thread_waits_and_its_write_is_its_own(open_database: Open) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one")
    mailbox.post(make_draft("before"))
    done: list[str] = []

    def post() -> None:
        done.append(mailbox.post(make_draft("of a thread")).message.id)

    thread = threading.Thread(target=post)
    with pytest.raises(KeyError), database.together():
        mailbox.post(make_draft("undone"))
        thread.start()
        thread.join(0.1)
        assert done == []
        raise KeyError
    thread.join(60)
    assert [entry.message.body for entry in mailbox.entries()] == ["before", "of a thread"]
    assert mailbox.ids()[1:] == done


def test_threads_that_group_and_threads_that_do_not_lose_nothing(clock: FakeClock, ids: SequentialIds) -> None:
    database = open_memory(clock, ids)
    mailboxes = [database.mailbox(f"session:{number}") for number in range(3)]
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                if number % 2:
                    mailboxes[turn % 3].post(make_draft(f"{number}-{turn}"))
                    mailboxes[turn % 3].entries()
                    continue
                with database.together():
                    for part in range(5):
                        mailboxes[part % 3].post(make_draft(f"{number}-{turn}-{part}"))
        except BaseException as error:  # told below
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failed == []
    bodies = [entry.message.body for mailbox in mailboxes for entry in mailbox.entries()]
    assert len(bodies) == len(set(bodies)) == 3 * 20 + 3 * 20 * 5
    assert all(mailbox.faults() == [] for mailbox in mailboxes)


class _Refusing(sqlite3.Connection):
    """A connection whose COMMIT, or whatever else begins with some words, fails."""

    refused: str = ""
    undoes = False

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        self._refuse(sql)
        return super().execute(sql, *values)

    def executemany(self, sql: str, values: Any) -> sqlite3.Cursor:
        self._refuse(sql)
        return super().executemany(sql, values)

    def _refuse(self, sql: str) -> None:
        if self.refused and sql.startswith(self.refused):
            if self.undoes:
                super().execute("ROLLBACK")
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error


@pytest.fixture
def refusing(open_database: Open, monkeypatch: pytest.MonkeyPatch) -> SqliteDatabase:
    """A database whose connection can be told to refuse, with one message in it."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **words: connect(*args, factory=_Refusing, **words))
    database = open_database()
    database.mailbox("session:one").post(make_draft("before"))
    return database


def test_a_commit_that_fails_undoes_every_step_and_says_why(refusing: SqliteDatabase) -> None:
    mailbox, connection = refusing.mailbox("session:one"), refusing._connection
    assert isinstance(connection, _Refusing)
    with pytest.raises(StorageFailed, match="full") as caught, refusing.together():
        mailbox.post(make_draft("lost"))
        connection.refused = "COMMIT"
    assert "free some space" in caught.value.remedy
    connection.refused = ""
    assert len(mailbox.ids()) == 1
    assert mailbox.post(make_draft("goes on")).message.number == 2


@pytest.mark.parametrize("undoes", [True, False])
def test_a_step_that_takes_all_others_with_it_ends_the_group(refusing: SqliteDatabase, undoes: bool) -> None:
    mailbox, connection = refusing.mailbox("session:one"), refusing._connection
    assert isinstance(connection, _Refusing)
    with pytest.raises(StorageFailed, match="full"), refusing.together():
        mailbox.post(make_draft("one"))
        assert len(mailbox.ids()) == 2
        connection.refused, connection.undoes = "INSERT INTO messages", undoes
        mailbox.post(make_draft("two"))
        # Only now is it written, together with whatever else was posted meanwhile.
        with pytest.raises(StorageFailed, match="full"):
            mailbox.ids()
        connection.refused = ""
        for act in (mailbox.ids, lambda: mailbox.post(make_draft("three"))):
            with pytest.raises(StorageFailed, match="full"):
                act()
    assert [entry.message.body for entry in mailbox.entries()] == ["before"]


@pytest.mark.parametrize("undoes", [True, False])
@pytest.mark.parametrize("is_early", [True, False])
def test_what_was_put_off_and_cannot_be_written_undoes_the_group(
    refusing: SqliteDatabase, undoes: bool, is_early: bool
) -> None:
    mailbox, other, connection = refusing.mailbox("session:one"), refusing.mailbox("session:two"), refusing._connection
    assert isinstance(connection, _Refusing)
    other.post(make_draft("before"))
    mailbox.counts()
    with pytest.raises(StorageFailed, match="full"), refusing.together():
        mailbox.post(make_draft("one"))
        other.post(make_draft("two"))
        connection.refused, connection.undoes = "UPDATE mailboxes", undoes
        if is_early:
            refusing.write_now()
    connection.refused = ""
    for box in (mailbox, other):
        assert [entry.message.body for entry in box.entries()] == ["before"]
        assert box.counts() == box.counts()._replace(pending=1, unseen=1, total=1, high_water=1)
        assert box.post(make_draft("after")).message.number == 2


def test_what_a_group_put_off_is_there_for_whatever_it_asks_and_is_written_once(open_database: Open) -> None:
    database, others = open_database(), open_database()
    boxes = [database.mailbox(f"session:{number}") for number in range(3)]
    for box in boxes:
        box.post(make_draft("before"))
    with database.together():
        told = _statements(database, lambda: [box.post(make_draft()) for _ in range(4) for box in boxes])
        assert not any(one.startswith(("INSERT", "UPDATE")) for one in told)
        told = _statements(database, database.write_now)
        # Each message with its change; the counters of each mailbox once; one number for all of it.
        assert [told.count(one) for one in ("INSERT INTO", "UPDATE mailboxes", "UPDATE counters")] == [24, 3, 1]
        posted = boxes[0].post(make_draft("one more"))
        assert boxes[0].ids()[-1] == posted.message.id
        assert others.mailbox("session:0").ids() == boxes[0].ids()[:1]
        boxes[1].acknowledge([Acknowledgement(boxes[1].ids()[1])], "agent")
    for number, box in enumerate(boxes):
        theirs = others.mailbox(box.address)
        assert theirs.ids() == box.ids()
        assert theirs.counts() == box.counts()
        kinds = [one.kind for one in theirs.changes_since("").changes]
        assert kinds.count(ChangeKind.POSTED) == (6 if number == 0 else 5)


def test_who_watches_hears_of_every_mailbox_that_a_group_posted_to(
    open_database: Open, clock: FakeClock, ids: SequentialIds
) -> None:
    database = open_database()
    boxes = SqlBoxes(database, clock, ids)
    for number in range(3):
        boxes.box(f"{number}", "").post(make_draft("before"))
    before = boxes.tip("")[1]
    with database.together():
        for number in (2, 0, 1):
            boxes.box(f"{number}", "").post(make_draft("after"))
    assert sorted(boxes.changed_since(before, "")) == ["0", "1", "2"]
    assert boxes.changed_since(boxes.tip("")[1], "") == []


def test_a_group_waits_for_another_process_and_gives_up_in_time(open_database: Open, path: str) -> None:
    database = open_database(busy_seconds=0.1)
    mailbox = database.mailbox("session:one")
    mailbox.post(make_draft("before"))
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with database.together():
        with pytest.raises(Busy):
            mailbox.post(make_draft("refused"))
        assert len(mailbox.ids()) == 1
        holder.execute("ROLLBACK")
        mailbox.post(make_draft("after"))
    holder.close()
    assert [entry.message.body for entry in mailbox.entries()] == ["before", "after"]


def test_a_refused_step_of_a_group_costs_the_others_nothing(open_database: Open) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one", limits=Limits(pending_messages=1))
    with database.together():
        for number in range(5):
            other = database.mailbox(f"session:{number}", limits=Limits(pending_messages=1))
            other.post(make_draft())
            if number == 1:
                continue
            with pytest.raises(MailboxFull):
                other.post(make_draft())
        with pytest.raises(MailboxFull):
            mailbox = database.mailbox("session:1", limits=Limits(pending_messages=1))
            mailbox.post(make_draft())
    assert [len(database.mailbox(f"session:{number}").ids()) for number in range(5)] == [1] * 5


def test_reading_in_a_group_before_its_first_write_creates_nothing(open_database: Open, path: str) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one")
    with database.together():
        mailbox.mark(["msg"], Mark.SEEN, "reader")
        assert mailbox.ids() == []
    assert not os.path.exists(path)
    with database.together():
        assert mailbox.ids() == []
        mailbox.post(make_draft())
        assert len(mailbox.ids()) == 1
    assert len(mailbox.ids()) == 1


def test_a_damaged_file_is_told_in_a_group_too(open_database: Open, path: str) -> None:
    database = open_database()
    database.mailbox("session:one").post(make_draft())
    database.close()
    with open(path, "wb") as file:
        file.write(b"no database at all\n" * 1000)
    mailbox = database.mailbox("session:one")
    with database.together():
        for act in (mailbox.ids, lambda: mailbox.post(make_draft())):
            with pytest.raises(Damaged, match=r"restante\.db"):
                act()
