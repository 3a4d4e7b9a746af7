"""How soon a post wakes, what listening costs while nothing happens, and what the short commands of monitors cost."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from bench.table import Row

from restante import Draft
from restante.domain.registry import Arrival, Identity
from restante.system.processes import process_of
from restante.wiring.monitors import open_host
from restante.wiring.sessions import open_exchange

if TYPE_CHECKING:
    from restante.domain.registry import Session
    from restante.exchange import Exchange
    from restante.vigil import Vigil

_RESTANTE = os.path.join(os.path.dirname(sys.executable), "restante")
_BASELINE = [sys.executable, "-I", "-c", "import argparse, json, sqlite3"]
_MANY = 200
_IDLE_SECONDS = 60.0
_WARM_SECONDS = 5.0
# Seconds of processor time in so long, which even a round of the watchdog does not need.
_AT_REST = 0.25


class _Machine:
    """A person's machine: sessions, monitors, and the command that writes down when it was run."""

    def __init__(self, place: str, name: str) -> None:
        self.place = os.path.join(place, name)
        os.mkdir(self.place)
        self.log = os.path.join(self.place, "woken")
        program = os.path.join(self.place, "wake")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$RESTANTE_SESSION" >>{self.log}\n')
        os.chmod(program, 0o755)
        self.environment = {
            **os.environ,
            "RESTANTE_DATA": os.path.join(self.place, "data"),
            "RESTANTE_WAKE_COMMAND": json.dumps([program]),
        }
        self.exchange: Exchange = open_exchange(self.environment)
        self.person = self.exchange.window(Identity(verified=True))
        self.person.set_persistence(True)
        self.host: Vigil = open_host(self.environment)

    def session(self, name: str) -> Session:
        return self.person.register(Arrival(name, vendor="codex", process=process_of(os.getpid())))

    def arm(self, session: Session) -> None:
        self.host.arm(session.address, session=session.id, adapter="command")

    def run(self) -> subprocess.Popen[bytes]:
        words = [_RESTANTE, "monitor", "run"]
        return subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def woken(self) -> int:
        try:
            with open(self.log, encoding="utf-8") as file:
                return len(file.readlines())
        except FileNotFoundError:
            return 0


def waking(place: str, runs: int) -> list[Row]:
    """Measure the way from a post to the moment in which the wake command runs, each time of another session."""
    machine = _Machine(place, "waking")
    sessions = [machine.session(f"session-{number}") for number in range(runs)]
    for one in sessions:
        machine.arm(one)
    process = machine.run()
    time.sleep(_WARM_SECONDS)
    taken, started = [], []
    for one in sessions:
        before, began = machine.woken(), time.perf_counter()
        machine.person.post(one.id, Draft("The parser is done."))
        while machine.woken() == before:
            time.sleep(0.001)
        taken.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        subprocess.run([os.path.join(machine.place, "wake")], env=machine.environment, check=True)
        started.append((time.perf_counter() - began) * 1000)
    process.terminate()
    process.wait()
    machine.exchange.close()
    ours, base = statistics.median(taken), statistics.median(started)
    return [
        Row("post to wake", ours, "ms", f"the wake command alone ({base:.1f} ms)", ours / base, "at most 100 ms"),
    ]


def listening(place: str, _: int) -> list[Row]:
    """Measure what a host of 200 armed mailboxes uses of a core while nothing happens."""
    machine = _Machine(place, "listening")
    for number in range(_MANY):
        machine.arm(machine.session(f"session-{number}"))
    process = machine.run()
    _let_settle(process.pid)
    # Two whole rounds of life of its watchdog, so that what it does now and then is counted.
    before, began = _spent(process.pid), time.perf_counter()
    time.sleep(2 * _IDLE_SECONDS)
    share = (_spent(process.pid) - before) / (time.perf_counter() - began) * 100
    process.terminate()
    process.wait()
    machine.exchange.close()
    return [Row(f"idle host of {_MANY} armed mailboxes", share, "% core", "", None, "at most 0.5 %")]


def _let_settle(pid: int) -> None:
    """Wait until a process has looked at everything that it found at its start."""
    spent = 1.0
    while spent > _AT_REST:
        before = _spent(pid)
        time.sleep(_WARM_SECONDS)
        spent = _spent(pid) - before


def _spent(pid: int) -> float:
    """Return the processor seconds of a process and of all that it started."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        return float("nan")
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def monitoring(place: str, runs: int) -> list[Row]:
    """Measure arming and checking against an interpreter that imports three modules."""
    machine = _Machine(place, "monitoring")
    session = machine.session("session-1")
    machine.arm(session)
    arm = [_RESTANTE, "monitor", "arm", session.address, "--session", session.id, "--adapter", "command"]
    check = [_RESTANTE, "monitor", "check", session.address]
    figures = {"bare": _BASELINE, "arm": arm, "check": check}
    taken: dict[str, list[float]] = {name: [] for name in figures}
    for _ in range(runs):
        for name, words in figures.items():
            taken[name].append(_cpu_ms(words, machine))
    machine.exchange.close()
    base = statistics.median(taken.pop("bare"))
    what = 'python -I -c "import argparse, json, sqlite3"'
    return [
        Row(f"restante monitor {name}", statistics.median(one), "ms CPU", what, statistics.median(one) / base, "")
        for name, one in taken.items()
    ]


def _cpu_ms(words: list[str], machine: _Machine) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, env=machine.environment, cwd=machine.place, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


PARTS = (waking, listening, monitoring)
