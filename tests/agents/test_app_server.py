"""The client against a scripted process that misbehaves in every way we could think of."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from restante.agents.app_server import AppServer, find_codex
from restante.domain.errors import Busy, NothingThere, Refused, StorageFailed, TimedOut, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.agents.conftest import FakeCodex

PATIENCE = 30.0


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    threads, descriptors = set(threading.enumerate()), len(os.listdir("/dev/fd"))
    yield
    assert set(threading.enumerate()) <= threads
    assert len(os.listdir("/dev/fd")) == descriptors


def ask_once(fake: FakeCodex, method: str = "thread/list", timeout: float = PATIENCE) -> Any:
    with AppServer(fake.program, timeout=timeout) as server:
        return server.result(method, {})


def wait_until_dead(pid: int) -> None:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def test_the_handshake_comes_first_and_once(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex()
    with AppServer(fake.program, timeout=PATIENCE) as server:
        server.result("thread/list", {"limit": 1})
        server.result("hooks/list", {"cwds": ["/"]})
    assert fake.methods == ["initialize", "initialized", "thread/list", "hooks/list"]
    hello, ready, question, _ = fake.requests
    assert hello["params"]["clientInfo"]["name"] == "restante"
    assert hello["params"]["capabilities"] == {"experimentalApi": False, "requestAttestation": False}
    assert ready == {"method": "initialized"}
    assert question["params"] == {"limit": 1}
    assert all("jsonrpc" not in request for request in fake.requests)


def test_first_questions_at_the_same_moment_shake_hands_once(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex()
    together = threading.Barrier(8)
    results: list[object] = []
    with AppServer(fake.program, timeout=PATIENCE) as server:

        def ask() -> None:
            together.wait(PATIENCE)
            results.append(server.result("thread/list", {}))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert results == [{"data": []}] * 8
    assert fake.starts == 1
    assert fake.methods.count("initialize") == fake.methods.count("initialized") == 1
    assert len({request["id"] for request in fake.requests if "id" in request}) == 9


def test_requests_of_the_server_are_neither_answered_nor_taken_for_responses(
    fake_codex: Callable[..., FakeCodex],
) -> None:
    fake = fake_codex(
        noise=[
            '{"id": $ID, "method": "item/commandExecution/requestApproval", "params": {}}',
            '{"id": $ID, "method": "item/tool/call", "result": {"data": ["poison"]}}',
            '{"method": "thread/started", "params": {}, "emittedAtMs": 1}',
            '{"id": 9999, "result": {"data": ["of a stranger"]}}',
            '{"id": "$ID", "result": {"data": ["of a text id"]}}',
            '{"id": true, "result": {"data": ["of a truth"]}}',
            '{"id": $ID.0, "result": {"data": ["of a fraction"]}}',
        ],
        answers={"thread/list": [{"result": {"data": ["mine"]}}]},
    )
    assert ask_once(fake) == {"data": ["mine"]}
    assert fake.methods == ["initialize", "initialized", "thread/list"]


def test_lines_that_are_no_objects_are_passed_over(fake_codex: Callable[..., FakeCodex]) -> None:
    noise = [
        "",
        "garbage",
        "17",
        "null",
        '"text"',
        "[1]",
        "true",
        "NaN",
        '{"id":',
        "[" * 200_000,
        "9" * 10_000,
        "\0{\u2028",
    ]
    fake = fake_codex(noise=noise, answers={"thread/list": [{"result": {"data": ["mine"]}}]})
    assert ask_once(fake) == {"data": ["mine"]}


def test_an_answer_of_several_megabytes_arrives_whole(fake_codex: Callable[..., FakeCodex]) -> None:
    text = "é" * 3_000_000
    fake = fake_codex(answers={"thread/list": [{"result": {"data": [text]}}]})
    assert ask_once(fake) == {"data": [text]}


@pytest.mark.slow
def test_a_line_over_the_limit_is_dropped_and_what_follows_is_read(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(stdout_flood=33 * 1024 * 1024, answers={"thread/list": [{"result": {"data": ["mine"]}}]})
    assert ask_once(fake) == {"data": ["mine"]}


def test_a_flood_on_stderr_does_not_block(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(stderr_flood=5_000_000, answers={"thread/list": [{"result": {"data": ["mine"]}}]})
    assert ask_once(fake) == {"data": ["mine"]}


def test_a_question_without_an_answer_times_out_by_name(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"thread/list": [{"silent": True}, {"result": {"data": ["late"]}}]})
    with AppServer(fake.program, timeout=PATIENCE) as server:
        server.result("hooks/list", {})
        server._timeout = 0.2
        with pytest.raises(TimedOut, match=r"thread/list within 0\.2 s"):
            server.result("thread/list", {})
        server._timeout = PATIENCE
        assert server.result("thread/list", {}) == {"data": ["late"]}
    assert fake.starts == 1


def test_a_handshake_without_an_answer_times_out_and_is_tried_again(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"initialize": [{"silent": True}]})
    with AppServer(fake.program, timeout=0.3) as server:
        for _ in range(2):
            with pytest.raises(TimedOut, match="initialize"):
                server.result("thread/list", {})
        assert server.pid is None
    assert fake.starts == 2


def test_a_server_that_stops_reading_times_out_and_is_replaced(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(deaf_after=3)
    with AppServer(fake.program, timeout=PATIENCE) as server:
        server.result("thread/list", {})
        server._timeout = 0.3
        with pytest.raises(TimedOut, match="did not take thread/list in time"):
            server.result("thread/list", {"searchTerm": "x" * 1_000_000})
        server._timeout = PATIENCE
        assert server.result("hooks/list", {}) == {"data": []}
    assert fake.methods.count("initialize") == fake.starts == 2


def test_a_flood_in_both_directions_does_not_stand_still(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(stdout_flood=300_000)
    long = {"searchTerm": "x" * 300_000}
    results: list[object] = []
    with AppServer(fake.program, timeout=PATIENCE) as server:
        threads = [
            threading.Thread(target=lambda: results.append(server.result("thread/list", long))) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert results == [{"data": []}] * 6


def test_an_overloaded_server_is_asked_again_later_and_later(fake_codex: Callable[..., FakeCodex]) -> None:
    overload = {"error": {"code": -32001, "message": "Server overloaded; retry later."}}
    fake = fake_codex(
        answers={
            "initialize": [overload, {"result": {}}],
            "thread/list": [overload, overload, overload, {"result": {"data": ["mine"]}}],
        }
    )
    naps: list[float] = []
    with AppServer(fake.program, timeout=PATIENCE, sleep=naps.append) as server:
        assert server.result("thread/list", {}) == {"data": ["mine"]}
    assert len(naps) == 4
    assert all(0.1 * 2**turn <= nap <= 0.2 * 2**turn for turn, nap in enumerate(naps[1:]))
    assert fake.methods == ["initialize"] * 2 + ["initialized"] + ["thread/list"] * 4


def test_a_server_that_stays_overloaded_is_given_up(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"thread/list": [{"error": {"code": -32001, "message": "overloaded"}}]})
    naps: list[float] = []
    with AppServer(fake.program, timeout=PATIENCE, sleep=naps.append) as server:
        with pytest.raises(Busy, match="thread/list was put 5 times"):
            server.result("thread/list", {})
    assert len(naps) == 4
    assert max(naps) <= 2.0


def test_a_refusal_of_the_server_is_told_in_its_words(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(
        answers={
            "thread/read": [{"error": {"code": -32600, "message": "thread not loaded: 1"}}],
            "hooks/list": [{"error": {"code": "odd"}}],
            "thread/loaded/list": [{"result": 3}],
        }
    )
    with AppServer(fake.program, timeout=PATIENCE) as server:
        with pytest.raises(StorageFailed, match=r"thread/read: thread not loaded: 1 \(-32600\)"):
            server.result("thread/read", {})
        with pytest.raises(StorageFailed, match="no reason given"):
            server.result("hooks/list", {})
        with pytest.raises(StorageFailed, match="without a result"):
            server.result("thread/loaded/list", {})
        assert server.ask("thread/read", {}).code == -32600


def test_an_exit_in_the_middle_of_a_call_fails_that_call_and_the_next_one_works(
    fake_codex: Callable[..., FakeCodex],
) -> None:
    fake = fake_codex(answers={"thread/list": [{"exit": 3, "saying": "thread 'main' panicked"}]})
    with AppServer(fake.program, timeout=PATIENCE) as server:
        with pytest.raises(
            StorageFailed, match=r"ended \(exit code 3\), saying \"thread 'main' panicked\".*thread/list"
        ):
            server.result("thread/list", {})
        assert server.result("hooks/list", {}) == {"data": []}
    assert fake.methods == ["initialize", "initialized", "thread/list", "initialize", "initialized", "hooks/list"]


def test_every_call_that_waits_fails_when_the_server_ends(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"thread/list": [{"silent": True}], "thread/read": [{"exit": 0}]})
    errors: list[BaseException] = []
    with AppServer(fake.program, timeout=PATIENCE) as server:

        def ask(method: str) -> None:
            try:
                server.result(method, {})
            except StorageFailed as error:
                errors.append(error)

        threads = [threading.Thread(target=ask, args=("thread/list",)) for _ in range(3)]
        for thread in threads:
            thread.start()
        while fake.methods.count("thread/list") < 3:
            time.sleep(0.01)
        ask("thread/read")
        for thread in threads:
            thread.join(PATIENCE)
    assert len(errors) == 4


def test_a_server_killed_between_two_calls_is_started_again(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex()
    with AppServer(fake.program, timeout=PATIENCE) as server:
        server.result("thread/list", {})
        first = server.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        wait_until_dead(first)
        assert server.result("thread/list", {}) == {"data": []}
        assert server.pid not in {None, first}
    assert fake.methods == ["initialize", "initialized", "thread/list"] * 2


def test_a_server_that_closed_its_input_is_replaced_at_once(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(close_stdin_after=3, answers={"thread/list": [{"result": {"data": ["mine"]}}]})
    with AppServer(fake.program, timeout=PATIENCE) as server:
        server.result("thread/list", {})
        assert server._connection is not None
        pipe = server._connection._process.stdin
        assert pipe is not None
        broken = select.poll()
        broken.register(pipe.fileno(), 0)
        assert broken.poll(PATIENCE * 1000), "the pipe did not break"
        assert server.result("thread/list", {}) == {"data": ["mine"]}
    assert fake.starts == 2


def test_a_failed_start_tells_why_and_is_not_remembered(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(failing_starts=1)
    with AppServer(fake.program, timeout=PATIENCE) as server:
        with pytest.raises(StorageFailed, match="error loading config: bad key"):
            server.result("thread/list", {})
        assert server.result("thread/list", {}) == {"data": []}


def test_a_server_that_refuses_the_handshake_is_not_kept(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"initialize": [{"error": {"code": -32600, "message": "too old"}}]})
    with AppServer(fake.program, timeout=PATIENCE) as server:
        with pytest.raises(StorageFailed, match=r"refused initialize: too old"):
            server.result("thread/list", {})
        assert server.pid is None
    assert fake.methods == ["initialize"]


def test_pages_are_followed_by_their_cursor(fake_codex: Callable[..., FakeCodex]) -> None:
    pages = [{"result": {"data": [n], "nextCursor": f"after {n}" if n < 3 else None}} for n in range(4)]
    fake = fake_codex(answers={"thread/list": pages})
    with AppServer(fake.program, timeout=PATIENCE) as server:
        assert list(server.pages("thread/list", {"limit": 1})) == [0, 1, 2, 3]
    asked = [request["params"] for request in fake.requests if request["method"] == "thread/list"]
    assert asked == [{"limit": 1}] + [{"limit": 1, "cursor": f"after {n}"} for n in range(3)]


def test_pages_that_go_round_in_a_circle_end(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"thread/list": [{"result": {"data": ["again"], "nextCursor": "same"}}]})
    with AppServer(fake.program, timeout=PATIENCE) as server:
        assert list(server.pages("thread/list", {})) == ["again", "again"]


def test_pages_without_an_end_are_capped(fake_codex: Callable[..., FakeCodex]) -> None:
    pages = [{"result": {"data": [n], "nextCursor": str(n)}} for n in range(20)]
    fake = fake_codex(answers={"thread/list": pages})
    with AppServer(fake.program, timeout=PATIENCE) as server:
        assert list(server.pages("thread/list", {}, most=5)) == [0, 1, 2, 3, 4]
    assert fake.methods.count("thread/list") == 5


def test_a_page_without_a_list_is_a_failure(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"thread/list": [{"result": {"threads": []}}]})
    with AppServer(fake.program, timeout=PATIENCE) as server:
        with pytest.raises(StorageFailed, match="without a list"):
            list(server.pages("thread/list", {}))


def test_closing_ends_a_server_that_does_not_want_to(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(stubborn=True)
    server = AppServer(fake.program, timeout=PATIENCE)
    server.result("thread/list", {})
    pid = server.pid
    assert pid is not None
    server.close()
    server.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_closing_frees_whoever_waits(fake_codex: Callable[..., FakeCodex]) -> None:
    fake = fake_codex(answers={"thread/list": [{"silent": True}]})
    server = AppServer(fake.program, timeout=PATIENCE)
    failures: list[StorageFailed] = []

    def ask() -> None:
        with pytest.raises(StorageFailed) as caught:
            server.result("thread/list", {})
        failures.append(caught.value)

    thread = threading.Thread(target=ask)
    thread.start()
    while "thread/list" not in fake.methods:
        time.sleep(0.01)
    server.close()
    thread.join(PATIENCE)
    assert len(failures) == 1
    with pytest.raises(UsageError, match="was closed"):
        server.result("thread/list", {})


def test_closing_a_server_that_never_ran_is_fine() -> None:
    AppServer("/nowhere/codex").close()


def test_a_launcher_and_the_program_behind_it_end_together(
    fake_codex: Callable[..., FakeCodex], tmp_path: Path
) -> None:
    fake = fake_codex(stubborn=True)
    launcher = tmp_path / "launcher"
    launcher.write_text(f"#!/bin/sh\n'{fake.program}' \"$@\"\nexit $?\n")
    launcher.chmod(0o755)
    with AppServer(str(launcher), timeout=PATIENCE) as server:
        server.result("thread/list", {})
        assert fake.is_running
    fake.wait_for_end(PATIENCE)


@pytest.mark.slow
def test_a_process_that_escaped_and_holds_the_output_open_does_not_hold_up_closing(
    fake_codex: Callable[..., FakeCodex], tmp_path: Path
) -> None:
    note = tmp_path / "stray"
    fake = fake_codex(stray=str(note))
    server = AppServer(fake.program, timeout=PATIENCE)
    server.result("thread/list", {})
    closing = threading.Thread(target=server.close)
    closing.start()
    try:
        closing.join(PATIENCE)
        assert not closing.is_alive()
    finally:
        os.kill(int(note.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("content", [None, "", "not a program"])
def test_what_cannot_be_started_is_nothing_there(tmp_path: Path, content: str | None) -> None:
    program = tmp_path / "codex"
    if content is not None:
        program.write_text(content)
        program.chmod(0o755 if content else 0o644)
    with AppServer(str(program), timeout=PATIENCE) as server:
        with pytest.raises(NothingThere, match="cannot be started") as caught:
            server.result("thread/list", {})
    assert "RESTANTE_CODEX" in caught.value.remedy


def test_nothing_runs_through_a_shell(fake_codex: Callable[..., FakeCodex], tmp_path: Path) -> None:
    odd = tmp_path / "a; touch pwned $(touch pwned) 'b"
    odd.mkdir()
    fake = fake_codex()
    os.rename(fake.program, odd / "codex")
    with AppServer(str(odd / "codex"), timeout=PATIENCE) as server:
        assert server.result("thread/list", {}) == {"data": []}
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize(
    "method",
    ["turn/start", "turn/steer", "thread/inject_items", "thread/queue/add", "config/batchWrite", "initialize", ""],
)
def test_what_is_no_question_is_refused_before_anything_starts(
    fake_codex: Callable[..., FakeCodex], method: str
) -> None:
    fake = fake_codex()
    with AppServer(fake.program, timeout=PATIENCE) as server:
        with pytest.raises(Refused, match="read-only"):
            server.ask(method, {})
        with pytest.raises(Refused, match="read-only"):
            list(server.pages(method))
    assert fake.starts == 0


def program(at: Path) -> str:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text("#!/bin/sh\n")
    at.chmod(0o755)
    return str(at)


def test_the_program_is_looked_for_in_order(tmp_path: Path) -> None:
    named = program(tmp_path / "named" / "my-codex")
    by_env = program(tmp_path / "env" / "codex")
    on_path = program(tmp_path / "bin" / "codex")
    at_home = program(tmp_path / "home" / ".local" / "bin" / "codex")
    environ = {"HOME": str(tmp_path / "home"), "PATH": f"/nowhere:{tmp_path / 'bin'}", "RESTANTE_CODEX": by_env}
    assert find_codex(named, environ) == named
    assert find_codex("", environ) == by_env
    del environ["RESTANTE_CODEX"]
    assert find_codex("", environ) == on_path
    assert find_codex("", environ | {"PATH": "/nowhere"}) == at_home
    assert find_codex("codex", environ) == on_path
    assert find_codex("~/.local/bin/codex", environ) == at_home


def test_a_link_to_the_program_is_taken_as_it_is(tmp_path: Path) -> None:
    real = program(tmp_path / "lib" / "codex.js")
    link = tmp_path / "bin" / "codex"
    link.parent.mkdir()
    link.symlink_to(real)
    assert find_codex("", {"PATH": str(link.parent)}) == str(link)


def test_a_program_in_the_current_directory_is_not_run_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "codex")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", ":/nowhere", "./:relative"):
        with pytest.raises(NothingThere):
            find_codex("", {"PATH": path}, stable=())
    assert find_codex("./codex", {"PATH": ""}) == os.path.join(tmp_path, "./codex")


@pytest.mark.parametrize(("explicit", "environ"), [("/nowhere/codex", {}), ("", {"RESTANTE_CODEX": "/nowhere/codex"})])
def test_a_program_that_was_named_and_is_not_there_is_not_replaced_by_another(
    tmp_path: Path, explicit: str, environ: dict[str, str]
) -> None:
    program(tmp_path / "codex")
    with pytest.raises(NothingThere, match="/nowhere/codex"):
        find_codex(explicit, environ | {"PATH": str(tmp_path)})


def test_no_program_at_all_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "codex").write_text("not executable")
    with pytest.raises(NothingThere) as caught:
        find_codex("", {"PATH": str(tmp_path)}, stable=(str(tmp_path / "sub"),))
    assert "RESTANTE_CODEX" in caught.value.remedy
