"""The listing, from answers of a scripted server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from restante.agents.codex_threads import CodexThreads, HookState
from restante.domain.errors import NothingThere, StorageFailed
from restante.domain.session import Thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agents.conftest import FakeCodex

    from restante.ports import Threads

PATIENCE = 30.0
NOW = 1_796_000_000


def saved(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"t{number}",
        "preview": f"task {number}",
        "name": None,
        "cwd": f"/w{number}",
        "updatedAt": NOW + number,
        "status": {"type": "notLoaded"},
    } | more


def page(*items: Any, after: str | None = None) -> dict[str, Any]:
    return {"result": {"data": list(items), "nextCursor": after}}


def listing(fake: FakeCodex) -> list[Thread]:
    threads: Threads = CodexThreads(fake.program, timeout=PATIENCE)
    return threads.list()


def test_threads_of_all_pages_come_newest_first(fake_codex: Callable[..., FakeCodex]) -> None:
    answers = [page(saved(1)), page(saved(3), saved(2), after="more"), page(saved(4))]
    fake = fake_codex(answers={"thread/list": answers})
    assert [thread.id for thread in listing(fake)] == ["t4", "t3", "t2"]


def test_all_providers_and_all_kinds_are_asked_for(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex()
    assert listing(fake) == []
    asked = [request["params"] for request in fake.requests if request["method"] == "thread/list"]
    assert all(params["modelProviders"] == [] for params in asked)
    assert all({"cli", "vscode", "exec", "appServer"} < set(params["sourceKinds"]) for params in asked)


def test_a_server_that_does_not_know_a_kind_is_asked_for_the_old_ones(fake_codex: Callable[..., FakeCodex]) -> None:
    unknown = {"error": {"code": -32600, "message": "Invalid request: unknown variant `subAgent`"}}
    fake = fake_codex(answers={"thread/list": [unknown, page(saved(1))]})
    assert [thread.id for thread in listing(fake)] == ["t1"]
    assert fake.requests[-1]["params"]["sourceKinds"] == ["cli", "vscode", "exec", "appServer"]


def test_a_thread_says_what_the_server_says(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(
        answers={"thread/list": [page(saved(1, name="Fix the tests", status={"type": "idle"}))]},
    )
    assert listing(fake) == [
        Thread("t1", "codex", "Fix the tests", "/w1", "idle", datetime.fromtimestamp(NOW + 1, UTC), False)
    ]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"type": "notLoaded"}, "not loaded"),
        ({"type": "idle"}, "idle"),
        ({"type": "systemError"}, "system error"),
        ({"type": "active", "activeFlags": []}, "active"),
        ({"type": "active", "activeFlags": ["waitingOnApproval"]}, "active, waiting on approval"),
        ({"type": "active", "activeFlags": ["waitingOnUserInput", "new", 3]}, "active, waiting on user input, new"),
        ({"type": "hibernating"}, "hibernating"),
        ({"type": 3}, "unknown"),
        ("idle", "unknown"),
        (None, "unknown"),
    ],
)
def test_its_activity_is_the_servers_own_status(fake_codex: Callable[..., FakeCodex], status: Any, words: str) -> None:
    fake = fake_codex(answers={"thread/list": [page(saved(1, status=status))]})
    assert [thread.status for thread in listing(fake)] == [words]


def test_loaded_does_not_mean_running(fake_codex: Callable[..., FakeCodex]) -> None:
    answers = {
        "thread/list": [page(saved(1, status={"type": "idle"}), saved(2))],
        "thread/loaded/list": [page("t1")],
    }
    found = {thread.id: (thread.loaded, thread.status) for thread in listing(fake_codex(answers=answers))}
    assert found == {"t1": (True, "idle"), "t2": (False, "not loaded")}


def test_a_thread_without_a_turn_is_read_by_its_id(fake_codex: Callable[..., FakeCodex]) -> None:
    fresh = saved(9, preview="", status={"type": "idle"})
    fake = fake_codex(
        answers={
            "thread/list": [page(saved(1))],
            "thread/loaded/list": [page("t9", after="x"), page("t1", "t9", 7)],
            "thread/read": [{"result": {"thread": fresh}}],
        }
    )
    found = listing(fake)
    assert [(thread.id, thread.directory, thread.loaded) for thread in found] == [
        ("t9", "/w9", True),
        ("t1", "/w1", True),
    ]
    assert [request["params"] for request in fake.requests if request["method"] == "thread/read"] == [
        {"threadId": "t9", "includeTurns": False}
    ]


def test_a_loaded_thread_that_cannot_be_read_is_listed_by_its_id(fake_codex: Callable[..., FakeCodex]) -> None:
    gone = {"error": {"code": -32600, "message": "thread not loaded: t9"}}
    answers = {"thread/loaded/list": [page("t9")], "thread/read": [gone]}
    assert listing(fake_codex(answers=answers)) == [Thread("t9", "codex", "", "", "unknown", None, True)]


def test_odd_items_and_odd_fields_do_not_spoil_the_list(fake_codex: Callable[..., FakeCodex]) -> None:
    odd: list[Any] = [None, "text", 3, [], {}, {"id": 5}, {"id": "bare"}, saved(1, cwd=None, updatedAt=10**30, name=3)]
    found = listing(fake_codex(answers={"thread/list": [page(*odd)]}))
    assert {thread.id for thread in found} == {"bare", "t1"}
    assert all(thread.updated is None and thread.directory == "" for thread in found)


def test_a_title_is_one_short_line(fake_codex: Callable[..., FakeCodex]) -> None:
    items = [saved(1, preview="\n  first\t line  \nsecond"), saved(2, preview="x" * 5000), saved(3, preview="")]
    titles = {thread.id: thread.title for thread in listing(fake_codex(answers={"thread/list": [page(*items)]}))}
    assert titles == {"t1": "first line", "t2": "x" * 79 + "…", "t3": ""}


def test_no_codex_is_nothing_there() -> None:
    with pytest.raises(NothingThere):
        CodexThreads("/nowhere/codex").list()


def test_a_server_that_refuses_to_list_is_a_failure(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"thread/list": [{"error": {"code": -32603, "message": "state db is damaged"}}]})
    with pytest.raises(StorageFailed, match="state db is damaged"):
        listing(fake)


def test_questions_within_a_context_share_one_server(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex()
    with CodexThreads(fake.program, timeout=PATIENCE) as codex:
        codex.list()
        codex.hooks("/w")
    assert fake.starts == 1
    assert not fake.is_running
    codex.list()
    assert fake.starts == 2
    assert not fake.is_running


def test_hooks_are_told_as_the_program_sees_them(fake_codex: Callable[..., FakeCodex]) -> None:
    common = {"enabled": True, "trustStatus": "untrusted", "sourcePath": "/w/.codex/hooks.json"}
    hooks = [
        common | {"key": "k1", "eventName": "sessionStart", "handlerType": "command", "command": "true"},
        common | {"key": "k2", "eventName": "stop", "handlerType": "mcpTool", "server": "mail", "tool": "check"},
        common
        | {"key": "k3", "eventName": "stop", "handlerType": "prompt", "enabled": False, "trustStatus": "trusted"},
        "odd",
    ]
    fake = fake_codex(answers={"hooks/list": [page({"cwd": "/w", "hooks": hooks}, "odd")]})
    with CodexThreads(fake.program, timeout=PATIENCE) as codex:
        found = codex.hooks("/w")
    source = "/w/.codex/hooks.json"
    assert found == [
        HookState("k1", "SessionStart", "true", "untrusted", True, source),
        HookState("k2", "Stop", "mcp mail/check", "untrusted", True, source),
        HookState("k3", "Stop", "prompt", "trusted", False, source),
    ]
    assert fake.requests[-1]["params"] == {"cwds": ["/w"]}
