"""How answers leave: every one of them in the envelope, with the same headers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from restante.domain.envelope import of_error, status_of
from restante.domain.errors import Busy, RateLimited, RestanteError, Unauthorized

if TYPE_CHECKING:
    from starlette.types import Send

Headers = list[tuple[bytes, bytes]]

# Nothing here is for a browser to show, to guess about, to keep or to put into a frame.
SECURITY_HEADERS: Headers = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
]
BASIC_HEADERS: Headers = [(b"content-type", b"application/json"), *SECURITY_HEADERS]

_ENCODER = msgspec.json.Encoder()


def encode(value: object) -> bytes:
    """Return a value as JSON."""
    return _ENCODER.encode(value)


class InternalError(RestanteError):
    """A fault of the server's own."""

    code = "internal"
    http_status = 500


class NoSuchRoute(RestanteError):
    """No route has this path."""

    code = "nothing_there"
    http_status = 404


class NoSuchMethod(RestanteError):
    """The path has no such method."""

    code = "usage"
    http_status = 405

    def __init__(self, method: str, allowed: str) -> None:
        super().__init__(f"this path does not take {method}", remedy=f"it takes {allowed}")
        self.allowed = allowed


class BodyTooLarge(RestanteError):
    """The body is over what any request can need."""

    code = "too_large"
    http_status = 413


def enveloped(data: object) -> dict[str, Any]:
    """Return the envelope of what was asked for."""
    return {"success": True, "data": data}


async def send_json(send: Send, content: object, *, status: int = 200, headers: Headers | None = None) -> None:
    """Send an answer whole."""
    body = encode(content)
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*BASIC_HEADERS, (b"content-length", b"%d" % len(body)), *(headers or ())],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, error: RestanteError) -> None:
    """Send an error in its envelope, with the headers that belong to it."""
    headers: Headers = []
    if isinstance(error, RateLimited):
        headers.append((b"retry-after", b"%d" % max(1, error.retry_after)))
    elif isinstance(error, Busy):
        headers.append((b"retry-after", b"1"))
    elif isinstance(error, Unauthorized):
        headers.append((b"www-authenticate", b'Basic realm="restante", charset="UTF-8", Bearer realm="restante"'))
    elif isinstance(error, NoSuchMethod):
        headers.append((b"allow", error.allowed.encode()))
    elif isinstance(error, BodyTooLarge):
        headers.append((b"connection", b"close"))
    await send_json(send, of_error(error), status=status_of(error), headers=headers)
