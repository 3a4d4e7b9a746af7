"""What a checkpoint does about sessions: who is there, whose turn ended, and the mail that others left for one."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from restante import Draft, open_office
from restante.agents.hookline import command_line
from restante.domain.errors import PersistenceOff, StorageFailed
from restante.domain.message import Priority
from restante.domain.overview import Fate
from restante.domain.receipt import Decision
from restante.domain.registry import Arrival, Identity, Presence
from restante.faces.hook import answer
from restante.system.bells import is_ringing
from restante.system.clock import clock_for
from restante.system.outgoing import Outgoing
from restante.system.secrets import session_secret
from restante.system.turns import TurnFiles
from restante.wiring.leaving import LeavingWindow
from restante.wiring.sessions import open_exchange, open_window

if TYPE_CHECKING:
    from restante.domain.overview import Row
    from restante.ports.sessions import Window


class Barred:
    """A window that can look and store nothing, as in a sandbox."""

    def __init__(self, window: Window) -> None:
        self._window = window

    def __getattr__(self, name: str) -> Any:
        if name in ("post", "acknowledge", "confirm"):
            raise StorageFailed("mail.db cannot be written here")
        return getattr(self._window, name)


GUARD = Path(__file__).parents[2] / "scripts" / "restante-hook"


class Machine:
    """A worktree and a data directory in which sessions are used and their mail is kept."""

    def __init__(self, place: Path) -> None:
        self.data = place / "data"
        self.root = place / "repo"
        (self.root / ".git").mkdir(parents=True)
        (self.root / ".codex-mailbox").mkdir()
        self.environment = {"RESTANTE_DATA": str(self.data), "PATH": os.environ["PATH"]}
        TurnFiles(str(self.data)).enable()
        self.person.set_persistence(True)

    @property
    def person(self) -> Window:
        return open_window(self.environment, str(self.root))

    def window(self, session: str, agent: str = "codex") -> Window:
        variable = "CODEX_THREAD_ID" if agent == "codex" else "CLAUDE_CODE_SESSION_ID"
        return open_window({**self.environment, variable: session}, str(self.root))

    def hook(self, event: str, session: str = "aaaaaaaa-1", agent: str = "codex", **payload: object) -> str:
        """Run a checkpoint; return what the model is given."""
        words = {"session_id": session, "cwd": str(self.root), "hook_event_name": event, **payload}
        environment = {**self.environment, "RESTANTE_WORKTREE": str(self.root)}
        output = answer(agent, event, json.dumps(words).encode(), environment)
        if not output:
            return ""
        said: dict[str, Any] = json.loads(output)
        return str(said["reason"] if "reason" in said else said["hookSpecificOutput"]["additionalContext"])

    def row(self, session: str) -> Row:
        return next(one for one in self.person.sessions() if one.session.id == session)

    def sandboxed(self, session: str) -> Window:
        outgoing = Outgoing(str(self.root), session, session_secret(str(self.data), session))
        window = cast("Window", Barred(self.window(session)))
        return LeavingWindow(window, outgoing, clock=clock_for(self.environment), time_to_live=12 * 3600.0)

    def holding(self, text: bytes) -> list[Path]:
        """Return the files that hold a text. What a server's database takes away meanwhile holds none."""
        found = []
        for path in (*self.root.rglob("*"), *self.data.rglob("*")):
            with contextlib.suppress(FileNotFoundError):
                if path.is_file() and text in path.read_bytes():
                    found.append(path)
        return found

    @property
    def ids(self) -> list[str]:
        return [one.session.id for one in self.person.sessions()]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_session_registers_itself_at_its_start_and_is_proven_by_a_secret_of_its_own(machine: Machine) -> None:
    assert machine.hook("SessionStart", source="startup") == ""
    session = machine.row("aaaaaaaa-1").session
    assert (session.vendor, session.worktree, session.detached) == ("codex", str(machine.root), None)
    assert (machine.data / "turns" / "aaaaaaaa-1").stat().st_size == 0
    assert (machine.data / "sessions" / "aaaaaaaa-1").stat().st_mode & 0o777 == 0o600
    identity = machine.window("aaaaaaaa-1").identity
    assert (identity.session, identity.verified) == ("aaaaaaaa-1", True)


def test_a_session_registers_under_the_name_its_person_gave_it_and_keeps_another_one(machine: Machine) -> None:
    machine.environment["RESTANTE_NAME"] = "planner"
    machine.hook("SessionStart")
    assert machine.row("aaaaaaaa-1").session.name == "planner"
    machine.window("aaaaaaaa-1").describe(name="coordinator")
    machine.hook("SessionStart", source="resume")
    assert machine.row("aaaaaaaa-1").session.name == "coordinator"


def test_a_session_that_another_one_started_is_its_child_and_does_not_take_its_name(machine: Machine) -> None:
    machine.environment["RESTANTE_NAME"] = "planner"
    machine.hook("SessionStart", "aaaaaaaa-1", agent="claude")
    machine.environment |= {"CLAUDE_CODE_SESSION_ID": "aaaaaaaa-1", "RESTANTE_NESTED": "1"}
    machine.hook("SessionStart", "bbbbbbbb-2")
    machine.environment["RESTANTE_NAME"] = "worker"
    machine.hook("SessionStart", "cccccccc-3")
    rows = {one.session.id: one.session for one in open_exchange(machine.environment).window(Identity()).sessions()}
    assert {one.id: (one.name, one.parent) for one in rows.values()} == {
        "aaaaaaaa-1": ("planner", ""),
        "bbbbbbbb-2": ("", "aaaaaaaa-1"),
        "cccccccc-3": ("worker", "aaaaaaaa-1"),
    }


def test_a_parent_that_nobody_knows_is_none_and_a_name_that_is_none_stops_no_start(machine: Machine) -> None:
    machine.environment |= {"CLAUDE_CODE_SESSION_ID": "never-there-1", "RESTANTE_NESTED": "1", "RESTANTE_NAME": "x\ny"}
    machine.hook("SessionStart")
    (row,) = open_exchange(machine.environment).window(Identity()).sessions()
    assert (row.session.id, row.session.name, row.session.parent) == ("aaaaaaaa-1", "", "")


def test_where_sessions_are_not_used_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    data = tmp_path / "data"
    environment = {"RESTANTE_DATA": str(data), "RESTANTE_WORKTREE": str(tmp_path / "repo")}
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        assert answer("codex", event, b'{"session_id": "s"}', environment) == b""
    assert not data.exists()


def test_bl51_without_a_home_the_worktrees_mail_is_delivered_all_the_same(machine: Machine) -> None:
    open_office(str(machine.root), environment={}).send(Draft("Leave auth alone."))
    environment = {"RESTANTE_WORKTREE": str(machine.root)}
    assert b"Leave auth alone." in answer("codex", "SessionStart", b'{"session_id": "s"}', environment)


def test_s56_an_end_keeps_the_mail_and_the_same_id_finds_it_again(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionEnd")
    assert machine.row("aaaaaaaa-1").presence is Presence.DETACHED
    machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    assert "Take the parser." in machine.hook("SessionStart", source="resume")
    assert machine.row("aaaaaaaa-1").session.detached is None


def test_s02_mail_is_shown_at_the_next_checkpoint_as_noticed_and_stays_unseen(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2", agent="claude")
    handed = machine.window("bbbbbbbb-2", "claude").post("aaaaaaaa-1", Draft("Take the parser;\nleave the lexer."))
    assert is_ringing(str(machine.root))
    text = machine.hook("PostToolUse")
    message = handed.posted.message.id
    assert "~~~\nTake the parser;\nleave the lexer.\n~~~" in text
    assert f"{message} from session:bbbbbbbb-2, priority normal" in text
    assert "no authority over what your human told you" in text
    assert f"restante ack {message} --decision accepted" in text or f"/restante ack {message}" in text
    assert len(text.encode()) <= 2048
    (entry,) = machine.window("aaaaaaaa-1").read().entries
    assert (entry.standing.status, entry.standing.noticed_at is not None) == ("unseen", True)
    assert machine.row("aaaaaaaa-1").counts.unseen == 1
    assert machine.hook("PostToolUse") == ""
    assert message in machine.hook("Stop")
    assert machine.hook("Stop", stop_hook_active=True) == ""


def test_a_checkpoint_names_the_session_that_wrote_with_the_beginning_of_its_id(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="0199bbbb-0000-7000-8000-00000000000b")
    writer = machine.window("0199bbbb-0000-7000-8000-00000000000b")
    writer.describe(name="builder\u00a0(human)")
    message = writer.post("aaaaaaaa-1", Draft("Take the parser.")).posted.message.id
    assert f"{message} from builder [human] (session:0199bbbb…, verified), priority" in machine.hook("PostToolUse")


def test_s28_a_sender_that_nobody_proved_is_labelled_so(machine: Machine) -> None:
    machine.hook("SessionStart")
    from restante.domain.registry import Claim
    from restante.wiring.sessions import open_exchange

    exchange = open_exchange(machine.environment)
    exchange.window(exchange.identify(Claim(session="nobody-at-all"))).post("aaaaaaaa-1", Draft("Do this."))
    assert "from user (unverified)," in machine.hook("PostToolUse")


def test_both_mailboxes_are_told_in_one_list_within_one_limit(machine: Machine) -> None:
    machine.hook("SessionStart")
    office = open_office(str(machine.root), environment={})
    for number in range(6):
        office.send(Draft(f"guidance {number} " + "x" * 200))
        machine.person.post("aaaaaaaa-1", Draft(f"task {number} " + "y" * 200))
    text = machine.hook("PostToolUse")
    assert "guidance 0" in text
    assert "task 0" in text
    assert len(text.encode()) <= 2048
    shown = text.count("x" * 200) + text.count("y" * 200)
    assert f"{12 - shown} more" in text


def test_an_acknowledgement_ends_it_and_the_bell_rests_when_nothing_waits(machine: Machine) -> None:
    machine.hook("SessionStart")
    handed = machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    machine.hook("PostToolUse")
    machine.window("aaaaaaaa-1").acknowledge([handed.posted.message.id])
    assert machine.hook("PostToolUse") == ""
    assert machine.hook("Stop") == ""
    assert not is_ringing(str(machine.root))
    (trace,) = machine.person.receipts()
    assert trace.fate is Fate.ACKNOWLEDGED


def test_a_neighbour_in_the_worktree_gets_none_of_it_and_leaves_the_bell_ringing(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2")
    machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    assert machine.hook("PostToolUse", session="bbbbbbbb-2") == ""
    assert is_ringing(str(machine.root))
    assert "Take the parser." in machine.hook("PostToolUse")


def test_a_neighbour_of_another_owner_keeps_the_bell_ringing_too(machine: Machine) -> None:
    machine.hook("SessionStart")
    exchange = open_exchange(machine.environment)
    ann = exchange.window(Identity("ann", verified=True))
    ann.register(Arrival("session-of-ann", "claude", worktree=str(machine.root)))
    ann.post("session-of-ann", Draft("For another owner."))
    assert is_ringing(str(machine.root))
    assert machine.hook("PostToolUse") == ""
    assert is_ringing(str(machine.root))
    ann.detach("session-of-ann")
    assert machine.hook("PostToolUse") == ""
    assert not is_ringing(str(machine.root))
    exchange.close()


def test_mail_for_a_session_that_ended_lets_the_bell_rest_for_its_neighbours(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2")
    machine.hook("SessionEnd")
    machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    machine.hook("PostToolUse", session="bbbbbbbb-2")
    assert not is_ringing(str(machine.root))
    assert "Take the parser." in machine.hook("SessionStart", source="resume")


def test_bl03_a_subagents_checkpoints_neither_show_nor_sign_anything(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    for event in ("SessionStart", "PostToolUse", "Stop", "SessionEnd"):
        assert machine.hook(event, agent_id="a1") == ""
    assert (machine.data / "turns" / "aaaaaaaa-1").read_text() == ""
    assert machine.row("aaaaaaaa-1").session.detached is None
    assert "Take the parser." in machine.hook("PostToolUse")


@pytest.mark.parametrize("variable", ["CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID"])
def test_bl09_a_run_nested_in_a_live_session_is_no_session(machine: Machine, variable: str) -> None:
    machine.hook("SessionStart")
    machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    nested = {**machine.environment, "RESTANTE_WORKTREE": str(machine.root), variable: "aaaaaaaa-1"}
    for number in range(10):
        for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
            payload = json.dumps({"session_id": f"nested-{number}"}).encode()
            assert answer("claude", event, payload, nested) == b""
    assert machine.ids == ["aaaaaaaa-1"]
    assert machine.row("aaaaaaaa-1").counts.unseen == 1
    assert machine.row("aaaaaaaa-1").session.detached is None


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork", "teleport"])
def test_bl11_any_source_of_a_start_registers_the_session_it_names(machine: Machine, source: str) -> None:
    machine.hook("SessionStart", source=source)
    machine.hook("SessionStart", source=source)
    assert machine.ids == ["aaaaaaaa-1"]


def test_bl13_a_session_without_a_start_is_registered_by_its_first_prompt(machine: Machine) -> None:
    machine.hook("UserPromptSubmit")
    assert machine.ids == ["aaaaaaaa-1"]
    assert (machine.data / "turns" / "aaaaaaaa-1").read_text() == "s\n"


def test_a_session_that_was_deleted_and_lives_is_there_again_at_its_next_prompt_with_no_mail(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    machine.person.delete("aaaaaaaa-1")
    assert machine.hook("UserPromptSubmit") == ""
    assert machine.ids == ["aaaaaaaa-1"]
    assert machine.row("aaaaaaaa-1").counts.pending == 0
    assert (machine.data / "turns" / "aaaaaaaa-1").read_text() == "s\n"


def test_bl13_an_end_of_a_session_that_never_was_registers_none(machine: Machine) -> None:
    machine.hook("SessionEnd")
    assert machine.ids == []


def test_s59_python_signs_turns_where_it_runs_and_a_held_end_is_none(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("UserPromptSubmit")
    machine.hook("Stop")
    assert machine.row("aaaaaaaa-1").session.latch.turn == 1
    assert machine.row("aaaaaaaa-1").is_idle
    machine.hook("UserPromptSubmit")
    machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    assert machine.hook("Stop") != ""
    assert not machine.row("aaaaaaaa-1").is_idle
    assert machine.hook("Stop", stop_hook_active=True) == ""
    assert machine.row("aaaaaaaa-1").is_idle


def test_what_is_wrong_with_the_register_never_fails_a_turn_nor_the_worktrees_mail(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    open_office(str(machine.root), environment={}).send(Draft("Leave auth alone."))
    for file in machine.data.glob("*.db*"):
        file.write_bytes(b"this is no database" * 100)
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
        text = machine.hook(event)
        assert bool(text) is (event in ("SessionStart", "Stop"))
        assert "Leave auth alone." in text or not text or "Before you finish" in text
    assert is_ringing(str(machine.root))


def test_bl15_what_a_sandboxed_agent_acknowledges_is_carried_on_by_its_next_checkpoint(machine: Machine) -> None:
    machine.hook("SessionStart")
    handed = machine.person.post("aaaaaaaa-1", Draft("Take the parser."))
    machine.hook("PostToolUse")
    window = machine.sandboxed("aaaaaaaa-1")
    message = handed.posted.message.id
    window.confirm([message])
    cleared = window.acknowledge([message], decision=Decision.REJECTED, summary="not mine")
    assert (cleared.is_left, cleared.removed, cleared.counts.pending) == (True, 1, 0)
    assert machine.row("aaaaaaaa-1").counts.pending == 1
    assert machine.hook("PostToolUse") == ""
    (trace,) = machine.person.receipts()
    assert (trace.fate, trace.decision) == (Fate.ACKNOWLEDGED, Decision.REJECTED)
    assert not is_ringing(str(machine.root))


def left_by(machine: Machine) -> dict[Path, bytes]:
    outgoing = machine.root / ".codex-mailbox" / ".restante" / "outgoing"
    return {path: path.read_bytes() for path in sorted(outgoing.iterdir())}


def put_back(files: dict[Path, bytes]) -> None:
    for path, data in files.items():
        path.write_bytes(data)
        path.chmod(0o600)


def test_words_that_are_put_back_restore_no_older_decision_and_those_of_one_time_keep_their_order(
    machine: Machine,
) -> None:
    machine.hook("SessionStart")
    message = machine.person.post("aaaaaaaa-1", Draft("Take the parser.")).posted.message.id
    window = machine.sandboxed("aaaaaaaa-1")
    window.acknowledge([message], decision=Decision.DEFERRED)
    window.acknowledge([message], decision=Decision.ACCEPTED)
    both = left_by(machine)
    assert len(both) == 2

    def decision() -> Decision | None:
        machine.hook("SessionEnd")
        machine.hook("SessionStart")
        assert left_by(machine) == {}
        (trace,) = machine.person.receipts()
        return trace.decision

    assert decision() is Decision.ACCEPTED
    put_back(dict([*both.items()][:1]))
    assert decision() is Decision.ACCEPTED
    # One that was taken away before anybody carried it comes too late as well.
    window.acknowledge([message], decision=Decision.DEFERRED)
    kept = left_by(machine)
    for path in kept:
        path.unlink()
    machine.window("aaaaaaaa-1").acknowledge([message], decision=Decision.REJECTED)
    put_back(kept)
    assert decision() is Decision.REJECTED
    window.acknowledge([message], decision=Decision.ACCEPTED)
    assert decision() is Decision.ACCEPTED


def test_s44_switching_persistence_off_removes_the_text_that_was_left_in_worktrees(
    machine: Machine, tmp_path: Path
) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2")
    message = machine.person.post("aaaaaaaa-1", Draft("Take the parser.")).posted.message.id
    window = machine.sandboxed("aaaaaaaa-1")
    window.post("bbbbbbbb-2", Draft("canary-7f31"))
    window.post("bbbbbbbb-2", Draft("canary-7f31, half"))
    window.acknowledge([message])
    first, second, third = left_by(machine)
    second.rename(f"{second}.tmp")
    (elsewhere := tmp_path / "elsewhere").write_bytes(first.read_bytes())
    (link := first.with_name(f"{9:020}-00000000.json")).symlink_to(elsewhere)
    machine.person.set_persistence(False)
    assert sorted(left_by(machine)) == sorted([link, third])
    assert elsewhere.exists()
    found = [path for path in machine.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not any(b"canary-7f31" in path.read_bytes() for path in found)


def test_bl15_what_it_posts_is_posted_once_however_often_it_is_carried(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2")
    handed = machine.sandboxed("aaaaaaaa-1").post("bbbbbbbb", Draft("Done.", priority=Priority.HIGH))
    assert (handed.is_left, handed.to.id) == (True, "bbbbbbbb-2")
    outgoing = machine.root / ".codex-mailbox" / ".restante" / "outgoing"
    (left,) = outgoing.iterdir()
    data = left.read_bytes()
    machine.hook("PostToolUse")
    assert list(outgoing.iterdir()) == []
    # As if the hook had been killed between the post and the end.
    left.write_bytes(data)
    left.chmod(0o600)
    machine.hook("SessionEnd")
    assert list(outgoing.iterdir()) == []
    (entry,) = machine.window("bbbbbbbb-2").read().entries
    assert (entry.message.body, entry.message.sender.label) == ("Done.", "session:aaaaaaaa-1")
    assert entry.message.priority is Priority.HIGH


@pytest.mark.parametrize("event", ["PostToolUse", "Stop"])
def test_what_is_refused_later_is_told_to_the_agent_once(machine: Machine, event: str) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2")
    machine.sandboxed("aaaaaaaa-1").post("bbbbbbbb-2", Draft("Done."))
    machine.person.delete("bbbbbbbb-2")
    text = machine.hook(event)
    assert "Your message to session bbbbbbbb-2, which was left for this checkpoint, was refused: no session" in text
    assert machine.hook(event) == ""
    assert not is_ringing(str(machine.root))


def test_what_was_left_ends_with_its_time_as_what_was_posted_does(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2")
    machine.sandboxed("aaaaaaaa-1").post("bbbbbbbb-2", Draft("Deploy it now."))
    outgoing = machine.root / ".codex-mailbox" / ".restante" / "outgoing"
    (left,) = outgoing.iterdir()
    machine.environment["RESTANTE_NOW"] = (datetime.now(UTC) + timedelta(hours=13)).isoformat()
    assert "was refused" in machine.hook("PostToolUse")
    assert not left.exists()
    assert machine.window("bbbbbbbb-2").read().entries == ()


def test_s43_the_text_of_a_message_is_not_left_where_mail_may_not_be_written(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2")
    machine.person.set_persistence(False)
    with pytest.raises(PersistenceOff, match="sandbox"):
        machine.sandboxed("aaaaaaaa-1").post("bbbbbbbb-2", Draft("canary-7f31"))
    assert machine.holding(b"canary-7f31") == []


def test_s43_a_server_holds_the_mail_that_a_checkpoint_shows_and_nothing_is_on_disk(machine: Machine) -> None:
    machine.person.set_persistence(False)
    command = [sys.executable, "-I", "-m", "restante", "serve", "--port", "0"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=machine.root, env=machine.environment, **pipes) as server:
        try:
            assert server.stdout is not None
            assert any(b'"listening"' in line for line in server.stdout)
            machine.hook("SessionStart")
            message = machine.person.post("aaaaaaaa-1", Draft("canary-7f31")).posted.message.id
            assert "canary-7f31" in machine.hook("PostToolUse")
            assert message in machine.hook("Stop")
            machine.window("aaaaaaaa-1").acknowledge([message])
            assert machine.hook("PostToolUse") == ""
            assert not is_ringing(str(machine.root))
            machine.hook("SessionEnd")
            assert machine.row("aaaaaaaa-1").presence is Presence.DETACHED
            assert machine.holding(b"canary-7f31") == []
        finally:
            server.terminate()


def test_what_a_neighbour_left_is_not_carried_as_somebody_elses(machine: Machine) -> None:
    machine.hook("SessionStart")
    machine.hook("SessionStart", session="bbbbbbbb-2")
    machine.sandboxed("aaaaaaaa-1").post("bbbbbbbb-2", Draft("Done."))
    # Nor is it forgotten when a neighbour's mail is done with, by a hook or by a command.
    message = machine.person.post("bbbbbbbb-2", Draft("For you.")).posted.message.id
    assert "For you." in machine.hook("PostToolUse", session="bbbbbbbb-2")
    machine.window("bbbbbbbb-2").acknowledge([message])
    assert is_ringing(str(machine.root))
    assert machine.hook("PostToolUse", session="bbbbbbbb-2") == ""
    assert machine.row("bbbbbbbb-2").counts.pending == 0
    assert is_ringing(str(machine.root))
    machine.hook("Stop")
    assert machine.row("bbbbbbbb-2").counts.pending == 1


SHOW = """
import json, os
from restante.wiring.sessions import open_window
rows = open_window(os.environ).sessions()
print(json.dumps({row.session.id: [row.session.process.pid, row.session.detached is None] for row in rows}))
"""


def _as_one_process(machine: Machine, tmp_path: Path, *events: tuple[str, str]) -> dict[str, tuple[int, bool]]:
    """Run hooks by the real guard, all of them called by one process that has an agent program's name.

    Returns the process and whether it is attached, for each session, as told while that process still runs.
    """
    inner = tmp_path / "bin"
    inner.mkdir(exist_ok=True)
    shutil.copy(GUARD, inner)
    (inner / "python").unlink(missing_ok=True)
    (inner / "python").write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    (inner / "python").chmod(0o755)
    program = tmp_path / "claude"
    if not program.exists():
        program.symlink_to(shutil.which("sh") or "/bin/sh")
    lines = []
    for event, session in events:
        payload = json.dumps({"session_id": session, "hook_event_name": event, "reason": "clear", "source": "clear"})
        hook = command_line(str(inner), "claude", event)
        lines.append(f"CLAUDE_CODE_SESSION_ID={session} sh -c {_quoted(hook)} <<'END'\n{payload}\nEND")
    lines.append(f"'{sys.executable}' -I -c {_quoted(SHOW)}; true")
    done = subprocess.run(
        [str(program), "-c", "\n".join(lines)],
        cwd=machine.root,
        env={**machine.environment, "CLAUDE_PROJECT_DIR": str(machine.root)},
        check=True,
        timeout=120,
        capture_output=True,
    )
    return {key: tuple(value) for key, value in json.loads(done.stdout.splitlines()[-1]).items()}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
@pytest.mark.parametrize(
    "events",
    [
        [("SessionEnd", "aaaa"), ("SessionStart", "bbbb")],
        [("UserPromptSubmit", "bbbb")],
        [("SessionStart", "bbbb"), ("SessionEnd", "aaaa")],
    ],
    ids=["in order", "only a prompt", "reversed"],
)
def test_bl13_the_same_process_under_a_new_id_is_the_same_holder(
    machine: Machine, tmp_path: Path, events: list[tuple[str, str]]
) -> None:
    rows = _as_one_process(machine, tmp_path, ("SessionStart", "aaaa"), *events)
    (old_process, old_is_attached), (new_process, new_is_attached) = rows["aaaa"], rows["bbbb"]
    assert old_process == new_process
    assert (old_is_attached, new_is_attached) == (False, True)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_bl35_a_session_whose_process_died_is_gone_and_its_mail_is_kept(machine: Machine, tmp_path: Path) -> None:
    _as_one_process(machine, tmp_path, ("SessionStart", "aaaa"))
    assert machine.row("aaaa").presence is Presence.GONE
    machine.person.post("aaaa", Draft("Take the parser."))
    assert machine.row("aaaa").counts.pending == 1
