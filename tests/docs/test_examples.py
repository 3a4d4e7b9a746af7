"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from typing import TYPE_CHECKING

import pytest

import restante

if TYPE_CHECKING:
    from pathlib import Path


def _modules_with_examples() -> list[str]:
    """Return the modules whose source has an example, read without importing any."""
    names = []
    for found in pkgutil.walk_packages(restante.__path__, "restante."):
        spec = found.module_finder.find_spec(found.name, None)
        if spec and spec.origin and spec.origin.endswith(".py"):
            with open(spec.origin, encoding="utf-8") as file:
                if ">>> " in file.read():
                    names.append(found.name)
    return names


def test_the_public_api_has_an_example() -> None:
    assert "restante.office" in _modules_with_examples()


@pytest.mark.parametrize("name", _modules_with_examples())
def test_an_example_does_what_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path)
    for variable in ("CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID", "RESTANTE_NOW", "RESTANTE_CONFIG"):
        monkeypatch.delenv(variable, raising=False)
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
