"""What only Codex has: hooks that need trust, and a sandbox for the model's commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import worktree_of
from tests.e2e.model_server import Request, Step, run, say
from tests.e2e.scenes import acknowledge, messages_in, model_of, work

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
