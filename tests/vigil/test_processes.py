"""Real processes at the same instant, and ones that were killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.vigil.station import ALICE, T1, Station

from restante.domain.errors import Busy
from restante.domain.message import Draft
from restante.domain.monitoring import Word
from restante.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = Path(__file__).with_name("driver.py")
RUNS = 100


class Driver:
    """A process that acts when it is told to."""

    def __init__(self, data: Path) -> None:
        command = [sys.executable, "-I", str(DRIVER), str(data)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.line() == "ready"

    def line(self) -> str:
        """Return the next line."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def tell(self, instant: float, act: str, mailbox: str, session: str = "-") -> None:
        """Have something done at an instant."""
        assert self.process.stdin
        self.process.stdin.write(f"{instant} {act} {mailbox} {session}\n")
        self.process.stdin.flush()


@pytest.fixture
def clock() -> FakeClock:
    """Stands still at a time that other processes do not take for long past."""
    return FakeClock(datetime.now(UTC))


@pytest.fixture
def drivers(station: Station) -> Iterator[list[Driver]]:
    """Two processes on the data of the station."""
    found = [Driver(station.data) for _ in range(2)]
    yield found
    for driver in found:
        driver.process.kill()
        driver.process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("mailbox", [ALICE, f"session:{T1}"])
def test_d2_two_processes_at_the_same_instant_make_one_wake(
    station: Station, drivers: list[Driver], mailbox: str
) -> None:
    station.arm(mailbox)
    for _ in range(RUNS):
        if mailbox == ALICE:
            station.post()
        else:
            station.world.person.post(T1, Draft("Look at the parser."))
        instant = time.time() + 0.01
        for driver in drivers:
            driver.tell(instant, "check", mailbox)
        assert sorted(driver.line() for driver in drivers) == [Word.WAITING, Word.WAKE]
        if mailbox == ALICE:
            station.collect()
        else:
            window = station.world.window(T1)
            window.confirm([entry.message.id for entry in window.read().entries])


def test_f5_whoever_was_killed_while_it_wrote_blocks_nobody(station: Station) -> None:
    station.arm()
    station.post()
    holder = _holder(station.data / "teams.db")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert station.look().word is Word.WAKE


@pytest.mark.slow
def test_f5_what_a_living_process_holds_is_never_taken_from_it(station: Station) -> None:
    station.arm()
    station.post()
    holder = _holder(station.data / "teams.db")
    try:
        os.kill(holder.pid, signal.SIGSTOP)
        with pytest.raises(Busy):
            station.host.check(ALICE)
    finally:
        holder.kill()
        holder.wait()
    assert station.look().word is Word.WAKE


def _holder(path: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock for writing, and has written something."""
    code = (
        "import sqlite3, sys, time; database = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "database.execute('BEGIN IMMEDIATE'); database.execute('DELETE FROM monitors');"
        "print('holds', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-I", "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout
    with closing(holder.stdout):
        assert holder.stdout.readline() == "holds\n"
    return holder
