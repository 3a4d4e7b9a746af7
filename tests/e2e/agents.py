"""Runs the real agent programs: each in a home directory of its own, against a model server of ours.

Nothing here reads or writes what belongs to the person who runs the tests, and no address but loopback is asked.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.e2e.model_server import ModelServer

BIN = os.path.dirname(sys.executable)
RUN_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Finished:
    """A run of an agent program that has ended.

    Attributes:
        code: Its exit code.
        out: Its standard output.
        err: Its standard error.
        session: The id it gave its session; empty when it did not say.
    """

    code: int
    out: str
    err: str
    session: str


class Agent(Protocol):
    """An agent program and the home directory it lives in."""

    name: str
    home: Path
    hooks_file: str

    def environment(self) -> dict[str, str]:
        """Return what the person's shell has, in which both the program and ``restante`` are started."""

    def trust(self, worktree: Path) -> None:
        """Do what a person does who says that they trust the directory."""

    def invocation(self, prompt: str, server: ModelServer, *options: str) -> tuple[list[str], dict[str, str]]:
        """Return the command line of a run without a terminal, and the environment it needs beside the shell's."""


def start(agent: Agent, prompt: str, server: ModelServer, cwd: Path, *options: str) -> Finished:
    """Run an agent program on one prompt until it ends."""
    command, more = agent.invocation(prompt, server, *options)
    done = subprocess.run(
        command,
        cwd=cwd,
        env=agent.environment() | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
    )
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    sessions = (event[key] for event in events for key in ("thread_id", "session_id", "sessionID") if key in event)
    return Finished(done.returncode, done.stdout, done.stderr, next(sessions, ""))


def nested(agent: Agent, prompt: str, server: ModelServer, **more: str) -> str:
    """Return a shell command that runs an agent program from within another one's tool."""
    command, needed = agent.invocation(prompt, server)
    settings = [f"{name}={value}" for name, value in {**needed, **more}.items()]
    return shlex.join(["env", *settings, *command]) + " </dev/null"


def _environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join((BIN, "/usr/local/bin", "/usr/bin", "/bin"))
    # A login shell sets the search path anew.
    (home / ".profile").write_text(f"PATH='{path}'\nexport PATH\n")
    temporary = {"TMPDIR": os.environ["TMPDIR"]} if "TMPDIR" in os.environ else {}
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "SHELL": "/bin/sh", **temporary, **more}


@dataclass
class Codex:
    """Codex.

    Attributes:
        program: Path of its binary.
        home: Its home directory.
        sandbox: What its commands may touch.
        bypass_trust: Whether hooks run that no one has trusted yet.
    """

    program: str
    home: Path
    sandbox: str = "danger-full-access"
    bypass_trust: bool = True
    name: str = "codex"
    hooks_file: str = ".codex/hooks.json"

    @property
    def config(self) -> Path:
        """The person's own configuration."""
        return self.home / ".codex" / "config.toml"

    def environment(self) -> dict[str, str]:
        """See ``Agent``."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        return _environment(self.home, {"CODEX_HOME": str(self.config.parent)})

    def trust(self, worktree: Path) -> None:
        """See ``Agent``."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        with self.config.open("a") as file:
            file.write(f'[projects."{worktree}"]\ntrust_level = "trusted"\n')

    def invocation(self, prompt: str, server: ModelServer, *options: str) -> tuple[list[str], dict[str, str]]:
        """See ``Agent``."""
        settings = {
            "model": "scripted",
            "model_provider": "loopback",
            "approval_policy": "never",
            "sandbox_mode": self.sandbox,
            # Temporary directories are writable otherwise, and tests live in one.
            "sandbox_workspace_write.exclude_slash_tmp": True,
            "sandbox_workspace_write.exclude_tmpdir_env_var": True,
            "check_for_update_on_startup": False,
            "analytics.enabled": False,
            "model_providers.loopback.name": "loopback",
            "model_providers.loopback.base_url": f"{server.url}/v1",
            "model_providers.loopback.wire_api": "responses",
            "model_providers.loopback.request_max_retries": 0,
            "model_providers.loopback.stream_max_retries": 0,
            "model_providers.loopback.supports_websockets": False,
        }
        given = [word for key, value in settings.items() for word in ("-c", f"{key}={json.dumps(value)}")]
        bypass = ["--dangerously-bypass-hook-trust"] if self.bypass_trust else []
        return [self.program, "exec", "--json", *given, *bypass, *options, prompt], {}


@dataclass
class Claude:
    """Claude Code.

    Attributes:
        program: Path of its binary.
        home: Its home directory.
    """

    program: str
    home: Path
    name: str = "claude"
    hooks_file: str = ".claude/settings.local.json"

    def environment(self) -> dict[str, str]:
        """See ``Agent``."""
        config = self.home / ".claude"
        config.mkdir(parents=True, exist_ok=True)
        more = {
            "CLAUDE_CONFIG_DIR": str(config),
            "ANTHROPIC_API_KEY": "sk-of-a-test",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            # Without it the program refuses to run as root with its permission questions off.
            "IS_SANDBOX": "1",
        }
        return _environment(self.home, more)

    def trust(self, worktree: Path) -> None:
        """Claude Code asks only at a terminal."""

    def invocation(self, prompt: str, server: ModelServer, *options: str) -> tuple[list[str], dict[str, str]]:
        """See ``Agent``."""
        output = ("--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
        return [self.program, "-p", prompt, *output, *options], {"ANTHROPIC_BASE_URL": server.url}


@dataclass
class Opencode:
    """opencode.

    Attributes:
        program: Path of its binary.
        home: Its home directory.
    """

    program: str
    home: Path
    name: str = "opencode"
    hooks_file: str = ".opencode/plugin/restante.js"

    def environment(self) -> dict[str, str]:
        """See ``Agent``."""
        _installed(self.home / ".config" / "opencode")
        flags = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "FFF", "FILEWATCHER")
        return _environment(self.home, {f"OPENCODE_DISABLE_{flag}": "1" for flag in flags})

    def trust(self, worktree: Path) -> None:
        """It asks nobody; but in each directory with settings it installs a package first, which is here already."""
        _installed(worktree / ".opencode")

    def settings(self, server: ModelServer) -> dict[str, str]:
        """Return the environment by which it talks to a model server of ours."""
        options = {"baseURL": f"{server.url}/v1", "apiKey": "of-a-test"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": {}}}
        settings = {"provider": {"loopback": provider}, "model": "loopback/scripted", "share": "disabled"}
        return {"OPENCODE_CONFIG_CONTENT": json.dumps(settings)}

    def invocation(self, prompt: str, server: ModelServer, *options: str) -> tuple[list[str], dict[str, str]]:
        """See ``Agent``."""
        return [self.program, "run", "--format", "json", *options, prompt], self.settings(server)


@dataclass
class Gemini:
    """Gemini CLI.

    Attributes:
        program: Path of its script.
        home: Its home directory.
    """

    program: str
    home: Path
    name: str = "gemini"
    hooks_file: str = ".gemini/settings.json"

    def environment(self) -> dict[str, str]:
        """See ``Agent``."""
        settings = self.home / ".gemini" / "settings.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
        return _environment(self.home, {"GEMINI_API_KEY": "of-a-test", "GEMINI_CLI_TRUST_WORKSPACE": "true"})

    def trust(self, worktree: Path) -> None:
        """The environment says that every directory is trusted."""

    def invocation(self, prompt: str, server: ModelServer, *options: str) -> tuple[list[str], dict[str, str]]:
        """See ``Agent``."""
        words = (
            "--yolo",
            "--output-format",
            "stream-json",
            "--model",
            "gemini-2.5-flash",
            *options,
            "--prompt",
            prompt,
        )
        return [self.program, *words], {"GOOGLE_GEMINI_BASE_URL": server.url}


def _installed(settings: Path) -> None:
    """Leave what opencode (1.18.33) leaves in a directory of settings once it installed its package there."""
    (settings / "node_modules").mkdir(parents=True, exist_ok=True)
    needs = {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}
    (settings / "package.json").write_text(json.dumps(needs))
    (settings / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": {"": needs}}))


AGENTS: dict[str, type[Codex | Claude]] = {"codex": Codex, "claude": Claude}
MORE_AGENTS: dict[str, type[Opencode | Gemini]] = {"opencode": Opencode, "gemini": Gemini}
