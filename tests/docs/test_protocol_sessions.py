"""docs/protocol.md tells what lies in the data directory, and nothing else lies there."""

from __future__ import annotations

import hmac
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tests.person import run

from restante.system.outgoing import Outgoing

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
SECTION = PAGE.split("\n## Sessions: what lies in the data directory\n", 1)[1].split("\n## ", 1)[0]
BIN = os.path.dirname(sys.executable)
PLANNER = "0199a1b2-0000-7000-8000-000000000001"
WORKER = "odd:id.of-a-session"


class Machine:
    """A home directory with an agent's worktree in it."""

    def __init__(self, place: Path) -> None:
        self.data = place / "data"
        self.repo = place / "repo"
        (place / "home").mkdir()
        (self.repo / ".git").mkdir(parents=True)
        (self.repo / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        home, path = str(place / "home"), f"{BIN}:/usr/bin:/bin"
        self.environment = {"PATH": path, "HOME": home, "RESTANTE_DATA": str(self.data), "LANG": "C.UTF-8"}

    def run(self, *words: str, session: str = "") -> str:
        """Run a command, by an agent's session or by a person."""
        environment = {**self.environment, "CODEX_THREAD_ID": session}
        done = run([os.path.join(BIN, "restante"), *words], cwd=self.repo, env=environment, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def hook(self, event: str, session: str, **more: str) -> None:
        """Run the installed hook line of an event."""
        hooks = json.loads((self.repo / ".claude" / "settings.local.json").read_text())["hooks"]
        payload = json.dumps({"session_id": session, "cwd": str(self.repo), "hook_event_name": event, **more})
        line = hooks[event][0]["hooks"][0]["command"]
        subprocess.run(["sh", "-c", line], cwd=self.repo, env=self.environment, input=payload, text=True, check=True)

    def names(self) -> set[str]:
        """The files of the data directory, as the page would write them."""
        found = set()
        for at, _, names in os.walk(self.data):
            assert stat.S_IMODE(os.stat(at).st_mode) == 0o700
            for name in names:
                path = Path(at, name)
                assert name.endswith(".blocked") or stat.S_IMODE(path.stat().st_mode) == 0o600, path
                found.add(_general(str(path.relative_to(self.data))))
        return found


def _general(path: str) -> str:
    path = re.sub(r"^(sessions|turns)/[^.]+", r"\1/<id>", path)
    path = re.sub(r"^bells/session\.[^.]+", "bells/session.<id>", path)
    path = re.sub(r"^bells/[0-9a-f]{32}", "bells/<digest>", path)
    path = re.sub(r"^hosts/[0-9]+\.[0-9a-f]{8}\.", "hosts/<pid>.<random>.", path)
    path = re.sub(r"^hosts/[0-9]+\.wake", "hosts/<pid>.wake", path)
    return re.sub(r"damaged-[0-9TZ]+$", "damaged-<time>", path)


def _listed(heading: str) -> set[str]:
    table = SECTION.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine on which the hooks are installed, and persistence is on."""
    one = Machine(tmp_path)
    one.run("install", "--persist", "on")
    return one


def test_the_page_names_every_file_of_the_data_directory_and_no_other(machine: Machine) -> None:
    machine.run("session", "rename", "planner", session=PLANNER)
    machine.run("session", "rename", "worker", session=WORKER)
    machine.run("post", "worker", "hello", session=PLANNER)
    machine.hook("Notification", PLANNER, notification_type="permission_prompt")
    assert (machine.data / "turns" / f"{PLANNER}.blocked").read_text() == "permission\n"
    (machine.data / "mail.db").write_bytes(b"no database at all" * 100)
    machine.run("persist", "on")
    machine.run("join", "team/reviewer", session=PLANNER)
    machine.run("monitor", "arm", f"session:{PLANNER}", "--adapter", "claude-rewake", session=PLANNER)
    # As the session's waiter leaves them.
    for end in (".lock", ".pid", ".woken", ".hold"):
        (machine.data / "bells" / f"session.{PLANNER}{end}").touch(0o600)
    serve = [os.path.join(BIN, "restante"), "serve", "--port", "0"]
    with subprocess.Popen(serve, env=machine.environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            assert any("listening" in line for line in server.stderr)
            machine.run("post", "worker", "hello", session=PLANNER)
            # As a wake leaves it that is on its way.
            (machine.data / "hosts" / "1.wake").touch(0o600)
            # As whoever is at work there leaves it, until it closes the database.
            with ExitStack() as at_work:
                for name, table in (("teams.db", "members"), ("mail.db", "messages")):
                    kept = at_work.enter_context(closing(sqlite3.connect(machine.data / name)))
                    kept.execute(f"SELECT COUNT(*) FROM {table}").fetchall()
                found = machine.names()
            told = json.loads((machine.data / "server.json").read_text())
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=20)
    assert set(told) == {"url", "host", "pid", "started"}
    machine.run("install", "--sessions", "off")
    after = machine.names()
    assert "no-sessions" in after
    assert not any(name.startswith("turns/") for name in after)
    assert found | {"no-sessions"} == _listed("in the data directory")
    assert {len(path.name) for path in (machine.data / "sessions").iterdir()} == {len(PLANNER), 32}
    secret = (machine.data / "person").read_text()
    assert re.fullmatch(r"[0-9a-f]{64}\n", secret)
    assert secret.strip().encode() not in (machine.data / "restante.db").read_bytes()
    # A damaged file holds mail as well.
    machine.run("persist", "off", "--yes")
    assert not [name for name in machine.names() if name.startswith("mail.db")]


def test_the_signs_of_turns_are_those_of_the_page(machine: Machine) -> None:
    machine.run("session", "rename", "planner", session=PLANNER)
    signs = machine.data / "turns" / PLANNER
    assert signs.read_bytes() == b""
    for event in ("UserPromptSubmit", "Stop", "UserPromptSubmit"):
        machine.hook(event, PLANNER)
    lines = dict(re.findall(r"^([a-z]) +(a turn \w+)$", SECTION, re.MULTILINE))
    said = [lines[line] for line in signs.read_text().splitlines()]
    assert said == ["a turn started", "a turn ended", "a turn started"]
    session = json.loads(machine.run("session", "show", "planner", "--json"))["session"]
    assert (session["turn"], session["turnEndedAt"]) == (1, None)


def test_the_signs_in_the_worktree_are_those_of_the_page(machine: Machine) -> None:
    private = machine.repo / ".codex-mailbox" / ".restante"
    machine.run("session", "rename", "worker", session=WORKER)
    machine.run("post", "worker", "hello")
    assert (private / "session-mail").read_bytes() == b""
    secret = "ab" * 32
    name = Outgoing(str(machine.repo), "someone", secret).leave("confirm", {"ids": []})
    proof, text, rest = (private / "outgoing" / name).read_text().split("\n")
    assert proof == hmac.new(secret.encode(), f"{name}\n{text}".encode(), "sha256").hexdigest()
    assert (set(json.loads(text)), rest) == ({"session", "kind", "fields"}, "")
    assert _listed("in `.codex-mailbox/.restante/`") == {"session-mail", "outgoing/<time>-<random>.json"}
