"""The client and the real ``codex app-server``."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from restante.agents.app_server import AppServer
from restante.agents.codex_threads import CodexThreads
from restante.domain.errors import Refused, StorageFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e

PATIENCE = 60.0


@pytest.fixture
def server(codex_program: str, codex_environ: dict[str, str]) -> Iterator[AppServer]:
    with AppServer(codex_program, environ=codex_environ, timeout=PATIENCE) as made:
        yield made


@pytest.fixture
def codex(codex_program: str, codex_environ: dict[str, str]) -> Iterator[CodexThreads]:
    with CodexThreads(codex_program, environ=codex_environ, timeout=PATIENCE) as made:
        yield made


def save_thread(home: Path, number: int, *, source: object = "cli", provider: str = "none", cwd: str = "/w") -> str:
    """Write a saved conversation by hand, as the program itself saves one; return its id."""
    thread = f"0199aaaa-bbbb-4ccc-8ddd-{number:012d}"
    at = f"2026-11-{number:02d}T10:00:00.000Z"
    day = home / "sessions" / "2026" / "11" / f"{number:02d}"
    day.mkdir(parents=True, exist_ok=True)
    meta = {
        "id": thread,
        "timestamp": at,
        "cwd": cwd,
        "originator": "codex_cli_rs",
        "cli_version": "0.171.0",
        "source": source,
        "model_provider": provider,
    }
    said = {"type": "user_message", "message": f"task {number}\nand more", "images": None}
    lines = [("session_meta", meta), ("event_msg", said)]
    file = day / f"rollout-{at[:10]}T10-00-00-{thread}.jsonl"
    file.write_text(
        "".join(json.dumps({"timestamp": at, "type": kind, "payload": load}) + "\n" for kind, load in lines)
    )
    os.utime(file, (1_790_000_000 + number, 1_790_000_000 + number))
    return thread


def test_it_shakes_hands_and_answers(server: AppServer) -> None:
    assert server.result("thread/list", {})["data"] == []
    assert server.result("thread/loaded/list", {})["data"] == []


def test_threads_of_every_kind_and_provider_are_listed_newest_first(codex: CodexThreads, codex_home: Path) -> None:
    kinds: list[Any] = ["cli", "exec", "vscode", "mcp", {"subagent": "review"}]
    ids = [save_thread(codex_home, n, source=kind, provider=f"p{n}", cwd=f"/w/{n}") for n, kind in enumerate(kinds, 1)]
    found = codex.list()
    assert [thread.id for thread in found] == ids[::-1]
    first = found[-1]
    assert (first.agent, first.title, first.directory) == ("codex", "task 1", "/w/1")
    assert (first.status, first.loaded) == ("not loaded", False)
    assert first.updated is not None
    assert first.updated.timestamp() == 1_790_000_001


def test_every_page_is_read(server: AppServer, codex_home: Path) -> None:
    ids = [save_thread(codex_home, n) for n in range(1, 8)]
    asked = {"modelProviders": [], "limit": 2, "sortKey": "updated_at", "sortDirection": "desc"}
    assert [one["id"] for one in server.pages("thread/list", asked) if isinstance(one, dict)] == ids[::-1]


def test_one_saved_thread_can_be_read(server: AppServer, codex_home: Path) -> None:
    thread = save_thread(codex_home, 3)
    found = server.result("thread/read", {"threadId": thread, "includeTurns": False})["thread"]
    assert isinstance(found, dict)
    assert found["id"] == thread


def test_a_thread_that_is_not_there_is_refused_in_the_servers_words(server: AppServer) -> None:
    with pytest.raises(StorageFailed, match=r"thread/read: thread not loaded.*-32600"):
        server.result("thread/read", {"threadId": "0199aaaa-bbbb-4ccc-8ddd-000000000099"})


@pytest.mark.parametrize("method", ["turn/start", "thread/start", "thread/inject_items", "config/batchWrite"])
def test_what_would_change_something_is_refused_and_the_server_goes_on(server: AppServer, method: str) -> None:
    server.result("thread/loaded/list", {})
    assert server._connection is not None
    for ask in (server.ask, lambda name, params: server._connection.ask(name, params, PATIENCE)):
        with pytest.raises(Refused, match="read-only"):
            ask(method, {})
    assert server.result("thread/loaded/list", {})["data"] == []


def test_a_server_killed_between_two_calls_is_started_again(server: AppServer) -> None:
    server.result("thread/list", {})
    first = server.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert server.result("thread/list", {})["data"] == []
    assert server.pid not in {None, first}


def test_closing_leaves_no_process(codex_program: str, codex_environ: dict[str, str]) -> None:
    with AppServer(codex_program, environ=codex_environ, timeout=PATIENCE) as server:
        server.result("thread/list", {})
        pid = server.pid
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def trust(command: str, timeout: int) -> str:
    """Return the hash by which the program recognises a Stop hook it was told to trust (seen with 0.171.0)."""
    hook = {"type": "command", "command": command, "timeout": timeout, "async": False}
    text = json.dumps({"event_name": "stop", "hooks": [hook]}, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_a_hook_is_unseen_then_untrusted_then_trusted_then_modified(
    codex: CodexThreads, codex_home: Path, tmp_path: Path
) -> None:
    project = tmp_path.resolve() / "project"
    file = project / ".codex" / "hooks.json"
    file.parent.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True, timeout=60)
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": 10}]}]}}
    file.write_text(json.dumps(hooks))
    config = codex_home / "config.toml"
    key = f"{file}:stop:0:0"

    assert codex.hooks(str(project)) == [], "the project is not trusted"
    with config.open("a") as out:
        out.write(f'[projects."{project}"]\ntrust_level = "trusted"\n')
    (found,) = codex.hooks(str(project))
    assert (found.key, found.event, found.command, found.enabled) == (key, "Stop", "true", True)
    assert (found.trust_status, found.source_path) == ("untrusted", str(file))

    with config.open("a") as out:
        out.write(f'[hooks.state."{key}"]\ntrusted_hash = "{trust("true", 10)}"\n')
    assert [hook.trust_status for hook in codex.hooks(str(project))] == ["trusted"]

    file.write_text(json.dumps(hooks).replace("true", "false"))
    assert [hook.trust_status for hook in codex.hooks(str(project))] == ["modified"]

    file.write_text("{broken")
    assert codex.hooks(str(project)) == []
