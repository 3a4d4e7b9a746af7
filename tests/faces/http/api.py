"""A small client for tests: one request, one answer, and sessions that prove who they are."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 30.0


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        assert self.document["success"] is True, self.body
        return self.document["data"]

    @property
    def word(self) -> str:
        assert self.document["success"] is False, self.body
        assert self.document["error"]
        return str(self.document["errorCode"])


class Api:
    """Asks a server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.host, _, port = url.removeprefix("http://").rpartition(":")
        self.port = int(port)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            data = raw if raw is not None else None if body is None else json.dumps(body).encode()
            connection.request(method, path if path.startswith("/api") else f"/api/v1{path}", data, headers or {})
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, named, response.read())
        finally:
            connection.close()

    def actor(self, name: str = "", **told: Any) -> Actor:
        """Register a session that can prove itself."""
        secret = secrets.token_hex(32)
        session = secrets.token_hex(16)
        digest = hashlib.sha256(secret.encode()).hexdigest()
        body = {"id": session, "mode": "codex", "name": name, "secretDigest": digest, **told}
        answer = self.ask("POST", "/sessions", body)
        assert answer.status == 200, answer
        return Actor(self, body["id"], secret)

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=PATIENCE)

    def metric(self, name: str) -> float:
        text = self.ask("GET", "/metrics").body.decode()
        for line in text.splitlines():
            if line.startswith((f"{name} ", f"{name}{{")):
                return float(line.rpartition(" ")[2])
        raise AssertionError(f"no metric {name}")


class Actor(NamedTuple):
    """A session that proves itself by its secret."""

    api: Api
    id: str
    secret: str

    @property
    def proof(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}

    def ask(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Answer:
        return self.api.ask(method, path, body, {**self.proof, **(headers or {})})

    def post(self, to: Actor, text: str, **more: Any) -> Answer:
        return self.ask("POST", f"/sessions/{to.id}/inbox", {"text": text, **more})

    def read(self, query: str = "", of: Actor | None = None) -> Any:
        return self.ask("GET", f"/sessions/{(of or self).id}/inbox{query}").data

    def ack(self, *ids: str, of: Actor | None = None) -> Answer:
        return self.ask("POST", f"/sessions/{(of or self).id}/inbox/ack", {"ids": list(ids)})

    def counts(self, of: Actor | None = None) -> dict[str, Any]:
        entry = self.ask("GET", "/inbox/summary").data["sessions"][(of or self).id]
        assert isinstance(entry, dict)
        return entry


class Background:
    """A call in a thread of its own."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._result: list[Any] = []
        self._thread = threading.Thread(target=lambda: self._result.append(call()), daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def result(self) -> Any:
        self._thread.join(PATIENCE)
        assert self._result, "no answer came"
        return self._result[0]


class Running:
    """A server in a process of its own."""

    def __init__(self, data: Path, *words: str, **settings: str) -> None:
        self.data = data
        environment = {
            "HOME": str(data),
            "PATH": os.environ["PATH"],
            "RESTANTE_DATA": str(data),
            "RESTANTE_CONFIG": "",
            "PYTHONWARNINGS": "error",
            **settings,
        }
        if "PYTHONPATH" in os.environ:
            environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        words = words or ("--port", "0")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "restante.faces.http", *words],
            env={name: value for name, value in environment.items() if value},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log: list[dict[str, Any]] = []
        self.words: list[str] = []
        self._heard = threading.Condition()
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._heard:
                if line.startswith("{"):
                    self.log.append(json.loads(line))
                else:
                    self.words.append(line)
                self._heard.notify_all()
        with self._heard:
            self._heard.notify_all()

    def api(self) -> Api:
        def url() -> str:
            return next((one["url"] for one in self.log if one["event"] == "listening"), "")

        with self._heard:
            self._heard.wait_for(lambda: url() or self.process.poll() is not None, PATIENCE)
        assert url(), self.words
        return Api(url())

    def person(self) -> dict[str, str]:
        token = (self.data / "person").read_text().strip()
        return {"Authorization": f"Bearer {token}"}

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextlib.contextmanager
def running(data: Path, *words: str, **settings: str) -> Iterator[Running]:
    """Run a server for a while."""
    server = Running(data, *words, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.stop(signal.SIGKILL)


def eventually(holds: Callable[[], object], what: str = "") -> None:
    """Wait until something holds that another process brings about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"never happened: {what}"
        time.sleep(0.01)


def request_bytes(method: str, path: str, *, headers: dict[str, str] | None = None, body: bytes = b"") -> bytes:
    """Return a request as it goes over the wire."""
    lines = [f"{method} /api/v1{path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body
