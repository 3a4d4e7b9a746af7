"""Hints at changes of a directory, from the kernel and by looking."""

from __future__ import annotations

import importlib.util
import os
import time
from typing import TYPE_CHECKING

import pytest

from restante.system import watch
from restante.system.watch import DirectoryWatcher

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONG = 60.0


@pytest.fixture(params=["kernel", "looking"])
def watcher(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DirectoryWatcher:
    """Watches ``box``, which is not there yet."""
    if request.param == "kernel" and importlib.util.find_spec("watchfiles") is None:
        pytest.skip("the extra 'watch' is not installed")
    monkeypatch.setattr(watch, "_POLL_SECONDS", 0.05)
    return DirectoryWatcher(str(tmp_path / "box"), poll=request.param == "looking")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """The directory, with a file."""
    place = tmp_path / "box"
    (place / ".restante").mkdir(parents=True)
    (place / "INBOX.md").write_text("one")
    return place


def _replace(box: Path) -> None:
    (box / "new").write_text("two")
    os.replace(box / "new", box / "INBOX.md")


@pytest.mark.parametrize(
    "change",
    [
        lambda box: (box / "INBOX.md").write_text("one and two"),
        lambda box: (box / "OUTBOX.md").write_text(""),
        lambda box: (box / "INBOX.md").unlink(),
        lambda box: (box / ".restante" / "marks").write_text("x"),
        _replace,
    ],
    ids=["append", "create", "delete", "private", "replace"],
)
def test_a_change_is_told_also_when_it_came_while_the_first_look_was_taken(
    watcher: DirectoryWatcher, box: Path, change: Callable[[Path], object]
) -> None:
    began = time.monotonic()
    ticks = watcher.ticks(LONG)
    next(ticks)
    change(box)
    next(ticks)
    assert time.monotonic() - began < LONG / 2


def test_changes_go_on_being_told(watcher: DirectoryWatcher, box: Path) -> None:
    began = time.monotonic()
    ticks = watcher.ticks(LONG)
    next(ticks)
    for number in range(3):
        (box / f"file {number}").write_text("x")
        next(ticks)
    assert time.monotonic() - began < LONG / 2


def test_the_directory_need_not_be_there_yet(watcher: DirectoryWatcher, tmp_path: Path) -> None:
    began = time.monotonic()
    ticks = watcher.ticks(LONG)
    next(ticks)
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "INBOX.md").write_text("one")
    next(ticks)
    assert time.monotonic() - began < LONG / 2


def test_watching_creates_nothing(watcher: DirectoryWatcher, tmp_path: Path) -> None:
    assert list(watcher.ticks(0.1))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_there", [True, False])
def test_the_end_of_the_time_is_kept_with_a_tick_at_the_start(
    watcher: DirectoryWatcher, tmp_path: Path, is_there: bool
) -> None:
    if is_there:
        (tmp_path / "box").mkdir()
    for timeout in (0.0, 0.2):
        began = time.monotonic()
        assert list(watcher.ticks(timeout))
        assert time.monotonic() - began >= timeout


def test_without_the_extra_it_looks(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_POLL_SECONDS", 0.05)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    ticks = DirectoryWatcher(str(box)).ticks(LONG)
    next(ticks)
    _replace(box)
    next(ticks)
