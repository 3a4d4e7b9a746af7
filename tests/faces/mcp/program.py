"""A program that starts ``restante mcp`` and speaks its lines: as much of one as the tests need."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

from restante.domain.registry import Arrival
from restante.system.secrets import digest, session_secret
from restante.system.turns import TurnFiles
from restante.wiring import open_office
from restante.wiring.sessions import open_exchange, open_window

if TYPE_CHECKING:
    from pathlib import Path

    from restante.office import Office
    from restante.ports.sessions import Window

Json = dict[str, Any]
PATIENCE = 60.0
COMMAND = [sys.executable, "-I", "-c", "from restante.__main__ import main; main()", "mcp"]


class Ground:
    """A worktree and a data directory."""

    def __init__(self, place: Path, *, keeps: bool = True) -> None:
        self.data = place / "data"
        self.root = place / "repo"
        (self.root / ".git").mkdir(parents=True)
        self.environment = {"RESTANTE_DATA": str(self.data), "HOME": str(place), "PATH": os.environ["PATH"]}
        if keeps:
            TurnFiles(str(self.data)).enable()
            exchange = open_exchange(self.environment)
            exchange.trust_person("a-token")
            person = exchange.identify(_person())
            exchange.window(person).set_persistence(True)
            exchange.close()

    def of(self, session: str, agent: str = "codex") -> dict[str, str]:
        """Return the environment of one session's commands."""
        name = {"codex": "CODEX_THREAD_ID", "claude": "CLAUDE_CODE_SESSION_ID"}[agent]
        return {**self.environment, name: session}

    def window(self, session: str, agent: str = "codex") -> Window:
        return open_window(self.of(session, agent), str(self.root))

    def register(self, session: str, name: str, agent: str = "codex") -> str:
        """Register a session that can prove itself, and return its secret."""
        secret = session_secret(str(self.data), session)
        arrival = Arrival(session, agent, name, str(self.root), secret_digest=digest(secret))
        self.window(session, agent).register(arrival)
        return secret

    @property
    def office(self) -> Office:
        """The person's own."""
        return open_office(str(self.root), environment=self.environment)


def _person() -> Any:
    from restante.domain.registry import Claim

    return Claim("a-token")


class Program:
    """A program with the server it started.

    Args:
        ground: Where it works.
        more: What its environment has beside.
        below: The command that starts the server's.
    """

    def __init__(self, ground: Ground, more: dict[str, str], *, below: tuple[str, ...] = ()) -> None:
        self.process = subprocess.Popen(
            [*below, *COMMAND],
            cwd=ground.root,
            env={**ground.environment, **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.notes: list[Json] = []
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self) -> Any:
        """Return the next line that the server wrote."""
        line = self._lines.get(timeout=PATIENCE)
        assert line.endswith(b"\n"), line
        return json.loads(line)

    def begin(self, method: str, params: Json | None = None, **more: Any) -> int:
        """Ask something, and return the number of the question."""
        self._number += 1
        message = {
            "jsonrpc": "2.0",
            "id": self._number,
            "method": method,
            **({} if params is None else {"params": params}),
        }
        self.write(json.dumps({**message, **more}).encode() + b"\n")
        return self._number

    def answer(self, number: int) -> Json:
        """Return the answer to a question; what else came before is noted."""
        while True:
            message: Json = self.line()
            if message.get("id") == number:
                return message
            self.notes.append(message)

    def ask(self, method: str, params: Json | None = None) -> Json:
        """Ask something that is answered."""
        answer = self.answer(self.begin(method, params))
        assert "error" not in answer, answer
        result: Json = answer["result"]
        return result

    def refused(self, method: str, params: Json | None = None) -> int:
        """Ask something that is refused, and return the error's number."""
        return int(self.answer(self.begin(method, params))["error"]["code"])

    def use(self, tool: str, thread: str = "", *, fails: bool = False, **arguments: Any) -> str:
        """Use a tool as a model does, and return what the model is told."""
        meta = {"_meta": {"threadId": thread}} if thread else {}
        result = self.ask("tools/call", {"name": tool, "arguments": arguments, **meta})
        assert set(result) == {"content", "isError"}
        (content,) = result["content"]
        assert content["type"] == "text"
        assert result["isError"] is fails, content["text"]
        return str(content["text"])

    def end(self) -> int:
        """End the server's input, and return its exit code."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code
