"""docs/architecture.md and the packages' own words name every part, and none that is gone."""

from __future__ import annotations

import ast
import re

import pytest
from tests.architecture.source import PACKAGE, ROOT

MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def parts_of(package: str) -> set[str]:
    found = (path for path in (PACKAGE / package).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
    return {path.stem for path in found} - {"__init__"}


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z_]+", text))


@pytest.mark.parametrize(("heading", "package"), [("the Markdown mailbox", "stores/worktree"), ("agents", "agents")])
def test_the_inner_maps_name_every_module_and_no_other(heading: str, package: str) -> None:
    section = MAP.split(f"### Inside {heading}\n", 1)[1].split("\n##", 1)[0]
    rows = "\n".join(line for line in section.splitlines() if line.startswith("| ") and "modules of" not in line)
    assert set(re.findall(r"`([a-z_]+)`", rows)) == parts_of(package)
    docstring = ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text(encoding="utf-8")))
    assert parts_of(package) <= words_of(docstring or "")


def test_the_map_names_every_part_and_every_module_of_the_domain() -> None:
    for name in parts_of("."):
        assert re.search(rf"`{name}(?:\.py|/[a-z_.]*)`", MAP) or f"{name} " in MAP, name
    (row,) = re.findall(r"^\| `domain/` \| .*$", MAP, re.MULTILINE)
    assert set(re.findall(r"`([a-z_]+)/?`", row)) - {"domain"} == parts_of("domain")


def test_every_module_that_the_section_on_sessions_names_is_there() -> None:
    section = MAP.split("\n## Mail between sessions\n", 1)[1].split("\n## ", 1)[0]
    named = re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", section)
    assert len(named) > 20
    assert [one for one in named if not (PACKAGE / one).is_file()] == []
