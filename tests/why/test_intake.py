"""Causes in an OACP inbox: what a policy holds, what a person decided, what nobody worked off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from tests.inboxes import Inboxes

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Scene


@pytest.fixture
def inboxes(
    worktree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Inboxes:
    """A tree beside the worktree."""
    assert worktree.is_dir()
    monkeypatch.setenv("OACP_HOME", str(tmp_path / "oacp"))
    return Inboxes(tmp_path / "oacp", capsys, monkeypatch)


def id_of(inboxes: Inboxes, name: str) -> str:
    """Return the id of a message by its file's name."""
    return str(yaml.safe_load((inboxes.agents / "codex" / "inbox" / name).read_text())["id"])


def test_nobody_worked_the_inbox_off(scene: Scene, inboxes: Inboxes) -> None:
    told = scene.why(id_of(inboxes, inboxes.send()))
    assert (told["cause"], told["mailbox"]) == ("not-collected", "oacp:demo/codex")
    assert told["command"] == "restante check-inbox --project demo --agent codex"


def test_the_policy_takes_only_proven_mail(scene: Scene, inboxes: Inboxes) -> None:
    inboxes.policy("signing: {verify_mode: enforce}\n")
    message = id_of(inboxes, inboxes.send())
    assert scene.cause(message) == "unproven"
    inboxes.drain()
    assert scene.cause(message) == "quarantined"


def test_the_policy_holds_it_until_a_person_decides_and_then_the_next_round(scene: Scene, inboxes: Inboxes) -> None:
    message = id_of(inboxes, inboxes.task())
    inboxes.drain({"choice": "leave"})
    told = scene.why(message)
    assert told["cause"] == "held-for-a-person"
    assert told["command"] == f"restante approve {message} --project demo --agent codex"
    scene.do("approve", message, "--project", "demo", "--agent", "codex", "--actor", "me")
    assert scene.cause(message) == "decided"


def test_work_that_the_gates_let_in_and_that_has_not_ended(scene: Scene, inboxes: Inboxes) -> None:
    inboxes.policy()
    message = id_of(inboxes, inboxes.task())
    inboxes.run("oacp", "autonomy", "evaluate", "demo", "codex", message)
    inboxes.drain()
    assert scene.cause(message) == "started"
