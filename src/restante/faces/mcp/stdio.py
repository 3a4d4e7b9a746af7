"""MCP over standard input and output, a line for each message: https://modelcontextprotocol.io/specification.

Only ``json`` is loaded before a tool is called: a program asks its model as soon as its servers answered, and leaves
out the tools of one that did not. Nothing is kept between two calls, so that one process serves any number of sessions.
"""

from __future__ import annotations

import json
import sys
from _thread import allocate_lock
from typing import TYPE_CHECKING, Any

from restante.faces.mcp.tools import CHECKPOINT, INSTRUCTIONS, NAME, RESOURCES, TEMPLATES, TOOLS, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    from restante.faces.mcp.telling import Told

Json = dict[str, Any]

_PARSE, _INVALID, _NO_METHOD, _BAD_PARAMS, _NO_RESOURCE, _INTERNAL = -32700, -32600, -32601, -32602, -32002, -32603
# The largest text a message may have, with every character escaped, and as much again.
_MOST_BYTES = 4 * 1024 * 1024
_WAIT = "wait"
# Each is a thread that looks; a server lets as many reads of one session's mail wait.
_MOST_WAITS = 4


class _FaultError(Exception):
    """What is answered in place of a result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def serve(source: BinaryIO, target: BinaryIO, environment: Mapping[str, str]) -> None:
    """Answer what a program asks until it ends its side, or takes no more answers.

    Args:
        source: What the program writes.
        target: What it reads.
        environment: The server's own.
    """
    server = Server(target, environment)
    try:
        while line := source.readline(_MOST_BYTES + 1):
            if len(line) > _MOST_BYTES:
                while line and not line.endswith(b"\n"):
                    line = source.readline(_MOST_BYTES)
                server.write([_error(None, _INVALID, "the message is too long")])
            elif line.strip():
                server.take(line)
    except (BrokenPipeError, ConnectionResetError):
        return


class Server:
    """One program's server.

    Args:
        target: Where answers go.
        environment: Where settings and the caller's identity come from.
    """

    def __init__(self, target: BinaryIO, environment: Mapping[str, str]) -> None:
        self._target = target
        self._environment = environment
        self._lock = allocate_lock()
        # Ids of the calls that wait; a program takes one back by its id.
        self._waiting: set[str | int] = set()
        self._methods: dict[str, Callable[[Json], Json]] = {
            "initialize": _initialize,
            "ping": lambda _: {},
            "tools/list": lambda _: {"tools": TOOLS},
            "resources/list": lambda _: {"resources": RESOURCES},
            "resources/templates/list": lambda _: {"resourceTemplates": TEMPLATES},
            "resources/read": self._read,
        }

    def take(self, line: bytes) -> None:
        """Answer one line: a message, or several in a list, as the version of 2025-03-26 has them."""
        try:
            # A surrogate that stands alone has no form in UTF-8, and could not be answered.
            message = json.loads(line.decode())
            json.dumps(message, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            self.write([_error(None, _PARSE, "this is no JSON")])
            return
        if not isinstance(message, list):
            self._answer([message])
        elif message:
            self._answer(message, in_list=True)
        else:
            self.write([_error(None, _INVALID, "the list is empty")])

    def write(self, answers: list[Json], *, in_list: bool = False) -> None:
        """Write answers out as one line, each message as its own unless they belong into a list."""
        lines = [json.dumps(one, ensure_ascii=False) for one in ([answers] if in_list else answers)]
        with self._lock:
            self._target.write("".join(f"{line}\n" for line in lines).encode())
            self._target.flush()

    def _answer(self, messages: list[Any], *, in_list: bool = False) -> None:
        answers: list[Json] = []
        seen: list[Callable[[], object]] = []
        for one in messages:
            answer, told = self._one(one, alone=not in_list)
            if answer is not None:
                answers.append(answer)
            if told is not None and told.seen:
                seen.append(told.seen)
        if answers:
            self.write(answers, in_list=in_list)
        self._mark(seen)
        _let_go()

    def _mark(self, seen: list[Callable[[], object]]) -> None:
        from contextlib import suppress

        for one in seen:
            # Seen is what was handed over; where that cannot be written down, it is told again.
            with suppress(Exception):
                one()

    def _one(self, message: Any, *, alone: bool) -> tuple[Json | None, Told | None]:  # noqa: ANN401
        """Return the answer to one message, and what was told in it; none to a notification, or while one waits."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return _error(_id_in(message), _INVALID, "this is no message of JSON-RPC 2.0"), None
        method, asked = message.get("method"), _id_in(message)
        if method is None and ("result" in message or "error" in message):
            return None, None
        if not isinstance(method, str) or ("id" in message and asked is None):
            return _error(asked, _INVALID, "a method is a text, and an id a text or a number"), None
        params = message.get("params", {})
        if asked is None:
            if isinstance(params, dict):
                self._note(method, params)
            return None, None
        try:
            if not isinstance(params, dict):
                return _error(asked, _BAD_PARAMS, "params is no object"), None
            if method != "tools/call":
                return _result(asked, self._run(method, params)), None
            if params.get("name") == _WAIT and alone:
                self._begin_wait(asked, params)
                return None, None
            told = self._call(params)
            return _result(asked, _content(told)), told
        except _FaultError as fault:
            return _error(asked, fault.code, fault.message), None
        except Exception as error:  # noqa: BLE001  whatever it is, the program is told, and the next call is answered
            return _error(asked, _INTERNAL, f"{type(error).__name__} in the server"), None

    def _run(self, method: str, params: Json) -> Json:
        answer = self._methods.get(method)
        if answer is None:
            raise _FaultError(_NO_METHOD, f"no method {method[:80]!r}")
        return answer(params)

    def _note(self, method: str, params: Json) -> None:
        if method == "notifications/cancelled":
            taken_back = params.get("requestId")
            if isinstance(taken_back, str | int):
                self._waiting.discard(taken_back)

    # -- tools and resources -------------------------------------------------------------------------------

    def _call(self, params: Json) -> Told:
        from restante.faces.mcp import acts
        from restante.faces.mcp.places import CallPlace
        from restante.wiring.closing import begin

        begin()
        name, arguments = _called(params)
        place = CallPlace(self._environment, _meta_in(params))
        if name == CHECKPOINT:
            from restante.faces.mcp.checkpoint import checkpoint

            return checkpoint(place, arguments)
        if name == _WAIT:
            from restante.faces.mcp.waiting import wait

            return wait(place, arguments, lambda _: True)
        try:
            return acts.call(name, place, arguments)
        except KeyError:
            raise _FaultError(_BAD_PARAMS, f"no tool {name[:80]!r}") from None

    def _begin_wait(self, asked: str | int, params: Json) -> None:
        """Wait beside everything else: a program may ask on, or take the call back."""
        from threading import Thread

        _, arguments = _called(params)
        if asked in self._waiting:
            self.write([_error(asked, _INVALID, "a call of this id waits already")])
            return
        if len(self._waiting) >= _MOST_WAITS:
            from restante.domain.errors import Refused
            from restante.faces.mcp.telling import failed

            told = failed(Refused(f"{_MOST_WAITS} waits go on already", remedy="one is enough: it tells all mail"))
            self.write([_result(asked, _content(told))])
            return
        self._waiting.add(asked)
        Thread(target=self._wait, args=(asked, arguments, _meta_in(params)), daemon=True).start()

    def _wait(self, asked: str | int, arguments: Json, meta: Json) -> None:
        from restante.faces.mcp.places import CallPlace
        from restante.faces.mcp.waiting import wait
        from restante.wiring.closing import begin

        begin()
        token = meta.get("progressToken")

        def goes_on(share: float) -> bool:
            if token is not None and asked in self._waiting:
                told = {"progressToken": token, "progress": share, "total": 1, "message": "waiting for mail"}
                self.write([{"jsonrpc": "2.0", "method": "notifications/progress", "params": told}])
            return asked in self._waiting

        try:
            told = wait(CallPlace(self._environment, meta), arguments, goes_on)
            answer = _result(asked, _content(told))
        except Exception as error:  # noqa: BLE001  as above
            told, answer = None, _error(asked, _INTERNAL, f"{type(error).__name__} in the server")
        if asked in self._waiting:
            self._waiting.discard(asked)
            try:
                self.write([answer])
            except OSError:
                return
            self._mark([told.seen] if told and told.seen else [])
        _let_go()

    def _read(self, params: Json) -> Json:
        from restante.domain.errors import NothingThere, RestanteError
        from restante.faces.mcp import acts
        from restante.faces.mcp.places import CallPlace
        from restante.faces.mcp.telling import failed
        from restante.wiring.closing import begin

        begin()
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise _FaultError(_BAD_PARAMS, "uri is no text")
        try:
            text = acts.resource(CallPlace(self._environment, _meta_in(params)), uri)
        except RestanteError as error:
            code = _NO_RESOURCE if isinstance(error, NothingThere) else _INTERNAL
            raise _FaultError(code, failed(error).text) from None
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}


def _let_go() -> None:
    """Close what answering opened; nothing can have been where the module for that was never loaded."""
    closing = sys.modules.get("restante.wiring.closing")
    if closing is not None:
        closing.end()


def _initialize(params: Json) -> Json:
    from restante import __version__

    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": NAME, "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def _called(params: Json) -> tuple[str, Json]:
    name, arguments = params.get("name"), params.get("arguments")
    arguments = {} if arguments is None else arguments
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise _FaultError(_BAD_PARAMS, "a tool is called by its name, with an object of arguments")
    return name, arguments


def _meta_in(params: Json) -> Json:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _content(told: Told) -> Json:
    # Text only: programs that find structured content beside it show the model nothing else.
    return {"content": [{"type": "text", "text": told.text}], "isError": told.is_error}


def _id_in(message: Any) -> str | int | None:  # noqa: ANN401
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _result(asked: str | int, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": asked, "result": result}


def _error(asked: str | int | None, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": message}}
