"""opencode: ``POST /session/ID/prompt_async`` of its server, which starts a turn of an idle session (1.18.33).

Only where the person said where that server is (``wake.opencode``), and only on this machine: what is sent wakes.
"""

from __future__ import annotations

import base64
import http.client
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from restante.domain.monitor import Wake, Woken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.monitor import Target

METHODS = ("POST /session/ID/prompt_async",)

_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
_SECONDS = 10.0
_TAKEN = 204


class Opencode:
    """A ``ports.monitoring.Waker`` by the server of opencode.

    Args:
        url: Where it is; empty for unknown.
        environment: Where ``OPENCODE_SERVER_PASSWORD`` comes from.
    """

    name = "opencode"
    is_default = True

    def __init__(self, url: str, environment: Mapping[str, str]) -> None:
        self._url = url
        self._password = environment.get("OPENCODE_SERVER_PASSWORD", "")
        self._user = environment.get("OPENCODE_SERVER_USERNAME", "opencode")

    def can_wake(self, target: Target) -> str:
        """Return why it cannot wake this session; see ``Waker``."""
        if not self._url:
            return "opencode is woken through its server, and wake.opencode does not say where that is"
        try:
            place = urlsplit(self._url)
            is_here = place.scheme == "http" and place.hostname in _HERE and bool(place.port)
        except ValueError:
            is_here = False
        if not is_here:
            return "wake.opencode is no http://127.0.0.1:PORT of this machine"
        return "" if _SESSION.fullmatch(target.session) else f"{target.session!r} is no id of an opencode session"

    def wake(self, target: Target, text: str) -> Woken:
        """Start a turn of the session; see ``Waker``."""
        reason = self.can_wake(target)
        if reason:
            return Woken(Wake.IMPOSSIBLE, reason)
        place = urlsplit(self._url)
        method, path = METHODS[0].split(" ")
        headers = {"Content-Type": "application/json"}
        if self._password:
            proof = base64.b64encode(f"{self._user}:{self._password}".encode()).decode()
            headers["Authorization"] = f"Basic {proof}"
        body = json.dumps({"parts": [{"type": "text", "text": text}]})
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_SECONDS)
        try:
            connection.request(method, path.replace("ID", target.session), body, headers)
            answer = connection.getresponse()
            answer.read(10_000)
        except (OSError, http.client.HTTPException) as error:
            return Woken(Wake.UNCONFIRMED, f"opencode's server does not answer: {error}")
        finally:
            connection.close()
        if answer.status == _TAKEN:
            return Woken(Wake.CONFIRMED, receipt=f"{answer.status}")
        if answer.status == http.client.NOT_FOUND:
            return Woken(Wake.IMPOSSIBLE, "opencode's server knows no such session")
        return Woken(Wake.UNCONFIRMED, f"opencode's server answered {answer.status}")
