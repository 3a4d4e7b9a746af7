"""One client's connection: uvicorn's, and what it lacks against clients that send or take slowly, or only sit there.

Also tells how a connection ended, which is how a server learns whether its last answer was read: a client that closes
with an answer unread resets the connection, one that read everything ends it in order (RFC 9293, section 3.6.1; on
systems that do not do so, a lost answer is noticed only while it is still on its way).
"""

from __future__ import annotations

import asyncio
import select
import socket
import sys
from typing import TYPE_CHECKING, Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from restante.faces.http.corked import Corked
from restante.faces.http.sending import BASIC_HEADERS, encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
STUCK_SECONDS = 30.0
SWEEP_SECONDS = 1.0

_SIOCOUTQ, _SIOCOUTQNSD, _SO_NWRITE = 0x5411, 0x894B, 0x1024
_BROKEN = select.POLLERR | select.POLLHUP if hasattr(select, "poll") else 0


class Connection(H11Protocol):
    """A connection that knows how long it has been waiting for its client. Handlers find it in ``scope["state"]``."""

    most = 4096
    waiting_since: float | None
    stuck_since: float | None
    corked: Corked
    idle_since = 0.0
    is_lost = False
    lost_by: Exception | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; where too many wait already, the one that idles longest has to go."""
        self.app_state = {**self.app_state, "connection": self}
        self.stuck_since = None
        self.corked = Corked(transport, self.loop)
        super().connection_made(cast("asyncio.Transport", self.corked))
        self.waiting_since = self.idle_since = self.loop.time()
        if len(self.connections) > self.most:
            idle = [one for one in self.connections if isinstance(one, Connection) and one.is_idle]
            if idle:
                # Making room for many at once keeps the search for the longest idle one rare.
                idle.sort(key=lambda one: one.idle_since)
                for one in idle[: max(1, self.most // 16)]:
                    one.transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether no request of it is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Take bytes; note since when a request is incomplete."""
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
            if self.waiting_since is None:
                self.waiting_since = self.loop.time()
        else:
            self.waiting_since = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Note how it ended."""
        self.is_lost = True
        self.lost_by = exc
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Note since when the client takes nothing."""
        self.stuck_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on."""
        self.stuck_since = None
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Note since when it idles."""
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP like everything else that is refused."""
        content = {"success": False, "error": msg, "errorCode": "INVALID_INPUT", "code": "usage", "remedy": ""}
        body = encode({**content, "details": []})
        headers = [*BASIC_HEADERS, (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event))
        self.transport.close()

    def was_broken(self) -> bool:
        """Whether the client is known to have gone without reading everything."""
        if self.is_lost:
            return self.lost_by is not None
        return _is_broken(self.transport)

    def is_late(self, now: float) -> bool:
        """Whether the client has had all the time it gets for what it is doing."""
        if self.stuck_since is not None and now - self.stuck_since > STUCK_SECONDS:
            return True
        if self.waiting_since is None:
            return False
        is_body = self.conn.their_state is h11.SEND_BODY
        return now - self.waiting_since > (BODY_SECONDS if is_body else HEAD_SECONDS)

    async def flushed(self) -> bool:
        """Wait until the system took everything that was sent; return whether it did before the connection ended."""
        self.corked.flush()
        end = self.loop.time() + STUCK_SECONDS
        while not self.is_lost and self.transport.get_write_buffer_size():
            if self.loop.time() > end:
                self.transport.abort()
                return False
            await asyncio.sleep(0.005)
        # Whoever ended it before the answer was out did not wait for the answer.
        return not self.transport.is_closing() and not self.was_broken()

    def is_decided(self, *, at_once: bool) -> bool:
        """Whether the connection ended, or what was sent is with the client's system: before that nobody can read it.

        Args:
            at_once: Do not wait for the word of a system that is this one: it may come late (RFC 1122, 4.2.3.2).
        """
        if self.is_lost:
            return True
        raw: socket.socket | None = self.transport.get_extra_info("socket")
        if raw is None or raw.fileno() < 0:
            return True
        is_here = at_once and bool(self.client) and is_loopback(self.client[0] if self.client else "")
        return _queued(raw, only_unsent=is_here) == 0


def is_loopback(address: str) -> bool:
    """Whether an address is one of this machine that no other can reach."""
    return address in {"::1", "localhost"} or address.startswith(("127.", "::ffff:127."))


def _queued(raw: socket.socket, *, only_unsent: bool) -> int:
    """Return how many bytes wait in the system: tcp(7), ``SIOCOUTQ`` and ``SIOCOUTQNSD``; ``SO_NWRITE`` of BSDs."""
    import fcntl
    import struct

    is_linux = sys.platform.startswith("linux")
    try:
        if is_linux:
            answer = fcntl.ioctl(raw.fileno(), _SIOCOUTQNSD if only_unsent else _SIOCOUTQ, b"\0" * 4)
            return int(struct.unpack("i", answer)[0])
        return raw.getsockopt(socket.SOL_SOCKET, _SO_NWRITE)
    except OSError:
        return 0


def _is_broken(transport: Any) -> bool:  # noqa: ANN401
    raw: socket.socket | None = transport.get_extra_info("socket")
    if raw is None or raw.fileno() < 0 or not _BROKEN:
        return False
    poll = select.poll()
    poll.register(raw.fileno(), 0)
    return any(event & _BROKEN for _, event in poll.poll(0))


async def sweep(connections: Iterable[object]) -> None:
    """End the connections of clients that are too slow, until cancelled.

    Args:
        connections: The server's own, changing set.
    """
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        now = loop.time()
        for one in tuple(connections):
            if isinstance(one, Connection) and one.is_late(now):
                one.transport.abort()
