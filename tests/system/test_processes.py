"""Whether a process lives: proven, or unknown."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from restante.domain.registry import Presence, Process
from restante.system.processes import LocalProcesses, host_name, process_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_process_that_runs_is_alive_and_the_same_each_time(child: subprocess.Popen[bytes]) -> None:
    process = process_of(child.pid)
    assert process.started
    assert process == process_of(child.pid)
    assert LocalProcesses().presence(process) is Presence.ALIVE
    assert LocalProcesses().presence(process_of(os.getpid())) is Presence.ALIVE


def test_bl35_one_that_ended_is_gone_also_before_anybody_asked_for_its_end(child: subprocess.Popen[bytes]) -> None:
    process = process_of(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert LocalProcesses().presence(process) is Presence.GONE
    child.wait()
    assert LocalProcesses().presence(process) is Presence.GONE


def test_another_process_with_the_same_number_is_not_it(child: subprocess.Popen[bytes]) -> None:
    process = process_of(child.pid)
    other = process._replace(started=process.started[:-1] + ("1" if process.started[-1] != "1" else "2"))
    assert LocalProcesses().presence(other) is Presence.GONE


@pytest.mark.parametrize("process", [Process("elsewhere", 1, "x"), Process("", 0, ""), Process(host_name(), 1, "")])
def test_what_cannot_be_asked_here_is_unknown(process: Process) -> None:
    assert LocalProcesses().presence(process) is Presence.UNKNOWN


@needs_proc
@pytest.mark.parametrize(
    ("place", "presence"),
    [(0, Presence.UNKNOWN), (1, Presence.GONE), (2, Presence.UNKNOWN)],
    ids=["machine", "boot", "container"],
)
def test_the_same_number_of_another_machine_boot_or_container(place: int, presence: Presence) -> None:
    mine = process_of(os.getpid())
    parts = mine.started.split(".")
    parts[place] = "other"
    assert LocalProcesses().presence(mine._replace(started=".".join(parts))) is presence
    assert LocalProcesses().presence(mine._replace(started="nonsense")) is Presence.UNKNOWN


@pytest.mark.skipif(not os.access("/bin/ps", os.X_OK), reason="needs ps")
def test_where_there_is_no_proc_the_tool_tells_the_same(
    monkeypatch: pytest.MonkeyPatch, child: subprocess.Popen[bytes]
) -> None:
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: not str(path).startswith("/proc") and exists(path))
    process = process_of(child.pid)
    assert process.started
    assert LocalProcesses().presence(process) is Presence.ALIVE
    assert LocalProcesses().presence(process._replace(started="Thu Jan  1 00:00:00 1970")) is Presence.GONE
    child.kill()
    child.wait()
    assert LocalProcesses().presence(process) is Presence.GONE


@needs_proc
def test_the_agent_program_that_called_is_found_behind_its_shells(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.symlink_to(shutil.which("sh") or "/bin/sh")
    code = "from restante.system.processes import agent_process; print(agent_process({}))"
    script = tmp_path / "tool.sh"
    script.write_text(f'echo $PPID; "{sys.executable}" -I -c "{code}"; true\n')
    done = subprocess.run(
        [str(program), "-c", f"/bin/sh {script}; true"], capture_output=True, text=True, timeout=60, check=True
    )
    pid, found = done.stdout.splitlines()
    assert f"pid={pid}," in found
    alone = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert pid not in alone.stdout
