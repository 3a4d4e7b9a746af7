"""Agent programs that stay open and idle: Codex at a terminal of ours, Claude Code with its stream of JSON.

Only a test's first words are typed, as a person types them; whatever turn comes after that, somebody else began.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tests.e2e.agents import BIN
from tests.e2e.model_server import ModelServer, Responses, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.agents import Claude, Codex
    from tests.e2e.model_server import Json, Request
    from tests.e2e.worktree import Worktree

PATIENCE = 60.0

# What a terminal program asks its terminal, and what it is told.
_ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b[?u": b"\x1b[?0u",
}
_STYLE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


def until(holds: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return bool(holds())


class TerminalResponses(Responses):
    """The Responses API, as Codex at a terminal uses it: questions without its tools are for a title."""

    def is_turn(self, path: str, body: Json) -> bool:
        """See ``Dialect``."""
        return self.is_question(path) and bool(body.get("tools"))


def model_at_terminal(*script: Step | Callable[[Request], Step]) -> ModelServer:
    """Return a model for Codex at a terminal."""
    return ModelServer(TerminalResponses(), script)


class Terminal:
    """Codex at a terminal."""

    def __init__(self, codex: Codex, server: ModelServer, cwd: Path, prompt: str) -> None:
        command, _ = codex.invocation(prompt, server)
        settings = [word for word in command[3:-1] if word != "--dangerously-bypass-hook-trust"]
        self.parts: list[bytes] = []
        self.pid, self._terminal = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execve(
                codex.program,
                [codex.program, "--no-daemon", *settings, prompt],
                codex.environment() | {"TERM": "xterm-256color"},
            )
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def screen(self) -> str:
        """All that was written to the terminal, without its styles and blanks."""
        text = b"".join(self.parts).decode("utf-8", "replace")
        return "".join(_STYLE.sub("", text).split())

    def close(self) -> None:
        """End the program."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
            if until(self._has_ended, 5.0):
                break
        os.close(self._terminal)

    def _has_ended(self) -> bool:
        try:
            return os.waitpid(self.pid, os.WNOHANG)[0] == self.pid
        except ChildProcessError:
            return True

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._terminal, 65_536)
            except OSError:
                return
            if not part:
                return
            self.parts.append(part)
            for question, answer in _ANSWERS.items():
                if question in part:
                    with suppress(OSError):
                        os.write(self._terminal, answer)


@contextmanager
def codex_at_terminal(codex: Codex, server: ModelServer, cwd: Path, prompt: str) -> Iterator[Terminal]:
    """Run Codex at a terminal, on a first prompt, for as long as the block lasts."""
    made = Terminal(codex, server, cwd, prompt)
    try:
        yield made
    finally:
        made.close()


class Stream:
    """Claude Code with its stream of JSON."""

    def __init__(self, claude: Claude, server: ModelServer, cwd: Path, *, asks: bool = False) -> None:
        formats = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        permissions = () if asks else ("--dangerously-skip-permissions",)
        self.events: list[dict[str, Any]] = []
        self.process = subprocess.Popen(
            [claude.program, "-p", *formats, "--include-hook-events", *permissions],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=claude.environment() | {"ANTHROPIC_BASE_URL": server.url},
            cwd=cwd,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def session(self) -> str:
        """Its id, once it was told."""
        return next((str(one["session_id"]) for one in list(self.events) if one.get("subtype") == "init"), "")

    @property
    def turns(self) -> int:
        """How many turns have ended."""
        return sum(one.get("type") == "result" for one in list(self.events))

    def say(self, text: str) -> None:
        """Type a prompt, and wait until its turn has ended."""
        turns = self.turns
        assert self.process.stdin is not None
        message = {"type": "user", "message": {"role": "user", "content": text}}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        assert until(lambda: self.turns > turns), self.events[-3:]

    def end(self) -> None:
        """Let the session end as when its person leaves."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(PATIENCE)

    def close(self) -> None:
        """End the program, however it stands."""
        self.process.kill()
        self.process.wait()
        # Its hooks may hold its output open for a moment longer.
        self._reader.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValueError):
                self.events.append(json.loads(line))


@contextmanager
def claude_stream(claude: Claude, server: ModelServer, cwd: Path, *, asks: bool = False) -> Iterator[Stream]:
    """Run Claude Code for as long as the block lasts; where it ``asks``, with its permission questions on."""
    made = Stream(claude, server, cwd, asks=asks)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def monitor_run(worktree: Worktree, **more: str) -> Iterator[subprocess.Popen[str]]:
    """Run ``restante monitor run`` as the person does."""
    process = subprocess.Popen(
        [os.path.join(BIN, "restante"), "monitor", "run"],
        env={**worktree.environment, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
