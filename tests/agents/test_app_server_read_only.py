"""That nothing but the allowlist can leave, whoever asks: shown at the one place where bytes leave."""

from __future__ import annotations

import ast
import enum
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import restante.agents
from restante.agents import app_server, app_server_pipe
from restante.agents.app_server import AppServer
from restante.agents.app_server_pipe import ALLOWED, Connection, Lines, _write
from restante.domain.errors import Refused, TimedOut, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.agents.conftest import FakeCodex

PATIENCE = 30.0
SOURCES = sorted(Path(restante.agents.__path__[0]).glob("app_server*.py"))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


class Pipe:
    def __init__(self) -> None:
        self.out, self.into = os.pipe()
        os.set_blocking(self.out, False)
        os.set_blocking(self.into, False)

    def read(self) -> bytes:
        try:
            return os.read(self.out, 1 << 20)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        os.close(self.out)
        os.close(self.into)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.close()


def soon() -> float:
    return time.monotonic() + PATIENCE


class Disguised(str):
    """Hashes and compares as an allowed method, and is written as another."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash("thread/list")

    def __eq__(self, other: object) -> bool:
        return other == "thread/list"


FORBIDDEN: list[Any] = [
    "turn/start",
    "turn/steer",
    "turn/interrupt",
    "thread/start",
    "thread/resume",
    "thread/inject_items",
    "thread/queue/add",
    "thread/name/set",
    "thread/archive",
    "config/batchWrite",
    "command/exec",
    "thread/list\n",
    "thread/list ",
    "Thread/List",
    "",
    Disguised("turn/start"),
    b"thread/list",
    None,
    '{"id":1,"method":"turn/start"}',
    'thread/list","params":{}}\n{"id":2,"method":"turn/start',
]


def test_the_allowlist_is_exactly_this() -> None:
    wanted = {"initialize", "initialized", "thread/list", "thread/read", "thread/loaded/list", "hooks/list"}
    assert frozenset(wanted) == ALLOWED
    assert isinstance(ALLOWED, frozenset)


@pytest.mark.parametrize("method", FORBIDDEN)
def test_where_bytes_leave_anything_else_raises_before_one_does(pipe: Pipe, method: Any) -> None:
    for number in (1, None):
        with pytest.raises(Refused, match="read-only"):
            _write(pipe.into, number, method, {}, soon())
    assert pipe.read() == b""


@pytest.mark.parametrize("method", FORBIDDEN)
def test_below_the_public_calls_a_running_server_is_sent_nothing_else(
    fake_codex: Callable[..., FakeCodex], method: Any
) -> None:
    fake = fake_codex()
    connection = Connection(fake.program, None)
    try:
        with pytest.raises(Refused, match="read-only"):
            connection.ask(method, {}, PATIENCE)
        with pytest.raises(Refused, match="read-only"):
            connection.tell(method, PATIENCE)
        connection.ask("thread/list", {}, PATIENCE)
        assert fake.methods == ["thread/list"]
    finally:
        connection.close()


def test_a_subclass_that_drops_every_check_of_its_own_still_cannot(fake_codex: Callable[..., FakeCodex]) -> None:
    class Hostile(AppServer):
        ALLOWED = HANDSHAKE = QUESTIONS = frozenset({"turn/start"})

        def ask(self, method: str, params: Any = None) -> Any:
            return self._patiently(self._connected(method), method, params)

    fake = fake_codex()
    with Hostile(fake.program, timeout=PATIENCE) as server:
        with pytest.raises(Refused):
            server.result("turn/start", {"threadId": "1", "input": []})
        server.result("thread/list", {})
    assert fake.methods == ["initialize", "initialized", "thread/list"]


@given(st.sampled_from(sorted(ALLOWED)), st.none() | st.integers(min_value=0), st.dictionaries(st.text(), json_values))
def test_one_request_is_one_line_whatever_its_parameters_hold(
    method: str, number: int | None, params: dict[str, Any]
) -> None:
    pipe = Pipe()
    try:
        _write(pipe.into, number, method, params, soon())
        written = pipe.read()
    finally:
        pipe.close()
    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    assert b"\r" not in written
    message = json.loads(written)
    assert message.pop("id", None) == number
    assert message == {"method": method, "params": params}


def test_parameters_cannot_bring_a_line_of_their_own(pipe: Pipe) -> None:
    second = '\n{"id":2,"method":"turn/start"}\n'

    class Number(enum.IntEnum):
        ONE = 1

        def __repr__(self) -> str:
            return second

        __str__ = __format__ = __repr__  # type: ignore[assignment]

    class Text(str):
        __slots__ = ()

        def encode(self, *_: Any) -> bytes:
            return second.encode()

    class Half(float):
        def __repr__(self) -> str:
            return second

    params: Any = {second: second, "number": Number.ONE, "text": Text("t"), "half": Half(0.5), "method": "turn/start"}
    _write(pipe.into, Number.ONE, "thread/list", params, soon())
    written = pipe.read()
    assert written.count(b"\n") == 1
    message = json.loads(written)
    assert message["method"] == "thread/list"
    assert message["params"] == {second: second, "number": 1, "text": "t", "half": 0.5, "method": "turn/start"}


def test_what_json_cannot_express_is_refused_before_a_byte_is_written(pipe: Pipe) -> None:
    knot: dict[str, Any] = {}
    knot["self"] = knot
    for params in ({"x": b"bytes"}, {"x": float("nan")}, {"x": object()}, knot, {("a", "b"): 1}):
        with pytest.raises(UsageError, match="thread/list"):
            _write(pipe.into, 1, "thread/list", params, soon())  # type: ignore[arg-type]
    assert pipe.read() == b""


def test_a_pipe_that_stays_full_gives_up_in_time(pipe: Pipe) -> None:
    with pytest.raises(TimedOut, match="thread/list"):
        _write(pipe.into, 1, "thread/list", {"searchTerm": "x" * 1_000_000}, time.monotonic() + 0.05)


def calls(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (enclosing function, name of what is called) for every call."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    yield function.name, ast.unparse(node.func)


def test_no_other_place_in_the_source_writes_to_anything() -> None:
    """Bytes leave by a call that writes, by a program that is started, or by a stream that is given away."""
    assert [path.name for path in SOURCES] == ["app_server.py", "app_server_pipe.py"]
    writers, starters, streams = [], [], []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function, name in calls(tree):
            last = name.rsplit(".", 1)[-1]
            if last in {
                "write",
                "writelines",
                "writev",
                "pwrite",
                "send",
                "sendall",
                "sendfile",
                "communicate",
                "print",
            }:
                writers.append((path.name, function, name))
            if last in {
                "Popen",
                "run",
                "call",
                "check_call",
                "check_output",
                "system",
                "popen",
                "fdopen",
                "open",
                "exec",
            }:
                starters.append((path.name, function, name))
            if last in {"_write", "fileno"}:
                streams.append((path.name, function, name))
    assert writers == [("app_server_pipe.py", "_write", "os.write")]
    assert starters == [("app_server_pipe.py", "_start", "subprocess.Popen")]
    assert [one for one in streams if one[2] == "_write"] == [("app_server_pipe.py", "_put", "_write")]
    assert {one[1] for one in streams if "stdin" in one[2]} == {"_put", "_start"}


# What a module must name to start a process at all.
_STARTERS = ("subprocess", "Popen", "os.exec", "os.spawn", "posix_spawn", "os.system", "os.popen", "os.fork", "pty.")


def test_nothing_else_in_the_package_starts_an_app_server() -> None:
    package = Path(restante.agents.__path__[0]).parent
    naming: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        words = [one.value for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Constant)]
        if "app-server" in words or b"app-server" in words:
            naming[path.name] = {one for one in _STARTERS if one in text}
    # Where processes are looked at, the word only tells one that a person started from others.
    assert naming == {"app_server_pipe.py": {"subprocess", "Popen"}, "checkpoints.py": set()}


def test_the_modules_are_not_loaded_by_a_start_of_the_program() -> None:
    look = "import sys, restante.faces.cli, restante.wiring; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", look], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not {app_server.__name__, app_server_pipe.__name__} & set(done.stdout.split())


@given(st.lists(st.binary(max_size=12), max_size=12), st.integers(min_value=0, max_value=20))
def test_lines_are_cut_alike_however_the_bytes_arrive(chunks: list[bytes], limit: int) -> None:
    lines = Lines(limit)
    cut: list[bytes] = []
    for chunk in chunks:
        cut += lines.feed(chunk)
        assert sum(map(len, lines._parts)) <= limit, "more is held than a line may have"
    whole = b"".join(chunks).split(b"\n")[:-1]
    assert cut == [line for line in whole if len(line) <= limit]
    assert lines.dropped == len([line for line in whole if len(line) > limit])
