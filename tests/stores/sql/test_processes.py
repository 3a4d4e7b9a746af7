"""What tests/contract/test_processes.py leaves out: the same where WAL is not used, and kills while a file is made."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from restante.domain.message import Draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.sql.sqlite import SqliteDatabase, SqliteMailbox

    Open = Callable[..., SqliteDatabase]

_WORKER = os.path.join(os.path.dirname(__file__), "worker.py")


def _start(path: str, kind: str, name: str, count: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-I", _WORKER, path, kind, name, str(count)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def _check(mailbox: SqliteMailbox, path: str, reported: list[str]) -> None:
    """Whatever was reported is there, once; numbers have no gap; SQLite finds its file sound."""
    entries = mailbox.entries()
    assert [entry.message.number for entry in entries] == list(range(1, len(entries) + 1))
    assert len({entry.message.client_id for entry in entries}) == len(entries)
    standing = {entry.message.id: entry for entry in entries}
    for line in reported:
        word, message_id, client_id = line.split()
        assert standing[message_id].message.client_id == client_id
        if word == "answered":
            assert standing[message_id].standing.status == "applied"
            assert len(mailbox.receipts(message_id)) == 1
    for entry in entries:
        name, number, padding = entry.message.body.split(" ")
        assert (f"{name}-{number}", len(padding)) == (entry.message.client_id, int(number) % 7 * 700)
    told = mailbox.changes_since("", 10**9).changes
    assert [one.message for one in told if one.message] == [entry.message for entry in entries]
    assert mailbox.counts().pending == sum(entry.standing.is_pending for entry in entries)
    assert mailbox.faults() == []
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


@pytest.mark.slow
def test_sixteen_processes_post_and_answer_at_once_without_shared_memory(path: str, open_database: Open) -> None:
    workers = [_start(path, "nfs4", f"w{number}", 20) for number in range(16)]
    outputs = [worker.communicate()[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 16
    reported = [line for output in outputs for line in output.splitlines()]
    assert len(reported) == 16 * 30
    mailbox = open_database(fs_type=lambda path: "nfs4").mailbox("team/reviewer")
    _check(mailbox, path, reported)
    assert mailbox.counts().total == 16 * 20


def _kill(workers: list[subprocess.Popen[str]]) -> list[str]:
    """Kill processes and return what they had reported; a line that the kill cut was no report."""
    for worker in workers:
        worker.send_signal(signal.SIGKILL)
    lines: list[str] = []
    for worker in workers:
        assert worker.stdout
        lines += [line for line in worker.stdout if line.endswith("\n")]
        worker.stdout.close()
        worker.wait()
    return lines


@pytest.mark.slow
def test_what_was_reported_survives_being_killed_without_shared_memory(path: str, open_database: Open) -> None:
    rng = random.Random(20260520)
    reported: list[str] = []
    for number in range(40):
        workers = [_start(path, "nfs4", f"r{number}w{one}", 0) for one in range(1 + number % 2)]
        for worker in workers:
            assert worker.stdout
            reported += [worker.stdout.readline() for _ in range(rng.randrange(1, 12))]
        reported += _kill(workers)
    assert len(reported) > 40
    _check(open_database(fs_type=lambda path: "nfs4").mailbox("team/reviewer"), path, reported)


@pytest.mark.slow
def test_a_database_that_was_being_made_when_all_were_killed_can_be_used(path: str, open_database: Open) -> None:
    rng = random.Random(20260520)
    for number in range(20):
        fresh = f"{path}.{number}"
        workers = [_start(fresh, "ext4", f"w{one}", 0) for one in range(2)]
        end = time.monotonic() + 10
        while not os.path.exists(fresh) and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(rng.random() * 0.02)
        reported = _kill(workers)
        database = open_database(fresh)
        mailbox = database.mailbox("team/reviewer")
        mailbox.post(Draft("w9 0 ", client_id="w9-0"))
        _check(mailbox, fresh, reported)
        database.close()
