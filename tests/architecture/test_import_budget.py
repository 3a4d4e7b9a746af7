"""What an import loads is a cost that a hook pays after every tool call: it is counted by name, not by time."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
from tests.architecture.source import PACKAGE

# Modules that cost most of what a short command costs.
HEAVY = {
    "asyncio",
    "click",
    "concurrent.futures",
    "ctypes",
    "email",
    "http.client",
    "importlib.metadata",
    "logging",
    "multiprocessing",
    "pathlib",
    "platformdirs",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "typing_extensions",
    "unittest",
    "urllib.request",
    "watchfiles",
    "yaml",
}
# ``dataclasses`` loads ``inspect``, which is half of what a short command may cost; nothing else of ours may.
WITH_DATACLASSES = {"dataclasses", "inspect"}
HEAVY |= WITH_DATACLASSES
PURE = HEAVY | {"json", "hashlib", "shutil", "threading"}

# module -> what importing it must not load. One line for each entry that a person or a hook waits for.
BUDGET: dict[str, set[str]] = {
    "restante": HEAVY | {"enum", "re", "json", "datetime"},
    "restante.peek": HEAVY | {"enum", "re", "json", "datetime", "restante.domain", "restante.ports"},
    "restante.faces.hook": HEAVY,
    "restante.ports": PURE,
    "restante.config": HEAVY,
    "restante.office": HEAVY,
    "restante.stores.memory": HEAVY - WITH_DATACLASSES,
    "restante.stores.files": HEAVY,
    "restante.stores.worktree.store": HEAVY - WITH_DATACLASSES,
    "restante.stores.worktree.bell": HEAVY - WITH_DATACLASSES,
    "restante.stores.worktree.notebook": HEAVY - WITH_DATACLASSES,
    "restante.stores.sql.sqlite": HEAVY - WITH_DATACLASSES - {"sqlite3", "pathlib"},
    "restante.faces.cli": HEAVY,
    "restante.testing": HEAVY | {"pytest", "hypothesis"},
    "restante.testing.contract": {"pytest", "hypothesis", "sqlite3", "click", "asyncio"},
}
DOMAIN = sorted(
    ".".join(("restante", *path.relative_to(PACKAGE).with_suffix("").parts))
    for floor in ("domain", "autonomy")
    for path in (PACKAGE / floor).rglob("*.py")
    if path.stem != "__init__"
)

SHOW = """
import os, sys
sys.path[:] = {path!r}
before = set(sys.modules)
import {name}
print(*sorted(set(sys.modules) - before))
"""


def loaded_by(name: str) -> set[str]:
    """Return what an isolated interpreter loads for one import, beyond what it has loaded by itself."""
    # Without site (-S) an editable installation's own helpers are not counted as ours.
    path = [str(PACKAGE.parent), *(one for one in sys.path if one)]
    code = SHOW.format(path=path, name=name)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_budget_can_be_overdrawn() -> None:
    assert loaded_by("subprocess") & HEAVY >= {"subprocess"}


@pytest.mark.parametrize("name", BUDGET)
def test_an_import_stays_within_its_budget(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.fail(f"{name} is in the table and not in the package")
    assert loaded_by(name) & BUDGET[name] == set()


def test_the_domain_loads_nothing_of_the_world() -> None:
    assert loaded_by(", ".join(DOMAIN)) & PURE == set()


def test_importing_the_package_loads_no_part_of_it() -> None:
    assert {one for one in loaded_by("restante") if one.startswith("restante")} == {"restante"}


def test_a_peek_loads_nothing_but_itself_and_what_is_always_there() -> None:
    if importlib.util.find_spec("restante.peek") is None:
        pytest.fail("restante.peek is gone; remove this test together with the line of design.md that names it")
    assert loaded_by("restante.peek") <= {"restante", "restante.peek", "__future__"}
