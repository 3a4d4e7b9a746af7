"""The figures of ``restante mcp``: its start up to the answer that a program waits for, and one checkpoint by it."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

from bench.table import Row

COMMAND = [os.path.join(os.path.dirname(sys.executable), "restante"), "mcp"]
BASELINE = [sys.executable, "-I", "-c", "import json, sqlite3"]
NAMED = 'python -I -c "import json, sqlite3"'
OPENING = b"".join(
    json.dumps({"jsonrpc": "2.0", "id": number, "method": method}).encode() + b"\n"
    for number, method in enumerate(("initialize", "tools/list"), 1)
)


def tools(place: str, runs: int) -> list[Row]:
    """Measure the server that programs start for themselves."""
    ours = [cpu_ms(COMMAND) for _ in range(runs)]
    base = [cpu_ms(BASELINE) for _ in range(runs)]
    rows = [
        Row(
            "restante mcp, to its list of tools",
            statistics.median(ours),
            "ms CPU",
            NAMED,
            statistics.median(ours) / statistics.median(base),
            "at most 2.5x",
        )
    ]
    if shutil.which("valgrind"):
        count, floor = instructions(COMMAND), instructions(BASELINE)
        rows.append(Row("  the same in instructions", count / 1e6, "M", NAMED, count / floor, "at most 2.5x"))
    rows.append(
        Row("checkpoint by a tool, no mail", checkpoint_ms(place, runs * 10), "ms", "no process", None, "1 to 3 ms")
    )
    return rows


def cpu_ms(command: list[str]) -> float:
    """Return the processor time of a command that is asked for its tools."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=OPENING, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def instructions(command: list[str]) -> float:
    """Return how many instructions a command takes, as valgrind counts them."""
    counting = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=yes"]
    done = subprocess.run([*counting, *command], input=OPENING, capture_output=True, check=True)
    return float(sum(int(one) for one in re.findall(rb"Collected : (\d+)", done.stderr)))


def checkpoint_ms(place: str, runs: int) -> float:
    """Return how long a checkpoint without mail takes that a hook asks the running server for."""
    path = os.path.join(place, "tools")
    subprocess.run(["git", "init", "-q", path], check=True)
    environment = {**os.environ, "RESTANTE_DATA": os.path.join(place, "tools-data")}
    server = subprocess.Popen(COMMAND, cwd=path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin
    assert server.stdout
    arguments = {"event": "PostToolUse", "session": "bench"}
    params = {"name": "checkpoint", "arguments": arguments, "_meta": {"threadId": "bench"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n"
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        server.stdin.write(asked)
        server.stdin.flush()
        server.stdout.readline()
        taken.append((time.perf_counter() - began) * 1000)
    server.stdin.close()
    server.wait()
    server.stdout.close()
    return statistics.median(taken)
