"""Speed, as ratios: every figure stands beside what it is compared with, measured in the same run.

Run with ``make bench``; ``python -m bench --only NAME`` measures one part. Figures are medians; a machine that is busy
moves both sides of a ratio alike, so quote ratios. Nothing here fails: what must hold is said in the last column, and
tests hold what can be held without a clock.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from bench import database, monitor, server
from bench.table import Row, show
from bench.tools import tools

from restante.agents.hookline import command_line
from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Draft, Message
from restante.domain.receipt import Decision, Receipt
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.render import HEADERS, render_message, render_receipt
from restante.stores.worktree.store import WorktreeMailbox
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds

if TYPE_CHECKING:
    from collections.abc import Callable

BIN = os.path.dirname(sys.executable)
RESTANTE = os.path.join(BIN, "restante")
BASELINE = [sys.executable, "-I", "-c", "import argparse, json, sqlite3"]
GUIDANCE = "Leave the auth module alone during the billing refactor; ask in a reply first if it has to change. " * 2


def in_turns(runs: int, *commands: Callable[[], float]) -> list[float]:
    """Return the median of each measure, taken in turns so that drift of the machine moves all alike."""
    taken: list[list[float]] = [[] for _ in commands]
    for _ in range(runs):
        for place, command in enumerate(commands):
            taken[place].append(command())
    return [statistics.median(one) for one in taken]


def wall_ms(arguments: list[str], *, cwd: str | None = None, data: bytes = b"") -> Callable[[], float]:
    """Return a measure of a command's wall-clock time in milliseconds."""

    def measure() -> float:
        began = time.perf_counter()
        subprocess.run(arguments, cwd=cwd, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return (time.perf_counter() - began) * 1000

    return measure


def cpu_ms(arguments: Callable[[], list[str]], *, cwd: str | None = None, data: bytes = b"") -> Callable[[], float]:
    """Return a measure of a command's processor time (user and system, children too) in milliseconds."""

    def measure() -> float:
        given = arguments()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(given, cwd=cwd, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000

    return measure


def new_worktree(place: str, name: str) -> str:
    """Make an empty git repository and return its path."""
    path = os.path.join(place, name)
    subprocess.run(["git", "init", "-q", path], check=True)
    return path


def open_mailbox(path: str) -> WorktreeMailbox:
    """Open a worktree's mailbox afresh, with nothing remembered."""
    return WorktreeMailbox(find_worktree(path), SystemClock(), MonotonicIds())


def checkpoint(place: str, runs: int) -> list[Row]:
    """Measure a checkpoint with no mail against an empty shell command."""
    path = new_worktree(place, "quiet")
    mailbox = open_mailbox(path)
    message = mailbox.post(Draft(GUIDANCE)).message
    mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "bench")
    old = time.time() - 60
    for name in ("INBOX.md", "RECEIPTS.md"):
        os.utime(os.path.join(path, ".codex-mailbox", name), (old, old))
    line = command_line(BIN, "codex", "PostToolUse")
    payload = json.dumps({"session_id": "bench", "cwd": path, "hook_event_name": "PostToolUse"}).encode()
    subprocess.run(["sh", "-c", line], cwd=path, input=payload, check=True)  # finds nothing, and lets the bell rest
    empty, ours = in_turns(
        runs * 10,
        wall_ms(["sh", "-c", ":"], cwd=path, data=payload),
        wall_ms(["sh", "-c", line], cwd=path, data=payload),
    )
    return [
        Row("checkpoint with no mail", ours, "ms", "sh -c :", ours / empty, "at most 2x"),
        Row("  processes it starts (execve beyond the shell)", execs(line, path, payload), "", "", None, "0"),
    ]


def execs(line: str, path: str, payload: bytes) -> float:
    """Count the programs that a hook line starts, with strace where there is one."""
    tracer = shutil.which("strace")
    if tracer is None:
        return float("nan")
    traced = subprocess.run(
        [tracer, "-f", "-qq", "-e", "trace=execve", "sh", "-c", line], cwd=path, input=payload, capture_output=True
    )
    return traced.stderr.count(b"execve(") - 1


def commands(place: str, runs: int) -> list[Row]:
    """Measure the short commands against an interpreter that imports three modules."""
    path = new_worktree(place, "commands")
    mailbox = open_mailbox(path)
    pending = [mailbox.post(Draft(GUIDANCE)).message.id for _ in range(runs + 3)]

    def acknowledge() -> list[str]:
        return [RESTANTE, "ack", pending.pop(), "--decision", "accepted", "--action", "applied", "-m", "done"]

    base, inbox, ack, send = in_turns(
        runs,
        cpu_ms(lambda: BASELINE),
        cpu_ms(lambda: [RESTANTE, "inbox"], cwd=path),
        cpu_ms(acknowledge, cwd=path),
        cpu_ms(lambda: [RESTANTE, "send", GUIDANCE], cwd=path),
    )
    return [
        Row(
            f"restante {name}",
            ours,
            "ms CPU",
            'python -I -c "import argparse, json, sqlite3"',
            ours / base,
            "at most 2.5x",
        )
        for name, ours in (("inbox", inbox), ("ack", ack), ("send", send))
    ]


def big_mailbox(place: str, count: int, *, acknowledged: int) -> str:
    """Make a mailbox with a history, by its own writer's bytes."""
    path = new_worktree(place, f"big-{count}-{acknowledged}")
    clock, ids = SystemClock(), MonotonicIds()
    open_mailbox(path).post(Draft("the first"))
    now = clock.now()
    messages = [Message(ids.new("msg", now), number, "", now, GUIDANCE) for number in range(count)]
    box = os.path.join(path, ".codex-mailbox")
    with open(os.path.join(box, "INBOX.md"), "ab") as file:
        file.write(b"".join(map(render_message, messages)))
    receipts = [Receipt(ids.new("receipt", now), one.id, now, Decision.ACCEPTED) for one in messages[:acknowledged]]
    with open(os.path.join(box, "RECEIPTS.md"), "wb") as file:
        file.write(HEADERS["RECEIPTS.md"] + b"".join(map(render_receipt, receipts)))
    return path


def parsing(place: str, runs: int) -> list[Row]:
    """Measure reading 5,000 messages cold, and after one more was appended.

    How fast the machine is at the moment is told by what an interpreter with three modules takes, in turns with it.
    """
    path = big_mailbox(place, 5000, acknowledged=0)
    colds: list[float] = []
    warms: list[float] = []
    starts: list[float] = []
    baseline = cpu_ms(lambda: BASELINE)
    for _ in range(runs):
        starts.append(baseline())
        mailbox = open_mailbox(path)
        began = time.process_time()
        mailbox.entries()
        colds.append((time.process_time() - began) * 1000)
        open_mailbox(path).post(Draft(GUIDANCE))
        began = time.process_time()
        mailbox.entries(pending_only=True)
        warms.append((time.process_time() - began) * 1000)
    cold, warm, start = map(statistics.median, (colds, warms, starts))
    beside = f"an interpreter with three modules ({start:.1f} ms)"
    return [
        Row("5,000 messages: cold read", cold, "ms CPU", beside, cold / start, "at most 150 ms"),
        Row("  read again after one append", warm, "ms CPU", beside, warm / start, "at most 3 ms"),
    ]


def history(place: str, runs: int) -> list[Row]:
    """Measure a checkpoint that delivers one message, with a short and a long history behind it."""
    rows: list[tuple[int, Callable[[], float]]] = []
    for count in (10, 10_000):
        path = big_mailbox(place, count, acknowledged=count)
        line = command_line(BIN, "codex", "UserPromptSubmit")
        payload = json.dumps({"session_id": "bench", "cwd": path}).encode()
        subprocess.run(["sh", "-c", line], cwd=path, input=payload, check=True, stdout=subprocess.DEVNULL)
        rows.append((count, cpu_ms(lambda line=line: ["sh", "-c", line], cwd=path, data=payload)))  # type: ignore[misc]
    short, long = in_turns(runs, *(measure for _, measure in rows))
    return [
        Row("checkpoint with mail, 10,000 in history", long, "ms CPU", "the same with 10", long / short, "about 1x")
    ]


def durability(place: str, runs: int) -> list[Row]:
    """Measure a durable post against what can be done at least on the same disk, without any mailbox."""
    mailbox = open_mailbox(new_worktree(place, "durable"))
    for _ in range(5):
        mailbox.post(Draft(GUIDANCE))
    data = GUIDANCE.encode() + b"x" * 300
    path, lock = os.path.join(place, "raw"), os.path.join(place, "raw.lock")
    raw = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def bare() -> None:
        os.write(raw, data)
        os.fsync(raw)

    def with_lock() -> None:
        os.mkdir(lock)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
        os.rmdir(lock)

    def post() -> None:
        mailbox.post(Draft(GUIDANCE))

    (base, floor, ours), (cpu_base, cpu_ours) = timed(runs * 20, bare, with_lock, post)
    os.close(raw)
    return [
        Row("durable post", ours, "ms", f"write + fsync ({base:.2f} ms)", ours / base, "at most 2x"),
        Row("  the lock protocol's own calls", floor, "ms", f"write + fsync ({base:.2f} ms)", floor / base, ""),
        Row("  the same post", ours, "ms", f"mkdir, open, write, fsync, rmdir ({floor:.2f} ms)", ours / floor, ""),
        Row("  its own work beside that", cpu_ours - cpu_base, "ms CPU", "write + fsync", None, ""),
    ]


def timed(runs: int, *works: Callable[[], None]) -> tuple[list[float], list[float]]:
    """Return the median wall-clock and processor times of pieces of work, in turns, in milliseconds.

    The processor times are of the first and the last.
    """

    def wall(work: Callable[[], None]) -> Callable[[], float]:
        def measure() -> float:
            began, cpu = time.perf_counter(), time.process_time()
            work()
            spent.setdefault(work, []).append((time.process_time() - cpu) * 1000)
            return (time.perf_counter() - began) * 1000

        return measure

    spent: dict[Callable[[], None], list[float]] = {}
    walls = in_turns(runs, *map(wall, works))
    return walls, [statistics.median(spent[work]) for work in (works[0], works[-1])]


PARTS = (checkpoint, commands, tools, parsing, history, durability, *server.PARTS, *database.PARTS, *monitor.PARTS)


def main() -> None:
    """Measure and print."""
    parts = {part.__name__: part for part in PARTS}
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="how often each figure is taken")
    parser.add_argument("--disk", help="a directory on the disk to measure (default: the temporary directory)")
    parser.add_argument(
        "--only", action="append", choices=parts, metavar="NAME", help=f"measure just {', '.join(parts)}"
    )
    options = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="restante-bench-", dir=options.disk) as place:
        for name in options.only or parts:
            rows.extend(parts[name](place, options.runs))
    show(rows)


if __name__ == "__main__":
    main()
