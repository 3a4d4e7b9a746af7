"""Everybody is killed, stopped and started again by lot, and no mail is lost, doubled or left lying."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import statistics
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.chaos.stage import Stage
from tests.chaos.verdict import LOST_BELL, Records, faults, latencies

SEED = int(os.environ["RESTANTE_TEST_CHAOS_SEED"])
LONG = float(os.environ.get("RESTANTE_TEST_CHAOS_SECONDS", "600"))
SHORT = 8.0
# What may stay in the data directory.
KEPT = {"person", "restante.db", "teams.db", "mail.lock", "turns", "bells"}


@pytest.mark.parametrize(
    ("seconds", "mean", "roles"),
    [pytest.param(SHORT, 0.4, 2, id="short"), pytest.param(LONG, 2.5, 6, id="long", marks=pytest.mark.slow)],
)
def test_after_chaos_every_message_is_acknowledged_once_and_nothing_is_left(
    seconds: float, mean: float, roles: int, tmp_path: Path
) -> None:
    print(f"RESTANTE_TEST_CHAOS_SEED={SEED} RESTANTE_TEST_CHAOS_SECONDS={seconds:g}")
    is_long = seconds > SHORT
    stage = Stage(tmp_path, SEED, roles, fails=is_long)
    try:
        stage.play(seconds, mean)
        stage.calm()
        assert stage.wait(stage.all_armed, 60), stage.parts.monitors.all()
        assert stage.wait(stage.all_acknowledged, LOST_BELL), pending(stage)
        stage.post_to_all()
        assert stage.wait(stage.all_acknowledged, LOST_BELL), pending(stage)

        records, mail = Records(tmp_path), stage.entries()
        print(told(stage, records, latencies(mail)))
        assert faults(records, mail, lambda role, message: stage.parts.role_boxes.box(role, "").receipts(message)) == []
        assert len(records.posted) > seconds / 4
        assert stage.did["kill holder"] > 0
        assert stage.did["kill host"] + stage.did["stop host"] > 0
        assert records.fenced > 0 or not is_long

        hosts = stage.leave()
        assert set(hosts.values()) == {0}, said(tmp_path, list(hosts))
        assert stage.parts.monitors.all() == []
    finally:
        stage.close()
    check_nothing_is_left(tmp_path)


def pending(stage: Stage) -> list[object]:
    """Return what is not acknowledged, and how its role's monitor stands."""
    entries = (entry for some in stage.entries().values() for entry in some)
    left: list[object] = [entry for entry in entries if not entry.standing.acknowledged_at]
    return left + list(stage.parts.monitors.all())


def told(stage: Stage, records: Records, unseen: list[float]) -> str:
    """Return the numbers of a run."""
    sessions = sum(map(len, records.took.values()))
    again = len(records.wakes) - len({(one.mailbox, one.session, one.mark) for one in records.wakes})
    return (
        f"{len(unseen)} messages, {len(records.wakes)} wakes ({again} again), {sessions} holders, "
        f"{records.fenced} fenced; unseen for {statistics.median(unseen):.1f} s, at most {unseen[-1]:.1f} s; "
        f"{dict(stage.did)}"
    )


def said(place: Path, names: list[str]) -> str:
    """Return what processes said."""
    return "\n".join((place / f"said.{name}").read_text() for name in names)


def check_nothing_is_left(place: Path) -> None:
    """Find no process, bell, FIFO or lock."""
    end = time.monotonic() + 10
    while processes(place) and time.monotonic() < end:
        time.sleep(0.1)
    assert processes(place) == []
    data = place / "data"
    assert list((data / "bells").iterdir()) == []
    assert [path for path in data.rglob("*") if path.is_fifo()] == []
    for name in ("restante.db", "teams.db"):
        with closing(sqlite3.connect(data / name, timeout=0, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("ROLLBACK")
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert {path.name for path in data.iterdir()} <= KEPT
    with (data / "mail.lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def processes(place: Path) -> list[str]:
    """Return the processes that work on a place, by their environment, where the system tells it."""
    if sys.platform != "linux":
        return []
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if f"RESTANTE_DATA={place}/".encode() in environment and process.name != str(os.getpid()):
            found.append(line.replace(b"\0", b" ").decode())
    return found
