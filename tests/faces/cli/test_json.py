"""What ``--json`` answers is what the documented schema says, for every command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from restante.domain.message import Priority, Scope
from restante.domain.receipt import Action, Decision
from restante.faces.cli.command import ACTIONS, AUDIENCES, DECISIONS, PRIORITIES, SCOPES
from restante.faces.cli.intake_schemas import INTAKE_SCHEMAS
from restante.faces.cli.monitor_schemas import MONITOR_SCHEMAS
from restante.faces.cli.schemas import ERROR, SCHEMAS, TEAM_SCHEMAS
from restante.faces.cli.session_schemas import SESSION_SCHEMAS
from restante.faces.cli.subscription_table import SUBSCRIPTION_SCHEMAS
from restante.faces.cli.table import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .conftest import Answer


def _check(schema: dict[str, Any], text: str) -> Any:
    document = json.loads(text)
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def test_every_command_has_a_schema_and_every_schema_a_command() -> None:
    # The server's own answers are those of its HTTP API or of MCP, and those of the verbs of OACP are its own; screens
    # for people have none.
    answering = {command.name for command in COMMANDS} - {"serve", "oacp", "mcp", "ui", "tui", "desktop"}
    assert {name.removesuffix(" ID") for name in SCHEMAS} == answering
    for schema in [*SCHEMAS.values(), ERROR]:
        jsonschema.Draft202012Validator.check_schema(schema)


def test_a_schema_refuses_what_it_does_not_name() -> None:
    with pytest.raises(jsonschema.ValidationError):
        _check(SCHEMAS["archive"], '{"moved": 0, "kept": 0, "into": null, "more": 1}')
    with pytest.raises(jsonschema.ValidationError):
        _check(SCHEMAS["archive"], '{"moved": 0, "kept": 0}')


def test_the_words_of_the_table_are_those_of_the_domain() -> None:
    assert sorted(PRIORITIES) == sorted(Priority)
    assert sorted(SCOPES) == sorted(Scope)
    assert sorted(DECISIONS) == sorted(Decision)
    assert sorted(ACTIONS) == sorted(Action)
    assert {command.audience for command in COMMANDS} == set(AUDIENCES)


def test_every_answer_is_as_its_schema_says(
    restante: Callable[..., Answer], fake_codex: Callable[..., None], as_agent: Callable[[], None]
) -> None:
    asked: set[str] = set()

    def ask(name: str, *words: str, codes: tuple[int, ...] = (0,)) -> Any:
        answer = restante(*name.removesuffix(" ID").split(), *words, "--json")
        assert answer.code in codes, answer.err
        documents = [_check(SCHEMAS[name], line) for line in answer.out.splitlines()]
        assert documents
        asked.add(name)
        return documents[0]

    fake_codex()
    first = ask("send", "text", "--expires", "1d", "--client-id", "mine", "--subject", "it")["message"]["id"]
    assert ask("send", "text", "--client-id", "mine")["duplicate"] is True
    second = ask("send", "again and again", "-p", "high", "--repeat", "5s")
    third = ask("send", "never mind")["message"]["id"]
    repeat = second["repeat"]["id"]
    for name in ("repeats list", "status", "snapshot", "inbox"):
        ask(name)
    for name in ("repeats show", "repeats pause", "repeats resume"):
        assert ask(name, repeat)["repeat"]["id"] == repeat
    ask("repeats run")
    assert ask("repeats remove", repeat)["removed"] == repeat
    assert ask("withdraw", third)["id"] == third
    as_agent()
    assert ask("inbox")["peeked"] is False
    ask("ack", first, "--decision", "accepted", "--action", "applied", "-m", "done", "--notes", "more")
    ask("reply", first, "why?")
    assert ask("status ID", first)["message"]["replies"][0]["body"] == "why?"
    assert ask("why", first)["why"]["cause"] == "answered"
    ask("watch", "--since", "start", "--timeout", "0")
    assert ask("archive")["moved"] == 2
    assert ask("status")["counts"]["archived"] == 2
    ask("install", "--dry-run", "--trust")
    ask("install", "--check", codes=(1,))
    assert ask("install", "--trust", "--yes")["trust"]["outcome"] == "trusted"
    ask("install", "--check")
    ask("doctor", codes=(0, 1))
    assert ask("threads")["threads"][0]["pending"] == 1
    ask("uninstall", "--dry-run")
    ask("uninstall")
    ask("completion", "zsh")
    # Those of sessions and of verified intake are asked in their own tests.
    elsewhere = (SESSION_SCHEMAS, TEAM_SCHEMAS, INTAKE_SCHEMAS, MONITOR_SCHEMAS, SUBSCRIPTION_SCHEMAS)
    assert asked == set(SCHEMAS).difference(*elsewhere)


@pytest.mark.parametrize(
    "words",
    [
        ("status", "zzzzzz"),
        ("send", ""),
        ("send", "token ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"),
        ("repeats", "show", "auto_nope"),
        ("nope",),
        ("send", "--nope"),
        ("-C", "/", "status"),
    ],
)
def test_every_error_is_as_its_schema_says(restante: Callable[..., Answer], words: tuple[str, ...]) -> None:
    answer = restante(*words, "--json")
    assert answer.code in {2, 3, 4}
    assert answer.out == ""
    _check(ERROR, answer.err)


def test_json_behind_the_end_of_options_is_text(restante: Callable[..., Answer]) -> None:
    answer = restante("send", "-p", "urgent", "--", "--json")
    assert answer.err.startswith("error: ")
