"""How a browser proves to be the person: a key that is good once, then a cookie that only this server can have made.

The cookie names its owner and its end, and is signed with what only the server and the person's own place know
(``Hub.proof_of``), so the server remembers nobody and a changed password shuts every browser out. A form carries a
second signature over the cookie: a page of another site can send neither.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Forbidden, Unauthorized
from restante.domain.registry import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.faces.web.hub import Hub

COOKIE = "restante"
FIELD = "csrf"
HEADER = b"x-restante-csrf"
LASTS_SECONDS = 30 * 24 * 3600
_KEY_SECONDS = 60
_MOST_KEYS = 100
_SPLIT = "."


class Visitor(NamedTuple):
    """Who looks at a page.

    Attributes:
        claim: What the exchange is asked with.
        owner: The account; empty in single-user mode.
        csrf: What the forms of this visitor's pages carry.
    """

    claim: Claim
    owner: str
    csrf: str


class Door:
    """Lets browsers in.

    Args:
        hub: The server.
        clock: Seconds since 1970.
    """

    def __init__(self, hub: Hub, clock: Callable[[], float] = time.time) -> None:
        self._hub = hub
        self._clock = clock
        self._keys: dict[str, tuple[str, float]] = {}

    def key_for(self, owner: str) -> str:
        """Return a key by which a browser may enter once, within a minute."""
        now = self._clock()
        self._keys = {key: kept for key, kept in self._keys.items() if kept[1] > now}
        while len(self._keys) >= _MOST_KEYS:
            self._keys.pop(next(iter(self._keys)))
        key = secrets.token_urlsafe(24)
        self._keys[_digest(key)] = owner, now + _KEY_SECONDS
        return key

    def owner_of(self, key: str) -> str:
        """Use a key up, and return whose it was.

        Raises:
            Unauthorized: It was used before, or is too old.
        """
        owner, until = self._keys.pop(_digest(key), ("", 0.0))
        if until <= self._clock():
            raise Unauthorized("this way in was used before, or is too old", remedy="restante ui")
        return owner

    async def cookie_for(self, owner: str) -> str:
        """Return a cookie that proves a person from now on.

        Raises:
            Unauthorized: There is no such person here.
        """
        proof = await self._hub.proof_of(owner)
        if not proof:
            raise Unauthorized("nobody is known here yet", remedy="restante ui, once, in a terminal of this machine")
        name = base64.urlsafe_b64encode(owner.encode()).decode().rstrip("=")
        head = _SPLIT.join((name, str(int(self._clock()) + LASTS_SECONDS), secrets.token_urlsafe(12)))
        return _SPLIT.join((head, _sign(proof, b"cookie", head)))

    async def visitor(self, cookie: str) -> Visitor | None:
        """Return who shows a cookie; ``None`` where it proves nothing."""
        head, _, signature = cookie.rpartition(_SPLIT)
        name, _, rest = head.partition(_SPLIT)
        until = rest.partition(_SPLIT)[0]
        try:
            owner = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
            is_over = int(until) <= self._clock()
        except ValueError:
            return None
        proof = await self._hub.proof_of(owner)
        # As bytes: a header may hold any, and texts that are not ASCII are not compared.
        signed, given = _sign(proof, b"cookie", head).encode(), signature.encode()
        if is_over or not proof or not hmac.compare_digest(signed, given):
            return None
        claim = Claim(owner=owner) if owner else Claim(proof.decode("ascii", "replace"))
        return Visitor(claim, owner, _sign(proof, b"csrf", cookie))


def check_form(visitor: Visitor, given: str) -> None:
    """Check that a form is from one of this visitor's own pages.

    Raises:
        Forbidden: It is not.
    """
    if not hmac.compare_digest(given.encode(), visitor.csrf.encode()):
        raise Forbidden("this form is not from a page of yours, or it is too old", remedy="load the page again")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _sign(proof: bytes, purpose: bytes, text: str) -> str:
    mac = hmac.new(proof, purpose + b"\0" + text.encode("utf-8", "replace"), hashlib.sha256)
    return base64.urlsafe_b64encode(mac.digest()).decode().rstrip("=")
