"""What is installed is what was locked: every dependency of pyproject.toml, in a version it allows, with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).resolve().parents[2]
_ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def wanted(name: str) -> list[str]:
    project: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    window = [one for one in extras.pop("desktop") if not one.startswith("restante[")]
    sets = {
        "base": project["project"]["dependencies"],
        "build": project["build-system"]["requires"],
        "dev": [*project["dependency-groups"]["dev"], *(one for extra in extras.values() for one in extra)],
        "fuzz": project["dependency-groups"]["fuzz"],
        "desktop": window,
    }
    found: list[str] = sets[name]
    return found


@pytest.mark.parametrize("name", ["base", "build", "dev", "fuzz", "desktop"])
def test_every_dependency_is_locked_in_a_version_that_the_project_allows(name: str) -> None:
    text = (PROJECT / "requirements" / f"{name}.txt").read_text()
    locked = {canonicalize_name(entry[1]): entry[2] for entry in _ENTRY.finditer(text)}
    assert "".join(entry[0] for entry in _ENTRY.finditer(text)) == text, "a line is no locked entry (make lock)"
    for line in wanted(name):
        requirement = Requirement(line)
        version = locked.get(canonicalize_name(requirement.name))
        assert version is not None, f"{line} is not locked (make lock)"
        assert requirement.specifier.contains(version), f"{line} is locked as {version} (make lock)"
