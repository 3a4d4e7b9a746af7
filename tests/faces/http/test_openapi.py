"""The document is made of the route table, is complete, and says the truth."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from tests.faces.http.api import running

from restante.faces.http import requests
from restante.faces.http.openapi import document, reference
from restante.faces.http.table import PREFIX, ROUTES

if TYPE_CHECKING:
    from tests.faces.http.api import Actor, Api

# The paths that were agreed, and those of the fork that go on working.
PROMISED = {
    ("POST", "/sessions/{id}/inbox"),
    ("GET", "/sessions/{id}/inbox"),
    ("POST", "/sessions/{id}/inbox/ack"),
    ("GET", "/inbox/summary"),
    ("GET", "/agent-inbox/summary"),
    ("GET", "/watch"),
    ("GET", "/agent-watch"),
    ("GET", "/sessions"),
    ("POST", "/sessions"),
    ("GET", "/sessions/{id}"),
    ("DELETE", "/sessions/{id}"),
    ("GET", "/sessions/{id}/wait"),
    ("GET", "/receipts"),
    ("GET", "/events"),
    ("GET", "/settings/persistence"),
    ("PUT", "/settings/persistence"),
    ("GET", "/health"),
    ("GET", "/metrics"),
}


def schema_of(method: str, path: str, status: int) -> dict[str, Any]:
    """Return the schema of an answer, with everything that it refers to."""
    told = document()
    content = told["paths"][PREFIX + path][method.lower()]["responses"][str(status)]["content"]
    return {**content["application/json"]["schema"], "components": told["components"]}


def check(answer: Any, method: str, path: str) -> None:
    """Hold an answer to its schema."""
    errors = list(Draft202012Validator(schema_of(method, path, answer.status)).iter_errors(answer.document))
    assert not errors, (method, path, [one.message for one in errors])


def test_it_names_every_route_and_only_those() -> None:
    told = {
        (method.upper(), path.removeprefix(PREFIX))
        for path, operations in document()["paths"].items()
        for method in operations
    }
    assert told == {(route.method, route.path) for route in ROUTES}
    assert told >= PROMISED


def test_the_server_tells_the_same_document(api: Api) -> None:
    assert api.ask("GET", "/openapi.json").document == document()


def test_every_parameter_of_a_path_is_described() -> None:
    for route in ROUTES:
        named = set(re.findall(r"\{(\w+)\}", route.path))
        assert named == {one.name for one in route.parameters if one.place == "path"}, route.path


def test_every_shape_that_is_referred_to_is_there() -> None:
    references = set(re.findall(r"#/components/schemas/(\w+)", str(document())))
    assert references <= set(document()["components"]["schemas"])


def test_operations_have_names_of_their_own() -> None:
    names = [one["operationId"] for path in document()["paths"].values() for one in path.values()]
    assert len(names) == len(set(names))


def test_every_body_refuses_an_unknown_field(api: Api, alice: Actor) -> None:
    for route in ROUTES:
        if route.body:
            path = route.path.replace("{id}", alice.id)
            answer = alice.ask(route.method, path, {"no such field": 1})
            assert (answer.status, answer.word) == (400, "INVALID_INPUT"), route.path
            check(answer, route.method, route.path)


def test_answers_are_as_the_document_says(api: Api, alice: Actor, bob: Actor) -> None:
    inbox = f"/sessions/{alice.id}/inbox"
    message = bob.ask("POST", inbox, {"text": "x", "clientMessageId": "k"})
    check(message, "POST", "/sessions/{id}/inbox")
    check(bob.ask("GET", inbox), "GET", "/sessions/{id}/inbox")
    for path, route in (
        ("/sessions", "/sessions"),
        ("/sessions?inbox=1", "/sessions"),
        (f"/sessions/{alice.id}", "/sessions/{id}"),
        (f"/sessions/{alice.id}?inbox=1", "/sessions/{id}"),
        (f"/sessions/{alice.id}/wait?until=inbox", "/sessions/{id}/wait"),
        ("/receipts", "/receipts"),
        ("/inbox/summary", "/inbox/summary"),
        ("/agent-inbox/summary", "/agent-inbox/summary"),
        ("/watch", "/watch"),
        ("/agent-watch", "/agent-watch"),
        ("/whoami", "/whoami"),
        ("/persistence", "/persistence"),
        ("/settings/persistence", "/settings/persistence"),
        ("/health", "/health"),
        ("/accounts", "/accounts"),
        ("/sessions/nobody-here", "/sessions/{id}"),
        (f"{inbox}?wait=x", "/sessions/{id}/inbox"),
    ):
        check(bob.ask("GET", path), "GET", route)
    check(alice.ask("GET", inbox), "GET", "/sessions/{id}/inbox")
    check(bob.ask("POST", f"{inbox}/ack", {"ids": ["x"]}), "POST", "/sessions/{id}/inbox/ack")
    check(alice.ask("POST", f"{inbox}/seen", {"ids": ["x"]}), "POST", "/sessions/{id}/inbox/seen")
    ids = [message.data["message"]["id"]]
    check(alice.ask("POST", f"{inbox}/ack", {"ids": ids}), "POST", "/sessions/{id}/inbox/ack")
    check(alice.ask("PATCH", f"/sessions/{alice.id}", {"name": "n"}), "PATCH", "/sessions/{id}")
    check(alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True}), "POST", "/sessions/{id}/turn")
    check(alice.ask("POST", f"/sessions/{alice.id}/detach"), "POST", "/sessions/{id}/detach")
    check(alice.ask("DELETE", f"/sessions/{alice.id}"), "DELETE", "/sessions/{id}")


def test_the_page_is_current_and_names_every_route() -> None:
    for route in ROUTES:
        assert f"`{route.method} {route.path}`" in reference()
    page = Path(__file__).parents[3] / "docs" / "reference" / "http.md"
    assert page.read_text(encoding="utf-8").endswith(reference())


def test_shapes_of_bodies_are_those_that_are_decoded() -> None:
    bodies = {route.body for route in ROUTES if route.body}
    assert {one.__name__ for one in bodies} <= {name for name in vars(requests) if name.endswith("Body")}
    assert all(one.__struct_config__.forbid_unknown_fields for one in bodies)


@pytest.mark.slow
def test_schemathesis_finds_no_fault(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    assert program.exists() or shutil.which("schemathesis")
    (tmp_path / "data").mkdir()
    with running(tmp_path / "data", RESTANTE_SERVER_RATE="100000") as server:
        api = server.api()
        api.actor(id="schemathesis")
        # Waits are as documented, only short: what is looked for is not found by sitting there.
        told = api.ask("GET", "/openapi.json").document
        for operations in told["paths"].values():
            for operation in operations.values():
                for one in operation.get("parameters", []):
                    if one["name"] in {"wait", "timeout"}:
                        one["schema"]["maximum"] = 1000
                    if one["name"] == "timeout":
                        one["required"] = True
        (tmp_path / "openapi.json").write_text(json.dumps(told))
        done = subprocess.run(
            [
                str(program),
                "run",
                "openapi.json",
                f"--url={api.url}",
                "--checks=not_a_server_error,status_code_conformance,content_type_conformance,"
                "response_headers_conformance,response_schema_conformance,unsupported_method",
                "--exclude-path=/api/v1/events",
                "--max-examples=20",
                "--request-timeout=30",
                "--seed=7",
                "--no-color",
                "--phases=examples,coverage,fuzzing",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-8000:]
        assert api.ask("GET", "/health").status == 200
        assert not [one for one in server.log if one["event"] == "fault"]
