"""What wakes a session is a closed list, and each entry can start or call its own short list of things and no more."""

from __future__ import annotations

import ast
import importlib
import re

import pytest
from tests.architecture.source import PACKAGE, ROOT, tree_of

from restante.agents.wake import ADAPTERS, DEFAULTS

PLACE = PACKAGE / "agents" / "wake"
BENEATH = {"running", "codex_wire"}

# Module -> what it may start, or call.
MAY_START = {
    "codex_queue": ("queue", "--thread"),
    "notify": {
        "notify-send": ("--app-name=Restante", "--", "Restante"),
        "osascript": (
            "-e",
            "on run words",
            "-e",
            'display notification (item 1 of words) with title "Restante"',
            "-e",
            "end run",
            "--",
        ),
    },
    "command": ("wake.command",),
}
MAY_CALL = {
    "codex_socket": ("initialize", "initialized", "thread/loaded/list", "turn/start"),
    "codex_wire": frozenset({"initialize", "initialized", "thread/loaded/list", "turn/start"}),
    "claude_rewake": ("w", "p"),
    "claude_socket": ("user",),
    "opencode": ("POST /session/ID/prompt_async",),
}
DO_NOTHING = {"gemini", "scheduled"}
# Module -> what it may import of all that reaches another process.
REACHES = {
    "running": {"subprocess"},
    "codex_wire": {"socket"},
    "claude_socket": {"socket"},
    "opencode": {"http.client"},
}
REACHING = {"subprocess", "socket", "http", "urllib.request", "ctypes", "pty", "multiprocessing", "asyncio", "signal"}
HIDDEN = re.compile(
    r"exec.{0,9}resume|--resume|tmux|send-keys|kitty|wezterm|zellij|TIOCSTI|/dev/(?:tty|pts)|cron|launchctl|launchd"
    r"|systemctl|schtasks|keystroke|System Events|xdotool|inject_items|turn/steer|turn/interrupt|thread/resume",
    re.IGNORECASE,
)


def modules() -> set[str]:
    return {path.stem for path in PLACE.glob("*.py")} - {"__init__"}


def words_in(name: str) -> list[str]:
    """All the text of a module but its documentation, which may say what is not done."""
    tree = tree_of(PLACE / f"{name}.py")
    told = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in told
    ]


def imports_of(name: str) -> set[str]:
    found = set()
    for node in ast.walk(tree_of(PLACE / f"{name}.py")):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_a3_the_list_is_closed() -> None:
    assert {module for module, _ in ADAPTERS.values()} | BENEATH == modules()
    assert set(MAY_START) | (set(MAY_CALL) - BENEATH) | DO_NOTHING == modules() - BENEATH
    for name, (module, made) in ADAPTERS.items():
        waker = getattr(importlib.import_module(f"restante.agents.wake.{module}"), made)
        assert waker.name == name
        assert waker.is_default is (name in DEFAULTS.values())


@pytest.mark.parametrize("name", sorted(MAY_START))
def test_a3_what_a_wake_may_start_is_what_stands_here(name: str) -> None:
    assert MAY_START[name] == importlib.import_module(f"restante.agents.wake.{name}").STARTS


@pytest.mark.parametrize("name", sorted(MAY_CALL))
def test_a3_what_a_wake_may_call_is_what_stands_here(name: str) -> None:
    assert MAY_CALL[name] == importlib.import_module(f"restante.agents.wake.{name}").METHODS


@pytest.mark.parametrize("name", sorted(modules()))
def test_a3_a_module_reaches_other_processes_only_by_its_own_way(name: str) -> None:
    reached = {one for one in imports_of(name) if one.split(".")[0] in REACHING or one in REACHING} - {"signal"}
    assert reached == REACHES.get(name, set())
    calls = {
        node.func.attr
        for node in ast.walk(tree_of(PLACE / f"{name}.py"))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "os"
    }
    assert not {one for one in calls if one.startswith(("exec", "spawn", "posix_spawn", "fork", "popen", "system"))}


@pytest.mark.parametrize("name", sorted(modules()))
def test_a3_no_hidden_way_is_spelled_in_the_code_of_a_wake(name: str) -> None:
    assert [text for text in words_in(name) if HIDDEN.search(text)] == []


def test_a3_the_waiter_has_no_hidden_way_either() -> None:
    lines = (ROOT / "scripts" / "restante-waiter").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.lstrip().startswith("#") and HIDDEN.search(line)] == []


def test_only_its_own_waker_imports_what_starts_turns_of_codex() -> None:
    importing = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "codex_wire" in path.read_text(encoding="utf-8") and path.parent != PLACE
    ]
    assert importing == []
    assert {name for name in modules() if "restante.agents.wake.codex_wire" in imports_of(name)} == {"codex_socket"}
    assert "restante.agents.wake.codex_wire" not in {
        one.module for one in tree_of(PLACE / "codex_socket.py").body if isinstance(one, ast.ImportFrom)
    }
