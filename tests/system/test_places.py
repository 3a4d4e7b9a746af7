"""Where the database is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from platformdirs import user_data_path

from restante.domain.errors import UsageError
from restante.system.places import data_directory

if TYPE_CHECKING:
    from pathlib import Path


def test_whoever_names_a_directory_gets_it_as_a_whole_path() -> None:
    assert data_directory({"RESTANTE_DATA": "/data/restante"}) == "/data/restante"
    assert data_directory({"RESTANTE_DATA": "here"}) == os.path.abspath("here")
    assert data_directory({"RESTANTE_DATA": "/data", "HOME": ""}) == "/data"


@pytest.mark.parametrize("home", [None, "", "relative", "/", "//", "/tmp/.."])
def test_without_a_home_of_its_own_nothing_is_guessed(home: str | None) -> None:
    with pytest.raises(UsageError, match="HOME") as caught:
        data_directory({} if home is None else {"HOME": home})
    assert "RESTANTE_DATA" in caught.value.remedy


def test_else_it_is_below_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    place = data_directory({"HOME": str(tmp_path)})
    assert place.startswith(f"{tmp_path}/")
    assert os.path.basename(place) == "restante"


@pytest.mark.parametrize("base", [None, "", "relative", "/var/xdg", "/var/xdg/"])
def test_it_is_where_the_library_that_knows_every_platform_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str | None
) -> None:
    environment = {"HOME": str(tmp_path)} | ({} if base is None else {"XDG_DATA_HOME": base})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if base is not None:
        monkeypatch.setenv("XDG_DATA_HOME", base)
    assert data_directory(environment) == str(user_data_path("restante", appauthor=False))
