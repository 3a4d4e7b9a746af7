"""Sessions that write to each other, with the real agent programs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.conftest import agent_in, worktree_of
from tests.e2e.model_server import Request, Step, run, say
from tests.e2e.scenes import acknowledge, messages_in, model_of, running, work
from tests.e2e.worktree import Gate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.agents import Claude, Codex
    from tests.e2e.worktree import Worktree

pytestmark = pytest.mark.e2e

TASK = "Take the parser;\nthe lexer is done: token-51c8."


@pytest.fixture(params=["codex", "claude"])
def receiver(request: pytest.FixtureRequest, tmp_path: Path) -> Codex | Claude:
    return agent_in(request.param, tmp_path / "home")


@pytest.fixture
def sender(receiver: Codex | Claude, tmp_path: Path) -> Codex | Claude:
    """The other program, of the same person."""
    return agent_in("claude" if receiver.name == "codex" else "codex", tmp_path / "home")


@pytest.fixture
def gates(tmp_path: Path) -> Iterator[tuple[Gate, Gate]]:
    """A moment inside a tool of each."""
    made = []
    for name in ("receiver", "sender"):
        (tmp_path / name).mkdir()
        made.append(Gate(tmp_path / name))
    yield made[0], made[1]
    for gate in made:
        gate.close()


def worktrees(receiver: Codex | Claude, sender: Codex | Claude, place: Path) -> tuple[Worktree, Worktree]:
    both = worktree_of(receiver, place / "receiver-repo"), worktree_of(sender, place / "sender-repo")
    both[0].restante("persist", "on")
    return both


def rows(worktree: Worktree) -> dict[str, Any]:
    """Return what ls tells, by the vendor of each session."""
    return {row["mode"]: row for row in json.loads(worktree.restante("ls", "--json"))["sessions"]}


def latch_file(agent: Codex | Claude, session: str) -> Path:
    return agent.home / ".local" / "share" / "restante" / "turns" / session


def test_a_session_registers_itself_and_its_turns_are_noted_without_an_interpreter(
    receiver: Codex | Claude, tmp_path: Path
) -> None:
    worktree = worktree_of(receiver, tmp_path / "repo")
    seen: list[str] = []

    def look(request: Request) -> Step:
        (row,) = json.loads(worktree.restante("ls", "--json"))["sessions"]
        seen.append(row["id"])
        assert (row["mode"], row["workingDir"]) == (receiver.name, str(worktree.root))
        assert latch_file(receiver, row["id"]).read_text() == "s\n"
        return run("echo something")

    with model_of(receiver, look, say("Finished.")) as server:
        finished = work(receiver, server, worktree.root)
    assert seen == [finished.session]
    assert latch_file(receiver, finished.session).read_text() == "s\ne\n"


def test_one_session_hands_work_to_another_which_reads_and_acknowledges_it(
    receiver: Codex | Claude, sender: Codex | Claude, gates: tuple[Gate, Gate], tmp_path: Path
) -> None:
    here, there = worktrees(receiver, sender, tmp_path)
    receivers, senders = gates

    def post(_: Request) -> Step:
        session = rows(here)[receiver.name]["id"]
        return run(f"restante post {session[:13]} '{TASK}'")

    with (
        model_of(receiver, run(receivers.command), run("restante inbox"), acknowledge, say("Finished.")) as reading,
        model_of(sender, post, run(senders.command), run("restante receipts"), say("Finished.")) as writing,
        running(receiver, reading, here.root) as receiving,
    ):
        receivers.wait()
        with running(sender, writing, there.root) as sending:
            senders.wait()
            before = rows(here)
            assert (before[receiver.name]["inboxPending"], before[receiver.name]["inboxUnseen"]) == (1, 1)
            receivers.release()
            assert receiving.result().code == 0, receiving.result().err
            senders.release()
        assert sending.result().code == 0
    first, shown, read, acked = reading.requests
    assert "token-51c8" not in first.prompt
    (message,) = messages_in(shown)
    label = next(line for line in shown.prompt.splitlines() if line.startswith(message))
    assert f"from session:{sending.result().session}, priority" in label
    assert "(unverified)" not in label
    assert re.search(rf"^(~{{3,}})\n{re.escape(TASK)}\n\1$", shown.prompt, re.MULTILINE)
    assert read.prompt.count("token-51c8") == 2
    assert f"acknowledged {message}" in acked.prompt
    assert rows(here)[receiver.name]["inboxPending"] == 0
    told = writing.requests[-1].prompt
    assert message in told
    assert "acknowledged" in told


def test_mail_of_a_session_that_ended_is_kept_and_found_when_it_is_resumed(codex: Codex, tmp_path: Path) -> None:
    worktree = worktree_of(codex, tmp_path / "repo")
    worktree.restante("persist", "on")
    with model_of(codex, say("Finished.")) as server:
        session = work(codex, server, worktree.root).session
    assert rows(worktree)["codex"]["detachedAt"] is not None
    worktree.restante("post", session, TASK)
    with model_of(codex, acknowledge, say("Finished.")) as server:
        assert work(codex, server, worktree.root, "resume", session).session == session
    assert "token-51c8" in server.requests[0].prompt
    assert rows(worktree)["codex"]["inboxPending"] == 0


def test_an_agent_in_the_workspace_write_sandbox_reads_answers_and_posts(codex: Codex, tmp_path: Path) -> None:
    codex.sandbox = "workspace-write"
    worktree = worktree_of(codex, tmp_path / "repo")
    worktree.restante("persist", "on")
    worktree.restante("session", "start", "--id", "coordinator-1", "--name", "coordinator")
    data = codex.home / ".local" / "share" / "restante"

    def post(_: Request) -> Step:
        worktree.restante("post", rows(worktree)["codex"]["id"], TASK)
        return run(f"touch {data}/written; restante inbox")

    def answer(request: Request) -> Step:
        (ack,) = acknowledge(request).shell
        return run(f"{ack} && restante post coordinator 'It is done.'")

    with model_of(codex, post, answer, run("restante ls"), say("Finished.")) as server:
        finished = work(codex, server, worktree.root)
    assert not (data / "written").exists()
    assert "token-51c8" in server.requests[1].prompt
    assert server.requests[2].prompt.count("left for your next checkpoint") == 2
    assert rows(worktree)["codex"]["inboxPending"] == 0
    (trace,) = json.loads(worktree.restante("receipts", "--json"))["receipts"]
    assert trace["state"] == "acknowledged"
    told = worktree.restante("inbox", "--session", "coordinator", "--peek")
    assert f"from session:{finished.session}," in told
    assert "It is done." in told
