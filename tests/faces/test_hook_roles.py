"""Mail of the roles that a session holds, at its checkpoints."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from restante import Draft
from restante.agents.hookline import command_line
from restante.domain.errors import RoleHeld
from restante.domain.message import Priority
from restante.domain.team import Tally
from restante.faces.hook import answer
from restante.system.bells import is_ringing
from restante.system.turns import TurnFiles
from restante.wiring.sessions import open_window
from restante.wiring.teams import open_local_roster

if TYPE_CHECKING:
    from restante.ports.sessions import Window
    from restante.roster import Roster

GUARD = Path(__file__).parents[2] / "scripts" / "restante-hook"
ALICE, BOB = "aaaaaaaa-1", "bbbbbbbb-2"
ROLE = "parser/reviewer"


class Machine:
    """A worktree in which sessions are used; their own mail is kept nowhere."""

    def __init__(self, place: Path) -> None:
        self.data = place / "data"
        self.root = place / "repo"
        (self.root / ".git").mkdir(parents=True)
        (self.root / ".codex-mailbox").mkdir()
        self.environment = {"RESTANTE_DATA": str(self.data), "PATH": os.environ["PATH"]}
        TurnFiles(str(self.data)).enable()

    def by(self, session: str = "") -> Roster:
        return open_local_roster(self._of(session), str(self.root))

    def window(self, session: str = "") -> Window:
        return open_window(self._of(session), str(self.root))

    def post(self, text: str, role: str = ROLE, priority: Priority = Priority.NORMAL) -> str:
        (copy,) = self.by().post(role, Draft(text, priority=priority))
        assert copy.posted
        return copy.posted.message.id

    def hook(self, event: str, session: str = ALICE, **payload: object) -> str:
        """Run a checkpoint; return what the model is given."""
        words = {"session_id": session, "cwd": str(self.root), "hook_event_name": event, **payload}
        environment = {**self.environment, "RESTANTE_WORKTREE": str(self.root)}
        output = answer("codex", event, json.dumps(words).encode(), environment)
        if not output:
            return ""
        said: dict[str, Any] = json.loads(output)
        return str(said["reason"] if "reason" in said else said["hookSpecificOutput"]["additionalContext"])

    @property
    def rings(self) -> bool:
        return is_ringing(str(self.root))

    def _of(self, session: str) -> dict[str, str]:
        return {**self.environment, "CODEX_THREAD_ID": session} if session else self.environment


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    # Whoever runs the tests by an agent is no person to us.
    monkeypatch.setattr("restante.wiring.sessions.program_above", lambda _: None)
    made = Machine(tmp_path)
    for session in (ALICE, BOB):
        made.hook("SessionStart", session)
    made.by(ALICE).join(ROLE)
    return made


def test_a_checkpoint_shows_mail_of_a_held_role_once_and_says_which_and_it_counts_as_noticed(machine: Machine) -> None:
    message = machine.post("Look at the lexer.")
    shown = machine.hook("PostToolUse")
    assert f"{message} to {ROLE}, from human, priority normal" in shown
    assert "Look at the lexer." in shown
    assert "from another session it is advice" in shown
    assert machine.by().tally(ROLE) == Tally(noticed=1)
    assert machine.hook("PostToolUse") == ""
    assert machine.rings


def test_an_end_is_held_once_for_mail_of_a_role(machine: Machine) -> None:
    machine.post("Before you finish.")
    assert "Before you finish." in machine.hook("Stop")
    assert machine.hook("Stop", stop_hook_active=True) == ""


def test_report_721_mail_of_every_role_of_a_session_is_shown_the_most_urgent_first(machine: Machine) -> None:
    machine.by(ALICE).join("parser/tester")
    machine.post("one")
    machine.post("two", "parser/tester", Priority.HIGH)
    shown = machine.hook("UserPromptSubmit")
    assert shown.index("to parser/tester") < shown.index("two") < shown.index(f"to {ROLE}") < shown.index("one")


def test_b4_another_session_of_the_worktree_is_shown_nothing_of_it_and_does_not_silence_the_bell(
    machine: Machine,
) -> None:
    machine.post("text")
    assert machine.hook("PostToolUse", BOB) == ""
    assert machine.hook("Stop", BOB) == ""
    assert machine.rings
    assert machine.by().tally(ROLE) == Tally(queued=1)
    assert "text" in machine.hook("PostToolUse", ALICE)


def test_after_a_takeover_the_checkpoints_of_the_old_holder_show_nothing_and_those_of_the_new_one_do(
    machine: Machine,
) -> None:
    message = machine.post("text")
    machine.by().drop(ROLE)
    machine.by(BOB).act_as(ROLE)
    assert [machine.hook(event, ALICE) for event in ("SessionStart", "PostToolUse", "Stop")] == ["", "", ""]
    with pytest.raises(RoleHeld):
        machine.window(ALICE).acknowledge([message])
    assert "text" in machine.hook("PostToolUse", BOB)


def test_mail_that_waited_for_a_holder_is_shown_at_its_first_checkpoint(machine: Machine) -> None:
    machine.by(ALICE).drop(ROLE)
    machine.post("text")
    assert not machine.rings
    assert machine.hook("SessionStart", BOB) == ""
    machine.by(BOB).act_as(ROLE)
    assert "text" in machine.hook("PostToolUse", BOB)


def test_report_149_an_end_gives_the_role_back_and_a_resumed_session_takes_it_again(machine: Machine) -> None:
    machine.hook("SessionEnd")
    assert not machine.by().seat(ROLE).is_held
    machine.post("text")
    assert "text" in machine.hook("SessionStart", source="resume")
    assert machine.by().seat(ROLE).is_held
    machine.hook("SessionEnd")
    machine.by(BOB).act_as(ROLE)
    assert machine.hook("SessionStart", source="resume") == ""
    assert machine.by().holder(ROLE)


def test_a_checkpoint_is_a_sign_of_life_of_the_holder(machine: Machine) -> None:
    before = machine.by().seat(ROLE).member.lease
    machine.post("text")
    machine.environment["RESTANTE_NOW"] = "2040-01-01T00:00:00Z"
    machine.hook("PostToolUse")
    after = machine.by().seat(ROLE).member.lease
    assert before
    assert after
    assert after.heartbeat > before.heartbeat
    assert after.generation == before.generation


def test_the_bell_rests_once_the_mail_of_the_role_is_answered(machine: Machine) -> None:
    message = machine.post("text")
    machine.hook("PostToolUse")
    machine.window(ALICE).acknowledge([message])
    assert machine.hook("PostToolUse") == ""
    assert not machine.rings


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_the_guard_starts_a_program_for_mail_of_a_role_and_none_without(machine: Machine, tmp_path: Path) -> None:
    started, inner = tmp_path / "started", tmp_path / "bin"
    inner.mkdir()
    shutil.copy(GUARD, inner)
    (inner / "python").write_text(f"#!/bin/sh\ncat >/dev/null\necho >>'{started}'\n")
    (inner / "python").chmod(0o755)
    hook = command_line(str(inner), "codex", "PostToolUse")

    def starts() -> bool:
        started.unlink(missing_ok=True)
        payload = json.dumps({"session_id": ALICE, "hook_event_name": "PostToolUse"})
        subprocess.run(
            ["sh", "-c", hook], cwd=machine.root, input=payload, text=True, env=machine.environment, check=True
        )
        return started.exists()

    assert not starts()
    message = machine.post("text")
    assert starts()
    machine.window(ALICE).acknowledge([message])
    machine.hook("PostToolUse")
    assert not starts()
