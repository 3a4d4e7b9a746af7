"""What must not get into each other's way: worktrees, nested runs, and the original mailbox program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.e2e.agents import AGENTS, nested
from tests.e2e.model_server import Request, Step, run, say
from tests.e2e.scenes import acknowledge, install_original, messages_in, model_of, running, work
from tests.e2e.worktree import Gate, Worktree, git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import Claude, Codex

pytestmark = pytest.mark.e2e


def test_two_worktrees_of_one_repository_never_see_each_others_mail(
    agent: Codex | Claude, worktree: Worktree, tmp_path: Path
) -> None:
    git(worktree.root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = Worktree(tmp_path / "side", worktree.environment)
    agent.trust(side.root)
    side.restante("install", "--agent", agent.name)
    places = []
    for name, one in (("main", worktree), ("side", side)):
        (tmp_path / name).mkdir(exist_ok=True)
        directory = tmp_path / f"gate-{name}"
        directory.mkdir()
        gate = Gate(directory)
        places.append((one, gate, model_of(agent, run(gate.command), acknowledge, say("Finished."))))
    (_, main_gate, main_model), (_, side_gate, side_model) = places
    with main_model, side_model:
        with running(agent, main_model, worktree.root) as main_run, running(agent, side_model, side.root) as side_run:
            main_gate.wait()
            side_gate.wait()
            main_id, side_id = worktree.send("for the main worktree"), side.send("for the side worktree")
            main_gate.release()
            side_gate.release()
        assert (main_run.result().code, side_run.result().code) == (0, 0)
    for gate in (main_gate, side_gate):
        gate.close()
    assert [messages_in(request) for request in main_model.requests] == [[], [main_id], [main_id]]
    assert [messages_in(request) for request in side_model.requests] == [[], [side_id], [side_id]]
    assert (worktree.status(main_id)["status"], side.status(side_id)["status"]) == ("applied", "applied")


@pytest.mark.parametrize("opted_in", [False, True])
def test_a_run_nested_in_a_live_session_is_no_addressee_unless_it_opts_in(
    agent: Codex | Claude, worktree: Worktree, opted_in: bool
) -> None:
    sent: list[str] = []
    switch = {"RESTANTE_NESTED": "1"} if opted_in else {}
    with model_of(agent, say("A commit message.")) as inner:

        def send_and_run_nested(_: Request) -> Step:
            sent.append(worktree.send("for the outer session"))
            return run(nested(agent, "Write a commit message.", inner, **switch))

        with model_of(agent, send_and_run_nested, acknowledge, say("Finished.")) as outer:
            work(agent, outer, worktree.root)
    assert messages_in(inner.requests[0]) == (sent if opted_in else [])
    # A run that was shown mail is also held once at its end.
    assert len(inner.requests) == (2 if opted_in else 1)
    assert [messages_in(request) for request in outer.requests] == [[], sent, sent]
    assert worktree.status(sent[0])["status"] == "applied"


def test_beside_the_original_programs_hook_text_comes_once_and_stop_is_held_once(
    agent: Codex | Claude, worktree: Worktree, gate: Gate
) -> None:
    install_original(worktree, agent.hooks_file)
    worktree.restante("install", "--agent", agent.name)
    with model_of(agent, run(gate.command), say("Finished?"), acknowledge, say("Finished.")) as server:
        with running(agent, server, worktree.root) as run_beside:
            gate.wait()
            message_id = worktree.send("said once: token-51c0")
            gate.release()
        assert run_beside.result().code == 0
    assert len(server.requests) == 4
    assert "This project uses the CodexPigeon mailbox" in server.requests[0].prompt
    assert [request.prompt.count("token-51c0") for request in server.requests] == [0, 1, 1, 1]
    held = server.requests[-1].prompt
    assert ("Before finalizing" in held) + ("Before you finish" in held) == 1
    assert worktree.status(message_id)["status"] == "applied"


def test_the_original_programs_hook_for_one_agent_program_leaves_the_others_end_to_ours(
    agent: Codex | Claude, worktree: Worktree
) -> None:
    others_file = AGENTS["claude" if agent.name == "codex" else "codex"].hooks_file
    install_original(worktree, others_file)
    sent: list[str] = []

    def finish_as_mail_arrives(_: Request) -> Step:
        sent.append(worktree.send("Wait, one more thing."))
        return say("Finished, as far as I know.")

    with model_of(agent, finish_as_mail_arrives, acknowledge, say("Now finished.")) as server:
        work(agent, server, worktree.root)
    assert len(server.requests) == 3
    assert worktree.status(sent[0])["status"] == "applied"
