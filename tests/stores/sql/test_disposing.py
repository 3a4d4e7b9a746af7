"""Taking a file out of use: all of it goes, nobody's later write is lost with it, nothing damaged is overwritten."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Busy, Damaged, Unreadable
from restante.stores.sql.disposing import delete_database, set_aside
from restante.testing import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.sql.sqlite import SqliteDatabase

    Open = Callable[..., SqliteDatabase]

CANARY = "canary in the mail"

_WRITER = """
import os, sys, time
from restante.domain.message import Draft
from restante.stores.sql.sqlite import SqliteDatabase
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds
options = {"busy_seconds": 60, "fs_type": lambda path: sys.argv[2]}
database = SqliteDatabase(sys.argv[1], clock=SystemClock(), ids=MonotonicIds(), **options)
box = database.mailbox("session:one")
print("ready", flush=True)
while not os.path.exists(sys.argv[3]):
    began = time.monotonic()
    message = box.post(Draft("text"))
    print(began, message.message.id, flush=True)
    if message.message.number % 7 == 0:
        database.close()
"""


def _names(path: str) -> list[str]:
    return sorted(os.listdir(os.path.dirname(path)))


@pytest.mark.parametrize("kind", ["ext4", "nfs4"])
def test_s44_deleting_leaves_no_letter_of_the_mail_anywhere(open_database: Open, path: str, kind: str) -> None:
    database = open_database(fs_type=lambda at: kind)
    mailbox = database.mailbox("session:one")
    for number in range(50):
        mailbox.post(make_draft(f"{CANARY} {number} " + "x" * 5000))
    with mailbox.notebook.page("reader") as shown:
        shown.held.add("msg")
    with open(path + ".damaged-20261130T120000Z", "w") as file:
        file.write(CANARY)
    open(path + ".damaged-20261130T120000Z-wal", "w").close()
    with open(path + "-notes", "w") as file:
        file.write("of somebody else")
    delete_database(path)
    assert _names(path) == ["restante.db-notes"]
    delete_database(path)
    delete_database(os.path.join(os.path.dirname(path), "missing", "mail.db"))
    assert mailbox.ids() == []
    assert _names(path) == ["restante.db-notes"]


def test_s44_who_holds_it_open_notices_and_writes_to_a_new_file(open_database: Open, path: str) -> None:
    first, second = (open_database().mailbox("session:one") for _ in range(2))
    first.post(make_draft("one"))
    assert second.post(make_draft("two")).message.number == 2
    delete_database(path)
    assert second.post(make_draft("three")).message.number == 1
    assert [entry.message.body for entry in first.entries()] == ["three"]
    first.database.close()
    second.database.close()
    assert [entry.message.body for entry in open_database().mailbox("session:one").entries()] == ["three"]


def test_deleting_waits_for_a_writer_and_gives_up_in_time(open_database: Open, path: str) -> None:
    database = open_database()
    database.mailbox("session:one").post(make_draft("before"))
    is_writing, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with database.together():
            database.mailbox("session:one").post(make_draft("under way"))
            is_writing.set()
            assert may_end.wait(60)

    writer = threading.Thread(target=write)
    writer.start()
    assert is_writing.wait(60)
    with pytest.raises(Busy):
        delete_database(path, busy_seconds=0.1)
    assert "restante.db" in _names(path)
    deleter = threading.Thread(target=delete_database, args=(path,), kwargs={"busy_seconds": 60})
    deleter.start()
    may_end.set()
    for one in (writer, deleter):
        one.join(60)
    assert _names(path) == []


def test_a_writer_that_waited_while_it_was_deleted_writes_to_a_new_file(open_database: Open, path: str) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one")
    mailbox.post(make_draft("before"))
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    writer = threading.Thread(target=mailbox.post, args=(make_draft("after"),))
    writer.start()
    # The writer has looked at the file by now, or will not see it at all; both must end well.
    database_lock = database._lock
    while not database_lock.locked():
        time.sleep(0.001)
    os.unlink(path)
    holder.execute("ROLLBACK")
    writer.join(60)
    holder.close()
    assert [entry.message.body for entry in open_database().mailbox("session:one").entries()] == ["after"]


@pytest.mark.parametrize("kind", ["ext4", "nfs4"])
@pytest.mark.parametrize("rounds", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_nothing_posted_after_the_last_deletion_is_lost(open_database: Open, path: str, rounds: int, kind: str) -> None:
    os.makedirs(os.path.dirname(path))
    stop = path + ".stop"
    command = [sys.executable, "-c", _WRITER, path, kind, stop]
    # Without a buffer of its own: what stands in one when the rest is read is lost.
    crowd = [subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for one in crowd:
        assert one.stdout
        one.stdout.readline()
    for _ in range(rounds):
        time.sleep(0.05)
        delete_database(path, busy_seconds=60)
    ended = time.monotonic()
    # Long enough for a post by each also where the machine is busy.
    time.sleep(1)
    open(stop, "w").close()
    posted = set()
    for one in crowd:
        out, errors = one.communicate(timeout=120)
        assert errors == b""
        lines = [line.split() for line in out.decode().splitlines()]
        posted |= {message_id for began, message_id in lines if float(began) > ended}
    assert posted
    assert posted <= set(open_database(fs_type=lambda at: kind).mailbox("session:one").ids())
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def _damage(path: str) -> None:
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(os.path.getsize(path) - 4096))


def _make_newer(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()


def _make_text(path: str) -> None:
    with open(path, "wb") as file:
        file.write(b"no database at all\n" * 1000)


@pytest.mark.parametrize("spoil", [_damage, _make_newer, _make_text])
def test_s52_a_damaged_file_is_set_aside_and_never_overwritten(
    open_database: Open, path: str, spoil: Callable[[str], None]
) -> None:
    database = open_database()
    mailbox = database.mailbox("session:one")
    for number in range(100):
        mailbox.post(make_draft(f"{number} " * 200))
    database.close()
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    spoil(path)
    with open(path, "rb") as file:
        before = file.read()
    with pytest.raises((Damaged, Unreadable), match=r"restante\.db"):
        mailbox.entries()
    with pytest.raises((Damaged, Unreadable), match=r"restante\.db"):
        mailbox.post(make_draft("refused"))
    database.close()
    new = set_aside(path)
    assert new.startswith(path + ".damaged-")
    with open(new, "rb") as file:
        assert file.read() == before
    assert not os.path.exists(path)
    assert mailbox.post(make_draft("goes on")).message.number == 1
    database.close()
    assert set_aside(path) == ""
    assert mailbox.ids()
    spoil(path)
    database.close()
    again = set_aside(path)
    assert again != new
    assert os.path.exists(new)


def test_s52_what_was_not_carried_over_yet_goes_with_the_file(open_database: Open, path: str) -> None:
    database = open_database()
    database.mailbox("session:one").post(make_draft("in the log"))
    database.close()
    with open(path + "-wal", "rb") as file:
        log = file.read()
    assert log
    _make_text(path)
    new = set_aside(path)
    with open(new + "-wal", "rb") as file:
        assert file.read() == log
    assert [name for name in _names(path) if ".damaged-" not in name] == []


def test_a_sound_file_and_a_missing_one_stay_as_they_are(open_database: Open, path: str) -> None:
    assert set_aside(path) == ""
    database = open_database()
    database.mailbox("session:one").post(make_draft())
    assert set_aside(path) == ""
    assert len(database.mailbox("session:one").ids()) == 1
    os.makedirs(path + ".d")
    assert set_aside(path + ".d").startswith(path + ".d.damaged-")


def test_two_processes_set_a_file_aside_once(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    _make_text(path)
    code = (
        "import json, sys; from restante.stores.sql.disposing import set_aside;"
        "print(json.dumps(set_aside(sys.argv[1])))"
    )
    crowd = [subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) for _ in range(4)]
    names = [json.loads(one.communicate(timeout=60)[0]) for one in crowd]
    assert sorted(map(bool, names)) == [False, False, False, True]
    assert len(_names(path)) == 1
