"""``restante monitor run`` and ``restante serve`` as processes that host receivers: killed, stopped, restarted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.receiving.world import until

from restante import Draft
from restante.domain.errors import NoSuchSession
from restante.domain.monitor import Plan
from restante.domain.monitoring import Word
from restante.domain.outlook import Hearing, Mode
from restante.domain.registry import Arrival, Claim, Identity
from restante.system.passwords import hash_password
from restante.system.processes import process_of
from restante.system.remote import RemoteWindow
from restante.system.secrets import digest, session_secret
from restante.wiring.serving import live_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.receiving.world import World

pytestmark = pytest.mark.slow

RUN = ["-I", "-c", "from restante.__main__ import main; main()", "monitor", "run"]
SERVE = ["-I", "-m", "restante.faces.http", "--port", "0"]


@pytest.fixture
def wakes(world: World, tmp_path: Path) -> Path:
    """Where the person's own command writes down each wake."""
    log, script = tmp_path / "wakes", tmp_path / "wake"
    told = "$RESTANTE_MAILBOX $RESTANTE_MARK $RESTANTE_UNSEEN $RESTANTE_SESSION"
    script.write_text(f'#!/bin/sh\necho "{told}" >>{log}\nenv >>{log}.env\n')
    script.chmod(0o755)
    world.environment["RESTANTE_WAKE_COMMAND"] = json.dumps([str(script)])
    log.write_text("")
    return log


@pytest.fixture
def hanging(world: World, tmp_path: Path) -> Path:
    """Where the person's own command, which never ends, writes down its process and that of its child."""
    script, log = tmp_path / "wake", tmp_path / "processes"
    script.write_text(f"#!/bin/sh\nsleep 600 &\necho $$ $! >{log}.new\nmv {log}.new {log}\nwait\n")
    script.chmod(0o755)
    world.environment["RESTANTE_WAKE_COMMAND"] = json.dumps([str(script)])
    return log


@contextmanager
def host(world: World, words: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *words], env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines()


@pytest.mark.parametrize("words", [RUN, SERVE], ids=["monitor run", "serve"])
def test_a1_a_post_wakes_while_a_host_runs_and_its_end_leaves_nothing(
    world: World, wakes: Path, words: list[str]
) -> None:
    alice = world.session("alice-1")
    world.arm(alice, "command")
    with host(world, words) as process:
        world.post(alice, "token-7f3a the parser")
        assert until(lambda: lines(wakes))
        assert until(lambda: world.monitor(alice).last_woken == 1)
        process.terminate()
        said, _ = process.communicate(timeout=20)
    assert process.returncode == 0, said
    assert lines(wakes) == [f"{alice} 1 1 alice-1"]
    told = wakes.with_suffix(".env").read_text() + said
    assert "token-7f3a" not in told


def test_a_server_wakes_for_mail_that_it_holds_in_its_memory(world: World, wakes: Path) -> None:
    world.exchange.window(Identity("", verified=True)).set_persistence(False)
    with host(world, SERVE):
        assert until(lambda: live_server(world.environment))
        alice = world.session("alice-1")
        world.arm(alice, "command")
        RemoteWindow(live_server(world.environment), Claim()).post("alice-1", Draft("token-7f3a"))
        assert until(lambda: lines(wakes))
    assert lines(wakes) == [f"{alice} 1 1 alice-1"]
    kept = b"".join(path.read_bytes() for path in world.data.rglob("*") if path.is_file())
    assert b"token-7f3a" not in kept


@contextmanager
def server_with_accounts(world: World) -> Iterator[None]:
    """A server that holds mail in its memory, and a session of one of its accounts."""
    world.exchange.window(Identity("", verified=True)).set_persistence(False)
    for name in ("ada", "bob"):
        world.exchange.accounts.add(name, hash_password("secret-of-" + name))
    secret = session_secret(str(world.data), "alice-1")
    arrival = Arrival("alice-1", vendor="codex", process=process_of(os.getpid()), secret_digest=digest(secret))
    world.exchange.window(Identity("ada", verified=True)).register(arrival)
    with host(world, SERVE):
        assert until(lambda: live_server(world.environment))
        yield


def post_by_account(world: World, name: str, text: str) -> None:
    url = live_server(world.environment).replace("://", f"://{name}:secret-of-{name}@")
    RemoteWindow(url, Claim()).post("alice-1", Draft(text))


def test_where_there_are_accounts_mail_in_a_servers_memory_wakes_whoever_of_them_is_meant(
    world: World, wakes: Path
) -> None:
    with server_with_accounts(world):
        world.host.hosting("ada").arm("session:alice-1", session="alice-1", adapter="command")
        with pytest.raises(NoSuchSession):
            post_by_account(world, "bob", "token-of-bob")
        post_by_account(world, "ada", "token-7f3a")
        assert until(lambda: lines(wakes))
    assert lines(wakes) == ["session:alice-1 1 1 alice-1"]


def test_there_a_check_from_outside_of_the_server_sees_the_same(world: World) -> None:
    with server_with_accounts(world):
        world.host.hosting("ada").arm("session:alice-1", session="alice-1", plan=Plan.SCHEDULED)
        assert world.host.hosting("ada").check("session:alice-1", is_forced=True).word is Word.IDLE
        post_by_account(world, "ada", "token-7f3a")
        answer = world.host.hosting("ada").check("session:alice-1", is_forced=True)
    assert (answer.word, answer.mark, answer.unseen) == (Word.WAKE, 1, 1)


def test_a_wake_that_hangs_ends_with_its_host_and_with_whatever_it_started(world: World, hanging: Path) -> None:
    alice = world.session("alice-1")
    world.arm(alice, "command")
    with host(world, RUN) as process:
        world.post(alice)
        assert until(hanging.exists)
        process.terminate()
        said, _ = process.communicate(timeout=20)
    assert process.returncode == 0, said
    assert until(lambda: not any(_lives(int(pid)) for pid in hanging.read_text().split()))


def test_what_a_killed_host_started_is_ended_by_the_next_one_with_whatever_it_started(
    world: World, hanging: Path
) -> None:
    alice = world.session("alice-1")
    world.arm(alice, "command")
    with host(world, RUN) as process:
        world.post(alice)
        assert until(hanging.exists)
        process.kill()
    pids = [int(pid) for pid in hanging.read_text().split()]
    assert all(map(_lives, pids))
    # Not a process that has the number of one since.
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        (written,) = (world.data / "hosts").glob("*.wake")
        child, killed = map(json.loads, written.read_text().splitlines())
        lines = [[child[0], other.pid, child[2]], killed]
        (world.data / "hosts" / f"{other.pid}.wake").write_text("".join(json.dumps(one) + "\n" for one in lines))
        (world.data / "hosts" / "0.wake").write_text("{half")
        with host(world, RUN):
            assert until(lambda: not any(map(_lives, pids)))
            assert until(lambda: list((world.data / "hosts").glob("*.wake")) == [])
        assert other.poll() is None
        other.kill()


def _lives(pid: int) -> bool:
    """Tell whether a process still runs; one that nobody asked how it ended does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_f1_a_killed_host_is_told_of_and_the_next_one_wakes_once_for_what_was_missed(world: World, wakes: Path) -> None:
    alice = world.session("alice-1")
    world.arm(alice, "command")
    with host(world, RUN) as process:
        assert until(lambda: world.host.outlook(alice).hearing is Hearing.ALIVE)
        process.kill()
        process.wait()
        assert world.host.outlook(alice).hearing is Hearing.GONE
        outlook = world.host.outlook(alice)
        assert (outlook.mode, "restante monitor run" in outlook.reason) == (Mode.TURN, True)
        world.post(alice)
    for _ in range(2):
        with host(world, RUN):
            assert until(lambda: world.host.outlook(alice).hearing is Hearing.ALIVE)
            assert until(lambda: lines(wakes))
    assert lines(wakes) == [f"{alice} 1 1 alice-1"]


def test_f2_a_stopped_host_is_found_by_its_silence_and_another_wakes_in_its_place(world: World, wakes: Path) -> None:
    alice = world.session("alice-1")
    world.arm(alice, "command")
    with host(world, RUN) as process:
        # Not while it writes, or it would hold the database until it goes on.
        assert until(lambda: world.host.outlook(alice).hearing is Hearing.ALIVE and world.monitor(alice).last_checked)
        process.send_signal(signal.SIGSTOP)
        world.post(alice)
        later = world.exchange.clock.now() + timedelta(minutes=2)
        assert world.host.outlook(alice, now=later).hearing is Hearing.STALE
        assert lines(wakes) == []
        with host(world, RUN):
            assert until(lambda: lines(wakes))
        process.send_signal(signal.SIGCONT)
        world.exchange.ring(alice)
        assert not until(lambda: len(lines(wakes)) > 1, 1.5)


def test_f4_marks_are_kept_over_a_restart(world: World, wakes: Path) -> None:
    alice = world.session("alice-1")
    world.arm(alice, "command")
    with host(world, RUN):
        world.post(alice)
        assert until(lambda: world.monitor(alice).last_woken == 1)
    window = world.exchange.window(Identity("", "alice-1", verified=True))
    window.confirm([one.message.id for one in window.read().entries])
    with host(world, RUN):
        assert until(lambda: world.host.outlook(alice).hearing is Hearing.ALIVE)
        assert not until(lambda: len(lines(wakes)) > 1, 1.0)
        world.post(alice)
        assert until(lambda: len(lines(wakes)) == 2)
    assert lines(wakes)[1] == f"{alice} 2 1 alice-1"


def test_906_many_hosts_at_once_wake_once_and_all_end(world: World, wakes: Path) -> None:
    alice = world.session("alice-1")
    world.arm(alice, "command")
    with host(world, RUN), host(world, RUN), host(world, RUN):
        assert until(lambda: world.host.outlook(alice).hearing is Hearing.ALIVE)
        world.post(alice)
        assert until(lambda: lines(wakes))
        assert not until(lambda: len(lines(wakes)) > 1, 2.0)


def test_e1_when_its_session_is_gone_nothing_of_a_monitor_is_left(world: World, wakes: Path) -> None:
    child = subprocess.Popen(["sleep", "600"])
    window = world.exchange.window(Identity("", verified=True))
    alice = window.register(Arrival("alice-1", vendor="codex", process=process_of(child.pid))).address
    world.arm(alice, "command")
    child.kill()
    child.wait()
    world.post(alice)
    with host(world, RUN):
        assert until(lambda: os.listdir(world.data / "bells") == [])
    assert lines(wakes) == []
