"""What an import loads is a cost that a hook pays after every tool call: it is counted by name, not by time."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.architecture.source import PACKAGE

if TYPE_CHECKING:
    from pathlib import Path

# Modules that cost most of what a short command costs.
HEAVY = {
    "asyncio",
    "concurrent.futures",
    "ctypes",
    "email",
    "http.client",
    "importlib.metadata",
    "logging",
    "multiprocessing",
    "pathlib",
    "platformdirs",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "typing_extensions",
    "unittest",
    "urllib.request",
    "watchfiles",
    "yaml",
}
# ``dataclasses`` loads ``inspect``, which is half of what a short command may cost; nothing else of ours may.
WITH_DATACLASSES = {"dataclasses", "inspect"}
HEAVY |= WITH_DATACLASSES
PURE = HEAVY | {"json", "hashlib", "shutil", "threading"}

# module -> what importing it must not load. One line for each entry that a person or a hook waits for.
BUDGET: dict[str, set[str]] = {
    "restante": HEAVY | {"enum", "re", "json", "datetime"},
    "restante.peek": HEAVY | {"enum", "re", "json", "datetime", "restante.domain", "restante.ports"},
    "restante.faces.hook": HEAVY,
    "restante.ports": PURE,
    "restante.config": HEAVY,
    "restante.office": HEAVY,
    "restante.stores.memory": HEAVY - WITH_DATACLASSES,
    "restante.stores.files": HEAVY,
    "restante.stores.worktree.store": HEAVY,
    "restante.stores.worktree.bell": HEAVY,
    "restante.stores.worktree.notebook": HEAVY,
    "restante.stores.sql.sqlite": HEAVY - {"sqlite3", "pathlib"},
    "restante.wiring.sessions": (HEAVY | {"shutil", "restante.stores.sql.moving"}) - {"sqlite3", "pathlib"},
    "restante.faces.cli": HEAVY,
    "restante.faces.mcp.stdio": (PURE - {"json"}) | {"mcp", "datetime", "restante.domain", "restante.wiring"},
    "restante.testing": HEAVY | {"pytest", "hypothesis"},
    "restante.testing.contract": {"pytest", "hypothesis", "sqlite3", "asyncio"},
}
DOMAIN = sorted(
    ".".join(("restante", *path.relative_to(PACKAGE).with_suffix("").parts))
    for floor in ("domain", "autonomy")
    for path in (PACKAGE / floor).rglob("*.py")
    if path.stem != "__init__"
)

# What a command loads while it works, too: nothing of it may be put off to where it is only paid later.
WHILE_WORKING = HEAVY | {"hashlib", "shutil", "threading", "traceback", "random", "tomllib", "xml"}

OF_SESSIONS = (
    *("restante.exchange", "restante.wiring.sessions", "restante.system.remote", "restante.stores.sql", "http"),
    *("restante.faces.cli.both", "restante.domain.wire", "restante.domain.registry", "restante.domain.overview"),
)

SHOW = """
import os, sys
sys.path[:] = {path!r}
before = set(sys.modules)
{act}
print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""
COMMAND = """
sys.argv[0] = "restante"
from restante.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
CHECK = COMMAND.replace("assert not end.code, end.code", "assert end.code == 2, end.code")
HOOK = """
from restante.faces.hook import answer
sys.stdout.buffer.write(answer(sys.argv[1], sys.argv[2], sys.stdin.buffer.read(), os.environ))
"""


def loaded_while(
    act: str, *arguments: str, at: str | None = None, data: str = "", environment: dict[str, str] | None = None
) -> tuple[set[str], str]:
    """Return what an isolated interpreter loads beyond what it has loaded by itself, and what it prints."""
    # Without site (-S) an editable installation's own helpers are not counted as ours.
    path = [str(PACKAGE.parent), *(one for one in sys.path if one)]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SHOW.format(path=path, act=act), *arguments],
        cwd=at,
        input=data,
        # Whoever runs the tests may use sessions; a command in a worktree of nobody's must not meet them.
        env={**os.environ, "RESTANTE_DATA": "/nowhere", **(environment or {})},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split()), done.stdout


def loaded_by(name: str) -> set[str]:
    """Return what one import loads."""
    return loaded_while(f"import {name}")[0]


def test_the_budget_can_be_overdrawn() -> None:
    assert loaded_by("subprocess") & HEAVY >= {"subprocess"}


@pytest.mark.parametrize("name", BUDGET)
def test_an_import_stays_within_its_budget(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.fail(f"{name} is in the table and not in the package")
    assert loaded_by(name) & BUDGET[name] == set()


@pytest.mark.parametrize("session", ["", "a-session"])
def test_a_short_command_loads_nothing_heavy_from_its_start_to_its_end(session: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    at, caller = str(tmp_path), {"CODEX_THREAD_ID": session, "CLAUDE_CODE_SESSION_ID": ""}
    sent, said = loaded_while(COMMAND, "send", "--json", "Mind the tests.", at=at)
    message = json.loads(said)["message"]["id"]
    read, shown = loaded_while(COMMAND, "inbox", at=at, environment=caller)
    assert "Mind the tests." in shown
    answered, _ = loaded_while(
        COMMAND, "ack", message, "--decision", "accepted", "-m", "yes", at=at, environment=caller
    )
    for loaded in (sent, read, answered):
        assert "restante.stores.worktree.store" in loaded
        assert loaded & WHILE_WORKING == set()
        # Where no session was ever registered, nothing of them is paid for.
        assert not {one for one in loaded if one.startswith(OF_SESSIONS)}


def test_a_check_of_a_monitor_loads_no_window_and_nothing_of_worktrees_and_teams(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    at, caller = str(tmp_path), {"CODEX_THREAD_ID": "a-session", "CLAUDE_CODE_SESSION_ID": ""}
    data = {**caller, "RESTANTE_DATA": str(tmp_path / "data")}
    loaded_while(COMMAND, "session", "start", at=at, environment=data)
    loaded_while(COMMAND, "monitor", "arm", "session:a-session", at=at, environment=data)
    loaded, said = loaded_while(CHECK, "monitor", "check", "session:a-session", at=at, environment=data)
    assert "status=idle" in said
    unwanted = ("restante.exchange", "restante.office", "restante.roster", "restante.stores.worktree.store", "http")
    assert not {one for one in loaded if one.startswith(unwanted)}
    assert loaded & (WHILE_WORKING - {"sqlite3", "hashlib", "threading"}) == set()


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"])
def test_a_rung_checkpoint_loads_nothing_heavy_from_its_start_to_its_end(
    agent: str, event: str, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    at = str(tmp_path)
    payload = json.dumps({"session_id": "a-session", "cwd": at, "hook_event_name": event})
    loaded_while(COMMAND, "send", "Mind the tests.", at=at)
    loaded, said = loaded_while(HOOK, agent, event, at=at, data=payload, environment={"RESTANTE_WORKTREE": at})
    assert "Mind the tests." in said
    assert loaded & WHILE_WORKING == set()


def test_the_domain_loads_nothing_of_the_world() -> None:
    assert loaded_by(", ".join(DOMAIN)) & PURE == set()


def test_importing_the_package_loads_no_part_of_it() -> None:
    assert {one for one in loaded_by("restante") if one.startswith("restante")} == {"restante"}


def test_a_peek_loads_nothing_but_itself_and_what_is_always_there() -> None:
    if importlib.util.find_spec("restante.peek") is None:
        pytest.fail("restante.peek is gone; remove this test together with the line of design.md that names it")
    assert loaded_by("restante.peek") <= {"restante", "restante.peek", "__future__"}
