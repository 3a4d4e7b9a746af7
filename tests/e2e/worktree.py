"""A person's worktree in the end-to-end tests: git, the real command line, and the moments of a running tool."""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.e2e.agents import BIN

if TYPE_CHECKING:
    from pathlib import Path

COMMAND_SECONDS = 60
GATE_SECONDS = 120


def git(cwd: Path, *arguments: str) -> str:
    """Run git without the person's configuration and return what it printed."""
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
    identity = {f"GIT_{who}_{what}": "tests@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(
        ["git", *arguments], cwd=cwd, env=plain | identity, capture_output=True, text=True, check=True
    ).stdout


@dataclass
class Worktree:
    """A git worktree and the shell of the person who works in it.

    Attributes:
        root: Its top level.
        environment: The person's environment.
    """

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def init(self) -> None:
        """Make it a repository with one commit."""
        self.root.mkdir(parents=True)
        git(self.root, "init", "--quiet", "--initial-branch=main")
        (self.root / "README.md").write_text("# A project\n")
        git(self.root, "add", ".")
        git(self.root, "commit", "--quiet", "--message", "Begin")

    def restante(self, *arguments: str, cwd: Path | None = None, code: int = 0) -> str:
        """Run a command as the person and return its standard output; any other exit code fails the test."""
        done = subprocess.run(
            [os.path.join(BIN, "restante"), *arguments],
            cwd=cwd or self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
        )
        assert done.returncode == code, (
            f"restante {shlex.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}"
        )
        return done.stdout

    def send(self, text: str, *options: str, cwd: Path | None = None) -> str:
        """Leave a message and return its id."""
        return str(json.loads(self.restante("send", "--json", *options, text, cwd=cwd))["message"]["id"])

    def status(self, message_id: str) -> dict[str, Any]:
        """Return what became of a message."""
        answer: dict[str, Any] = json.loads(self.restante("status", "--json", message_id))["message"]
        return answer

    def mailboxes(self) -> list[str]:
        """Return where below the worktree there is a mailbox."""
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob(".codex-mailbox"))


class Gate:
    """A moment inside a running tool: the tool says that it runs, and waits until it may end."""

    def __init__(self, directory: Path) -> None:
        pipes = directory / "reached", directory / "released"
        for path in pipes:
            os.mkfifo(path)
        reached, released = (shlex.quote(str(path)) for path in pipes)
        self.command = f"echo running > {reached}; read answer < {released}; echo ended"
        # For reading and writing, so that neither side waits for the other to open its end.
        self._reached, self._released = (os.open(path, os.O_RDWR | os.O_NONBLOCK) for path in pipes)

    def wait(self) -> None:
        """Return when the tool runs."""
        ready, _, _ = select.select([self._reached], [], [], GATE_SECONDS)
        assert ready, f"the tool did not run within {GATE_SECONDS} s"

    def release(self) -> None:
        """Let the tool end."""
        os.write(self._released, b"go on\n")

    def close(self) -> None:
        """Close the pipes."""
        os.close(self._reached)
        os.close(self._released)
