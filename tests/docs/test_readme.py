"""README tells the truth: its tour is run, its links lead somewhere, its commands exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.person import run

from restante.domain.errors import UsageError
from restante.faces.cli.parsing import find_command, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = os.path.dirname(sys.executable)


def _tour() -> list[str]:
    section = README.split("## A five-minute tour", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


class Visitor:
    """Somebody who types the tour, line for line, in an empty repository and a home directory of their own."""

    def __init__(self, place: Path) -> None:
        self.repo = place / "repo"
        (place / "home").mkdir()
        subprocess.run(["git", "init", "-q", str(self.repo)], check=True)
        (self.repo / "notes.txt").write_text("The billing tests need the database of staging.\n")
        self.environment = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(place / "home"), "LANG": "C.UTF-8"}
        self.server: subprocess.Popen[str] | None = None

    def type(self, line: str) -> str:
        """Run a line, which must end as the text says, and return what it printed."""
        command, _, comment = line.partition("#")
        if command.rstrip().endswith("&"):
            self._serve(command.rstrip(" &"))
            return ""
        wanted = re.search(r"exit code (\d)", comment)
        done = run(["bash", "-c", command], cwd=self.repo, env=self.environment, timeout=60)
        # Whether the agent programs are installed and trusted is the machine's affair, and doctor says so.
        allowed = {int(wanted[1])} if wanted else {0, 1} if "doctor" in command else {0}
        assert done.returncode in allowed, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def ask(self, *words: str, **environment: str) -> Any:
        """Return the JSON that a command answers with."""
        command = [os.path.join(BIN, "restante"), *words, "--json"]
        done = run(command, cwd=self.repo, env=self.environment | environment, timeout=60)
        return json.loads(done.stdout)

    def learn(self, name: str, value: str) -> None:
        """Know from now on what a name of the tour stands for."""
        self.environment.setdefault(name, value)

    def leave(self) -> None:
        """Stop the server, if one runs; it ends in order."""
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            _, said = self.server.communicate(timeout=20)
            assert self.server.returncode == 0, said

    def _serve(self, command: str) -> None:
        self.server = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.repo,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.server.stderr
        assert any("listening" in line for line in self.server.stderr), "the server ended"


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    """A visitor, whose server is stopped afterwards."""
    one = Visitor(tmp_path)
    try:
        yield one
    finally:
        one.leave()


def test_the_tour_runs_in_an_empty_repository(visitor: Visitor) -> None:
    planner = {"CODEX_THREAD_ID": "play-planner"}
    said: dict[str, str] = {}
    for line in _tour():
        said[line.partition("#")[0].strip()] = visitor.type(line)
        if "restante send" in line:
            for name, message in zip(("ID", "OTHER"), visitor.ask("status")["messages"], strict=False):
                visitor.learn(name, message["id"])
        if 'ack "$ID"' in line:
            assert visitor.ask("status")["messages"][0]["status"] == "applied"
        if "withdraw" in line:
            assert visitor.ask("status")["messages"][1]["status"] == "withdrawn"
        if "post worker" in line:
            newest, *_ = visitor.ask("receipts", **planner)["receipts"]
            assert newest["state"] == "unseen"
            visitor.learn("TASK", newest["messageId"])
        if 'ack "$TASK"' in line:
            (trace,) = visitor.ask("receipts", visitor.environment["TASK"], **planner)["receipts"]
            assert (trace["state"], trace["action"]) == ("acknowledged", "applied")
    assert len(said) >= 30
    assert ": seen" in said["CODEX_THREAD_ID=play-planner restante receipts"]
    assert "1E3 too?" in said["CODEX_THREAD_ID=play-planner restante inbox --wait 5"]
    assert "1E3 too?" in said["restante inbox --session planner"]
    assert "Both spellings." in said["CLAUDE_CODE_SESSION_ID=play-worker restante inbox --wait 5"]
    # What the server holds in memory is nowhere on disk.
    data = Path(visitor.environment["HOME"])
    assert visitor.ask("persist") == {"on": False, "fixed": False, "hasServer": True}
    assert not [path for path in data.rglob("*") if path.is_file() and b"Both spellings" in path.read_bytes()]


def test_links_of_the_documents_lead_to_files() -> None:
    documents = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    documents += sorted((ROOT / "docs").rglob("*.md"))
    broken = [
        f"{document.relative_to(ROOT)} -> {target}"
        for document in documents
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8"))
        if "://" not in target and not (document.parent / target).exists()
    ]
    assert broken == []


def test_every_command_is_in_the_reference_and_the_reference_is_current() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "docs.generate", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stdout


def test_every_command_that_the_documents_show_exists() -> None:
    from restante.faces.cli.table import COMMANDS

    known = {command.name.split()[0] for command in COMMANDS}
    shown: set[str] = set()
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if "reference" not in document.parts:
            shown.update(
                re.findall(r"(?:^|`)restante ([a-z][a-z-]*)", document.read_text(encoding="utf-8"), re.MULTILINE)
            )
    assert shown <= known, shown - known


def _shown_lines() -> list[tuple[str, str]]:
    """The lines of shell blocks that begin with our command, with the document they stand in."""
    found = []
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = document.read_text(encoding="utf-8")
        for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            lines = (re.sub(r"^(?:\$ )?(?:[A-Z_]+=\S+ )?", "", line) for line in block.splitlines())
            # The verbs of OACP have parsers of their own.
            ours = (line for line in lines if line.startswith("restante ") and not line.startswith("restante oacp "))
            found += [(document.name, line) for line in ours]
    return found


def test_every_line_that_the_documents_show_is_one_that_the_parser_takes() -> None:
    lines = _shown_lines()
    assert len(lines) > 60
    wrong = []
    for name, line in lines:
        words = shlex.split(re.split(r" [<>&|]", line)[0], comments=True)[1:]
        try:
            parse(*find_command(words))
        except UsageError as error:
            wrong.append(f"{name}: {line}: {error.message}")
    assert wrong == []
