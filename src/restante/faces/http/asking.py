"""One request, and what every handler needs of it: who asks, what is asked, and the way to the exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from restante.domain.errors import Unauthorized, UsageError
from restante.domain.registry import Claim
from restante.faces.http.accounts import basic_of
from restante.faces.http.guards import drain, too_large
from restante.faces.http.requests import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from msgspec.json import Decoder
    from starlette.types import Receive, Scope, Send

    from restante.config import Settings
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.accounts import Accounts
    from restante.faces.http.connections import Connection
    from restante.faces.http.handover import Handovers
    from restante.faces.http.logs import Log
    from restante.faces.http.metrics import Metrics
    from restante.faces.http.parking import Parking
    from restante.faces.http.waits import Waits
    from restante.faces.http.worker import Worker

Result = TypeVar("Result")

_LONGEST_CLAIM = 200


class Office(NamedTuple):
    """What all requests of a server share."""

    settings: Settings
    worker: Worker
    waits: Waits
    parking: Parking
    handovers: Handovers
    accounts: Accounts
    metrics: Metrics
    log: Log
    document: Callable[[], dict[str, Any]]
    body_bytes: int


class ClientGoneError(Exception):
    """The client hung up; there is nobody to answer."""


class Ask:
    """One request.

    Args:
        office: What is shared.
        scope: As ASGI gives it.
        receive: The same.
        send: The same.
        decoder: What reads the body; ``None`` where none is taken.
    """

    __slots__ = ("_claim", "_decoder", "_receive", "office", "params", "query", "scope", "send")

    def __init__(
        self, office: Office, scope: Scope, receive: Receive, send: Send, decoder: Decoder[Any] | None
    ) -> None:
        self.office = office
        self.scope = scope
        self.send = send
        self.params: dict[str, str] = scope.get("path_params", {})
        self.query = _query_of(scope["query_string"])
        self._receive = receive
        self._decoder = decoder
        self._claim = Claim()

    @property
    def connection(self) -> Connection | None:
        """The client's connection, where the server tells it."""
        found: Connection | None = self.scope.get("state", {}).get("connection")
        return found

    @property
    def secret(self) -> str:
        """What the caller shows as its secret, once it was admitted; empty for nothing."""
        return self._claim.secret

    def header(self, name: bytes) -> bytes:
        """Return a header; empty when it is not there."""
        for one, value in self.scope["headers"]:
            if one == name:
                found: bytes = value
                return found
        return b""

    async def admit(self, *, claimed: str | None = None) -> None:
        """Find out who asks, as far as that can be told without the exchange.

        Args:
            claimed: The session that the body claims; wins over the header.

        Raises:
            Unauthorized: A proof is needed, and missing or wrong.
            RateLimited: Too many proofs were wrong.
        """
        office = self.office
        needs_owner = await office.accounts.are_there()
        authorization = self.header(b"authorization")
        session = claimed
        if session is None:
            header = self.header(b"x-restante-session") or self.header(b"x-codeman-parent-session")
            session = header.decode("utf-8", "replace")
        secret, owner = "", None
        if authorization[:7].lower() == b"bearer ":
            secret = authorization[7:].strip().decode("ascii", "replace")
        elif given := basic_of(authorization):
            address = self.scope["client"][0] if self.scope.get("client") else ""
            owner = await office.accounts.owner(given, address)
        if needs_owner and not secret and owner is None:
            raise Unauthorized("this server needs to know who asks", remedy="send a secret, or name and password")
        self._claim = Claim(secret, session[:_LONGEST_CLAIM], owner)

    def door(self, exchange: Exchange) -> LocalWindow:
        """Return what the caller can ask; for use within a job.

        Raises:
            Unauthorized: An owner is needed, and the proof shown is none; or the account of this owner was deleted.
        """
        identity = exchange.identify(self._claim)
        # The sessions of an account outlive it, and their secrets are right still; what they prove is nobody's.
        if identity.owner and not self.office.accounts.knows(identity.owner, exchange):
            raise Unauthorized(f"there is no account {identity.owner!r} any more", remedy="ask whose server this is")
        needs_proof = self.office.accounts.needs_owner and self._claim.owner is None
        if needs_proof and not identity.verified:
            raise Unauthorized("what was shown proves nothing", remedy="send a valid secret, or name and password")
        return exchange.window(identity)

    async def run(
        self,
        work: Callable[[Exchange, LocalWindow], Result],
        then: Callable[[Result], None] | None = None,
        *,
        alone: bool = False,
        brief: bool = False,
    ) -> Result:
        """Ask the exchange in the caller's name. Whatever was read before counts as read first.

        Args:
            work: What to ask.
            then: See ``worker.Job``.
            alone: The same.
            brief: The same.
        """
        self.office.handovers.settle()
        if not brief:
            # Whoever looks at sessions is told who waits at this moment.
            self.office.parking.write()
        return await self.office.worker.submit(
            lambda exchange: work(exchange, self.door(exchange)), then, alone=alone, brief=brief
        )

    async def body(self) -> Any:  # noqa: ANN401
        """Return the body, read for what the route takes.

        Raises:
            BodyTooLarge: It is over the limit.
            UsageError: It is malformed.
            ClientGoneError: The client hung up before all was sent.
        """
        data = b""
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            data += message.get("body", b"")
            if len(data) > self.office.body_bytes:
                await drain(self._receive)
                raise too_large(self.office.body_bytes)
            if not message.get("more_body", False):
                break
        return decode(self._decoder, data) if self._decoder else data

    async def hung_up(self) -> None:
        """Return when the client has gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    @property
    def is_last(self) -> bool:
        """Whether the connection ends with the answer."""
        return self.scope.get("http_version") == "1.0" or b"close" in self.header(b"connection").lower()


def _query_of(raw: bytes) -> dict[str, str]:
    """Return a query by name, the first of each.

    Raises:
        UsageError: It is no UTF-8, or too much.
    """
    if not raw:
        return {}
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise UsageError("the query is malformed", remedy="send it percent-encoded, in UTF-8") from None
    return dict(reversed(pairs))
