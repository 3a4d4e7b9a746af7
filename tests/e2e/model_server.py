"""A model server of our own, on loopback: what the real agent programs talk to in the end-to-end tests.

It speaks as much of published protocols as the programs need, as server-sent events: the Responses API
(https://platform.openai.com/docs/api-reference/responses-streaming) for Codex, the Messages API
(https://docs.anthropic.com/en/api/messages-streaming) for Claude Code, Chat Completions
(https://platform.openai.com/docs/api-reference/chat-streaming) for opencode and generateContent
(https://ai.google.dev/api/generate-content) for Gemini CLI. Its "model" follows a script: each
request that carries tools takes the next step. A step may be a function, which is called when its request has
arrived and before it is answered, so that a test acts at that very moment. Every request is kept.
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

Json = dict[str, Any]

_MOST_REQUESTS = 60
_MOST_BYTES = 16 * 1024 * 1024
_SOCKET_SECONDS = 60
# Where in a request there is what the model reads.
_READ = ("instructions", "system", "systemInstruction", "input", "messages", "contents")
_AFTER_SCRIPT = "The script is over."


@dataclass(frozen=True, slots=True)
class Request:
    """What a program asked the model.

    Attributes:
        number: Place among the requests that took a step, from 0.
        path: The path asked for.
        headers: With lower-case names.
        body: The JSON that was sent.
    """

    number: int
    path: str
    headers: dict[str, str]
    body: Json

    @property
    def prompt(self) -> str:
        """All the text that the model would read, without the tools' descriptions."""
        parts = (self.body.get(key) for key in _READ)
        return "\n".join(text for part in parts for text in _texts(part))

    @property
    def size(self) -> int:
        """Bytes of what the model would read, in JSON."""
        parts = {key: self.body.get(key) for key in _READ}
        return len(json.dumps(parts, ensure_ascii=False).encode())


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the scripted model.

    Attributes:
        shell: Commands it has its shell tool run, in one answer.
        text: Its words; without a command they end the turn.
        tools: Tools of the MCP server ``restante`` that it calls, by name, with their arguments.
    """

    shell: tuple[str, ...] = ()
    text: str = ""
    tools: tuple[tuple[str, Json], ...] = ()


def run(*commands: str) -> Step:
    """Return a step in which the model runs shell commands."""
    return Step(shell=commands)


def use(name: str, **arguments: Any) -> Step:
    """Return a step in which the model calls a tool of the MCP server ``restante``."""
    return Step(tools=((name, arguments),))


def say(text: str) -> Step:
    """Return a step in which the model says something and ends its turn."""
    return Step(text=text)


class Dialect(Protocol):
    """How one program talks to its model."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Whether a request is a turn of the conversation, which takes a step, and no side question."""

    def is_question(self, path: str) -> bool:
        """Whether a request asks the model anything at all."""

    def events(self, body: Json, step: Step, number: int) -> Iterator[Json]:
        """Yield the events of an answer; those that have a name have it as their ``type``."""


class Responses:
    """The Responses API, as Codex uses it."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Codex asks no side questions."""
        return self.is_question(path)

    def is_question(self, path: str) -> bool:
        """See ``Dialect``."""
        return path.endswith("/responses")

    def events(self, body: Json, step: Step, number: int) -> Iterator[Json]:
        """See ``Dialect``."""
        items: list[Json] = [
            {
                "type": "function_call",
                "id": f"fc_{number}_{place}",
                "call_id": f"call_{number}_{place}",
                "name": "exec_command",
                "arguments": json.dumps({"cmd": command, "yield_time_ms": 30_000}),
            }
            for place, command in enumerate(step.shell)
        ]
        items += [
            {
                "type": "function_call",
                "id": f"fm_{number}_{place}",
                "call_id": f"callm_{number}_{place}",
                "namespace": "mcp__restante",
                "name": name,
                "arguments": json.dumps(arguments),
            }
            for place, (name, arguments) in enumerate(step.tools)
        ]
        if step.text:
            content = [{"type": "output_text", "text": step.text}]
            items.append({"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content})
        yield {"type": "response.created", "response": {"id": f"resp_{number}"}}
        for place, item in enumerate(items):
            yield {"type": "response.output_item.done", "output_index": place, "item": item}
        details = {"input_tokens_details": None, "output_tokens_details": None}
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details}
        yield {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}}


class Messages:
    """The Messages API, as Claude Code uses it."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Side questions, for example for a title, carry no tools."""
        return self.is_question(path) and bool(body.get("tools"))

    def is_question(self, path: str) -> bool:
        """See ``Dialect``."""
        return path.endswith("/v1/messages")

    def events(self, body: Json, step: Step, number: int) -> Iterator[Json]:
        """See ``Dialect``."""
        usage = {"input_tokens": 10, "output_tokens": 1}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model")}
        rest: Json = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield {"type": "message_start", "message": {**message, **rest}}
        blocks: list[tuple[Json, Json]] = []
        if step.text:
            blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": step.text}))
        for place, command in enumerate(step.shell):
            call = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": "Bash", "input": {}}
            arguments = json.dumps({"command": command, "description": "Work on the task", "timeout": 60_000})
            blocks.append((call, {"type": "input_json_delta", "partial_json": arguments}))
        for place, (name, given) in enumerate(step.tools):
            call = {"type": "tool_use", "id": f"toolum_{number}_{place}", "name": f"mcp__restante__{name}", "input": {}}
            blocks.append((call, {"type": "input_json_delta", "partial_json": json.dumps(given)}))
        for place, (block, delta) in enumerate(blocks):
            yield {"type": "content_block_start", "index": place, "content_block": block}
            yield {"type": "content_block_delta", "index": place, "delta": delta}
            yield {"type": "content_block_stop", "index": place}
        reason = "tool_use" if step.shell or step.tools else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}


class ChatCompletions:
    """Chat Completions, as opencode uses it."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Side questions, for example for a title, carry no tools."""
        return self.is_question(path) and bool(body.get("tools"))

    def is_question(self, path: str) -> bool:
        """See ``Dialect``."""
        return path.endswith("/chat/completions")

    def events(self, body: Json, step: Step, number: int) -> Iterator[Json]:
        """See ``Dialect``."""
        calls = [("bash", {"command": command, "description": "Work on the task"}) for command in step.shell]
        calls += [(f"restante_{name}", arguments) for name, arguments in step.tools]
        made = [
            {
                "index": place,
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for place, (name, arguments) in enumerate(calls)
        ]
        delta: Json = {"role": "assistant", "content": step.text or None}
        chunk = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 0, "model": body.get("model")}
        yield {**chunk, "choices": [{"index": 0, "delta": delta | ({"tool_calls": made} if made else {})}]}
        reason = "tool_calls" if made else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


class GenerateContent:
    """generateContent, as Gemini CLI uses it."""

    def is_turn(self, path: str, body: Json) -> bool:
        """Side questions carry no tools."""
        return path.endswith(":streamGenerateContent") and bool(body.get("tools"))

    def is_question(self, path: str) -> bool:
        """See ``Dialect``."""
        return path.endswith(":streamGenerateContent")

    def events(self, body: Json, step: Step, number: int) -> Iterator[Json]:
        """See ``Dialect``."""
        parts: list[Json] = [{"text": step.text}] if step.text else []
        parts += [{"functionCall": {"name": "run_shell_command", "args": {"command": one}}} for one in step.shell]
        parts += [
            {"functionCall": {"name": f"mcp_restante_{name}", "args": arguments}} for name, arguments in step.tools
        ]
        content = {"role": "model", "parts": parts}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        yield {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


DIALECTS: dict[str, Dialect] = {
    "codex": Responses(),
    "claude": Messages(),
    "opencode": ChatCompletions(),
    "gemini": GenerateContent(),
}


@dataclass
class ModelServer:
    """Serves one scripted model; a context manager. On leaving, an error that a step raised is raised again.

    Attributes:
        dialect: How the program talks.
        script: The steps, or functions from a request to a step, taken in order; after the last one the model
            only ends its turns.
        requests: The requests that took a step, also those after the end of the script.
        asides: Paths of all other requests.
        failures: What steps raised.
    """

    dialect: Dialect
    script: Sequence[Step | Callable[[Request], Step]]
    requests: list[Request] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"server_of_test": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The base address, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self.failures and error is None:
            raise self.failures[0]

    def take_step(self, path: str, headers: dict[str, str], body: Json) -> tuple[int, Step]:
        """Keep a request and return its number and its step."""
        with self._lock:
            request = Request(len(self.requests), path, headers, body)
            if request.number >= _MOST_REQUESTS:
                raise OverflowError(f"more than {_MOST_REQUESTS} requests: the program does not stop")
            self.requests.append(request)
        step = self.script[request.number] if request.number < len(self.script) else say(_AFTER_SCRIPT)
        return request.number, step if isinstance(step, Step) else step(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SOCKET_SECONDS
    server_of_test: ClassVar[ModelServer]

    def log_message(self, *_: object) -> None:
        """Say nothing: the requests are kept instead."""

    def do_HEAD(self) -> None:
        self._aside(200)

    def do_GET(self) -> None:
        self._aside(200 if self.path == "/" else 404)

    def do_POST(self) -> None:
        test = self.server_of_test
        length = int(self.headers.get("content-length") or 0)
        if not 0 < length <= _MOST_BYTES:
            self._aside(413)
            return
        body = json.loads(self.rfile.read(length))
        path = self.path.partition("?")[0]
        if not test.dialect.is_question(path):
            self._aside(404)
            return
        if not test.dialect.is_turn(path, body):
            test.asides.append(path)
            self._answer(test.dialect.events(body, say("ok"), 0))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            number, step = test.take_step(path, headers, body)
        except BaseException as error:
            test.failures.append(error)
            self._json(400, {"error": {"type": "invalid_request_error", "message": f"the test failed: {error!r}"}})
            return
        self._answer(test.dialect.events(body, step, number))

    def _aside(self, status: int) -> None:
        self.server_of_test.asides.append(self.path)
        self._json(status, {})

    def _json(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command != "HEAD":
            self.wfile.write(data)

    def _answer(self, events: Iterator[Json]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        # A program that was killed, or that interrupts its turn, hangs up in the middle.
        with suppress(BrokenPipeError, ConnectionResetError):
            for event in events:
                name = f"event: {event['type']}\n" if "type" in event else ""
                self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from _texts(value)
