"""What a request must pass before anything looks at it: whom it was sent to, from where, how much, how often."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Forbidden, RateLimited, RestanteError
from restante.faces.http.sending import BodyTooLarge, send_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_ELSEWHERE = frozenset({b"cross-site", b"same-site"})
# A caller may come in a burst of so many seconds' worth of requests.
_BURST_SECONDS = 10.0
_MOST_CALLERS = 4096
_DRAIN_SECONDS = 1.0
_CALLERS_AN_ADDRESS = 8


class Bucket:
    """What one caller may still ask for: tokens that come back with time. Times are seconds of a clock that only grows.

    Args:
        rate: Tokens a second.
        size: Most tokens it holds.
        now: The time; it begins full.
    """

    __slots__ = ("_at", "_level", "_rate", "_size")

    def __init__(self, rate: float, size: float, now: float) -> None:
        self._rate = rate
        self._size = size
        self._level = size
        self._at = now

    def wait(self, now: float) -> float:
        """Return the seconds until there is a token; 0 when there is one."""
        self._level = min(self._size, self._level + max(0.0, now - self._at) * self._rate)
        self._at = now
        return 0.0 if self._level >= 1 else (1 - self._level) / self._rate

    def take(self) -> None:
        """Take a token."""
        self._level -= 1

    def is_full(self, now: float) -> bool:
        """Whether it says nothing that a new one would not say."""
        return self._level + (now - self._at) * self._rate >= self._size


class Buckets:
    """A bucket for each of many callers, never for more than so many.

    Args:
        rate: Tokens a second of each.
        size: Most tokens of each.
        time: A clock that only grows.
        what: What there were too many of.
    """

    def __init__(self, rate: float, size: float, time: Callable[[], float], what: str) -> None:
        self._rate = rate
        self._size = size
        self._time = time
        self._what = what
        self._buckets: dict[object, Bucket] = {}

    def check(self, caller: object, *, take: bool = True) -> None:
        """Take one token of a caller, or only see whether there is one.

        Raises:
            RateLimited: There is none.
        """
        now = self._time()
        bucket = self._buckets.get(caller)
        if bucket is None:
            if not take:
                return
            self._make_room(now)
            bucket = self._buckets[caller] = Bucket(self._rate, self._size, now)
        if seconds := bucket.wait(now):
            raise RateLimited(f"too many {self._what}", retry_after=math.ceil(seconds))
        if take:
            bucket.take()

    def _make_room(self, now: float) -> None:
        if len(self._buckets) < _MOST_CALLERS:
            return
        self._buckets = {caller: one for caller, one in self._buckets.items() if not one.is_full(now)}
        # All are busy: forgetting the older half is fairer than refusing whoever is new.
        for caller in list(self._buckets)[: max(0, len(self._buckets) - _MOST_CALLERS // 2)]:
            del self._buckets[caller]


class Rules(NamedTuple):
    """What the guards go by.

    Attributes:
        hosts: Names that requests may be sent to, in lower case, without a port.
        body_bytes: Largest body.
        rate: Most requests a second of one caller, in the long run.
    """

    hosts: frozenset[str]
    body_bytes: int
    rate: float


def names_of(*hosts: str) -> frozenset[str]:
    """Return the names that requests may be sent to: lists by comma, and those of this machine."""
    given = (one.strip().lower().strip("[]") for names in hosts for one in names.split(","))
    return frozenset([*LOOPBACK_NAMES, *(one for one in given if one)])


class Guards:
    """Refuses what must not come further; pure ASGI, so that it costs next to nothing.

    Args:
        app: What is guarded.
        rules: See ``Rules``.
        time: A clock that only grows.
        refused: Told the code of every refusal.
    """

    def __init__(self, app: ASGIApp, rules: Rules, time: Callable[[], float], refused: Callable[[str], None]) -> None:
        self._app = app
        self._rules = rules
        self._callers = Buckets(rules.rate, rules.rate * _BURST_SECONDS, time, "requests of one caller")
        all_of_one = rules.rate * _CALLERS_AN_ADDRESS
        self._addresses = Buckets(all_of_one, all_of_one * _BURST_SECONDS, time, "requests from one address")
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] != "http":
            return
        try:
            is_bounded = self._check(scope)
        except RestanteError as error:
            self._refused(error.code)
            if isinstance(error, BodyTooLarge) and not any(name == b"expect" for name, _ in scope["headers"]):
                await drain(receive)
            await send_error(send, error)
            return
        path: str = scope["path"]
        if path.startswith("/api/") and not path.startswith("/api/v1/"):
            scope["path"] = f"/api/v1/{path[5:]}"
            scope["raw_path"] = scope["path"].encode()
        # Only where it is needed: each further layer stands in the memory of every call that waits.
        await self._app(scope, receive if is_bounded else _bounded(receive, self._rules.body_bytes), send)

    def _check(self, scope: Scope) -> bool:
        """Refuse what must not come further; return whether the body says its length."""
        host = origin = length = authorization = session = site = mode = b""
        is_chunked = False
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"content-length":
                length = value
            elif name == b"transfer-encoding":
                is_chunked = True
            elif name == b"sec-fetch-site":
                site = value
            elif name == b"sec-fetch-mode":
                mode = value
            elif name == b"authorization":
                authorization = value
            elif name in {b"x-restante-session", b"x-codeman-parent-session"}:
                session = session or value
        _check_host(host, self._rules.hosts)
        if origin and scope["method"] in _UNSAFE:
            _check_origin(origin, host)
        # A page of another site could read nothing of the answer, and take the place of those who wait.
        if site in _ELSEWHERE and mode != b"navigate":
            raise Forbidden("a page of another site may not ask for this", remedy="ask without a browser")
        if not is_chunked and length and int(length) > self._rules.body_bytes:
            raise too_large(self._rules.body_bytes)
        # The address alone would let one agent use up what all sessions of a machine may ask for; what a caller says of
        # itself alone would let one be many.
        address = scope["client"][0] if scope.get("client") else ""
        self._addresses.check(address)
        self._callers.check((address, authorization, session))
        return not is_chunked


async def drain(receive: Receive) -> None:
    """Take the rest of a body for a moment: who still sends when the connection ends would never see the answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while (await receive()).get("more_body", False):
                pass


def _bounded(receive: Receive, limit: int) -> Receive:
    """Return what reads a body that does not say its length; one over the limit is refused, whoever reads it."""
    left = limit

    async def bounded() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            await drain(receive)
            raise too_large(limit)
        return message

    return bounded


def too_large(limit: int) -> BodyTooLarge:
    """Return the error for a body over the limit."""
    return BodyTooLarge(f"the body is over {limit:,} bytes", remedy="send less at once")


def host_name(host: bytes) -> str:
    """Return the name in a Host header, in lower case, without a port."""
    name = host.decode("latin-1").strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def _check_host(host: bytes, allowed: Iterable[str]) -> None:
    name = host_name(host)
    if name not in allowed:
        raise Forbidden(
            f"this server does not answer to the name {name!r}",
            remedy="ask for localhost, or name the host in server.hosts",
        )


def _check_origin(origin: bytes, host: bytes) -> None:
    scheme, separator, rest = origin.lower().partition(b"://")
    if not separator or scheme not in {b"http", b"https"} or rest != host.lower():
        raise Forbidden(
            f"a page of {origin.decode('latin-1')!r} may not change anything here", remedy="ask without a browser"
        )
