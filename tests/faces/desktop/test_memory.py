"""What a window remembers, and that there is only one; real files, sockets and processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from restante.domain.errors import Busy, StorageFailed
from restante.domain.registry import Process
from restante.faces.desktop.memory import Memory
from restante.wiring.desktop import (
    MOST_CHOSEN,
    Workspace,
    ask_to_end,
    chosen_worktrees,
    is_alive,
    process_started,
    remember,
    remembered,
)
from restante.wiring.single import Call, answer_calls, call, first_or_call, only_one

if TYPE_CHECKING:
    from pathlib import Path

FULL = Workspace((-20, 30, 700, 500), True, "/a/ü b", ("/a/ü b", "/c"), Process("host", 7, "then"))
HOLDS = """
import sys, time
from restante.wiring.single import only_one
with only_one({"RESTANTE_DATA": sys.argv[1]}):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["data", "d" * 120])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """A data directory; also one whose path is longer than a socket's name may be."""
    if len(request.param) > 100 and not os.path.isdir("/proc/self/fd"):
        pytest.skip("NOT TESTED: this system has no shorter name for a long path")
    return {"RESTANTE_DATA": str(tmp_path / request.param)}


def test_what_is_remembered_is_known_again_and_for_the_person_alone(environment: dict[str, str]) -> None:
    assert remembered(environment) == Workspace()
    remember(environment, FULL)
    assert remembered(environment) == FULL
    assert chosen_worktrees(environment) == FULL.chosen
    path = os.path.join(environment["RESTANTE_DATA"], "desktop.json")
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert [name for name in os.listdir(environment["RESTANTE_DATA"]) if name.endswith(".tmp")] == []


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        b"7",
        b'{"place": [1, 2, 3]}',
        b'{"place": [true, false, 200, 200]}',
        b'{"place": [0, 0, 1e9, 200.5]}',
        b'{"place": [0, 0, 10, 10]}',
        b'{"place": [0, 0, 123456789, 400]}',
        b'{"worktree": "relative", "chosen": ["also", 7, null, "/nul\\u0000"], "is_maximized": "yes"}',
        b'{"chosen": {"/a": 1}, "server": {"pid": "many"}}',
        b'{"server": [1, 2, 3], "place": {}}',
    ],
)
def test_what_is_damaged_is_as_if_it_were_not_there(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "desktop.json").write_bytes(damage)
    assert remembered({"RESTANTE_DATA": str(tmp_path)}) == Workspace()


def test_every_part_that_is_whole_is_kept(tmp_path: Path) -> None:
    told: dict[str, Any] = {"place": "x", "worktree": "/a", "chosen": ["/b", 1, "/b", "/c"], "further": 1}
    (tmp_path / "desktop.json").write_text(json.dumps(told))
    assert remembered({"RESTANTE_DATA": str(tmp_path)}) == Workspace(worktree="/a", chosen=("/b", "/c"))


def test_a_window_goes_on_where_nothing_can_be_kept_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no directory")
    said: list[str] = []
    memory = Memory({"RESTANTE_DATA": str(tmp_path / "data")}, said.append)
    memory.change(worktree="/a")
    assert memory.now.worktree == "/a"
    assert len(said) == 1
    memory.change(worktree="/a")
    assert len(said) == 1
    with pytest.raises(StorageFailed):
        remember({"RESTANTE_DATA": str(tmp_path / "data")}, Workspace())


def test_the_newest_choices_are_kept_each_once(environment: dict[str, str]) -> None:
    memory = Memory(environment, pytest.fail)
    for number in range(MOST_CHOSEN + 5):
        memory.choose(f"/tree{number}")
    memory.choose(f"/tree{MOST_CHOSEN}")
    chosen = chosen_worktrees(environment)
    assert len(chosen) == MOST_CHOSEN
    assert chosen[:3] == (f"/tree{MOST_CHOSEN}", f"/tree{MOST_CHOSEN + 4}", f"/tree{MOST_CHOSEN + 3}")


def test_the_second_calls_the_first_which_answers(environment: dict[str, str]) -> None:
    asked: list[Call] = []

    def show(one: Call) -> bool:
        asked.append(one)
        return True

    with only_one(environment) as listener:
        threading.Thread(target=answer_calls, args=(listener, show), daemon=True).start()
        with pytest.raises(Busy), only_one(environment):
            pytest.fail("there were two")
        assert first_or_call(lambda: only_one(environment).__enter__(), environment, Call("/a/ü")) is None
        assert asked == [Call("/a/ü")]
        path = os.path.join(environment["RESTANTE_DATA"], "desktop.socket")
        assert os.stat(path).st_mode & 0o777 == 0o600
    assert not os.path.exists(path)
    assert call(environment, Call()) is False


def test_a_call_that_is_none_is_passed_over(environment: dict[str, str], tmp_path: Path) -> None:
    import socket

    with only_one(environment) as listener:
        threading.Thread(target=answer_calls, args=(listener, lambda _: True), daemon=True).start()
        for nonsense in (b"", b"\xff\n", b"[]\n", b"{}\n", b'{"worktree": 7}\n', b"[" * 16_384):
            with socket.socket(socket.AF_UNIX) as one:
                one.settimeout(30)
                one.connect(listener.getsockname())
                one.sendall(nonsense)
                one.shutdown(socket.SHUT_WR)
                assert one.recv(100) == b""
        assert call(environment, Call())


def test_a_first_that_cannot_show_itself_is_told_of(environment: dict[str, str]) -> None:
    with only_one(environment) as listener:
        threading.Thread(target=answer_calls, args=(listener, lambda _: False), daemon=True).start()
        with pytest.raises(Busy, match="does not answer"):
            call(environment, Call())


def test_one_that_was_killed_leaves_nothing_in_the_way(environment: dict[str, str]) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, environment["RESTANTE_DATA"]], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(Busy), only_one(environment):
        pytest.fail("there were two")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert os.path.exists(os.path.join(environment["RESTANTE_DATA"], "desktop.socket"))
    with only_one(environment) as listener:
        threading.Thread(target=answer_calls, args=(listener, lambda _: True), daemon=True).start()
        assert call(environment, Call())


def test_only_the_process_that_was_started_is_asked_to_end() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
        known = process_started(child.pid)
        assert is_alive(known)
        ask_to_end(known._replace(started=known.started + "0"))
        assert child.poll() is None
        ask_to_end(known)
        assert child.wait(30) == -signal.SIGTERM
        assert not is_alive(known)
        ask_to_end(known)
