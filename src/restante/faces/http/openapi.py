"""The route table told to machines (OpenAPI 3.1) and to people (docs/reference/http.md)."""

from __future__ import annotations

import re
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from msgspec.json import schema_components

from restante import __version__
from restante.faces.http import answers
from restante.faces.http.table import PREFIX, ROUTES

if TYPE_CHECKING:
    from restante.faces.http.routes import Route

# What any route may answer with: no proof, a guard, too much at once, a fault, a database that is away.
ALWAYS = (401, 403, 429, 500, 503, 507)
WITH_BODY = (400, 413)

_INTRODUCTION = """The HTTP API of `restante serve`. Every path begins with `/api/v1`; `/api` stands for the same.

Every answer is `{"success": true, "data": ...}`, or `{"success": false, "error", "errorCode", "code", "remedy",
"details"}`; only event streams, metrics and the OpenAPI document are bare. Times are milliseconds since 1970 (UTC).

Who asks: `Authorization: Bearer <secret>` proves a session or the person; `X-Restante-Session: <id>` (or
`X-Codeman-Parent-Session`) claims to be a session, unverified; with accounts, `Authorization: Basic` proves an owner.
Who proves nothing and claims nothing is "user (unverified)".
"""


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    kinds = [kind for route in ROUTES for kind in (route.answer, route.body) if kind is not None]
    unique = list(dict.fromkeys([*kinds, answers.Error]))
    _, components = schema_components(unique, ref_template="#/components/schemas/{name}")
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(PREFIX + route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Restante", "version": __version__, "description": _INTRODUCTION},
        "paths": paths,
        "security": [{}, {"secret": []}, {"account": []}, {"claim": []}],
        "components": {
            "schemas": components,
            "securitySchemes": {
                "secret": {"type": "http", "scheme": "bearer"},
                "account": {"type": "http", "scheme": "basic"},
                "claim": {"type": "apiKey", "in": "header", "name": "X-Restante-Session"},
            },
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": _name_of(route),
        "summary": route.summary,
        "responses": {"200": _success(route)},
    }
    for status in sorted({*ALWAYS, *route.errors, *(WITH_BODY if route.body else ())}):
        operation["responses"][str(status)] = _failure(status)
    if route.parameters:
        operation["parameters"] = [
            {
                "name": one.name,
                "in": one.place,
                "description": one.summary,
                "schema": one.schema,
                **({"required": True} if one.place == "path" else {}),
            }
            for one in route.parameters
        ]
    if route.body:
        reference = {"$ref": f"#/components/schemas/{route.body.__name__}"}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": reference}}}
    return operation


def _name_of(route: Route) -> str:
    words = re.findall("[a-zA-Z]+", route.path)
    return route.method.lower() + "".join(word.capitalize() for word in words)


def _success(route: Route) -> dict[str, Any]:
    if route.answer is None:
        schema: dict[str, Any] = {"type": "object"} if "json" in route.media else {"type": "string"}
        return {"description": "as asked", "content": {route.media: {"schema": schema}}}
    data = {"$ref": f"#/components/schemas/{route.answer.__name__}"}
    schema = {
        "type": "object",
        "properties": {"success": {"const": True}, "data": data},
        "required": ["success", "data"],
    }
    return {"description": "as asked", "content": {"application/json": {"schema": schema}}}


def _failure(status: int) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    if status in (429, 503):
        answer["headers"] = {"Retry-After": {"description": "seconds", "schema": {"type": "integer", "minimum": 1}}}
    return answer


def reference() -> str:
    """Return docs/reference/http.md, without its first line."""
    parts = [f"# HTTP API\n\n{_INTRODUCTION}\nThe complete description is at `{PREFIX}/openapi.json`.\n\n"]
    parts.append("| request | what it does |\n|---|---|\n")
    parts += [f"| `{route.method} {route.path}` | {route.summary} |\n" for route in ROUTES]
    _, components = schema_components(
        [kind for route in ROUTES for kind in (route.body, route.answer) if kind is not None],
        ref_template="{name}",
    )
    for route in ROUTES:
        parts.append(f"\n## {route.method} {route.path}\n\n{route.summary}.\n")
        if route.parameters:
            parts.append("\n| parameter | in | what it is |\n|---|---|---|\n")
            parts += [f"| `{one.name}` | {one.place} | {one.summary} |\n" for one in route.parameters]
        if route.body:
            parts.append(f"\nBody: [{route.body.__name__}](#{route.body.__name__.lower()}). ")
        answer = f"[{route.answer.__name__}](#{route.answer.__name__.lower()})" if route.answer else f"`{route.media}`"
        errors = ", ".join(str(one) for one in sorted({*route.errors, *(WITH_BODY if route.body else ())}))
        parts.append(f"{'' if route.body else chr(10)}Answer: {answer}." + (f" Errors: {errors}." if errors else ""))
        parts.append("\n")
    parts.append(f"\nAny route may answer {', '.join(map(str, ALWAYS))}.\n\n# Shapes\n")
    for name, schema in components.items():
        parts.append(f"\n## {name}\n\n{schema.get('description', '')}\n")
        fields = schema.get("properties", {})
        if fields:
            required = set(schema.get("required", ()))
            parts.append("\n| field | type | |\n|---|---|---|\n")
            parts += [
                f"| `{field}`{'' if field in required else ' (optional)'} | {_type_of(one)} "
                f"| {one.get('description', '')} |\n"
                for field, one in fields.items()
            ]
        elif "enum" in schema:
            parts.append("\nOne of: " + ", ".join(f"`{one}`" for one in schema["enum"]) + ".\n")
    return "".join(parts)


def _type_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"[{schema['$ref']}](#{schema['$ref'].lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type_of(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type_of(schema['items'])}"
    return str(schema.get("type", "anything"))
