"""The file: who may see it, how it is locked, what a disk may refuse, and the mailboxes in it."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Busy, IllegalStep, MailboxDeleted, NoSuchMessage, StorageFailed, UsageError
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, ChangeKind, Counts, Mark
from restante.domain.receipt import Decision
from restante.stores.sql.connection import choose_journal, meet, open_file
from restante.stores.sql.mounts import fs_type, is_shared
from restante.stores.sql.schema import SCHEMA_VERSION, bring_up_to_date
from restante.stores.sql.sqlite import open_sqlite
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds
from restante.testing import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from restante.stores.sql.sqlite import SqliteDatabase, SqliteMailbox

    Open = Callable[..., SqliteDatabase]
    ReadOnly = Callable[[str], AbstractContextManager[None]]


def _bodies(mailbox: SqliteMailbox) -> list[str]:
    return [entry.message.body for entry in mailbox.entries()]


def _change_by_hand(path: str, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def _carry_over(path: str) -> None:
    """Do what SQLite does when the last connection closes: leave one file."""
    sqlite3.connect(path).close()
    connection = sqlite3.connect(path)
    connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    connection.close()
    assert os.listdir(os.path.dirname(path)) == ["restante.db"]


def test_files_are_for_their_owner_alone(mailbox: SqliteMailbox, path: str) -> None:
    before = os.umask(0)
    try:
        mailbox.post(make_draft())
        with mailbox.notebook.page("session") as shown:
            shown.held.add("msg")
    finally:
        os.umask(before)
    modes = {}
    for directory, _, names in os.walk(os.path.dirname(path)):
        modes[directory] = os.stat(directory).st_mode & 0o777
        modes.update({name: os.stat(os.path.join(directory, name)).st_mode & 0o777 for name in names})
    assert {"restante.db", "restante.db-wal", "restante.db-shm"} < set(modes)
    assert {mode for name, mode in modes.items() if os.path.isabs(name)} == {0o700}
    assert {mode for name, mode in modes.items() if not os.path.isabs(name)} == {0o600}


def test_commits_wait_for_the_disk_and_references_are_checked(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft())
    connection = open_file(path, "mode=rw")
    assert meet(connection, path) == SCHEMA_VERSION
    answers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "foreign_keys")]
    connection.close()
    assert answers == [2, 1]
    assert mailbox.database.journal_mode == "wal"


def test_bodies_are_bytes(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft("ab\0c\u00e9"))
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT typeof(body), body, body_bytes FROM messages").fetchall()
    connection.close()
    assert rows == [("blob", b"ab\0c\xc3\xa9", 6)]


def test_only_writing_creates(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.mark(["msg"], Mark.SEEN, "agent")
    mailbox.notebook.tear_out("session")
    mailbox.delete()
    with pytest.raises(NoSuchMessage):
        mailbox.acknowledge([Acknowledgement("msg")], "agent")
    for act in (mailbox.withdraw, mailbox.entry, lambda one: mailbox.reply(one, "text", "agent")):
        with pytest.raises(NoSuchMessage):
            act("msg")
    assert mailbox.database.journal_mode == "wal"
    assert not os.path.exists(os.path.dirname(path))
    mailbox.reply("", "hello", "agent")
    assert os.path.exists(path)


def test_a_one_shot_command_leaves_the_log_for_the_next_writer(
    mailbox: SqliteMailbox, path: str, open_database: Open
) -> None:
    mailbox.post(make_draft("one"))
    mailbox.close()
    assert os.path.getsize(path + "-wal") > 0
    other = open_database().mailbox("team/reviewer")
    other.post(make_draft("two"))
    other.close()
    assert _bodies(mailbox) == ["one", "two"]


def test_the_log_stays_short(mailbox: SqliteMailbox, path: str) -> None:
    for number in range(300):
        mailbox.post(make_draft(f"{number}"))
        if number % 25 == 0:
            mailbox.close()
    assert os.path.getsize(path + "-wal") < 2_000_000


def test_who_stays_carries_the_log_over_less_often_and_leaves_none(path: str, open_database: Open) -> None:
    database = open_database(stays=True)
    staying = database.mailbox("team/reviewer")
    for number in range(300):
        staying.post(make_draft(f"{number}"))
    assert 2_000_000 < os.path.getsize(path + "-wal") < 9_000_000
    with open(path, "rb") as file:
        assert b"299" not in file.read()
    database.close()
    assert not os.path.exists(path + "-wal")
    assert _bodies(open_database().mailbox("team/reviewer")) == [f"{number}" for number in range(300)]


def test_a_commit_writes_little_more_than_it_changes(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft("first"))
    before = os.path.getsize(path + "-wal")
    for number in range(10):
        mailbox.post(make_draft(f"{number}"))
    assert os.path.getsize(path + "-wal") - before < 10 * 20_000


def test_a_file_of_larger_pages_is_kept_as_it_is(path: str, open_database: Open) -> None:
    os.makedirs(os.path.dirname(path))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA page_size = 4096")
        bring_up_to_date(connection, path)
    mailbox = open_database().mailbox("team/reviewer")
    for number in range(300):
        mailbox.post(make_draft(f"{number}"))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA page_size").fetchone() == (4096,)
    assert os.path.getsize(path + "-wal") < 2_000_000


def test_any_path_works(tmp_path: object, open_database: Open) -> None:
    odd = os.path.join(str(tmp_path), "a?b#c%20d 'é\udcff;", "x&mode=memory.db")
    mailbox = open_database(odd).mailbox("team/reviewer")
    mailbox.post(make_draft("kept"))
    assert os.path.exists(odd)
    assert _bodies(open_database(odd).mailbox("team/reviewer")) == ["kept"]


def test_a_symbolic_link_and_its_target_are_one_database(path: str, tmp_path: object, open_database: Open) -> None:
    link = os.path.join(str(tmp_path), "link")
    os.symlink(os.path.dirname(path), link)
    open_database().mailbox("team/reviewer").post(make_draft("one"))
    through = open_database(os.path.join(link, "restante.db")).mailbox("team/reviewer")
    through.post(make_draft("two"))
    assert _bodies(through) == ["one", "two"]
    assert through.database.path == path


def test_a_database_that_was_removed_is_made_anew(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft("one"))
    cursor = mailbox.tip()
    for suffix in ("", "-wal", "-shm"):
        os.unlink(path + suffix)
    assert mailbox.entries() == []
    with pytest.raises(UsageError):
        mailbox.changes_since(cursor)
    mailbox.post(make_draft("two"))
    assert _bodies(mailbox) == ["two"]
    with pytest.raises(UsageError):
        mailbox.changes_since(cursor)


def test_a_database_that_was_replaced_is_read_afresh(mailbox: SqliteMailbox, path: str, open_database: Open) -> None:
    mailbox.post(make_draft("one"))
    other = open_database(path + ".other")
    other.mailbox("team/reviewer").post(make_draft("two"))
    other.close()
    sqlite3.connect(path + ".other").close()
    for suffix in ("-wal", "-shm"):
        os.unlink(path + suffix)
        os.rename(path + ".other" + suffix, path + suffix)
    os.rename(path + ".other", path)
    assert _bodies(mailbox) == ["two"]


# -- locks, threads, forks


def test_a_lock_that_is_not_freed_is_busy_and_reading_goes_on(path: str, open_database: Open) -> None:
    mailbox = open_database(busy_seconds=0.05).mailbox("team/reviewer")
    message = mailbox.post(make_draft()).message
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for act in (
        lambda: mailbox.post(make_draft()),
        lambda: mailbox.withdraw(message.id),
        lambda: mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "agent"),
    ):
        with pytest.raises(Busy, match=r"restante\.db"):
            act()
    assert mailbox.counts().pending == 1
    other.execute("ROLLBACK")
    other.close()
    assert mailbox.withdraw(message.id).withdrawn_at


def test_threads_share_one_mailbox(mailbox: SqliteMailbox) -> None:
    faults: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(15):
                message = mailbox.post(make_draft(f"{name} {number}")).message
                mailbox.entries(pending_only=True, limit=3)
                mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "agent")
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [entry.message.number for entry in mailbox.entries()] == list(range(1, 91))
    assert mailbox.counts() == Counts(90, 0, 0, 90)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_of_a_fork_opens_its_own_connection(path: str) -> None:
    mailbox = open_sqlite(path, address="team/reviewer", clock=SystemClock(), ids=MonotonicIds())
    mailbox.post(make_draft("before"))
    child = os.fork()
    if not child:
        try:
            mailbox.post(make_draft("child"))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    mailbox.post(make_draft("parent"))
    assert _bodies(mailbox) == ["before", "child", "parent"]
    mailbox.close()


def test_a_transaction_that_was_interrupted_is_undone(mailbox: SqliteMailbox, open_database: Open) -> None:
    mailbox.post(make_draft("one"))
    with pytest.raises(KeyboardInterrupt), mailbox.database.writing() as run:
        assert run
        run.do("delete_changes", box=1)
        raise KeyboardInterrupt
    assert [change.kind for change in open_database().mailbox("team/reviewer").changes_since("").changes] == [
        ChangeKind.POSTED
    ]
    mailbox.post(make_draft("two"))


# -- what a disk refuses


def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    mailbox: SqliteMailbox, path: str, open_database: Open
) -> None:
    mailbox.post(make_draft("0"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    posted = ["0"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        with pytest.raises(StorageFailed, match=r"restante\.db") as caught:
            for number in range(1, 500):
                mailbox.post(make_draft(f"{number} " + "x" * 8000))
                posted.append(str(number))
        assert caught.value.remedy
        assert [body.split()[0] for body in _bodies(mailbox)] == posted
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert 3 < len(posted) < 100
    mailbox.post(make_draft("after"))
    posted.append("after")
    other = open_database().mailbox("team/reviewer")
    assert [body.split()[0] for body in _bodies(other)] == posted
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_disk_that_is_full_from_the_start_leaves_an_empty_mailbox(mailbox: SqliteMailbox) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, hard))
    try:
        with pytest.raises(StorageFailed):
            mailbox.post(make_draft())
        assert mailbox.counts() == Counts()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert mailbox.post(make_draft()).message.number == 1


def test_a_read_only_directory_without_a_log_is_read(
    mailbox: SqliteMailbox, path: str, read_only: ReadOnly, open_database: Open
) -> None:
    message = mailbox.post(make_draft("kept")).message
    mailbox.close()
    _carry_over(path)
    directory = os.path.dirname(path)
    with read_only(directory):
        other = open_database().mailbox("team/reviewer")
        assert _bodies(other) == ["kept"]
        assert other.counts().unseen == 1
        for act in (
            lambda: other.mark([message.id], Mark.SEEN, "agent"),
            lambda: other.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "agent"),
            lambda: other.post(make_draft("more")),
        ):
            with pytest.raises(StorageFailed, match=r"restante\.db") as caught:
                act()
            assert directory in caught.value.remedy
        assert _bodies(other) == ["kept"]
        assert os.listdir(directory) == ["restante.db"]
        with pytest.raises(StorageFailed), other.notebook.page("session"):
            pass
    assert mailbox.entry(message.id).standing.is_pending


def test_a_read_only_directory_with_a_log_is_read_up_to_its_end(
    mailbox: SqliteMailbox, path: str, read_only: ReadOnly, open_database: Open
) -> None:
    mailbox.post(make_draft("kept"))
    mailbox.close()
    assert os.path.getsize(path + "-wal")
    with read_only(os.path.dirname(path)):
        assert _bodies(open_database().mailbox("team/reviewer")) == ["kept"]


def test_a_read_only_directory_beside_a_live_writer_is_read(
    path: str, read_only: ReadOnly, open_database: Open
) -> None:
    writer = (
        "import sys\nfrom restante.domain.message import Draft\nfrom restante.stores.sql.sqlite import open_sqlite\n"
        "from restante.system.clock import SystemClock\nfrom restante.system.ids import MonotonicIds\n"
        "box = open_sqlite(sys.argv[1], address='team/reviewer', clock=SystemClock(), ids=MonotonicIds())\n"
        "for line in sys.stdin:\n    box.post(Draft(line.strip()))\n    print('posted', flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", writer, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout

    def post(text: str) -> None:
        assert process.stdin
        assert process.stdout
        process.stdin.write(text + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "posted\n"

    with process:
        post("one")
        with read_only(os.path.dirname(path)):
            other = open_database().mailbox("team/reviewer")
            assert _bodies(other) == ["one"]
            post("two")
            assert _bodies(other) == ["one", "two"]


def test_a_log_that_cannot_be_read_is_told_and_is_never_nothing(
    mailbox: SqliteMailbox, path: str, read_only: ReadOnly, open_database: Open
) -> None:
    mailbox.post(make_draft("kept"))
    mailbox.close()
    os.unlink(path + "-shm")
    directory = os.path.dirname(path)
    with read_only(directory):
        other = open_database().mailbox("team/reviewer")
        for act in (other.entries, other.counts, lambda: other.changes_since(""), lambda: other.post(make_draft())):
            with pytest.raises(StorageFailed) as caught:
                act()
            assert directory in f"{caught.value} {caught.value.remedy}"
            assert "writable" in caught.value.remedy
    assert _bodies(mailbox) == ["kept"]


def test_a_rollback_journal_that_cannot_be_read_is_told(path: str, read_only: ReadOnly, open_database: Open) -> None:
    database = open_database(fs_type=lambda path: "nfs")
    database.mailbox("team/reviewer").post(make_draft("kept"))
    database.close()
    with open(path + "-journal", "wb") as file:
        file.write(bytes.fromhex("d9d505f920a163d7") + b"\0\0\0\1" * 300)
    with read_only(os.path.dirname(path)), pytest.raises(StorageFailed, match=r"restante\.db-journal"):
        open_database().mailbox("team/reviewer").entries()


def test_a_writer_that_comes_while_a_frozen_file_is_read_is_noticed(
    mailbox: SqliteMailbox, path: str, read_only: ReadOnly, open_database: Open
) -> None:
    mailbox.post(make_draft("kept"))
    mailbox.close()
    _carry_over(path)
    with read_only(os.path.dirname(path)):
        other = open_database()
        with pytest.raises(Busy, match="while it was read"), other.reading() as run:
            assert run
            os.utime(path, ns=(0, 0))


def test_a_missing_database_in_a_read_only_directory_is_empty_and_cannot_be_made(
    path: str, read_only: ReadOnly, open_database: Open
) -> None:
    directory = os.path.dirname(path)
    os.mkdir(directory)
    with read_only(directory):
        mailbox = open_database().mailbox("team/reviewer")
        assert mailbox.entries() == []
        with pytest.raises(StorageFailed, match=r"restante\.db"):
            mailbox.post(make_draft())


# -- journal modes


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "9p", "virtiofs", "cifs", "smb3", "fuse", "fuse.sshfs", "fuseblk"])
def test_a_filesystem_that_machines_may_share_gets_no_shared_memory(kind: str, path: str, open_database: Open) -> None:
    database = open_database(fs_type=lambda path: kind)
    assert database.journal_mode == "truncate"
    mailbox = database.mailbox("team/reviewer")
    mailbox.post(make_draft("kept"))
    assert database.journal_mode == "truncate"
    other = open_database(fs_type=lambda path: kind).mailbox("team/reviewer")
    other.post(make_draft("more"))
    assert _bodies(mailbox) == ["kept", "more"]
    assert not {name for name in os.listdir(os.path.dirname(path)) if name.endswith(("-wal", "-shm"))}


def test_a_database_that_was_moved_to_such_a_filesystem_leaves_wal(
    mailbox: SqliteMailbox, path: str, open_database: Open
) -> None:
    mailbox.post(make_draft("kept"))
    mailbox.close()
    moved = open_database(fs_type=lambda path: "nfs4")
    assert _bodies(moved.mailbox("team/reviewer")) == ["kept"]
    assert moved.journal_mode == "truncate"
    assert not os.path.exists(path + "-wal")


def test_no_memory_is_shared_even_to_leave_wal(mailbox: SqliteMailbox, path: str, open_database: Open) -> None:
    mailbox.post(make_draft("kept"))
    mailbox.close()
    _carry_over(path)
    # Where the shared memory would be is something that cannot be it.
    os.mkdir(path + "-shm")
    moved = open_database(fs_type=lambda path: "virtiofs").mailbox("team/reviewer")
    assert _bodies(moved) == ["kept"]
    moved.post(make_draft("more"))
    assert _bodies(moved) == ["kept", "more"]


def test_where_wal_is_not_to_be_had_commits_still_wait_for_the_disk(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft())
    mailbox.close()
    _change_by_hand(path, "PRAGMA journal_mode = DELETE")
    connection = open_file(path, "mode=rw&vfs=unix-dotfile")
    choose_journal(connection, path, 1, is_shared=False)
    answers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    connection.close()
    assert answers == ["truncate", 2]


@pytest.mark.skipif(not os.path.exists("/proc/self/mounts"), reason="the system does not say what is mounted")
def test_the_filesystem_is_that_of_the_nearest_mount() -> None:
    assert fs_type("/proc/self/status") == "proc"
    assert fs_type("/proc/no/such/file") == "proc"
    assert fs_type("/processes") == fs_type("/")
    assert not is_shared("ext4")
    assert not is_shared("overlay")


# -- the mailboxes of one file


def test_mailboxes_of_one_file_are_strangers(open_database: Open) -> None:
    database = open_database()
    one, two = database.mailbox("team/one", limits=Limits(pending_messages=1)), database.mailbox("team/two")
    first = one.post(make_draft("one", client_id="c")).message
    other = two.post(make_draft("two", client_id="c")).message
    assert (first.number, other.number) == (1, 1)
    two.post(make_draft("three"))
    assert (_bodies(one), _bodies(two)) == (["one"], ["two", "three"])
    assert (one.counts().high_water, two.counts().high_water) == (1, 2)
    with pytest.raises(NoSuchMessage):
        one.acknowledge([Acknowledgement(other.id)], "agent")
    assert one.receipts(other.id) == []
    with pytest.raises(UsageError):
        one.changes_since(two.tip())
    assert [change.message_id for change in one.changes_since("").changes] == [first.id]


def test_numbers_grow_also_after_a_deletion_which_leaves_a_trace(open_database: Open) -> None:
    database = open_database()
    mailbox, other = database.mailbox("team/one"), database.mailbox("team/two")
    messages = [mailbox.post(make_draft(text)).message for text in ("one", "two")]
    mailbox.acknowledge([Acknowledgement(messages[0].id, Decision.ACCEPTED)], "agent")
    mailbox.reply(messages[0].id, "yes", "agent")
    with mailbox.notebook.page("session") as shown:
        shown.held.add(messages[1].id)
    other.post(make_draft("stays"))
    cursor = mailbox.tip()
    for _ in range(2):
        mailbox.delete()
        assert (mailbox.entries(), mailbox.replies(), mailbox.counts()) == ([], [], Counts(high_water=2))
        for message in messages:
            with pytest.raises(MailboxDeleted, match=message.id):
                mailbox.entry(message.id)
    again = mailbox.post(make_draft("three")).message
    assert again.number == 3
    assert [change.message_id for change in mailbox.changes_since(cursor).changes] == [again.id]
    assert [change.message_id for change in mailbox.changes_since("").changes] == [again.id]
    assert mailbox.counts() == Counts(1, 1, 1, 3, again.created)
    assert _bodies(other) == ["stays"]


def test_a_row_that_cannot_be_understood_is_one_fault_and_hides_nothing_else(mailbox: SqliteMailbox, path: str) -> None:
    messages = [mailbox.post(make_draft(str(number))).message for number in range(1, 8)]
    good = messages[-1]
    mailbox.acknowledge([Acknowledgement(good.id, Decision.ACCEPTED)], "agent")
    mailbox.acknowledge([Acknowledgement(good.id, Decision.REJECTED)], "agent")
    mailbox.reply(good.id, "yes", "agent")
    for number, change in enumerate(
        ("priority = 'urgent'", "body = x'ff'", "created_ms = 1e18", "scope = ''", "closed = 'no'", "created_ms = 'x'"),
        1,
    ):
        _change_by_hand(path, f"UPDATE messages SET {change} WHERE number = {number}")
    _change_by_hand(path, "UPDATE receipts SET decision = 'null' WHERE decision = 'accepted'")
    _change_by_hand(path, "UPDATE replies SET body = x'ff'")
    assert [fault.source.split()[0] for fault in mailbox.faults()] == ["messages"] * 6 + ["receipts", "replies"]
    assert all(fault.reason for fault in mailbox.faults())
    assert [entry.message for entry in mailbox.entries()] == [good]
    assert [receipt.decision for receipt in mailbox.receipts(good.id)] == [Decision.REJECTED]
    assert mailbox.replies() == []
    kinds = [change.kind for change in mailbox.changes_since("").changes]
    assert kinds == [ChangeKind.POSTED, ChangeKind.RECEIPT]
    assert mailbox.counts().high_water == 7
    assert mailbox.post(make_draft("next")).message.number == 8
    with pytest.raises(StorageFailed, match=messages[0].id):
        mailbox.entry(messages[0].id)
    with pytest.raises(IllegalStep):
        mailbox.withdraw(good.id)


def test_marking_again_writes_nothing(mailbox: SqliteMailbox, path: str) -> None:
    message = mailbox.post(make_draft()).message
    mailbox.mark([message.id], Mark.NOTICED, "agent")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    mailbox.mark([message.id, "unknown", "\ud800"], Mark.NOTICED, "agent")
    other.execute("ROLLBACK")
    other.close()


def _steps(mailbox: SqliteMailbox, act: Callable[[], object]) -> int:
    """Count, in tens, the steps that SQLite's machine does; they are the same on every computer."""
    connection = mailbox.database._connection
    assert connection
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    connection.set_progress_handler(step, 10)
    act()
    connection.set_progress_handler(None, 10)
    return count


def test_the_cost_of_what_waits_does_not_grow_with_history(mailbox: SqliteMailbox) -> None:
    waiting = [mailbox.post(make_draft("old")).message]
    mailbox.acknowledge([Acknowledgement(waiting[0].id)], "agent")

    def costs() -> list[int]:
        newest = mailbox.post(make_draft("new")).message
        cursor = mailbox.tip()
        acts = (
            lambda: mailbox.entries(pending_only=True),
            mailbox.counts,
            mailbox.tip,
            lambda: mailbox.changes_since(cursor),
            lambda: mailbox.post(make_draft("one more", client_id=newest.id)),
            lambda: mailbox.mark([waiting[0].id], Mark.SEEN, "agent"),
            lambda: mailbox.acknowledge([Acknowledgement(newest.id, Decision.ACCEPTED)], "agent"),
        )
        found = [_steps(mailbox, act) for act in acts]
        mailbox.withdraw(mailbox.entries(pending_only=True)[-1].message.id)
        return found

    before = costs()
    for _ in range(30):
        messages = [mailbox.post(make_draft("history")).message for _ in range(10)]
        mailbox.acknowledge([Acknowledgement(one.id, Decision.ACCEPTED) for one in messages], "agent")
    after = costs()
    assert all(late <= early * 1.5 + 8 for early, late in zip(before, after, strict=True)), (before, after)


def test_opening_loads_only_what_it_needs() -> None:
    heavy = "pathlib subprocess logging tempfile json asyncio urllib hashlib importlib.resources random socket"
    script = f"import sys, restante.stores.sql.sqlite; print([m for m in {heavy.split()} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_real_time_and_real_ids_work_too(path: str) -> None:
    mailbox = open_sqlite(path, address="session:one", clock=SystemClock(), ids=MonotonicIds())
    message = mailbox.post(make_draft("kept")).message
    assert mailbox.entry(message.id).message == message
    mailbox.close()
    mailbox.close()
