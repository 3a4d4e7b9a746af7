"""MCP over standard input and output: the protocol, line by line."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.faces.http.api import eventually
from tests.faces.mcp.program import COMMAND

from restante.faces.mcp.stdio import serve
from restante.faces.mcp.tools import TOOLS, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faces.mcp.program import Ground, Program

    Start = Callable[..., Program]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_of_the_handshake_is_taken(program: Start, version: str) -> None:
    answer = program().ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})
    assert answer["protocolVersion"] == version
    assert answer["serverInfo"]["name"] == "restante"
    assert set(answer["capabilities"]) == {"tools", "resources"}
    assert len(answer["instructions"]) < 600


def test_a_version_that_nobody_knows_is_answered_with_the_newest(program: Start) -> None:
    assert program().ask("initialize", {"protocolVersion": "2039-01-01"})["protocolVersion"] == "2025-11-25"


def test_a_program_that_asks_for_a_newer_way_first_falls_back(program: Start) -> None:
    one = program()
    meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    assert one.refused("server/discover", meta) == -32601
    assert one.ask("initialize", {"protocolVersion": "2025-11-25"})["protocolVersion"] == "2025-11-25"


def test_models_are_told_of_six_tools_in_at_most_five_kilobytes(program: Start) -> None:
    answer = program().ask("tools/list")
    assert [one["name"] for one in answer["tools"]] == ["inbox", "ack", "reply", "send", "who", "wait"]
    assert len(json.dumps(answer)) <= 5 * 1024


def test_no_argument_of_any_tool_says_who_calls() -> None:
    names = {name for tool in TOOLS for name in tool["inputSchema"]["properties"]}
    assert names.isdisjoint({"session", "from", "sender", "as", "agent", "caller", "secret", "token"})


def test_a_ping_and_an_unknown_method(program: Start) -> None:
    one = program()
    assert one.ask("ping") == {}
    assert one.refused("prompts/list") == -32601
    assert one.refused("tools/call", {"name": "exec", "arguments": {}}) == -32602
    assert one.refused("tools/call", {"name": "who", "arguments": []}) == -32602


def test_several_messages_in_one_line_are_answered_in_one_line(program: Start) -> None:
    one = program()
    asked = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in ("a", "b")]
    one.write(json.dumps([*asked, {"jsonrpc": "2.0", "method": "notifications/initialized"}]).encode() + b"\n")
    assert [answer["id"] for answer in one.line()] == ["a", "b"]


def test_the_server_ends_with_its_input(program: Start) -> None:
    one = program()
    assert one.ask("ping") == {}
    assert one.end() == 0


def test_a_message_that_is_too_long_is_refused_and_the_next_one_answered(program: Start) -> None:
    one = program()
    one.write(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (9 * 1024 * 1024) + b'"}\n')
    assert one.line()["error"]["code"] == -32600
    assert one.ask("ping") == {}


def test_an_argument_that_is_wrong_is_told_to_the_model_with_the_way_out(program: Start) -> None:
    one = program()
    assert "there are: ids, peek" in one.use("inbox", fails=True, sesion="x")
    assert "text is missing" in one.use("send", fails=True, to="worker")
    assert "seconds" in one.use("wait", fails=True, seconds="long")


def test_a_fault_of_the_worktree_is_an_answer_and_no_end(program: Start, ground: Ground) -> None:
    (ground.root / ".codex-mailbox").symlink_to(ground.data)
    one = program()
    assert "symbolic link" in one.use("inbox", fails=True)
    assert one.ask("ping") == {}


def test_nothing_but_json_is_loaded_before_a_tool_is_called() -> None:
    script = (
        "import io, sys; from restante.faces.mcp.stdio import serve\n"
        'asked = b\'\'.join(b\'{"jsonrpc":"2.0","id":1,"method":"%s"}\\n\' % one for one in '
        "(b'initialize', b'tools/list', b'resources/list', b'ping'))\n"
        "serve(io.BytesIO(asked), sys.stdout.buffer, {})\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 4
    loaded = set(done.stderr.split())
    ours = {one for one in loaded if one.startswith("restante.")}
    assert ours <= {"restante.faces", "restante.faces.mcp", "restante.faces.mcp.stdio", "restante.faces.mcp.tools"}
    assert loaded.isdisjoint({"mcp", "asyncio", "threading", "sqlite3", "argparse", "pydantic", "logging"})


ID = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.lists(st.none())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
METHODS = ("initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "nope", "")
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0"]) | JSON,
        "id": ID,
        "method": st.sampled_from(METHODS) | JSON,
        "params": JSON | st.fixed_dictionaries({}, optional=dict.fromkeys(("name", "arguments", "uri", "_meta"), JSON)),
        "result": JSON,
    },
)
LINE = (
    st.binary(max_size=60).map(lambda data: data.replace(b"\n", b" "))
    | JSON.map(lambda value: json.dumps(value).encode())
    | MESSAGE.map(lambda value: json.dumps(value).encode())
    | st.lists(MESSAGE, max_size=3).map(lambda value: json.dumps(value).encode())
    | st.just(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}')
    | st.just(b"[" * 5000)
)


@given(st.lists(LINE, max_size=6))
def test_whatever_comes_every_line_of_the_answer_is_json_rpc_and_the_next_question_is_answered(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    place = tmp_path_factory.getbasetemp() / "nowhere"
    place.mkdir(exist_ok=True)
    out = io.BytesIO()
    asked = b"\n".join([*lines, b'{"jsonrpc":"2.0","id":"last","method":"ping"}', b""])
    serve(io.BytesIO(asked), out, {"RESTANTE_DATA": str(place / "data"), "HOME": str(place), "PATH": ""})
    said: list[Any] = [json.loads(line) for line in out.getvalue().splitlines()]
    for message in (one for answer in said for one in (answer if isinstance(answer, list) else [answer])):
        assert message["jsonrpc"] == "2.0"
        assert ("result" in message) != ("error" in message)
        assert isinstance(message["id"], str | int | None)
    assert said[-1] == {"jsonrpc": "2.0", "id": "last", "result": {}}


def test_a_wait_says_that_it_goes_on_and_other_questions_are_answered_meanwhile(program: Start, ground: Ground) -> None:
    ground.register("aaaaaaaa-1", "alice")
    ground.register("bbbbbbbb-1", "bob")
    one = program()
    meta = {"threadId": "aaaaaaaa-1", "progressToken": "p1"}
    waiting = one.begin("tools/call", {"name": "wait", "arguments": {"seconds": 60}, "_meta": meta})
    assert one.ask("ping") == {}
    from restante import Draft

    time.sleep(0.2)
    ground.window("bbbbbbbb-1").post("alice", Draft("The parser is done: token-51c8."))
    told = one.answer(waiting)["result"]["content"][0]["text"]
    assert "token-51c8" in told
    progress = [note for note in one.notes if note.get("method") == "notifications/progress"]
    assert progress[0]["params"]["progressToken"] == "p1"
    assert one.ask("ping") == {}
    eventually(lambda: ground.window("aaaaaaaa-1").read().counts.unseen == 0, "the mail is seen")


def test_a_wait_that_is_taken_back_is_not_answered_and_marks_nothing(program: Start, ground: Ground) -> None:
    ground.register("aaaaaaaa-1", "alice")
    ground.register("bbbbbbbb-1", "bob")
    one = program()
    meta = {"threadId": "aaaaaaaa-1"}
    waiting = one.begin("tools/call", {"name": "wait", "arguments": {"seconds": 3}, "_meta": meta})
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}}
    one.write(json.dumps(cancelled).encode() + b"\n")
    assert one.ask("ping") == {}
    from restante import Draft

    ground.window("bbbbbbbb-1").post("alice", Draft("Too late."))
    time.sleep(4)
    assert one.ask("ping") == {}
    assert not [note for note in one.notes if note.get("id") == waiting]
    assert ground.window("aaaaaaaa-1").read().counts.unseen == 1


def test_a_program_lets_only_so_many_calls_wait_and_none_twice_under_one_id(program: Start, ground: Ground) -> None:
    ground.register("aaaaaaaa-1", "alice")
    one = program()
    call = {"name": "wait", "arguments": {"seconds": 60}, "_meta": {"threadId": "aaaaaaaa-1"}}
    waiting = [one.begin("tools/call", call) for _ in range(4)]
    refused = one.answer(one.begin("tools/call", call))["result"]
    assert (refused["isError"], "4 waits go on already" in refused["content"][0]["text"]) == (True, True)
    again = {"jsonrpc": "2.0", "id": waiting[0], "method": "tools/call", "params": call}
    one.write(json.dumps(again).encode() + b"\n")
    assert one.answer(waiting[0])["error"]["message"] == "a call of this id waits already"
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting[1]}}
    one.write(json.dumps(cancelled).encode() + b"\n")
    assert one.ask("ping") == {}
    one.begin("tools/call", call)
    assert one.ask("ping") == {}
    assert not [note for note in one.notes if note.get("id") in waiting]


def test_an_answer_that_could_not_be_handed_over_marks_nothing(ground: Ground) -> None:
    from restante import Draft

    class Broken(io.BytesIO):
        def write(self, _: Any) -> int:
            raise BrokenPipeError

    ground.office.send(Draft("Mind the tests."))
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "inbox", "arguments": {}}}
    asked["params"]["_meta"] = {"threadId": "aaaaaaaa-1"}  # type: ignore[index]
    import os

    before = os.getcwd()
    os.chdir(ground.root)
    try:
        serve(io.BytesIO(json.dumps(asked).encode() + b"\n"), Broken(), ground.environment)
        assert ground.office.counts().unseen == 1
        serve(io.BytesIO(json.dumps(asked).encode() + b"\n"), io.BytesIO(), ground.environment)
        assert ground.office.counts().unseen == 0
    finally:
        os.chdir(before)


def test_the_command_line_starts_it_too_where_more_is_said(ground: Ground) -> None:
    asked = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    command = [*COMMAND[:-1], "-C", str(ground.root), "mcp"]
    done = subprocess.run(command, input=asked, env=ground.environment, capture_output=True, check=True)
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    for words, code in ((("mcp", "--help"), 0), (("mcp", "nonsense"), 2)):
        told = subprocess.run([*COMMAND[:-1], *words], env=ground.environment, capture_output=True, check=False)
        assert told.returncode == code
        assert b"MCP" in told.stdout or b"nonsense" in told.stderr
