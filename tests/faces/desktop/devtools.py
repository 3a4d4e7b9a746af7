"""A small client of a browser's debugging port: enough to look at the page of a window."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import urllib.request
from typing import Any, Self

PATIENCE = 30.0
_TEXT, _LAST = 0x1, 0x80
_MASKED = 0x80


class DevTools:
    """Speaks with one page, by RFC 6455 and the DevTools protocol."""

    def __init__(self, port: int) -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE) as answer:
            (page,) = [one for one in json.load(answer) if one["type"] == "page"]
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._stream = self._connection.makefile("rb")
        path = "/" + page["webSocketDebuggerUrl"].split("/", 3)[3]
        key = base64.b64encode(os.urandom(16)).decode()
        head = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13")
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *head, "", ""]
        self._connection.sendall("\r\n".join(lines).encode())
        assert b" 101 " in self._stream.readline()
        while self._stream.readline() != b"\r\n":
            pass
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._connection.close()

    def ask(self, method: str, **parameters: Any) -> Any:
        """Call a method and return its result."""
        self._number += 1
        self._send(json.dumps({"id": self._number, "method": method, "params": parameters}).encode())
        while True:
            told = json.loads(self._frame())
            if told.get("id") == self._number:
                assert "error" not in told, told
                return told["result"]

    def value(self, expression: str) -> Any:
        """Return what an expression is in the page's own world; promises are waited for."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return answer["result"].get("value")

    def middle(self, selector: str) -> tuple[int, int]:
        """Return where the middle of an element is in the page, once it can be seen."""
        left, top = self.value(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.scrollIntoView();"
            "const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        return int(left), int(top)

    def _send(self, data: bytes) -> None:
        mask = os.urandom(4)
        size = (
            bytes([_MASKED | len(data)]) if len(data) < 126 else bytes([_MASKED | 126]) + struct.pack("!H", len(data))
        )
        hidden = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        self._connection.sendall(bytes([_LAST | _TEXT]) + size + mask + hidden)

    def _frame(self) -> bytes:
        data, is_last = b"", False
        while not is_last:
            first, length = self._stream.read(2)
            if length >= 126:
                form, count = ("!H", 2) if length == 126 else ("!Q", 8)
                (length,) = struct.unpack(form, self._stream.read(count))
            piece = self._stream.read(length)
            # Pings and the like are between the pieces of a message.
            if first & 0xF <= 2:
                data, is_last = data + piece, bool(first & _LAST)
        return data
