"""Asking a server over HTTP: one connection kept open, proxies for other machines only, every failure in our words.

What listens on this machine is never asked through a proxy, whatever the environment says: a proxy's error page is
not our server's answer. For other hosts the rules are those of ``urllib`` (``HTTP_PROXY``, ``NO_PROXY`` and so on).
"""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlencode, urlsplit

from restante.domain.envelope import data_of
from restante.domain.errors import Busy, Forbidden, RateLimited, RestanteError, Unauthorized, Unreachable, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 30.0
# A page of what waits has at most a few megabytes; what goes on for ever is none of ours.
_MOST_BYTES = 64 * 1024 * 1024
# Guards of servers that do not wrap their refusals answer with a few words of plain text.
_MOST_WORDS = 300


class Place(NamedTuple):
    """Where a server is.

    Attributes:
        url: As it is told in errors: without name and password.
        is_secure: Whether it is asked by TLS.
        host: Its name or address.
        port: Its port.
        prefix: What stands before every path, without a slash at its end.
        basic: Name and password, for the Authorization header; empty for none.
    """

    url: str
    is_secure: bool
    host: str
    port: int
    prefix: str
    basic: str

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        name = self.host.lower().rstrip(".")
        return name in {"localhost", "::1"} or name.endswith(".localhost") or _is_loopback_number(name)

    @property
    def keeps_secrets(self) -> bool:
        """Whether nobody between here and there can read what is sent."""
        return self.is_loopback or self.is_secure


def _is_loopback_number(name: str) -> bool:
    parts = name.removeprefix("::ffff:").split(".")
    return len(parts) == 4 and parts[0] == "127" and all(part.isdigit() for part in parts)


def place_of(url: str) -> Place:
    """Read the URL of a server.

    Raises:
        UsageError: It is none.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if parts.scheme not in {"http", "https"} or not host:
        raise UsageError(f"{url!r} is no URL of a server", remedy="give server.url as http://HOST:PORT or https://HOST")
    is_secure = parts.scheme == "https"
    basic = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
    shown = f"[{host}]" if ":" in host else host
    told = f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
    return Place(told, is_secure, host, port or (443 if is_secure else 80), parts.path.rstrip("/"), basic)


class Transport:
    """Asks one server.

    Args:
        place: Where it is.
        headers: What goes with every request.
        remedy: What to do when nobody answers.
    """

    def __init__(self, place: Place, headers: Mapping[str, str], *, remedy: str = "") -> None:
        self._place = place
        self._headers = dict(headers)
        self._remedy = remedy or "start it: restante serve"
        self._kept: http.client.HTTPConnection | None = None
        self._through = ""
        self._proxy_headers: dict[str, str] = {}

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: object = None,
        is_safe: bool = True,
        seconds: float = 0.0,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the answer holds
        """Return what an answer holds.

        Args:
            method: The method.
            path: Below the API's prefix, already quoted.
            query: Parameters.
            body: A JSON-able value.
            is_safe: Asking twice does no harm: a connection that breaks is made again, once.
            seconds: How long the server itself may take, on top of what every answer may.
            headers: Further headers.

        Raises:
            RestanteError: What the server answered, in the class that it was there.
            Unreachable: Nobody answers, the connection broke, or something else than Restante answers.
            Unsafe: On this machine, another user's process answers.
        """
        target = f"{self._place.prefix}/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
        sent = {"Accept": "application/json", **self._headers, **(headers or {})}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        if not is_safe:
            # One that was kept may have been closed by the other side meanwhile, and this must not be asked twice.
            self.close()
        limit = _ANSWER_SECONDS + seconds
        try:
            response, content = self._exchange(method, target, data, sent, limit)
        except (http.client.HTTPException, OSError) as error:
            self.close()
            if not is_safe or isinstance(error, TimeoutError) or _never_arrived(error):
                raise self._unreachable(error, is_safe=is_safe) from error
            try:
                response, content = self._exchange(method, target, data, sent, limit)
            except (http.client.HTTPException, OSError) as again:
                self.close()
                raise self._unreachable(again, is_safe=is_safe) from again
        return self._opened(response, content)

    def close(self) -> None:
        """Let the connection go."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def __del__(self) -> None:
        """Let the connection go when nobody asks any more."""
        if getattr(self, "_kept", None) is not None:
            self.close()

    def _exchange(
        self, method: str, target: str, data: bytes | None, headers: dict[str, str], seconds: float
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = self._connected()
        if connection.sock is not None:
            connection.sock.settimeout(seconds)
        connection.request(method, self._through + target, body=data, headers={**headers, **self._proxy_headers})
        response = connection.getresponse()
        content = response.read(_MOST_BYTES + 1)
        if response.will_close or len(content) > _MOST_BYTES:
            self.close()
        return response, content

    def _connected(self) -> http.client.HTTPConnection:
        if self._kept is None:
            self._kept = self._made()
            self._kept.connect()
            if self._place.is_loopback and not self._place.is_secure:
                self._check_listener(self._kept)
        return self._kept

    def _check_listener(self, connection: http.client.HTTPConnection) -> None:
        """Find out whose process it is before anything is said: a port that nobody holds may be taken by any user.

        Raises:
            Unsafe: It is another user's.
        """
        from restante.system.listeners import check_is_ours

        address, port = connection.sock.getpeername()[:2]
        try:
            check_is_ours(address, port, self._place.url)
        except RestanteError:
            self.close()
            raise

    def _made(self) -> http.client.HTTPConnection:
        """Return a connection to the server, or to the proxy that stands before it."""
        place = self._place
        self._through, self._proxy_headers = "", {}
        proxy = None if place.is_loopback else _proxy_for(place)
        host, port = (proxy.host, proxy.port) if proxy else (place.host, place.port)
        if not place.is_secure:
            if proxy:
                shown = f"[{place.host}]" if ":" in place.host else place.host
                self._through = f"http://{shown}:{place.port}"
                self._proxy_headers = _basic("Proxy-Authorization", proxy.basic)
            return http.client.HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
        import ssl

        secure = http.client.HTTPSConnection(host, port, timeout=_CONNECT_SECONDS, context=ssl.create_default_context())
        if proxy:
            secure.set_tunnel(place.host, place.port, _basic("Proxy-Authorization", proxy.basic))
        return secure

    def _opened(self, response: http.client.HTTPResponse, content: bytes) -> Any:  # noqa: ANN401
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            raise self._of_guard(response, content) from None
        try:
            return data_of(document)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._stranger(response) from None

    def _of_guard(self, response: http.client.HTTPResponse, content: bytes) -> RestanteError:
        """Return the error that a guard means which answers in plain words; anything else is a stranger's answer."""
        kind = response.getheader("Content-Type", "").partition(";")[0].strip().lower()
        words = content[: _MOST_WORDS + 1].decode("utf-8", "replace").strip()
        if kind not in {"", "text/plain"} or len(words) > _MOST_WORDS:
            return self._stranger(response)
        told = f"{self._place.url} answers: {words or response.reason}"
        if response.status == 401:
            return Unauthorized(told, remedy="prove who you are: name and password in server.url")
        if response.status == 403:
            return Forbidden(told, remedy="ask it by a name that it answers to")
        if response.status == 429:
            after = response.getheader("Retry-After", "")
            return RateLimited(told, retry_after=int(after) if after.isdigit() else 1)
        return Busy(told, remedy="try again in a moment") if response.status == 503 else self._stranger(response)

    def _stranger(self, response: http.client.HTTPResponse) -> Unreachable:
        return Unreachable(
            f"something else than Restante answers at {self._place.url} (HTTP {response.status})",
            remedy=f"check server.url, or {self._remedy}",
        )

    def _unreachable(self, error: Exception, *, is_safe: bool) -> Unreachable:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if isinstance(error, TimeoutError):
            reason = "no answer in time"
        if isinstance(error, http.client.HTTPException) and not isinstance(error, http.client.RemoteDisconnected):
            return Unreachable(
                f"what answers at {self._place.url} is no HTTP server of ours ({reason})", remedy=self._remedy
            )
        unsure = "" if is_safe or _never_arrived(error) else "; whether it was done is not known"
        return Unreachable(f"no server answers at {self._place.url} ({reason}){unsure}", remedy=self._remedy)


def _never_arrived(error: Exception) -> bool:
    """Tell whether a request cannot have reached anybody, and asking again at once would not either."""
    import socket
    import ssl

    return isinstance(error, (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError))


def _proxy_for(place: Place) -> Place | None:
    from urllib.request import getproxies, proxy_bypass

    url = getproxies().get("https" if place.is_secure else "http", "")
    if not url or proxy_bypass(f"{place.host}:{place.port}"):
        return None
    try:
        return place_of(url if "://" in url else f"http://{url}")
    except UsageError:
        raise UsageError(
            f"the proxy {url.rpartition('@')[2]!r} cannot be used for {place.url}",
            remedy="name one by http://HOST:PORT, or name the server's host in NO_PROXY",
        ) from None


def _basic(header: str, basic: str) -> dict[str, str]:
    from base64 import b64encode

    return {header: f"Basic {b64encode(basic.encode()).decode()}"} if basic else {}


def basic_header(place: Place) -> dict[str, str]:
    """Return the Authorization header for the name and password in a server's URL; nothing where there are none."""
    return _basic("Authorization", place.basic)


def quoted(part: str) -> str:
    """Return a text as one part of a path."""
    return quote(part, safe="")
