"""An agent's inbox in an OACP tree for tests of working it off: mail comes in, commands are run, answers are given."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from tests.autonomy.fixtures import with_profile

from restante.faces.cli import dispatch
from restante.faces.cli.exits import run
from restante.faces.oacp import dispatch as dispatch_verb
from restante.faces.oacp.ends import run as run_verb
from restante.stores.oacp.delivering import deliver
from restante.stores.oacp.layout import Tree
from restante.stores.oacp.posting import Letter, prepare
from restante.system.clock import SystemClock
from restante.wiring.founding import Founder, Founding

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    import pytest

AUTO_REVIEW = """\
autonomy:
  default_mode: auto_review
  auto_review_thresholds:
    max_estimated_minutes: 45
    max_expected_files_touched: 5
    destructive_ops: pause
    external_side_effects: pause
    auth_config_or_secrets: pause
    dependency_changes: pause
    public_visibility: pause
    git_push_or_deploy: pause
  allow_without_task_profile: []
  private_repo_allowlist: []
  continuation_grants: {enabled: true}
restante: {strict: true}
"""


class Told(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """Its lines as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        """Its only line as JSON."""
        return json.loads(self.out)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the events of one kind."""
        return [one for one in self.events if one["event"] == kind]


class Answering:
    """Standard input of who answers: what is a mapping gets the digest of what was asked last, unless it has one."""

    def __init__(self, capsys: pytest.CaptureFixture[str], answers: list[Any]) -> None:
        self.out, self.err = "", ""
        self._capsys = capsys
        self._answers = answers

    def isatty(self) -> bool:
        return False

    def read(self) -> str:
        return "".join(iter(self.readline, ""))

    def readline(self) -> str:
        told = self._capsys.readouterr()
        self.out, self.err = self.out + told.out, self.err + told.err
        if not self._answers:
            return ""
        answer = self._answers.pop(0)
        if isinstance(answer, dict) and "sha256" not in answer:
            answer = answer | {"sha256": json.loads(self.out.splitlines()[-1])["sha256"]}
        return f"{answer if isinstance(answer, str) else json.dumps(answer)}\n"


class Inboxes:
    """Project ``demo`` with alice, who writes, and codex, who works."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.agents = home / "projects" / "demo" / "agents"
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        founder = Founder(str(home), SystemClock().now())
        founder.apply(founder.plan_project(Founding("demo", ("alice", "codex"))), "demo")

    def policy(self, text: str = AUTO_REVIEW) -> None:
        """Give codex a policy."""
        (self.agents / "codex" / "config.yaml").write_text(text)

    def send(
        self, kind: str = "notification", body: str = "It is done.", at: datetime | None = None, **words: Any
    ) -> str:
        """Send a message of alice's to codex; return its file's name."""
        letter = Letter("alice", ("codex",), kind, "About it", body)._replace(**words)
        prepared = prepare(Tree(str(self.home)), "demo", letter, now=at or SystemClock().now())
        deliver(Tree(str(self.home)), prepared)
        return prepared.name

    def task(self, text: str = "Update one paragraph.", profile: dict[str, Any] | None = None, **words: Any) -> str:
        """Send a task with a declared profile."""
        return self.send("task_request", with_profile(text, profile), **words)

    def run(self, *words: object, answers: Any = ()) -> Told:
        """Run a command; ``answers`` are its standard input, a line each."""
        self._capsys.readouterr()
        given = Answering(self._capsys, list(answers))
        self._monkeypatch.setattr(sys, "stdin", given)
        code = run(dispatch, [str(word) for word in words])
        captured = self._capsys.readouterr()
        return Told(code, given.out + captured.out, given.err + captured.err)

    def oacp(self, *words: str, given: str = "") -> bool:
        """Run a verb of OACP; tell whether it did what it should."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
        return run_verb(dispatch_verb, list(words)) == 0

    def drain(self, *answers: Any, more: tuple[str, ...] = (), code: int = 0) -> Told:
        """Work off codex's inbox with these answers."""
        words = ("check-inbox", "--project", "demo", "--agent", "codex", "--json", *more)
        told = self.run(*words, answers=answers)
        assert told.code == code, told.err
        return told

    def names(self, agent: str = "codex", place: str = "inbox") -> list[str]:
        """Return the messages in a directory of an agent."""
        return sorted(one.name for one in (self.agents / agent / place).glob("*.yaml"))

    def replies(self) -> list[dict[str, Any]]:
        """Return what codex wrote to alice."""
        found = [self.agents / "alice" / "inbox" / name for name in self.names("alice")]
        return [yaml.safe_load(one.read_text()) for one in found]

    def records(self) -> list[dict[str, Any]]:
        """Return codex's audit records."""
        folder = self.agents / "codex" / "audit" / "autonomy_decisions"
        return [yaml.safe_load(one.read_text()) for one in sorted(folder.glob("*.yaml"))]
