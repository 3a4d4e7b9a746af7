"""Real processes that commit in groups, at once and killed at any instant: a group is there whole or not at all."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.stores.sql import group_worker
from tests.stores.sql.group_worker import SESSIONS, open_parts

from restante.domain.lifecycle import Status

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.mailbox import Entry

kinds = pytest.mark.parametrize("kind", ["ext4", "nfs4"])


def _start(directory: Path, kind: str, name: str, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", group_worker.__file__, str(directory), kind, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout
    return process.stdout.readline()


def _reports(output: bytes) -> list[dict[str, Any]]:
    """Read reports; a line that a kill has cut is none."""
    return [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith(b"\n")]


def _check(directory: Path, reports: list[dict[str, Any]], kind: str) -> None:
    """Every reported group is there with all its parts; of any other either all or nothing is."""
    sessions, boxes = open_parts(str(directory), kind)
    entries: dict[str, Entry] = {}
    for name in SESSIONS:
        box = boxes.box(name, "")
        found = box.entries()
        assert [entry.message.number for entry in found] == list(range(1, len(found) + 1))
        assert box.faults() == []
        counts = box.counts()
        assert boxes.counts("").get(name, counts) == counts
        entries.update((entry.message.id, entry) for entry in found)
    there = Counter(tuple(entry.message.body.split(" ")[:2]) for entry in entries.values())
    reported = [one for one in reports if "posted" in one]
    for one in reported:
        assert there.pop((one["name"], str(one["group"]))) == len(one["posted"])
        for message_id, address in one["posted"].items():
            assert entries[message_id].message.mailbox == address
        assert all(entries[one].standing.status is Status.ACCEPTED for one in one["acked"])
    began = {tuple(one["began"].split(" ")) for one in reports if "began" in one}
    sizes = _sizes(there, entries)
    assert all(group in began and there[group] == size for group, size in sizes.items())
    assert all("refused" not in entry.message.body for entry in entries.values())
    registered = {session.id: session for session in sessions.all("")}
    last = {one["name"]: one["group"] for one in reported}
    assert all(int(registered[name].name) >= group for name, group in last.items())
    events = [session.event for session in registered.values()]
    assert len(set(events)) == len(events)
    for file in ("restante.db", "mail.db"):
        connection = sqlite3.connect(os.path.join(directory, file))
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()


def _sizes(groups: Counter[tuple[str, ...]], entries: dict[str, Entry]) -> dict[tuple[str, ...], int]:
    """Return how many steps each group must have that was committed and not reported: steps count up from 0."""
    sizes: dict[tuple[str, ...], int] = dict.fromkeys(groups, 0)
    for entry in entries.values():
        name, group, step = entry.message.body.split(" ")[:3]
        if (name, group) in sizes:
            sizes[name, group] = max(sizes[name, group], int(step) + 1)
    return sizes


@kinds
@pytest.mark.parametrize(("size", "count"), [(5, 6), pytest.param(16, 25, marks=pytest.mark.slow)])
def test_many_processes_that_register_and_post_at_once_lose_and_double_nothing(
    tmp_path: Path, kind: str, size: int, count: int
) -> None:
    crowd = [_start(tmp_path, kind, f"w{number}", count) for number in range(size)]
    ends = [one.communicate(timeout=300) for one in crowd]
    assert [errors for _, errors in ends] == [b""] * size
    reports = [report for output, _ in ends for report in _reports(output)]
    assert len([one for one in reports if "posted" in one]) == size * count
    _check(tmp_path, reports, kind)
    sessions, boxes = open_parts(str(tmp_path), kind)
    assert len(sessions.all("")) == size
    assert sessions.tip("")[1] == size * count
    posted = sum(len(one["posted"]) for one in reports if "posted" in one)
    assert sum(one.total for one in boxes.counts("").values()) == posted


@kinds
@pytest.mark.parametrize("rounds", [4, pytest.param(25, marks=pytest.mark.slow)])
def test_a_kill_at_any_instant_leaves_whole_groups_alone(tmp_path: Path, kind: str, rounds: int) -> None:
    dice = random.Random()  # the instants differ from run to run
    reports: list[dict[str, Any]] = []
    for number in range(rounds):
        crowd = [_start(tmp_path, kind, f"r{number}w{one}", 0) for one in range(1 + number % 3)]
        heard = [[_line(one) for _ in range(1 + dice.randrange(20))] for one in crowd]
        # Not a wait for anything: the instant of the kill is what is drawn by lot.
        time.sleep(dice.random() * 0.02)
        for one in crowd:
            one.send_signal(signal.SIGKILL)
        for one, lines in zip(crowd, heard, strict=True):
            assert one.stdout
            assert one.stderr
            reports += _reports(b"".join([*lines, one.stdout.read()]))
            assert one.stderr.read() == b""
            for stream in (one.stdout, one.stderr):
                stream.close()
            one.wait()
        _check(tmp_path, reports, kind)
    assert [one for one in reports if "posted" in one]
