"""Hints that something in the data directory changed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from restante.system.pulse import DataWatcher

if TYPE_CHECKING:
    from pathlib import Path


def test_it_ticks_at_the_start_and_once_when_the_time_is_over(tmp_path: Path) -> None:
    began = time.monotonic()
    assert len(list(DataWatcher(str(tmp_path / "not-there")).ticks(0.02))) == 2
    assert time.monotonic() - began >= 0.02
    assert len(list(DataWatcher(str(tmp_path)).ticks(0.0))) == 2


@pytest.mark.parametrize("name", ["mail.db", "restante.db-wal", "turns/session-1"])
def test_it_ticks_when_a_database_or_a_turn_file_changed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"one")
    ticks = DataWatcher(str(tmp_path)).ticks(60.0)
    next(ticks)
    threading.Timer(0.01, lambda: path.write_bytes(b"longer")).start()
    began = time.monotonic()
    next(ticks)
    assert path.read_bytes() == b"longer" or time.monotonic() - began >= 1.0


def test_a_change_during_the_look_after_a_tick_is_not_missed(tmp_path: Path) -> None:
    ticks = DataWatcher(str(tmp_path)).ticks(60.0)
    next(ticks)
    (tmp_path / "mail.db").write_bytes(b"x")
    began = time.monotonic()
    next(ticks)
    assert time.monotonic() - began < 0.9


def test_it_ticks_now_and_then_though_no_file_changed(tmp_path: Path) -> None:
    ticks = DataWatcher(str(tmp_path)).ticks(60.0)
    next(ticks)
    began = time.monotonic()
    next(ticks)
    assert time.monotonic() - began >= 0.9
