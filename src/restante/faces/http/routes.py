"""What a route is, and the parts that tables of routes share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from msgspec import Struct

    from restante.faces.http.asking import Ask

FLAG = {"type": "string", "enum": ["0", "1", "true", "false"]}
TEXT = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
POSITIVE = {"type": "integer", "minimum": 1, "maximum": 10**18 - 1}
ID = {"type": "string", "minLength": 1}


class Parameter(NamedTuple):
    """Something that a path or a query says.

    Attributes:
        name: What it is called.
        schema: JSON Schema of it.
        summary: What it means.
        place: ``query``, ``path`` or ``header``.
    """

    name: str
    schema: dict[str, Any]
    summary: str
    place: str = "query"


class Route(NamedTuple):
    """One thing that can be asked.

    Attributes:
        method: The HTTP method.
        path: Below ``PREFIX``; a parameter stands in braces.
        handler: What answers; ``None`` for an answer means that it was sent.
        summary: What it does.
        answer: The shape of the answer; ``None`` where it is no JSON.
        errors: HTTP statuses it may answer with, beside those that any route may.
        body: The shape of the body; ``None`` where none is taken.
        parameters: What path, query and headers say.
        media: Content type of an answer that is no JSON.
    """

    method: str
    path: str
    handler: Callable[[Ask], Awaitable[dict[str, Any] | None]]
    summary: str
    answer: type[Struct] | None
    errors: tuple[int, ...] = ()
    body: type[Struct] | None = None
    parameters: tuple[Parameter, ...] = ()
    media: str = "application/json"
