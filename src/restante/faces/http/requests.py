# ruff: noqa: TC001  (the types of fields are asked for when the program runs)
"""What a body may say, and what stands in a query. An unknown field of a body is refused, never passed over."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from msgspec import DecodeError, Meta, Struct, ValidationError
from msgspec.json import Decoder

from restante.domain.errors import BadText, UsageError
from restante.domain.message import Draft, Priority, Scope
from restante.domain.overview import Late
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Arrival, Process
from restante.domain.wire import time_from

if TYPE_CHECKING:
    from collections.abc import Mapping

Body = TypeVar("Body", bound=Struct)

LEAST_WAIT_MS, MOST_WAIT_MS = 1_000, 600_000
MOST_IDS = 200
MOST_WATCHED = 64

Name = Annotated[str, Meta(max_length=200)]
ClientId = Annotated[str, Meta(max_length=256, description="256 bytes of UTF-8 at most")]
Id = Annotated[str, Meta(min_length=1, max_length=200)]
Milliseconds = Annotated[int, Meta(ge=0, le=253_402_300_799_999, description="milliseconds since 1970 (UTC)")]


class ProcessBody(Struct, forbid_unknown_fields=True):
    """The process of a session: machine, number, and when it began in that machine's words."""

    host: Name
    pid: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    started: Name


class RegisterBody(Struct, forbid_unknown_fields=True, rename="camel"):
    """What a session says of itself when it registers."""

    id: Id
    mode: Name = ""
    name: Name = ""
    working_dir: Annotated[str, Meta(max_length=4096)] = ""
    parent_session_id: Name | None = None
    process: ProcessBody | None = None
    secret_digest: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$", description="SHA-256 of its secret")] = ""

    def arrival(self) -> Arrival:
        """Return it as a domain value."""
        process = self.process and Process(self.process.host, self.process.pid, self.process.started)
        return Arrival(
            self.id,
            self.mode,
            self.name,
            self.working_dir,
            self.parent_session_id or "",
            process or None,
            self.secret_digest,
        )


class DescribeBody(Struct, forbid_unknown_fields=True, rename="camel"):
    """What is to be changed of a session; what is left out stays."""

    name: Name | None = None
    blocked: Name | None = None
    open_todos: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    total_todos: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None


class TurnBody(Struct, forbid_unknown_fields=True, rename="camel"):
    """Whether a turn ended (or began), and how that became known."""

    ended: bool
    source: Literal["hook", "heuristic", "exit"] = "hook"


class PostBody(Struct, forbid_unknown_fields=True, rename="camel"):
    """A message. Who it is from is resolved by the server; ``parentSessionId`` is a claim and wins over the header."""

    text: Annotated[str, Meta(min_length=1)]
    client_message_id: ClientId | None = None
    subject: str = ""
    priority: Priority = Priority.NORMAL
    scope: Scope = Scope.CURRENT_TASK
    conversation: str = ""
    parent: str = ""
    expires_at: Milliseconds | None = None
    allow_warnings: bool = False
    parent_session_id: Name | None = None

    def draft(self) -> Draft:
        """Return it as a domain value."""
        return Draft(
            self.text,
            priority=self.priority,
            scope=self.scope,
            subject=self.subject,
            conversation=self.conversation,
            parent=self.parent,
            expires=time_from(self.expires_at),
            client_id=self.client_message_id or "",
        )


class SeenBody(Struct, forbid_unknown_fields=True, rename="camel"):
    """Which messages the addressee was given whole; ``noticed``: shown, and nobody knows whether they were read."""

    ids: Annotated[list[Id], Meta(min_length=1, max_length=MOST_IDS)]
    noticed: bool = False


class AckBody(Struct, forbid_unknown_fields=True, rename="camel"):
    """Which messages are acknowledged: ``ids``, or everything pending up to ``through``; and the word on them.

    A word that is carried on later than it was said tells both times: another one given between the two counts more.
    """

    ids: Annotated[list[Id], Meta(min_length=1, max_length=MOST_IDS)] | None = None
    through: Id | None = None
    decision: Decision | None = None
    action: Action | None = None
    summary: str = ""
    said_at: Milliseconds | None = None
    carried_at: Milliseconds | None = None

    def late(self) -> Late | None:
        """Return when it was said and carried; ``None`` where it is said now."""
        said, begun = time_from(self.said_at), time_from(self.carried_at)
        if (said is None) != (begun is None):
            raise UsageError("one of two times is missing", remedy="send both, saidAt and carriedAt, or none")
        return Late(said, begun) if said and begun else None


class JoinBody(Struct, forbid_unknown_fields=True, rename="camel"):
    """Where whoever joins a role works."""

    working_dir: Annotated[str, Meta(max_length=4096)] = ""


class PersistenceBody(Struct, forbid_unknown_fields=True):
    """Whether the mail of sessions is to be kept on disk."""

    on: bool


class AccountBody(Struct, forbid_unknown_fields=True):
    """A new account."""

    name: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9._-]{0,63}$")]
    password: Annotated[str, Meta(min_length=12, max_length=1024)]


def decode(decoder: Decoder[Body], data: bytes) -> Body:
    """Read a body.

    Raises:
        BadText: A text in it is none.
        UsageError: It is no JSON, or not what is wanted; where is named.
    """
    try:
        return decoder.decode(data)
    except ValidationError as error:
        raise UsageError(f"the body does not fit: {error}", remedy="see /api/v1/openapi.json") from None
    except DecodeError as error:
        if surrogate := _lone_surrogate(data):
            raise BadText(
                f"the body holds a lone surrogate (U+{ord(surrogate):04X}), which is not text",
                remedy="send text that is valid UTF-8",
            ) from None
        raise UsageError(f"the body is no JSON: {error}", remedy="send one JSON object in UTF-8") from None


def _lone_surrogate(data: bytes) -> str:
    """Return the first half of a pair without its other half in a JSON text; empty when that is not its fault."""
    try:
        match = re.search("[\ud800-\udfff]", json.dumps(json.loads(data), ensure_ascii=False))
    except (ValueError, RecursionError):
        return ""
    return match[0] if match else ""


def milliseconds_in(query: Mapping[str, str], name: str) -> float | None:
    """Return a time to wait in seconds, held to its bounds; ``None`` when it is not given.

    Raises:
        UsageError: It is no positive whole number.
    """
    value = number_in(query, name, least=1)
    return None if value is None else min(MOST_WAIT_MS, max(LEAST_WAIT_MS, value)) / 1000


def number_in(query: Mapping[str, str], name: str, *, least: int, most: int | None = None) -> int | None:
    """Return a whole number of a query; ``None`` when it is not given.

    Raises:
        UsageError: It is none, or out of bounds.
    """
    text = query.get(name)
    if text is None:
        return None
    # int() alone would also read "1_0", " 1" and digits of other scripts.
    value = int(text) if re.fullmatch(r"[0-9]{1,18}", text) else -1
    if value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name}={text!r} is no whole number {bounds}", remedy="correct it, or leave it out")
    return value


def flag_in(query: Mapping[str, str], name: str) -> bool:
    """Return a yes or no of a query; no when it is not given.

    Raises:
        UsageError: It is neither.
    """
    text = query.get(name, "0")
    if text not in {"0", "1", "true", "false"}:
        raise UsageError(f"{name}={text!r} is neither 1 nor 0", remedy="correct it, or leave it out")
    return text in {"1", "true"}


def ids_in(query: Mapping[str, str], name: str, most: int) -> list[str]:
    """Return a list by comma of a query.

    Raises:
        UsageError: It has more entries than may be.
    """
    found = [one for one in query.get(name, "").split(",") if one]
    if len(found) > most:
        raise UsageError(f"{name} names {len(found)}, the most are {most}", remedy="ask for fewer at once")
    return found


def decoder_of(kind: type[Any]) -> Decoder[Any]:
    """Return what reads a body of a kind."""
    return Decoder(kind)
