"""What hosts hear bells by: it costs nothing while nobody rings, it goes with its host, and no poster waits for it."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from restante.system.doorbells import FileDoorbells
from restante.system.ears import Ear, tell_all, write_fifo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROLE = "team/alice"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "data" / "hosts"


@pytest.fixture
def ear(place: Path) -> Iterator[Ear]:
    made = Ear(str(place))
    yield made
    made.close()


def test_it_is_private_and_leaves_nothing(place: Path) -> None:
    ear = Ear(str(place))
    assert ear.open()
    assert ear.open()
    (fifo,) = place.iterdir()
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    assert stat.S_IMODE(fifo.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    ear.close()
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("by", ["ring", "nudge"])
def test_a_sleep_without_end_ends_by(ear: Ear, place: Path, by: str) -> None:
    assert ear.open()
    threading.Timer(0.2, ear.nudge if by == "nudge" else lambda: tell_all(str(place))).start()
    ear.wait(None)


def test_all_that_rang_meanwhile_is_one_ring_and_a_host_that_is_stopped_holds_nobody_up(ear: Ear, place: Path) -> None:
    assert ear.open()
    (fifo,) = place.iterdir()
    while write_fifo(str(fifo), b"r\n" * 2048):
        pass
    tell_all(str(place))
    assert fifo.exists()
    ear.wait(10.0)
    began = time.monotonic()
    ear.wait(0.3)
    assert time.monotonic() - began >= 0.25


def test_what_was_taken_away_is_made_again(ear: Ear, place: Path) -> None:
    assert ear.open()
    (first,) = place.iterdir()
    first.unlink()
    assert ear.open()
    (second,) = place.iterdir()
    assert second != first
    place.rename(place.with_name("elsewhere"))
    assert ear.open()
    tell_all(str(place))
    ear.wait(None)


def test_where_no_fifo_can_be_made_nudges_are_heard_and_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    bells = FileDoorbells(str(tmp_path / "data"))
    assert bells.looks
    ticks = bells.ticks()
    next(ticks)
    threading.Timer(0.1, bells.nudge).start()
    next(ticks)
    bells.leave()


def test_what_a_killed_host_left_goes_with_the_next_ring_and_with_the_next_host(tmp_path: Path) -> None:
    data, place = tmp_path / "data", tmp_path / "data" / "hosts"
    code = (
        f"import sys, time; from restante.system.ears import Ear; ear = Ear({str(place)!r}); ear.open(); print('x'); "
    )
    for clears in ("ring", "host"):
        words = [sys.executable, "-c", code + "print('x', flush=True); time.sleep(600)"]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as host:
            assert host.stdout is not None
            assert host.stdout.read(1) == b"x"
            host.send_signal(signal.SIGKILL)
        assert len(list(place.iterdir())) == 1
        bells = FileDoorbells(str(data))
        if clears == "ring":
            bells.expect(ROLE)
            bells.ring(ROLE)
            assert list(place.iterdir()) == []
        else:
            # Killed before its FIFO had its name.
            (place / "1.0a").touch()
            os.utime(place / "1.0a", (1, 1))
            assert not bells.looks
            assert len(list(place.iterdir())) == 1
            bells.leave()
            assert not place.exists()


def test_what_is_no_fifo_is_neither_written_nor_taken_away(tmp_path: Path, place: Path) -> None:
    place.mkdir(parents=True)
    (tmp_path / "other").write_text("mine")
    (place / "1.fifo").symlink_to(tmp_path / "other")
    (place / "2.fifo").write_text("mine")
    tell_all(str(place))
    assert [(tmp_path / "other").read_text(), (place / "2.fifo").read_text()] == ["mine", "mine"]
    assert (place / "1.fifo").is_symlink()


def test_nothing_is_looked_at_while_nobody_rings(tmp_path: Path) -> None:
    bells = FileDoorbells(str(tmp_path))
    bells.expect(ROLE)
    ticks = bells.ticks(1.0)
    next(ticks)
    before = resource.getrusage(resource.RUSAGE_THREAD)
    next(ticks)
    after = resource.getrusage(resource.RUSAGE_THREAD)
    bells.leave()
    # It gave up the processor once, and not once for each look.
    assert after.ru_nvcsw - before.ru_nvcsw < 10
