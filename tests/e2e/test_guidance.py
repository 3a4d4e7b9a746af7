"""Guidance from a person to a running agent, with the real agent programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from tests.e2e.agents import BIN
from tests.e2e.model_server import Request, Step, run, say
from tests.e2e.scenes import acknowledge, model_of, running, work

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import Claude, Codex
    from tests.e2e.model_server import ModelServer
    from tests.e2e.worktree import Gate, Worktree

pytestmark = pytest.mark.e2e

GUIDANCE = "Keep the parser as it is;\nthe lexer is what leaks: token-7f3a."


def test_guidance_sent_while_a_tool_runs_is_in_the_next_request_once_fenced_and_labelled(
    agent: Codex | Claude, worktree: Worktree, gate: Gate
) -> None:
    with model_of(agent, run(gate.command), acknowledge, say("Finished.")) as server:
        with running(agent, server, worktree.root) as run_beside:
            gate.wait()
            message_id = worktree.send(GUIDANCE, "--priority", "high")
            gate.release()
        assert run_beside.result().code == 0
    first, second, third = server.requests
    assert "token-7f3a" not in first.prompt
    assert [second.prompt.count("token-7f3a"), third.prompt.count("token-7f3a")] == [1, 1]
    assert re.search(rf"^(~{{3,}})\n{re.escape(GUIDANCE)}\n\1$", second.prompt, re.MULTILINE)
    label = next(line for line in second.prompt.splitlines() if line.startswith(message_id))
    assert "from human" in label
    assert "priority high" in label
    assert re.search(r"just now|\d+ s ago", label)


def test_tools_that_run_side_by_side_bring_a_message_once(agent: Codex | Claude, worktree: Worktree) -> None:
    def send_and_run_three_tools(_: Request) -> Step:
        worktree.send(GUIDANCE)
        return run("echo one", "echo two", "echo three")

    with model_of(agent, send_and_run_three_tools, acknowledge, say("Finished.")) as server:
        work(agent, server, worktree.root)
    assert [request.prompt.count("token-7f3a") for request in server.requests] == [0, 1, 1]


def test_the_models_acknowledgement_lands_as_a_receipt_and_status_shows_applied(
    agent: Codex | Claude, worktree: Worktree, gate: Gate
) -> None:
    with model_of(agent, run(gate.command), acknowledge, say("Finished.")) as server:
        with running(agent, server, worktree.root) as run_beside:
            gate.wait()
            message_id = worktree.send(GUIDANCE)
            assert worktree.status(message_id)["status"] == "unseen"
            gate.release()
        finished = run_beside.result()
    standing = worktree.status(message_id)
    assert standing["status"] == "applied"
    assert (standing["decision"], standing["summary"]) == ("accepted", "Done as asked")
    assert standing["noticed_at"] <= standing["acknowledged_at"]
    (receipt,) = standing["receipts"]
    assert finished.session in receipt["by"]
    assert f"message_id: {message_id}\n" in (worktree.root / ".codex-mailbox" / "RECEIPTS.md").read_text()
    assert len(server.requests) == 3


def test_a_message_that_arrives_just_before_the_end_holds_stop_once_and_is_handled(
    agent: Codex | Claude, worktree: Worktree
) -> None:
    sent: list[str] = []

    def finish_as_mail_arrives(_: Request) -> Step:
        sent.append(worktree.send(GUIDANCE))
        return say("Finished, as far as I know.")

    with model_of(agent, run("echo working"), finish_as_mail_arrives, acknowledge, say("Now finished.")) as server:
        work(agent, server, worktree.root)
    assert len(server.requests) == 4
    assert "token-7f3a" not in server.requests[1].prompt
    assert f"~\n{GUIDANCE}\n~" in server.requests[2].prompt
    assert worktree.status(sent[0])["status"] == "applied"


def test_a_message_that_the_model_ignores_holds_stop_only_once(agent: Codex | Claude, worktree: Worktree) -> None:
    message_id = worktree.send(GUIDANCE)
    with model_of(agent, say("Finished."), say("I have nothing to add.")) as server:
        work(agent, server, worktree.root)
    assert len(server.requests) == 2
    assert worktree.status(message_id)["status"] == "unseen"


def test_guidance_left_before_the_session_is_shown_at_its_start_once(agent: Codex | Claude, worktree: Worktree) -> None:
    message_id = worktree.send(GUIDANCE)
    with model_of(agent, acknowledge, say("Finished.")) as server:
        work(agent, server, worktree.root)
    assert [request.prompt.count("token-7f3a") for request in server.requests] == [1, 1]
    assert worktree.status(message_id)["status"] == "applied"


def test_a_session_in_a_subdirectory_has_the_mail_of_its_worktree(agent: Codex | Claude, worktree: Worktree) -> None:
    deep = worktree.root / "packages" / "one"
    deep.mkdir(parents=True)
    message_id = worktree.send(GUIDANCE, cwd=deep)
    with model_of(agent, acknowledge, say("Finished.")) as server:
        work(agent, server, deep)
    assert "token-7f3a" in server.requests[0].prompt
    assert worktree.status(message_id)["status"] == "applied"
    assert worktree.mailboxes() == [".codex-mailbox"]


def test_without_mail_no_request_and_no_byte_is_added_and_no_python_starts(
    agent: Codex | Claude, worktree: Worktree, tmp_path: Path
) -> None:
    hooks = worktree.root / agent.hooks_file
    starts = watch_python(hooks, tmp_path)
    with_hooks = quiet_run(agent, worktree)
    assert not starts.exists()
    hooks.rename(tmp_path / "hooks-put-aside")
    without_hooks = quiet_run(agent, worktree)
    assert [normal(request) for request in with_hooks.requests] == [
        normal(request) for request in without_hooks.requests
    ]
    assert with_hooks.asides == without_hooks.asides


def test_handled_mail_costs_one_look_and_then_nothing(
    agent: Codex | Claude, worktree: Worktree, tmp_path: Path
) -> None:
    starts = watch_python(worktree.root / agent.hooks_file, tmp_path)
    message_id = worktree.send(GUIDANCE)
    worktree.restante("ack", message_id, "--decision", "accepted", "--action", "applied", "-m", "By hand")
    # A file that changed this very moment could change once more within the resolution of its time.
    for name in ("INBOX.md", "RECEIPTS.md"):
        path = worktree.root / ".codex-mailbox" / name
        old = path.stat().st_mtime - 60
        os.utime(path, (old, old))
    starts.unlink(missing_ok=True)
    quiet_run(agent, worktree)
    assert len(starts.read_text().splitlines()) == 1
    starts.unlink()
    quiet_run(agent, worktree)
    assert not starts.exists()


def watch_python(hooks: Path, directory: Path) -> Path:
    """Let the installed hooks start a Python that writes down that it was started; return where it does."""
    starts, bin_ = directory / "python-starts", directory / "bin"
    bin_.mkdir()
    shutil.copy(os.path.join(BIN, "restante-hook"), bin_)
    python = bin_ / "python"
    python.write_text(f'#!/bin/sh\necho started >> "{starts}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    text = hooks.read_text()
    assert BIN in text
    hooks.write_text(text.replace(BIN, str(bin_)))
    return starts


def quiet_run(agent: Codex | Claude, worktree: Worktree) -> ModelServer:
    """Run an agent program of whose mail nothing waits, always for the same work."""
    shutil.rmtree(agent.home, ignore_errors=True)
    agent.environment()
    agent.trust(worktree.root)
    with model_of(agent, run("echo one"), run("echo two"), say("Finished.")) as server:
        work(agent, server, worktree.root)
    assert len(server.requests) == 3
    return server


def normal(request: Request) -> str:
    """Return what a request says to the model, without what differs from run to run."""
    text = json.dumps([request.prompt, request.body.get("tools")])
    for volatile in (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", r"Chunk ID: \w+", r"Wall time: [0-9.]+"):
        text = re.sub(volatile, "", text)
    return text
