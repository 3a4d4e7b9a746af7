"""A shell in the demo's repository: the person's, or that of a tool within an agent's session."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

from demo.telling import Failed
from tests.e2e.agents import BIN
from tests.person import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_COMMAND_SECONDS = 60


class Desk:
    """A shell in a repository.

    Args:
        root: The repository.
        environment: What the shell has.
        prompt: What stands before a command where it is shown.
    """

    def __init__(self, root: Path, environment: Mapping[str, str], prompt: str = "") -> None:
        self.root = root
        self.environment = environment
        self._prompt = prompt

    def within(self, session: Mapping[str, str]) -> Desk:
        """Return the shell of a session's tool, which its program names to every command."""
        (name,) = session
        return Desk(self.root, {**self.environment, **session}, f"{name}=… ")

    def run(self, *arguments: str, text: str = "", code: int = 0) -> str:
        """Run a command of Restante and return what it printed, with the command before it.

        Args:
            arguments: The command's name and its arguments.
            text: What it reads on standard input.
            code: The exit code it must end with.

        Raises:
            Failed: It ended otherwise.
        """
        line = f"$ {self._prompt}restante {shlex.join(arguments)}" + (f" <<'END'\n{text}\nEND\n" if text else "\n")
        done = run(
            [os.path.join(BIN, "restante"), *arguments],
            cwd=self.root,
            env=self.environment,
            input=text,
            stderr=subprocess.STDOUT,
            timeout=_COMMAND_SECONDS,
        )
        if done.returncode != code:
            raise Failed(f"{line}ended with {done.returncode}: {done.stdout}")
        return line + done.stdout

    def newest_message(self) -> str:
        """Return the id of the newest message, as it stands in INBOX.md."""
        lines = (self.root / ".codex-mailbox" / "INBOX.md").read_text().splitlines()
        return [line.removeprefix("## ") for line in lines if line.startswith("## msg_")][-1]
