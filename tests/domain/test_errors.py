"""The error tree in the docstring is the error tree."""

from __future__ import annotations

import re

import pytest

from restante.domain import errors
from restante.domain.errors import BadConfig, RestanteError


def family(kind: type[RestanteError]) -> list[type[RestanteError]]:
    return [kind, *(member for child in kind.__subclasses__() for member in family(child))]


def drawn() -> dict[str, tuple[str, int, int, int]]:
    """Every line of the drawing: name -> code, exit code, HTTP status, depth."""
    assert errors.__doc__
    rows = re.findall(r"^( +[│├└─ ]*)(\w+) +(\w+) +(\d+) +(\d+)", errors.__doc__, re.MULTILINE)
    return {name: (code, int(leave), int(http), (len(lead) - 4) // 4) for lead, name, code, leave, http in rows}


ours = [kind for kind in family(RestanteError) if kind.__module__ == errors.__name__ and kind is not RestanteError]


def test_the_drawing_shows_every_error_and_no_other() -> None:
    assert set(drawn()) == {kind.__name__ for kind in ours}


@pytest.mark.parametrize("kind", ours, ids=lambda kind: kind.__name__)
def test_an_error_is_what_the_drawing_says(kind: type[RestanteError]) -> None:
    code, exit_code, http_status, depth = drawn()[kind.__name__]
    assert (kind.code, kind.exit_code, kind.http_status) == (code, exit_code, http_status)
    assert len(kind.__mro__) - len(RestanteError.__mro__) == depth
    assert kind.__doc__


def test_codes_are_stable_names_of_one_error_each() -> None:
    codes = [kind.code for kind in ours]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z_]+", code) for code in codes)


def test_an_error_says_what_and_what_to_do() -> None:
    error = RestanteError("what", remedy="do this")
    assert (str(error), error.message, error.remedy) == ("what", "what", "do this")
    assert RestanteError("what").remedy == ""


def test_a_bad_configuration_names_every_fault_at_once() -> None:
    error = BadConfig(("one is wrong", "two is wrong"), source="settings")
    assert error.problems == ("one is wrong", "two is wrong")
    assert error.message == "settings: one is wrong; two is wrong"
