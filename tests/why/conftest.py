"""A machine on which causes are produced for real: a worktree, installed hooks, sessions with processes, a clock."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.faces.cli.conftest import restante, worktree  # noqa: F401

from restante.domain.registry import Arrival, Identity, Process
from restante.faces.cli.schemas import SCHEMAS
from restante.system.processes import process_of
from restante.system.turns import TurnFiles
from restante.wiring.sessions import open_exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.faces.cli.conftest import Answer

WRITER = "0199aaaa-0000-7000-8000-00000000000a"
READER = "0199bbbb-0000-7000-8000-00000000000b"
_OF_PROGRAMS = ("CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "RESTANTE_NOW", "CODEX_HOME")


class Scene:
    """Runs commands as a person or a session, plays agent programs, and asks why."""

    def __init__(self, run: Callable[..., Answer], root: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._run = run
        self.root = root
        self.data = data
        self._monkeypatch = monkeypatch
        self._children: list[subprocess.Popen[bytes]] = []

    # -- whoever runs a command --------------------------------------------------------------------------------

    def by(self, session: str, *words: str) -> Answer:
        """Run a command as a session of Codex; as the person with an empty one."""
        if session:
            self._monkeypatch.setenv("CODEX_THREAD_ID", session)
        else:
            self._monkeypatch.delenv("CODEX_THREAD_ID", raising=False)
        return self._run(*words)

    def do(self, *words: str, by: str = "") -> Answer:
        """Run a command that has to succeed."""
        answer = self.by(by, *words)
        assert answer.code == 0, answer.err
        return answer

    def send(self, *words: str) -> str:
        """Leave a message in the worktree and return its id."""
        return str(self.do("send", *(words or ("Look.",)), "--json").json["message"]["id"])

    def post(self, to: str, *words: str, by: str = WRITER) -> str:
        """Post to a session, or to a role, and return the message's id."""
        told = self.do("post", to, *(words or ("Look.",)), "--json", by=by).json
        return str(told["message"]["id"] if "message" in told else told["copies"][0]["message"]["id"])

    def later(self, **by: float) -> None:
        """Let time pass for all commands from now on."""
        self._monkeypatch.setenv("RESTANTE_NOW", (datetime.now(UTC) + timedelta(**by)).isoformat())

    # -- agent programs ----------------------------------------------------------------------------------------

    def install(self, agent: str = "codex", *, sessions: str = "on", trust: bool = True) -> None:
        """Install the hooks, and let Codex trust them."""
        self.do("install", "--agent", agent, "--sessions", sessions, "--persist", "on")
        if trust and agent == "codex":
            self.do("install", "--agent", agent, "--trust", "--yes")

    def hook(self, event: str, session: str = READER, agent: str = "codex") -> str:
        """Run the installed command of an event as the agent program does; return what it says."""
        file = self.root / (".codex/hooks.json" if agent == "codex" else ".claude/settings.local.json")
        groups = json.loads(file.read_text())["hooks"][event]
        line = next(one["command"] for group in groups for one in group["hooks"] if "restante" in one["command"])
        words = {"session_id": session, "cwd": str(self.root), "hook_event_name": event, "source": "startup"}
        environment = {name: value for name, value in os.environ.items() if name not in _OF_PROGRAMS}
        done = subprocess.run(
            ["sh", "-c", line],
            input=json.dumps(words).encode(),
            cwd=self.root,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    def process(self) -> subprocess.Popen[bytes]:
        """Start a process that stands for an agent program; it ends with the test."""
        self._children.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return self._children[-1]

    def register(self, session: str, name: str, vendor: str = "codex", process: Process | None = None) -> int:
        """Register a session with a process of its own, and return its number."""
        pid = 0
        if process is None:
            pid = self.process().pid
            process = process_of(pid)
        exchange = open_exchange({"RESTANTE_DATA": str(self.data), "HOME": os.environ["HOME"]})
        try:
            exchange.window(Identity(verified=True)).register(
                Arrival(session, vendor, name, str(self.root), "", process)
            )
        finally:
            exchange.close()
        return pid

    def kill(self, pid: int) -> None:
        """End a process as a crash does."""
        child = next(one for one in self._children if one.pid == pid)
        child.kill()
        child.wait()

    def end_turn(self, session: str = READER) -> None:
        """Let the session's hooks tell that a turn ended, long ago."""
        self.sign(session, has_ended=False, seconds_ago=1200)
        self.sign(session, has_ended=True, seconds_ago=1200)

    def sign(self, session: str, *, has_ended: bool, seconds_ago: float) -> None:
        """Leave the sign that the guard leaves, so long ago."""
        TurnFiles(str(self.data)).sign(session, has_ended=has_ended)
        at = datetime.now(UTC).timestamp() - seconds_ago
        os.utime(self.data / "turns" / session, (at, at))

    def stop(self) -> None:
        """End all processes."""
        for child in self._children:
            child.kill()
            child.wait()
            if child.stdin:
                child.stdin.close()

    # -- the question ------------------------------------------------------------------------------------------

    def why(self, message: str, *, by: str = "") -> dict[str, Any]:
        """Ask why, and hold the answer to what every answer must be."""
        answer = self.by(by, "why", message, "--json")
        assert answer.out, answer.err
        jsonschema.validate(answer.json, SCHEMAS["why"])
        told: dict[str, Any] = answer.json["why"]
        assert "Look." not in answer.out
        if told["command"]:
            # What helps next is a command that there is.
            assert self.by(by, *shlex.split(told["command"])[1:], "--help").code == 0, told["command"]
        text = self.by(by, "why", message).out
        # Another moment, and so perhaps another second in it: the rest is the same.
        assert text.startswith(f"{told['message_id']}: ")
        assert (f"\nnext: {told['command']}\n" in text) == bool(told["command"])
        return told

    def cause(self, message: str, *, by: str = "") -> str:
        """Return the cause."""
        return str(self.why(message, by=by)["cause"])


@pytest.fixture
def scene(
    restante: Callable[..., Answer],  # noqa: F811
    worktree: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Scene]:
    """A worktree in which nothing is installed, and a data directory that is not made yet."""
    for name in _OF_PROGRAMS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RESTANTE_DATA", str(tmp_path / "data"))
    one = Scene(restante, worktree, tmp_path / "data", monkeypatch)
    yield one
    one.stop()


@pytest.fixture
def pair(scene: Scene) -> Scene:
    """The same with trusted hooks of Codex, and two sessions that live: writer and reader."""
    scene.install()
    scene.register(WRITER, "writer")
    scene.register(READER, "reader")
    return scene
