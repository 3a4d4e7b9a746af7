"""An idle session of a real agent program begins a turn that its user sees, because mail came and for nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.conftest import agent_in, worktree_of
from tests.e2e.idle import claude_stream, codex_at_terminal, model_at_terminal, monitor_run, until
from tests.e2e.model_server import Request, Step, run, say
from tests.e2e.scenes import acknowledge, model_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import Codex
    from tests.e2e.worktree import Worktree

pytestmark = pytest.mark.e2e

MARKER = "token-51c8"
TASK = f"Take the parser; the lexer is done: {MARKER}."
# Longer than any wake takes to arrive.
QUIET_SECONDS = 6.0


def row(worktree: Worktree) -> dict[str, Any]:
    """What ls tells of the one session."""
    rows: list[dict[str, Any]] = json.loads(worktree.restante("ls", "--json"))["sessions"]
    return rows[0] if rows else {}


def bells(worktree: Worktree) -> list[str]:
    place = f"{worktree.environment['HOME']}/.local/share/restante/bells"
    return os.listdir(place) if os.path.isdir(place) else []


def status(worktree: Worktree, session: str) -> dict[str, Any]:
    answer = worktree.restante("monitor", "status", f"session:{session}", "--json")
    found: dict[str, Any] = json.loads(answer)["monitors"][0]
    return found


def processes_with(word: str) -> list[str]:
    listed = subprocess.run(["ps", "axo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if word in line]


def first_arming(worktree: Worktree) -> None:
    """Have monitors been used here before, so that ``install`` gives sessions a waiter."""
    worktree.restante("session", "start", "--id", "somebody-else")
    worktree.restante("monitor", "arm", "session:somebody-else", "--session", "somebody-else", "--adapter", "notify")
    worktree.restante("install", "--agent", "claude")
    worktree.restante("monitor", "stop", "session:somebody-else")
    worktree.restante("session", "end", "somebody-else")


def test_a1_an_idle_claude_session_is_woken_by_its_own_waiter_collects_and_acknowledges(tmp_path: Path) -> None:
    claude = agent_in("claude", tmp_path / "home")
    worktree = worktree_of(claude, tmp_path / "repo")
    worktree.restante("persist", "on")
    first_arming(worktree)
    script = (say("Ready."), say("Still here."), run("restante inbox"), acknowledge, say("Done as asked."))
    with model_of(claude, *script) as server, claude_stream(claude, server, worktree.root) as stream:  # type: ignore[arg-type]
        stream.say("Work on the task.")
        session = stream.session
        worktree.restante("monitor", "arm", f"session:{session}", "--session", session)
        stream.say("Are you there?")
        assert until(lambda: f"session.{session}.pid" in bells(worktree))
        # A4: nothing waits, so nothing happens.
        time.sleep(QUIET_SECONDS)
        assert (stream.turns, len(server.requests)) == (2, 2)
        worktree.restante("post", session, TASK)
        assert until(lambda: stream.turns == 3)
        woken = [one for one in stream.events if one.get("exit_code") == 2]
        assert len(woken) == 1
        assert f"Mail waits for session:{session}." in json.dumps(woken)
        assert MARKER not in json.dumps(woken)
        assert len(server.requests) == 5
        assert MARKER in server.requests[3].prompt
        assert row(worktree)["inboxPending"] == 0
        # D1: asking and ringing again make no turn.
        for _ in range(3):
            assert "wake" not in worktree.restante("monitor", "check", f"session:{session}", code=2)
        time.sleep(QUIET_SECONDS)
        assert (stream.turns, len(server.requests)) == (3, 5)
        assert until(lambda: f"session.{session}.pid" in bells(worktree))
        stream.end()
    assert bells(worktree) == []
    assert until(lambda: not processes_with(f"{tmp_path}/repo")), processes_with(str(tmp_path))


def test_f1_a_waiter_that_was_killed_is_told_of_and_the_next_stop_wakes_for_what_was_missed(tmp_path: Path) -> None:
    claude = agent_in("claude", tmp_path / "home")
    worktree = worktree_of(claude, tmp_path / "repo")
    worktree.restante("persist", "on")
    first_arming(worktree)
    with (
        model_of(claude, say("Ready."), say("Still here."), run("restante inbox"), say("Seen.")) as server,
        claude_stream(claude, server, worktree.root) as stream,  # type: ignore[arg-type]
    ):
        stream.say("Work on the task.")
        session = stream.session
        worktree.restante("monitor", "arm", f"session:{session}", "--session", session)
        stream.say("Are you there?")
        place = f"{worktree.environment['HOME']}/.local/share/restante/bells/session.{session}.pid"
        assert until(lambda: os.path.exists(place))
        with open(place, encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        worktree.restante("post", session, TASK)
        with monitor_run(worktree):
            # The host says so in its first round; before that nobody knows of the waiter at all.
            assert until(lambda: "no waiter of the session waits" in status(worktree, session)["reason"])
        found = status(worktree, session)
        assert found["mode"] == "turn"
        assert found["numbers"]["unseen"] == 1
        assert stream.turns == 2


@pytest.fixture
def open_codex(tmp_path: Path) -> tuple[Codex, Worktree]:
    codex = agent_in("codex", tmp_path / "home")
    worktree = worktree_of(codex, tmp_path / "repo")
    worktree.restante("persist", "on")
    worktree.restante("install", "--agent", "codex", "--trust", "--yes")
    worktree.environment["RESTANTE_CODEX"] = codex.program
    return codex, worktree  # type: ignore[return-value]


def test_a1_an_idle_codex_session_is_woken_through_its_queue_collects_and_acknowledges(
    open_codex: tuple[Codex, Worktree],
) -> None:
    codex, worktree = open_codex
    script = (say("Ready."), run("restante inbox"), acknowledge, say("Done as asked."))
    with (
        model_at_terminal(*script) as server,
        codex_at_terminal(codex, server, worktree.root, "Work on the task.") as terminal,
        monitor_run(worktree) as host,
    ):
        assert until(lambda: row(worktree).get("state") == "idle"), terminal.screen[-500:]
        session = row(worktree)["id"]
        worktree.restante("monitor", "arm", f"session:{session}", "--session", session)
        # A4: nothing waits, so nothing happens.
        time.sleep(QUIET_SECONDS)
        assert len(server.requests) == 1
        worktree.restante("post", session, TASK)
        assert until(lambda: len(server.requests) == 4), terminal.screen[-1500:]
        assert until(lambda: f"Mailwaitsforsession:{session}.Run:" in terminal.screen)
        (wake,) = [line for line in server.requests[1].prompt.splitlines() if line.startswith("[restante:")]
        assert wake.endswith(f"Mail waits for session:{session}. Run: restante inbox")
        assert MARKER in server.requests[2].prompt
        assert until(lambda: row(worktree)["inboxPending"] == 0)
        assert until(lambda: row(worktree)["state"] == "idle")
        assert until(lambda: status(worktree, session)["monitor"]["last_woken_id"] == 1)
        # D1: asking and ringing again make no turn.
        for _ in range(3):
            assert "wake" not in worktree.restante("monitor", "check", f"session:{session}", code=2)
        time.sleep(QUIET_SECONDS)
        assert len(server.requests) == 4
        worktree.restante("monitor", "stop", f"session:{session}")
        worktree.restante("post", session, "Nobody listens now.")
        time.sleep(QUIET_SECONDS)
        assert len(server.requests) == 4
        host.terminate()
        said, _ = host.communicate(timeout=20)
    assert MARKER not in said
    assert host.returncode == 0
    assert bells(worktree) == []


def test_f2_a_stopped_host_wakes_nobody_and_another_one_does_it_once(open_codex: tuple[Codex, Worktree]) -> None:
    codex, worktree = open_codex

    def read(_: Request) -> Step:
        return run("restante inbox")

    with (
        model_at_terminal(say("Ready."), read, acknowledge, say("Done.")) as server,
        codex_at_terminal(codex, server, worktree.root, "Work on the task.") as terminal,
        monitor_run(worktree) as host,
    ):
        assert until(lambda: row(worktree).get("state") == "idle"), terminal.screen[-500:]
        session = row(worktree)["id"]
        worktree.restante("monitor", "arm", f"session:{session}", "--session", session)
        assert until(lambda: status(worktree, session)["receiver"] == "alive")
        host.send_signal(signal.SIGSTOP)
        worktree.restante("post", session, TASK)
        time.sleep(QUIET_SECONDS)
        assert len(server.requests) == 1
        with monitor_run(worktree):
            assert until(lambda: len(server.requests) == 4), terminal.screen[-1500:]
            host.send_signal(signal.SIGCONT)
            time.sleep(QUIET_SECONDS)
            assert len(server.requests) == 4


def test_by_name_an_idle_claude_session_is_woken_through_its_inbox_socket(tmp_path: Path) -> None:
    claude = agent_in("claude", tmp_path / "home")
    worktree = worktree_of(claude, tmp_path / "repo")
    worktree.restante("persist", "on")
    with (
        model_of(claude, say("Ready."), say("I see that mail waits.")) as server,
        claude_stream(claude, server, worktree.root, asks=True) as stream,  # type: ignore[arg-type]
        monitor_run(worktree, CLAUDE_CONFIG_DIR=str(claude.home / ".claude")),
    ):
        stream.say("Work on the task.")
        session = stream.session
        address = f"session:{session}"
        worktree.restante("monitor", "arm", address, "--session", session, "--adapter", "claude-socket")
        worktree.restante("post", session, TASK)
        assert until(lambda: stream.turns == 2)
        assert until(lambda: status(worktree, session)["monitor"]["last_woken_id"] == 1)
        # Its own hook holds the end of that turn once, because the mail is not answered.
        asked = len(server.requests)
        time.sleep(QUIET_SECONDS)
        assert (stream.turns, len(server.requests)) == (2, asked)
    (wake,) = [line for line in server.requests[1].prompt.splitlines() if "[restante:" in line]
    assert f"Mail waits for {address}." in wake
    assert MARKER not in wake
