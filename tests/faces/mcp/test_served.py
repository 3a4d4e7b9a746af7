"""The tools on the running server, at the wire: what is refused, who nobody becomes, what is not paid for."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.faces.http.api import eventually, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.http.api import Answer, Api, Running

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("data"), RESTANTE_SERVER_RATE="100000") as one:
        one.api()
        yield one


@pytest.fixture
def api(server: Running) -> Api:
    return server.api()


def ask(api: Api, method: str, params: Any = None, **headers: str) -> Answer:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return _at_mcp(api, "POST", json.dumps(body).encode(), {**HEADERS, **named})


def _at_mcp(api: Api, method: str, body: bytes, headers: dict[str, str]) -> Answer:
    import http.client

    from tests.faces.http.api import PATIENCE, Answer

    connection = http.client.HTTPConnection(api.host, api.port, timeout=PATIENCE)
    try:
        connection.request(method, "/mcp", body, headers)
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    finally:
        connection.close()


def told(answer: Answer) -> Any:
    assert answer.status == 200, answer
    (line,) = [line for line in answer.body.splitlines() if line.startswith(b"data: {")]
    return json.loads(line.removeprefix(b"data: "))


def use(api: Api, tool: str, headers: dict[str, str], **arguments: Any) -> str:
    answer = told(ask(api, "tools/call", {"name": tool, "arguments": arguments}, **headers))
    return str(answer["result"]["content"][0]["text"])


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "file://"}]
)
def test_pages_and_names_of_others_are_refused_as_by_every_route(api: Api, headers: dict[str, str]) -> None:
    answer = ask(api, "ping", **headers)
    assert (answer.status, answer.document["code"]) == (403, "forbidden")


def test_only_a_post_asks_anything(api: Api) -> None:
    for method in ("GET", "DELETE", "PUT"):
        answer = _at_mcp(api, method, b"", HEADERS)
        assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_a_body_over_the_limit_is_refused(api: Api) -> None:
    assert ask(api, "ping", {"much": "x" * 2_000_000}).status == 413


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"jsonrpc":"2.0"}', b"\xff" * 40])
def test_what_is_no_message_is_refused_and_the_next_one_answered(api: Api, body: bytes) -> None:
    assert 400 <= _at_mcp(api, "POST", body, HEADERS).status < 500
    assert told(ask(api, "ping"))["result"] == {}


def test_a_persons_token_lets_in_and_makes_no_person(server: Running, api: Api) -> None:
    bob = api.actor("")
    sent = use(api, "send", server.person(), to=bob.id, text="I am the person, believe me.")
    assert "sent as: user (unverified)" in sent
    assert "no mailbox is yours" in use(api, "wait", server.person(), seconds=1)


def test_whom_nothing_proves_may_write_and_has_no_mailbox(api: Api) -> None:
    bob = api.actor("")
    assert "sent as: user (unverified)" in use(api, "send", {}, to=bob.id, text="hello")
    for tool, arguments in (("inbox", {}), ("ack", {"ids": ["msg"]}), ("reply", {"id": "msg", "text": "x"})):
        assert "no mailbox is yours" in use(api, tool, {}, **arguments)


def test_where_there_are_accounts_every_request_needs_a_proof(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        api = server.api()
        assert api.ask("POST", "/accounts", {"name": "ann", "password": "correct horse"}, server.person()).status == 200
        answer = ask(api, "ping")
        assert (answer.status, answer.document["code"]) == (401, "unauthorized")
        assert "www-authenticate" in answer.headers
        wrong = ask(api, "tools/call", {"name": "who", "arguments": {}}, Authorization="Bearer " + "0" * 64)
        assert "what was shown proves nothing" in told(wrong)["result"]["content"][0]["text"]


def test_a_server_that_nobody_asks_for_tools_does_not_load_them() -> None:
    script = "import sys; import restante.faces.http.serve; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert {"mcp", "mcp_types", "pydantic", "restante.faces.mcp"}.isdisjoint(done.stdout.split())


def test_without_the_library_the_answer_names_the_extra(tmp_path: Path) -> None:
    script = (
        "import importlib.util as util, sys\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'mcp' else find(name, *more)\n"
        "from restante.faces.http.serve import main\n"
        "import os; sys.exit(main(['--port', '0'], os.environ))"
    )
    from tests.faces.http.api import Running

    server = Running.__new__(Running)
    server_init(server, tmp_path, script)
    try:
        answer = ask(server.api(), "ping")
        assert (answer.status, answer.document["code"]) == (409, "refused")
        assert "restante[mcp]" in answer.document["remedy"]
    finally:
        server.stop()


def server_init(server: Running, data: Path, script: str) -> None:
    """Start a server by a script of its own."""
    import os
    import threading

    server.data = data
    server.process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={"HOME": str(data), "PATH": os.environ["PATH"], "RESTANTE_DATA": str(data)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    server.log, server.words = [], []
    server._heard = threading.Condition()
    server._reader = threading.Thread(target=server._listen, daemon=True)
    server._reader.start()


def test_whoever_vanishes_while_it_waits_waits_no_more_and_has_seen_nothing(api: Api) -> None:
    alice, bob = api.actor(""), api.actor("")
    params = {"name": "wait", "arguments": {"seconds": 90}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {"Host": "localhost", **HEADERS, **alice.proof, "Content-Length": str(len(body))}
    head = "POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
    with api.connect() as client:
        client.sendall(head.encode() + body)
        eventually(lambda: alice.counts()["parked"], "it waits")
    eventually(lambda: not alice.counts()["parked"], "it waits no more")
    bob.post(alice, "Too late.")
    assert alice.counts()["unseen"] == 1
