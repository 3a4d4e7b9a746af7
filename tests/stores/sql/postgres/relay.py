"""A TCP relay before a server, which can be told to swallow what passes, or to cut at a chosen instant."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


class Relay:
    """Passes bytes on between clients and a port of 127.0.0.1.

    Args:
        port: The server's port.

    Attributes:
        port: The relay's own.
        is_black_hole: Whether connections that are open now take bytes and pass none on, without being closed.
        cut_after: What a client says after which its connection is cut, once; it is still passed on to the server.
        was_cut: Is set when that happened.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cut_after = b""
        self.was_cut = threading.Event()
        self._swallowed: set[socket.socket] = set()
        self._swallows_new = False
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def swallow(self, *, new_ones_too: bool = False) -> None:
        """Let nothing pass any more on what is open now, in neither direction."""
        with self._lock:
            self._swallowed |= self._open
            self._swallows_new = new_ones_too

    def pass_on(self) -> None:
        """Let what is opened from now on pass."""
        self._swallows_new = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            sockets = [self._listener, *self._open]
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            with self._lock:
                self._open |= {client, server}
                if self._swallows_new:
                    self._swallowed |= {client, server}
            for source, sink, is_client in ((client, server, True), (server, client, False)):
                thread = threading.Thread(target=self._pump, args=(source, sink, is_client), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if source in self._swallowed:
                    continue
                if is_client and self.cut_after and self.cut_after in data:
                    self.cut_after = b""
                    self._swallowed.add(sink)
                    sink.sendall(data)
                    source.shutdown(socket.SHUT_RDWR)
                    self.was_cut.set()
                    continue
                sink.sendall(data)
        for one in (source, sink):
            if one not in self._swallowed:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
