"""Each way to wake against a stand-in of its program: what is started or sent, and what counts as having arrived."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shlex
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from restante.agents.wake.claude_socket import ClaudeSocket
from restante.agents.wake.codex_queue import CodexQueue
from restante.agents.wake.codex_socket import CodexSocket
from restante.agents.wake.codex_wire import Wire
from restante.agents.wake.command import OwnCommand
from restante.agents.wake.gemini import Gemini
from restante.agents.wake.notify import Notify
from restante.agents.wake.opencode import Opencode
from restante.agents.wake.running import Ran, last_line, start
from restante.agents.wake.scheduled import Scheduled
from restante.domain.errors import Refused
from restante.domain.monitor import Target, Wake
from restante.domain.registry import Presence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

THREAD = "01a22e4e-7aa0-73f0-998f-b243909231f4"
TEXT = "Mail waits for team/alice. Run: restante inbox"
QUEUE = "CREATE TABLE IF NOT EXISTS queued_items (id TEXT, thread_id TEXT, payload_json TEXT, queue_order INT)"


def target(session: str = THREAD, nonce: str = "a1b2") -> Target:
    return Target(session, "codex", "/somewhere", "team/alice", 7, 2, nonce)


# -- Codex: the queue -----------------------------------------------------------------------------------------


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A directory with a short name: the path of a socket may have no more than some hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="rw-", dir="/tmp") as place:
        yield Path(place)


class FakeCodex:
    """A program that queues as Codex does, and takes what is queued or not."""

    def __init__(self, place: Path, *, takes: bool, code: int = 0) -> None:
        self.home, self.log = place / "codex-home", place / "log"
        self.home.mkdir()
        program = place / "codex"
        self.database = self.home / "queue_1.sqlite"
        with closing(sqlite3.connect(self.database)) as database:
            database.execute(QUEUE)
        put = f"INSERT INTO queued_items VALUES ('item-1', '{THREAD}', '[restante:a1b2] x', 0)"
        (place / "put.py").write_text(
            f"import sqlite3\nd = sqlite3.connect({str(self.database)!r})\nd.execute({put!r})\nd.commit()\n"
        )
        lines = [
            "#!/bin/sh",
            f'printf "%s\\n" "$@" "$CODEX_HOME" >>{shlex.quote(str(self.log))}',
            ":" if takes else shlex.join([sys.executable, str(place / "put.py")]),
            "echo 'no rollout found' >&2" if code else f"echo 'Queued message item-1 for thread {THREAD}.'",
            f"exit {code}",
        ]
        program.write_text("\n".join(lines) + "\n")
        program.chmod(0o755)
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(place),
            "CODEX_HOME": str(self.home),
            "RESTANTE_CODEX": str(program),
        }

    def waker(self, presence: Presence = Presence.ALIVE) -> CodexQueue:
        return CodexQueue(self.environment, lambda _: presence, patience=0.5)

    @property
    def words(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


def test_codex_is_asked_to_queue_and_a_message_that_was_taken_is_a_wake_that_arrived(tmp_path: Path) -> None:
    codex = FakeCodex(tmp_path, takes=True)
    woken = codex.waker().wake(target(), TEXT)
    assert (woken.wake, woken.receipt) == (Wake.CONFIRMED, "item-1")
    assert codex.words == ["queue", "--thread", THREAD, "--message", f"[restante:a1b2] {TEXT}", str(codex.home)]


def test_a_message_that_nobody_takes_is_unconfirmed_and_is_never_queued_a_second_time(tmp_path: Path) -> None:
    codex = FakeCodex(tmp_path, takes=False)
    for nonce in ("a1b2", "c3d4"):
        woken = codex.waker().wake(target(nonce=nonce), TEXT)
        assert (woken.wake, "has not taken it" in woken.reason) == (Wake.UNCONFIRMED, True)
    assert codex.words.count("queue") == 1
    with closing(sqlite3.connect(codex.database)) as database:
        database.execute("DELETE FROM queued_items")
        database.commit()


def test_the_threads_own_file_proves_a_wake_where_the_queue_cannot_be_read(tmp_path: Path) -> None:
    codex = FakeCodex(tmp_path, takes=True)
    codex.database.unlink()
    assert codex.waker().wake(target(), TEXT).wake is Wake.UNCONFIRMED
    place = codex.home / "sessions" / "2026" / "11" / "30"
    place.mkdir(parents=True)
    (place / f"rollout-2026-11-30T00-00-00-{THREAD}.jsonl").write_text('{"text":"[restante:a1b2] Mail"}\n')
    assert codex.waker().wake(target(), TEXT).wake is Wake.CONFIRMED


def test_149_nothing_is_started_for_a_thread_whose_process_is_not_proven_to_live(tmp_path: Path) -> None:
    codex = FakeCodex(tmp_path, takes=True)
    for presence in (Presence.GONE, Presence.DETACHED, Presence.UNKNOWN):
        assert codex.waker(presence).wake(target(), TEXT).wake is Wake.IMPOSSIBLE
    for session in ("--help", "the name of a thread", "", f"{THREAD}; reboot"):
        assert codex.waker().wake(target(session), TEXT).wake is Wake.IMPOSSIBLE
    assert codex.words == []


def test_a_refusal_of_codex_is_told_with_the_home_that_was_asked(tmp_path: Path) -> None:
    codex = FakeCodex(tmp_path, takes=True, code=1)
    woken = codex.waker().wake(target(), TEXT)
    assert woken.wake is Wake.UNCONFIRMED
    assert str(codex.home) in woken.reason
    assert "no rollout found" in woken.reason


# -- Codex: the control socket --------------------------------------------------------------------------------


class FakeServer:
    """Speaks as the App Server does on its control socket, and writes down what is asked."""

    def __init__(self, home: Path, answers: dict[str, Any]) -> None:
        place = home / "app-server-control"
        place.mkdir(parents=True)
        self.asked: list[tuple[str, Any]] = []
        self._answers = answers
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place / "app-server-control.sock"))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as file:
                key = b""
                while line := file.readline().strip():
                    if line.lower().startswith(b"sec-websocket-key:"):
                        key = line.partition(b":")[2].strip()
                proof = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
                head = (
                    f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {proof}\r\n\r\n"
                )
                connection.sendall(head.encode())
                self._talk(connection, file)

    def _talk(self, connection: socket.socket, file: Any) -> None:
        while len(head := file.read(2)) == 2:
            size = head[1] & 127
            if size == 126:
                (size,) = struct.unpack(">H", file.read(2))
            mask, data = file.read(4), file.read(size)
            message = json.loads(bytes(one ^ mask[at % 4] for at, one in enumerate(data)))
            self.asked.append((message["method"], message.get("params")))
            if "id" not in message:
                continue
            # A notification, a ping and an answer in two pieces, as a server may send them.
            self._send(connection, 0x81, json.dumps({"method": "thread/status/changed", "params": {}}).encode())
            self._send(connection, 0x89, b"ping")
            answer = json.dumps({"id": message["id"], **self._answers[message["method"]]}).encode()
            self._send(connection, 0x01, answer[:5])
            self._send(connection, 0x80, answer[5:])
            pong = file.read(2 + 4 + 4)
            assert pong[0] == 0x8A

    def _send(self, connection: socket.socket, first: int, data: bytes) -> None:
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
        connection.sendall(bytes([first]) + size + data)


ANSWERS: dict[str, Any] = {
    "initialize": {"result": {"userAgent": "codex"}},
    "thread/loaded/list": {"result": {"data": [THREAD]}},
    "turn/start": {"result": {"turn": {"id": "turn-1"}}},
}


@contextmanager
def app_server(home: Path, **answers: Any) -> Iterator[FakeServer]:
    made = FakeServer(home, {**ANSWERS, **answers})
    try:
        yield made
    finally:
        made.close()


def test_by_name_a_turn_is_started_through_the_control_socket(tmp_path: Path) -> None:
    with app_server(tmp_path) as server:
        woken = CodexSocket({"CODEX_HOME": str(tmp_path)}).wake(target(), TEXT)
        assert (woken.wake, woken.receipt) == (Wake.CONFIRMED, "turn-1")
    assert [method for method, _ in server.asked] == ["initialize", "initialized", "thread/loaded/list", "turn/start"]
    assert server.asked[3][1] == {
        "threadId": THREAD,
        "input": [{"type": "text", "text": TEXT, "text_elements": []}],
        "clientUserMessageId": "a1b2",
    }


def test_no_turn_is_started_of_a_thread_that_no_terminal_has_open(tmp_path: Path) -> None:
    with app_server(tmp_path, **{"thread/loaded/list": {"result": {"data": []}}}) as server:
        assert CodexSocket({"CODEX_HOME": str(tmp_path)}).wake(target(), TEXT).wake is Wake.IMPOSSIBLE
    assert "turn/start" not in [method for method, _ in server.asked]


def test_a_refusal_of_the_server_is_no_wake(tmp_path: Path) -> None:
    with app_server(tmp_path, **{"turn/start": {"error": {"code": -32600, "message": "thread not found"}}}):
        woken = CodexSocket({"CODEX_HOME": str(tmp_path)}).wake(target(), TEXT)
    assert (woken.wake, "thread not found" in woken.reason) == (Wake.UNCONFIRMED, True)
    assert CodexSocket({"CODEX_HOME": str(tmp_path / "none")}).wake(target(), TEXT).wake is Wake.IMPOSSIBLE


@pytest.mark.parametrize("method", ["turn/steer", "thread/inject_items", "thread/resume", "turn/interrupt", "x"])
def test_the_client_that_starts_turns_sends_no_other_method(tmp_path: Path, method: str) -> None:
    with app_server(tmp_path) as server:
        wire = Wire(str(tmp_path / "app-server-control" / "app-server-control.sock"), 5.0)
        with pytest.raises(Refused):
            wire.ask(method, {})
        wire.close()
    assert [method for method, _ in server.asked] == ["initialize", "initialized"]


# -- Claude Code: the inbox socket ----------------------------------------------------------------------------


@contextmanager
def inbox(tmp_path: Path, session: str) -> Iterator[list[bytes]]:
    """The inbox socket of a session, and its record."""
    got: list[bytes] = []
    path = tmp_path / "1.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    (tmp_path / "sessions").mkdir()
    record = {"pid": 1, "sessionId": session, "messagingSocketPath": str(path)}
    (tmp_path / "sessions" / "1.json").write_text(json.dumps(record))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as file:
            got.append(file.read())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield got
    thread.join(5)
    listener.close()


def test_by_name_a_message_is_sent_that_claims_no_permission_mode(tmp_path: Path) -> None:
    transcript = tmp_path / "projects" / "-repo"
    transcript.mkdir(parents=True)
    (transcript / f"{THREAD}.jsonl").write_text('{"content":"[restante:a1b2] Mail waits"}\n')
    with inbox(tmp_path, THREAD) as got:
        woken = ClaudeSocket({"CLAUDE_CONFIG_DIR": str(tmp_path)}, patience=2.0).wake(target(), TEXT)
    assert (woken.wake, woken.receipt) == (Wake.CONFIRMED, "a1b2")
    (line,) = got
    assert json.loads(line) == {"type": "user", "message": {"role": "user", "content": f"[restante:a1b2] {TEXT}"}}
    assert line.endswith(b"\n")


def test_a_message_that_the_session_does_not_show_is_unconfirmed(tmp_path: Path) -> None:
    with inbox(tmp_path, THREAD):
        woken = ClaudeSocket({"CLAUDE_CONFIG_DIR": str(tmp_path)}, patience=0.2).wake(target(), TEXT)
    assert (woken.wake, "held" in woken.reason) == (Wake.UNCONFIRMED, True)
    other = ClaudeSocket({"CLAUDE_CONFIG_DIR": str(tmp_path)}).wake(target("another-session"), TEXT)
    assert other.wake is Wake.IMPOSSIBLE


# -- opencode -------------------------------------------------------------------------------------------------


@contextmanager
def opencode(status: int) -> Iterator[tuple[str, list[tuple[str, str, Any, str | None]]]]:
    asked: list[tuple[str, str, Any, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append((self.command, self.path, body, self.headers["authorization"]))
            self.send_response(status)
            self.end_headers()

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.mark.parametrize(("status", "wake"), [(204, Wake.CONFIRMED), (404, Wake.IMPOSSIBLE), (500, Wake.UNCONFIRMED)])
def test_opencode_is_asked_for_a_turn_of_the_session(status: int, wake: Wake) -> None:
    with opencode(status) as (url, asked):
        woken = Opencode(url, {"OPENCODE_SERVER_PASSWORD": "pw"}).wake(target("ses_1"), TEXT)
    assert woken.wake is wake
    proof = "Basic " + base64.b64encode(b"opencode:pw").decode()
    assert asked == [("POST", "/session/ses_1/prompt_async", {"parts": [{"type": "text", "text": TEXT}]}, proof)]


@pytest.mark.parametrize(
    "url", ["", "http://example.org:4096", "https://127.0.0.1:1", "http://127.0.0.1", "file:///x", "http://["]
)
def test_opencode_is_asked_on_this_machine_only(url: str) -> None:
    assert Opencode(url, {}).wake(target("ses_1"), TEXT).wake is Wake.IMPOSSIBLE
    assert Opencode("http://127.0.0.1:1", {}).wake(target("../x"), TEXT).wake is Wake.IMPOSSIBLE
    assert Opencode("http://127.0.0.1:1", {}).wake(target("ses_1"), TEXT).wake is Wake.UNCONFIRMED


# -- the others -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("waker", [Gemini(), Scheduled()], ids=lambda one: one.name)
def test_a3_where_there_is_no_way_it_says_so_and_does_nothing(waker: Gemini | Scheduled) -> None:
    woken = waker.wake(target(), TEXT)
    assert woken.wake is Wake.IMPOSSIBLE
    assert woken.reason == waker.can_wake(target()) != ""


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_persons_command_gets_numbers_and_names_by_its_environment_and_no_text(tmp_path: Path) -> None:
    program = script(tmp_path / "mine", f'printf "%s|" "$@" >{tmp_path}/words; env >{tmp_path}/env')
    waker = OwnCommand(json.dumps([program, "a b", "$HOME"]), {"PATH": "/bin:/usr/bin"})
    assert waker.wake(target(), TEXT).wake is Wake.CONFIRMED
    assert (tmp_path / "words").read_text() == "a b|$HOME|"
    told = (tmp_path / "env").read_text().splitlines()
    assert {one for one in told if one.startswith("RESTANTE")} == {
        "RESTANTE_MAILBOX=team/alice",
        "RESTANTE_MARK=7",
        "RESTANTE_UNSEEN=2",
        f"RESTANTE_SESSION={THREAD}",
    }


@pytest.mark.parametrize("words", ["", "true", '"true"', "[]", '["true"]', "[1]", '["/nowhere/at/all"]', "[" * 5000])
def test_a_command_that_is_no_list_of_words_is_not_run(words: str) -> None:
    assert OwnCommand(words, {}).wake(target(), TEXT).wake is Wake.IMPOSSIBLE


def test_a_command_that_fails_is_no_wake(tmp_path: Path) -> None:
    woken = OwnCommand(json.dumps([script(tmp_path / "mine", "exit 3")]), {}).wake(target(), TEXT)
    assert (woken.wake, "exit code 3" in woken.reason) == (Wake.UNCONFIRMED, True)


def test_a_notification_is_an_argument_of_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    script(tmp_path / "notify-send", f'printf "%s|" "$@" >{tmp_path}/words')
    waker = Notify({"PATH": f"relative:{tmp_path}:/bin"})
    assert waker.wake(target(), TEXT).wake is Wake.CONFIRMED
    assert (tmp_path / "words").read_text() == f"--app-name=Restante|--|Restante|{TEXT}|"
    assert Notify({"PATH": "/nowhere"}).wake(target(), TEXT).wake is Wake.IMPOSSIBLE


def test_a_process_is_started_only_with_the_words_that_are_allowed(tmp_path: Path) -> None:
    program = script(tmp_path / "codex", f"touch {tmp_path}/started")
    for words in (["exec", "resume"], ["queue"], ["queue", "--resume"]):
        with pytest.raises(Refused):
            start(("queue", "--thread"), program, words, {}, 5.0)
    assert not (tmp_path / "started").exists()


def test_a_process_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    program = script(tmp_path / "hangs", f"sleep 600 & echo $! >{tmp_path}/child; wait")
    ran = start((), program, [], {"PATH": "/bin:/usr/bin"}, 0.5)
    assert ran.code is None
    assert "did not end" in ran.said
    child = int((tmp_path / "child").read_text())
    assert gone(lambda: os.kill(child, 0))


@pytest.mark.parametrize(("ending", "code"), [("exit 3", 3), ("sleep 600", None)])
def test_a_process_is_not_waited_for_because_of_what_it_leaves_behind(
    tmp_path: Path, ending: str, code: int | None
) -> None:
    # The child is in no group that is ended, and holds the output open.
    program = script(tmp_path / "leaves", f"setsid sleep 600 & echo $! >{tmp_path}/child; {ending}")
    told: list[Ran] = []
    running = threading.Thread(
        target=lambda: told.append(start((), program, [], {"PATH": "/bin:/usr/bin"}, 2.0)), daemon=True
    )
    running.start()
    running.join(20)
    os.kill(int((tmp_path / "child").read_text()), 9)
    assert [one.code for one in told] == [code]


def test_of_a_process_that_speaks_without_end_only_the_end_is_kept(tmp_path: Path) -> None:
    most = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))"
    program = script(tmp_path / "speaks", "exec yes")
    given = f"(), {program!r}, [], {{'PATH': '/bin:/usr/bin'}}, 3.0"
    act = f"{most}; from restante.agents.wake.running import start; print(start({given}))"
    done = subprocess.run([sys.executable, "-c", act], capture_output=True, text=True, timeout=60)
    assert "did not end within 3 s" in done.stdout, done.stderr


def test_the_end_of_what_a_process_said_is_kept(tmp_path: Path) -> None:
    program = script(tmp_path / "speaks", "head -c 300000 /dev/zero | tr '\\0' x; echo; echo why >&2; exit 4")
    ran = start((), program, [], {"PATH": "/bin:/usr/bin"}, 20.0)
    assert (ran.code, last_line(ran.said), len(ran.said)) == (4, "why", 1999)


def gone(ask: Callable[[], None]) -> bool:
    import time

    for _ in range(100):
        try:
            ask()
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
