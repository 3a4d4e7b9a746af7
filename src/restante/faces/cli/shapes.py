"""The pieces that the schemas of answers are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer", "minimum": 0}
FLAG: dict[str, Any] = {"type": "boolean"}
TIME: dict[str, Any] = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may be missing."""
    return {"anyOf": [schema, {"type": "null"}]}


def words(choices: Iterable[str]) -> dict[str, Any]:
    """Return the schema of one word of a closed list."""
    return {"type": "string", "enum": [str(word) for word in choices]}


def list_of(item: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": item}


def record(**fields: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has just these fields, and all of them."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
