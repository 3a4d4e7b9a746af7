"""Who plays the agent in the demo: the real Codex program, or its part through the same hook contract."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from demo.telling import Failed, show, tell
from tests.e2e.model_server import run, say
from tests.e2e.programs import PROGRAMS, present
from tests.e2e.scenes import acknowledge, model_of, running
from tests.e2e.worktree import Gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.agents import Codex

_HOOK_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Told:
    """What went between the agent and its model.

    Attributes:
        guidance: What a checkpoint added after the tool.
        knew_before: Whether anything of it was there before.
        answer: What the model ran to answer, and what that printed.
        ended_freely: Whether the turn then ended without being held up.
    """

    guidance: str
    knew_before: bool
    answer: str
    ended_freely: bool


class Player(Protocol):
    """Plays the agent."""

    @property
    def title(self) -> str:
        """Who plays."""

    def work(self, during_tool: Callable[[], None]) -> Told:
        """Do a piece of work in which a tool runs for a while; call ``during_tool`` meanwhile."""


def find_codex() -> tuple[str | None, str]:
    """Return the Codex program's path, or ``None``, and why."""
    tested = PROGRAMS["codex"].version
    fetched = present("codex")
    if fetched:
        return fetched, f"version {tested}, as in the end-to-end tests"
    installed = shutil.which("codex")
    if installed is None:
        return None, "the Codex program was not found"
    said = subprocess.run([installed, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    found = re.search(r"\d+\.\d+\.\d+", said)
    if found is None or _numbers(found[0]) < _numbers(tested):
        return None, f"the Codex program found is {said.strip() or 'silent'}, older than {tested}"
    return installed, said.strip()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


class RealCodex:
    """The Codex program, with a scripted model on loopback."""

    title = "the real Codex program with a scripted model on loopback"

    def __init__(self, codex: Codex, root: Path) -> None:
        self._codex = codex
        self._root = root

    def work(self, during_tool: Callable[[], None]) -> Told:
        """See ``Player``."""
        with tempfile.TemporaryDirectory() as directory:
            gate = Gate(Path(directory))
            with model_of(self._codex, run(gate.command), acknowledge, say("Finished.")) as server:
                with running(self._codex, server, self._root) as turn:
                    gate.wait()
                    tell("  (Codex's tool runs)")
                    try:
                        during_tool()
                    finally:
                        gate.release()
                finished = turn.result()
            gate.close()
        if finished.code or len(server.requests) < 3:
            raise Failed(f"Codex ended with {finished.code} after {len(server.requests)} requests: {finished.err}")
        before, after, last = server.requests[:3]
        return Told(
            guidance="\n".join(new for new in _messages(after.body) if new not in _messages(before.body)),
            knew_before="msg_" in "".join(_messages(before.body)),
            answer="\n".join(_calls(last.body)[-1:] + _outputs(last.body)[-1:]),
            ended_freely=len(server.requests) == 3,
        )


def _messages(body: dict[str, Any]) -> list[str]:
    items = (item for item in body["input"] if item.get("type") == "message")
    return [part["text"] for item in items for part in item["content"]]


def _calls(body: dict[str, Any]) -> list[str]:
    calls = (item for item in body["input"] if item.get("type") == "function_call")
    return ["$ " + json.loads(call["arguments"])["cmd"] for call in calls]


def _outputs(body: dict[str, Any]) -> list[str]:
    outputs = (item["output"] for item in body["input"] if item.get("type") == "function_call_output")
    return [str(output).partition("Output:\n")[2] for output in outputs]


class PlayedAgent:
    """The agent's part: the installed hook lines, run as Codex runs them, with the JSON that Codex gives them."""

    title = "its part, played through the installed hook lines"

    def __init__(self, codex: Codex, root: Path) -> None:
        self._root = root
        self._session = str(uuid.uuid4())
        self._environment = codex.environment()

    def work(self, during_tool: Callable[[], None]) -> Told:
        """See ``Player``."""
        start = self._hook("SessionStart", source="startup")
        tell("  (the agent's tool runs)")
        during_tool()
        tool = {"tool_name": "Bash", "tool_input": {"command": "./run-tests"}, "tool_response": "1 failed"}
        after = self._hook("PostToolUse", tool_use_id="call_1", **tool)
        guidance = str(after.get("hookSpecificOutput", {}).get("additionalContext", ""))
        found = re.search(r"\bmsg_\w+", guidance)
        if found is None:
            raise Failed("the checkpoint after the tool showed no message")
        command = f"restante ack {found[0]} --decision accepted --action applied -m 'Done as asked'"
        answer = self._tool(command)
        stop = self._hook("Stop", stop_hook_active=False, last_assistant_message="Finished.")
        self._hook("SessionEnd", reason="other")
        return Told(guidance, knew_before=bool(start), answer=f"$ {command}\n{answer}", ended_freely=not stop)

    def _hook(self, event: str, **more: object) -> dict[str, Any]:
        """Run the installed line of an event and return what it told Codex; empty for nothing."""
        groups = json.loads((self._root / ".codex" / "hooks.json").read_text())["hooks"].get(event, [])
        common = {"session_id": self._session, "transcript_path": None, "cwd": str(self._root), "model": "played"}
        payload = {**common, "hook_event_name": event, "permission_mode": "default", "turn_id": "1", **more}
        lines = [hook["command"] for group in groups for hook in group["hooks"]]
        if len(lines) != 1:
            raise Failed(f"{len(lines)} hooks are installed for {event}, not one")
        done = subprocess.run(
            ["sh", "-c", lines[0]],
            cwd=self._root,
            env=self._environment,
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            timeout=_HOOK_SECONDS,
            check=False,
        )
        if done.returncode or done.stderr:
            raise Failed(f"the {event} hook ended with {done.returncode}: {done.stderr}")
        if not done.stdout:
            return {}
        show(f"{event} hook: {done.stdout}")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def _tool(self, command: str) -> str:
        """Run a command as the agent's tool runs it."""
        environment = {**self._environment, "CODEX_THREAD_ID": self._session}
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self._root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_HOOK_SECONDS,
            check=False,
        )
        if done.returncode:
            raise Failed(f"{command} ended with {done.returncode}: {done.stdout}")
        return done.stdout
