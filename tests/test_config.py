"""Configuration: one table, all faults at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from restante.config import OPTIONS, Settings, config_path, load_settings
from restante.domain.errors import BadConfig

if TYPE_CHECKING:
    from pathlib import Path


def _file(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return {"RESTANTE_CONFIG": str(path)}


def test_without_a_file_the_defaults_of_the_table_are_in_force() -> None:
    settings = load_settings({})
    assert settings == Settings()
    assert settings.show_again == next(one.default for one in OPTIONS if one.name == "checkpoint.show_again")


def test_the_file_is_read_and_the_environment_comes_before_it(tmp_path: Path) -> None:
    environment = _file(tmp_path, "[checkpoint]\nshow_again = 60\nmax_bytes = 4096\n")
    assert load_settings(environment).show_again == 60
    environment["RESTANTE_CHECKPOINT_SHOW_AGAIN"] = "30"
    settings = load_settings(environment)
    assert (settings.show_again, settings.checkpoint_max_bytes) == (30, 4096)


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    environment = _file(
        tmp_path, "stray = 1\n[checkpoint]\nshow_again = 'soon'\nmax_bytes = 3\nnope = 1\n[screening]\nlibrary = 1\n"
    )
    environment["RESTANTE_INBOX_WAIT"] = "nan"
    with pytest.raises(BadConfig) as caught:
        load_settings(environment)
    assert len(caught.value.problems) == 6
    for name in ("stray", "show_again", "max_bytes", "nope", "library", "RESTANTE_INBOX_WAIT"):
        assert name in str(caught.value)


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    environment = _file(tmp_path, "[[[")
    with pytest.raises(BadConfig) as caught:
        load_settings(environment)
    assert environment["RESTANTE_CONFIG"] in str(caught.value)


def test_each_fault_names_the_place_it_stands_in(tmp_path: Path) -> None:
    environment = _file(tmp_path, "[checkpoint]\nmax_bytes = 3\n") | {"RESTANTE_INBOX_WAIT": "soon"}
    with pytest.raises(BadConfig) as caught:
        load_settings(environment)
    in_file, in_environment = caught.value.problems
    assert in_file.startswith(f"{environment['RESTANTE_CONFIG']}: checkpoint.max_bytes = 3")
    assert in_environment.startswith("RESTANTE_INBOX_WAIT='soon'")
    assert environment["RESTANTE_CONFIG"] not in in_environment
    with pytest.raises(BadConfig) as caught:
        load_settings({"HOME": str(tmp_path), "RESTANTE_INBOX_WAIT": "soon"})
    assert str(tmp_path) not in str(caught.value)


def test_a_file_that_was_named_must_be_there_and_one_that_was_not_need_not(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.toml", tmp_path):
        with pytest.raises(BadConfig, match=f"RESTANTE_CONFIG='{path}' cannot be read"):
            load_settings({"RESTANTE_CONFIG": str(path)})
    assert load_settings({"HOME": str(tmp_path)}) == Settings()
    assert load_settings({"RESTANTE_CONFIG": "", "HOME": str(tmp_path)}) == Settings()


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({}, ""),
        ({"HOME": ""}, ""),
        ({"HOME": "relative"}, ""),
        ({"HOME": "/h"}, "/h/.config/restante/config.toml"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/restante/config.toml"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, "/h/.config/restante/config.toml"),
        ({"RESTANTE_CONFIG": "/c"}, "/c"),
    ],
)
def test_the_file_is_found_without_guessing_a_home(environment: dict[str, str], path: str) -> None:
    assert config_path(environment) == path


@pytest.mark.parametrize("text", ["1", "true", "Yes", "on"])
def test_words_for_yes_are_read_from_the_environment(text: str) -> None:
    assert load_settings({"RESTANTE_SCREENING_LIBRARY": text}).screening_library is True
