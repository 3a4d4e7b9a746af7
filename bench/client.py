"""A small HTTP client that costs little itself: one connection, requests one after the other or kept open."""

from __future__ import annotations

import asyncio
import json


class Client:
    """One keep-alive connection to a server on loopback.

    Args:
        port: The server's port.
        secret: What proves the caller; empty for nobody.
    """

    def __init__(self, port: int, secret: str = "") -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1:{port}\r\n" + (f"Authorization: Bearer {secret}\r\n" if secret else "")
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """Send a request and return the answer's data.

        Raises:
            RuntimeError: The server refused.
        """
        if self._writer is None or self._reader is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        data = b"" if body is None else json.dumps(body).encode()
        kind = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n" if data else ""
        self._writer.write(f"{method} /api/v1{path} HTTP/1.1\r\n{self._head}{kind}\r\n".encode() + data)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        answer = json.loads(await self._reader.readexactly(length))
        if not answer["success"]:
            raise RuntimeError(f"{method} {path}: {answer}")
        data_of: dict[str, object] = answer["data"]
        return data_of

    async def close(self) -> None:
        """Let go of the connection."""
        if self._writer is not None:
            self._writer.close()
            self._writer = self._reader = None
