"""The waiter of a Claude Code session: nothing where nothing is armed, one each, ends with it, wakes once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.receiving.world import PATIENCE, Recorder, until

from restante.agents.hookline import waiter
from restante.agents.wake.claude_rewake import ClaudeRewake
from restante.domain.monitor import Target, Wake
from restante.domain.outlook import Mode
from restante.domain.registry import Identity
from restante.system.ears import write_fifo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.receiving.world import World

SCRIPTS = Path(__file__).parents[2] / "scripts"
SESSION = "5f0c1f5e-93a7-4f0e-9d51-3f2c5d3e0a11"
SHELLS = [shell for shell in ("dash", "bash", "zsh", "ksh", "busybox") if shutil.which(shell)]


@pytest.fixture
def bin_dir(tmp_path: Path) -> Path:
    place = tmp_path / "bin"
    place.mkdir()
    shutil.copy(SCRIPTS / "restante-waiter", place)
    (place / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (place / "python").chmod(0o755)
    return place


class Waiters:
    """Starts waiters as Claude Code does, and knows what is left of them."""

    def __init__(self, world: World, bin_dir: Path) -> None:
        self.world = world
        self.bin_dir = bin_dir
        self.started: list[subprocess.Popen[str]] = []
        self.owner = subprocess.Popen(["sleep", "600"])

    def begin(self, event: str = "SessionStart", *, session: str = SESSION, shell: str = "sh") -> subprocess.Popen[str]:
        line = waiter(str(self.bin_dir), "claude", event)["command"]
        environment = {
            **self.world.environment,
            "CLAUDE_CODE_SESSION_ID": session,
            "CLAUDE_PID": str(self.owner.pid),
            "RESTANTE_DEBUG": "1",
        }
        command = [shell, *(["sh"] if shell == "busybox" else []), "-c", line]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.started.append(process)
        return process

    def waits(self, session: str = SESSION) -> bool:
        return ClaudeRewake(str(self.world.data), write_fifo).waits(session)

    def begin_and_wait(self, event: str = "SessionStart", *, shell: str = "sh") -> subprocess.Popen[str]:
        process = self.begin(event, shell=shell)
        assert until((self.world.data / "bells" / f"session.{SESSION}.pid").exists), process.poll()
        return process

    def left(self) -> list[str]:
        """The processes of all groups that were begun."""
        groups = {process.pid for process in self.started}
        found = []
        for place in Path("/proc").iterdir():
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) in groups and fields[0] != "Z":
                    found.append((place / "cmdline").read_text().replace("\0", " "))
            except (OSError, ValueError, IndexError):
                continue
        return found

    def close(self) -> None:
        for process in self.started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        self.owner.kill()
        self.owner.wait()


@pytest.fixture
def waiters(world: World, bin_dir: Path) -> Iterator[Waiters]:
    made = Waiters(world, bin_dir)
    yield made
    made.close()


@pytest.fixture
def claude(world: World, waiters: Waiters) -> str:
    return world.session(SESSION, vendor="claude", pid=waiters.owner.pid)


def ended(process: subprocess.Popen[str], seconds: float = 20.0) -> tuple[int, str]:
    _, said = process.communicate(timeout=seconds)
    return process.returncode, said


def target(address: str, nonce: str = "a1b2c3") -> Target:
    return Target(SESSION, "claude", "", address, 1, 1, nonce)


@pytest.mark.parametrize("shell", SHELLS)
def test_g1_where_nothing_is_armed_it_ends_at_once_and_starts_nothing(waiters: Waiters, shell: str) -> None:
    (waiters.bin_dir / "python").write_text("#!/bin/sh\necho started >&2\n")
    assert ended(waiters.begin(shell=shell)) == (0, "")
    assert ended(waiters.begin(session="", shell=shell)) == (0, "")
    assert ended(waiters.begin(session="../../x", shell=shell)) == (0, "")
    assert not (waiters.world.data / "bells").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_a1_a_post_wakes_the_session_without_any_host(world: World, waiters: Waiters, claude: str, shell: str) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait(shell=shell)
    world.post(claude, "token-7f3a the parser")
    code, said = ended(process)
    assert code == 2
    assert said.startswith(f"Mail waits for {claude}. Run: ")
    assert "token-7f3a" not in said
    assert until(lambda: not waiters.left()), waiters.left()
    assert world.monitor(claude).last_woken == 1


@pytest.mark.slow
def test_d1_the_next_waiter_does_not_wake_for_the_same_mark(world: World, waiters: Waiters, claude: str) -> None:
    world.arm(claude)
    first = waiters.begin_and_wait()
    world.post(claude)
    assert ended(first)[0] == 2
    second = waiters.begin_and_wait("Stop")
    time.sleep(2.0)
    assert second.poll() is None
    world.exchange.ring(claude)
    time.sleep(1.0)
    assert second.poll() is None


def test_151_from_its_first_waiter_on_a_session_is_said_to_be_woken(
    world: World, waiters: Waiters, claude: str
) -> None:
    world.arm(claude)
    outlook = world.host.outlook(claude)
    assert (outlook.mode, "restante install --agent claude" in outlook.reason) == (Mode.TURN, True)
    waiters.begin_and_wait()
    assert until(lambda: world.host.outlook(claude).mode is Mode.MONITOR)


def test_66_there_is_one_waiter_for_a_session_and_the_second_ends_at_once(
    world: World, waiters: Waiters, claude: str
) -> None:
    world.arm(claude)
    first = waiters.begin_and_wait()
    many = [waiters.begin("Stop") for _ in range(6)]
    assert [ended(one) for one in many] == [(0, "")] * 6
    assert first.poll() is None
    world.post(claude)
    assert ended(first)[0] == 2


@pytest.mark.slow
def test_442_only_one_of_many_that_begin_at_once_waits(world: World, waiters: Waiters, claude: str) -> None:
    world.arm(claude)
    many = [waiters.begin() for _ in range(8)]
    assert until(lambda: sum(one.poll() is None for one in many) == 1)
    world.post(claude)
    assert until(lambda: all(one.poll() is not None for one in many))
    assert sorted(one.returncode for one in many) == [0] * 7 + [2]


def test_mail_that_came_within_the_turn_wakes_after_its_stop(world: World, waiters: Waiters, claude: str) -> None:
    world.arm(claude)
    world.post(claude)
    code, said = ended(waiters.begin("Stop"))
    assert (code, claude in said) == (2, True)


def test_a_host_wakes_by_the_waiter_and_knows_that_it_did(world: World, waiters: Waiters, claude: str) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait()
    woken = ClaudeRewake(str(world.data), write_fifo).wake(target(claude), "Mail waits for x. Run: restante inbox")
    assert (woken.wake, woken.receipt) == (Wake.CONFIRMED, "a1b2c3")
    assert ended(process) == (2, "Mail waits for x. Run: restante inbox\n")
    assert until(lambda: not waiters.left()), waiters.left()


@pytest.mark.slow
def test_a_host_and_the_waiter_itself_wake_once(world: World, waiters: Waiters, claude: str) -> None:
    world.arm(claude)
    with world.hosting():
        for mark in (1, 2, 3):
            process = waiters.begin_and_wait()
            world.post(claude)
            code, said = ended(process)
            assert (code, said.count("Mail waits for")) == (2, 1)
            window = world.exchange.window(Identity("", SESSION, verified=True))
            window.confirm([one.message.id for one in window.read().entries])
            assert world.monitor(claude).last_seen == mark
            (world.data / "bells" / f"session.{SESSION}.pid").unlink()
    assert until(lambda: not waiters.left()), waiters.left()


@pytest.mark.slow
def test_a_waiter_answers_a_ping_and_a_stopped_one_is_found_by_its_silence(
    world: World, waiters: Waiters, claude: str
) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait()
    waker = ClaudeRewake(str(world.data), write_fifo, patience=0.5)
    time.sleep(0.5)
    before = waker.heard(SESSION)
    waker.ping(SESSION)
    assert until(lambda: waker.heard(SESSION) > before)
    os.killpg(process.pid, signal.SIGSTOP)
    silent = waker.heard(SESSION)
    waker.ping(SESSION)
    time.sleep(0.3)
    assert waker.heard(SESSION) == silent
    assert waker.waits(SESSION)
    woken = waker.wake(target(claude), "Mail waits")
    assert (woken.wake, "does not answer" in woken.reason) == (Wake.UNCONFIRMED, True)
    os.killpg(process.pid, signal.SIGCONT)


@pytest.mark.slow
def test_f1_a_killed_waiter_leaves_no_lock_and_the_next_stop_finds_what_was_missed(
    world: World, waiters: Waiters, claude: str
) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait()
    process.kill()
    process.wait()
    assert not waiters.waits()
    world.post(claude)
    with world.hosting(watch=0.2):
        # Until it was looked after, it stands as it did before any waiter was heard of.
        assert until(lambda: "no waiter of the session waits" in world.host.outlook(claude).reason)
        assert world.host.outlook(claude).mode is Mode.TURN
        (world.data / "bells" / f"session.{SESSION}.pid").unlink()
        again = waiters.begin("Stop")
        code, said = ended(again)
    assert (code, said.count("Mail waits for")) == (2, 1)


def test_67_a_waiter_whose_session_is_disarmed_ends_and_nothing_is_left(
    world: World, waiters: Waiters, claude: str
) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait()
    world.host.stop(claude)
    assert ended(process) == (0, "")
    world.post(claude)
    assert os.listdir(world.data / "bells") == []
    assert until(lambda: not waiters.left()), waiters.left()
    world.host.stop(claude)


def test_a_waiter_is_ended_with_all_it_started_when_its_session_ends_it(
    world: World, waiters: Waiters, claude: str
) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait()
    process.terminate()
    assert ended(process)[0] in (0, 143, -15)
    assert until(lambda: not waiters.left()), waiters.left()


@pytest.mark.parametrize("shell", SHELLS)
def test_e1_a_waiter_that_is_killed_takes_all_it_started_with_it(
    world: World, waiters: Waiters, claude: str, shell: str
) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait(shell=shell)
    assert until(lambda: any("sleep" in one for one in waiters.left())), waiters.left()
    process.kill()
    process.wait()
    assert until(lambda: not waiters.left()), waiters.left()
    assert not (world.data / "bells" / f"session.{SESSION}.hold").exists()


@pytest.mark.slow
def test_163_a_waiting_session_starts_no_process_and_uses_no_processor(
    world: World, waiters: Waiters, claude: str
) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait()
    time.sleep(1.0)

    def spent() -> list[str]:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return [fields[11], fields[12], fields[13], fields[14]]

    before, others = spent(), len(waiters.left())
    time.sleep(2.0)
    assert spent() == before
    assert len(waiters.left()) == others <= 4


@contextmanager
def linked(path: Path, to: Path) -> Iterator[None]:
    path.unlink(missing_ok=True)
    path.symlink_to(to)
    yield
    path.unlink()


def test_a_link_among_its_files_is_not_followed(world: World, waiters: Waiters, claude: str, tmp_path: Path) -> None:
    world.arm(claude)
    for end in (".pid", ".lock", ".woken"):
        with linked(world.data / "bells" / f"session.{SESSION}{end}", tmp_path / "other"):
            assert ended(waiters.begin()) == (0, "")
    assert not (tmp_path / "other").exists()


def test_a_recorded_wake_is_not_mistaken_for_another(world: World, waiters: Waiters, claude: str) -> None:
    world.arm(claude)
    (world.data / "bells" / f"session.{SESSION}.woken").write_text("older\n")
    process = waiters.begin_and_wait()
    assert ClaudeRewake(str(world.data), write_fifo).wake(target(claude, "newer"), "Mail").wake is Wake.CONFIRMED
    assert ended(process)[0] == 2
    assert Recorder().woken == []


@pytest.mark.slow
def test_a_stopped_waiter_that_goes_on_does_not_wake_for_what_was_collected_meanwhile(
    world: World, waiters: Waiters, claude: str
) -> None:
    world.arm(claude)
    process = waiters.begin_and_wait()
    # Not while it looks, or it would hold the database until it goes on.
    assert until(lambda: world.monitor(claude).last_checked)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGSTOP)
    with world.hosting():
        world.post(claude)
        assert until(lambda: world.monitor(claude).failures == 1, 2 * PATIENCE)
        assert "does not answer" in world.monitor(claude).last_error
    window = world.exchange.window(Identity("", SESSION, verified=True))
    window.confirm([one.message.id for one in window.read().entries])
    os.killpg(process.pid, signal.SIGCONT)
    assert not until(lambda: process.poll() is not None, 3.0)
    world.post(claude)
    code, said = ended(process)
    assert (code, said.count("Mail waits for")) == (2, 1)
