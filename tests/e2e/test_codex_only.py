"""What only Codex has: hooks that need trust, and a sandbox for the model's commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import worktree_of
from tests.e2e.model_server import Request, Step, run, say
from tests.e2e.scenes import acknowledge, install_original, messages_in, model_of, work

from restante.agents.codex import digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import Codex

pytestmark = pytest.mark.e2e


def test_hooks_that_nobody_trusted_are_silent_and_run_after_install_trust(codex: Codex, tmp_path: Path) -> None:
    codex.bypass_trust = False
    worktree = worktree_of(codex, tmp_path / "repo")
    message_id = worktree.send("Use the other branch.")
    with model_of(codex, say("Finished.")) as untrusted:
        work(codex, untrusted, worktree.root)
    assert [messages_in(request) for request in untrusted.requests] == [[]]
    assert worktree.status(message_id)["status"] == "unseen"
    worktree.restante("install", "--agent", "codex", "--trust", "--yes")
    with model_of(codex, acknowledge, say("Finished.")) as trusted:
        work(codex, trusted, worktree.root)
    assert [messages_in(request) for request in trusted.requests] == [[message_id], [message_id]]
    assert worktree.status(message_id)["status"] == "applied"


@pytest.mark.parametrize("original_is_trusted", [False, True])
def test_an_end_is_held_by_the_original_program_only_where_its_hook_is_trusted(
    codex: Codex, tmp_path: Path, original_is_trusted: bool
) -> None:
    codex.bypass_trust = False
    worktree = worktree_of(codex, tmp_path / "repo")
    install_original(worktree, codex.hooks_file)
    worktree.restante("install", "--agent", "codex", "--trust", "--yes")
    if original_is_trusted:
        trust_first_hooks(codex, worktree.root / codex.hooks_file)
    sent: list[str] = []

    def finish_as_mail_arrives(_: Request) -> Step:
        sent.append(worktree.send("Wait, one more thing."))
        return say("Finished, as far as I know.")

    with model_of(codex, finish_as_mail_arrives, acknowledge, say("Now finished.")) as server:
        work(codex, server, worktree.root)
    assert len(server.requests) == 3
    held = server.requests[1].prompt
    assert ("Before finalizing" in held, "Before you finish" in held) == (original_is_trusted, not original_is_trusted)
    assert worktree.status(sent[0])["status"] == "applied"
    (line,) = [
        check["detail"]
        for check in json.loads(worktree.restante("doctor", "--json"))["checks"]
        if check["name"] == "original program"
    ]
    assert ("ours does not" in line) is original_is_trusted


def trust_first_hooks(codex: Codex, file: Path) -> None:
    """Do what Codex does when a person says that they trust the first hook of each event."""
    names = {"SessionStart": "session_start", "PostToolUse": "post_tool_use", "Stop": "stop"}
    hooks = json.loads(file.read_text())["hooks"]
    with codex.config.open("a") as config:
        for event, name in names.items():
            group = hooks[event][0]
            settings = {key: value for key, value in group.items() if key != "hooks"}
            digest = digest_of(event, group["hooks"][0], settings)
            config.write(f'[hooks.state."{file}:{name}:0:0"]\ntrusted_hash = "{digest}"\n')


def test_the_models_commands_work_inside_the_workspace_write_sandbox(codex: Codex, tmp_path: Path) -> None:
    codex.sandbox = "workspace-write"
    worktree = worktree_of(codex, tmp_path / "repo")
    message_id = worktree.send("Use the other branch.")

    def answer(_: Request) -> Step:
        return run(f"restante reply {message_id} 'Which one of the two?'")

    confined = "touch .git/written ~/written 2>/dev/null; ls .git/written ~/written 2>/dev/null || echo CONFINED"
    with model_of(codex, run(confined), run("restante inbox"), acknowledge, answer, say("Finished.")) as server:
        work(codex, server, worktree.root)
    assert "\nCONFINED" in server.requests[1].prompt
    assert not (worktree.root / ".git" / "written").exists()
    assert len(server.requests) == 5
    standing = worktree.status(message_id)
    assert standing["status"] == "applied"
    assert standing["seen_at"] is not None
    assert [reply["body"] for reply in standing["replies"]] == ["Which one of the two?"]
