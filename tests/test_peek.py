"""Whether sessions are used here, asked without the library that knows every platform's directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from restante.peek import sessions_are_used
from restante.system.places import data_directory

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("variable", ["RESTANTE_DATA", "XDG_DATA_HOME", ""])
@pytest.mark.parametrize("name", ["restante.db", "server.json"])
def test_it_looks_where_the_data_directory_is(
    variable: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RESTANTE_DATA", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    place = data_directory(os.environ)
    assert not sessions_are_used(os.environ)
    os.makedirs(place)
    assert not sessions_are_used(os.environ)
    with open(os.path.join(place, name), "w"):
        pass
    assert sessions_are_used(os.environ)


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_there_are_none(environment: dict[str, str]) -> None:
    assert not sessions_are_used(environment)
