"""Speaks to a running Codex App Server over its control socket, and can send no more than ``METHODS``.

This is not the read-only client of ``app_server_pipe``, which asks a server of its own and can start no turn: this one
reaches the server that an open Codex terminal shares, and is imported only where a person armed ``codex-socket`` by
name. WebSocket over a Unix socket (RFC 6455, text frames only), one JSON object a frame without the ``jsonrpc`` member
(https://github.com/openai/codex, app-server README; seen with 0.171.0).
"""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import time
from typing import TYPE_CHECKING

from restante.domain.errors import Refused, StorageFailed, TimedOut

if TYPE_CHECKING:
    from collections.abc import Mapping

METHODS = frozenset({"initialize", "initialized", "thread/loaded/list", "turn/start"})

_LARGEST = 32 * 1024 * 1024
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


class Wire:
    """One conversation with a server; close it when done.

    Args:
        path: The control socket.
        timeout: Seconds that each answer may take.

    Raises:
        StorageFailed: Nobody answers there, or not as Codex does.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self._timeout = timeout
        self._number = 0
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        self._held = b""
        try:
            self._socket.connect(path)
            self._shake_hands()
        except (OSError, ValueError) as error:
            self._socket.close()
            raise StorageFailed(f"{path}: no Codex answers there: {error}", remedy="is its terminal open?") from None
        client = {"name": "restante", "title": None, "version": "0"}
        self.ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        self._send({"method": "initialized"})

    def ask(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """Send a request and return its result.

        Raises:
            Refused: The method is not allowed, and nothing was sent; or the server refused it.
            TimedOut: There was no answer in time.
            StorageFailed: The server has gone.
        """
        self._number += 1
        self._send({"id": self._number, "method": method, "params": dict(params)})
        end = time.monotonic() + self._timeout
        while time.monotonic() < end:
            answer = json.loads(self._frame() or b"null")
            if isinstance(answer, dict) and answer.get("id") == self._number and "method" not in answer:
                if isinstance(answer.get("result"), dict):
                    return dict(answer["result"])
                reason = answer.get("error")
                words = reason.get("message") if isinstance(reason, dict) else "no reason"
                raise Refused(f"codex refused {method}: {str(words)[:200]}")
        raise TimedOut(f"codex did not answer {method} within {self._timeout:g} s", remedy="try again")

    def close(self) -> None:
        """End the conversation."""
        self._socket.close()

    def _send(self, message: Mapping[str, object]) -> None:
        """Send one message: the only place from which bytes reach the server."""
        method = message["method"]
        # A subclass of str could compare as one method and be written as another.
        if type(method) is not str or method not in METHODS:
            raise Refused(f"{method!r} is not sent to Codex to wake a thread")
        self._write(_TEXT, json.dumps(message).encode())

    def _write(self, kind: int, data: bytes) -> None:
        mask, size = os.urandom(4), len(data)
        head = bytes([0x80 | kind])
        head += bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + struct.pack(">H", size)
        try:
            self._socket.sendall(head + mask + bytes(one ^ mask[at % 4] for at, one in enumerate(data)))
        except OSError as error:
            raise StorageFailed(f"codex has gone: {error}", remedy="try again") from None

    def _shake_hands(self) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ["GET / HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""]
        self._socket.sendall("\r\n".join(lines).encode())
        while b"\r\n\r\n" not in self._held:
            part = self._socket.recv(4096)
            if not part or len(self._held) > 65_536:
                raise ValueError("it closed the connection")
            self._held += part
        answer, _, self._held = self._held.partition(b"\r\n\r\n")
        if b" 101 " not in answer.split(b"\r\n", 1)[0] + b" ":
            raise ValueError(answer.split(b"\r\n", 1)[0].decode("ascii", "replace")[:100])

    def _frame(self) -> bytes:
        """Return the next whole message; answers pings."""
        parts: list[bytes] = []
        while True:
            first, second = self._take(2)
            kind, size = first & 15, second & 127
            if size == 126:
                (size,) = struct.unpack(">H", self._take(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._take(8))
            if size > _LARGEST:
                raise StorageFailed("codex sent more than an answer can be", remedy="try again")
            data = self._take(size)
            if kind == _CLOSE:
                raise StorageFailed("codex has gone", remedy="try again")
            if kind == _PING:
                self._write(_PONG, data)
            elif kind != _PONG:
                parts.append(data)
                if first & 0x80:
                    return b"".join(parts)

    def _take(self, size: int) -> bytes:
        try:
            while len(self._held) < size:
                part = self._socket.recv(65_536)
                if not part:
                    raise StorageFailed("codex has gone", remedy="try again")
                self._held += part
        except TimeoutError:
            raise TimedOut(f"codex did not answer within {self._timeout:g} s", remedy="try again") from None
        except OSError as error:
            raise StorageFailed(f"codex has gone: {error}", remedy="try again") from None
        data, self._held = self._held[:size], self._held[size:]
        return data
