"""The agent programs are listed in one place: no other module decides by the name of one, but those told of here."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from tests.architecture.source import PACKAGE, tree_of

from restante.programs import DEFAULTS, NAMES, PROGRAMS, program

if TYPE_CHECKING:
    from pathlib import Path

# Module -> why it names a program. What stands here is about that one program, or about a foreign format's words.
NAMED = {
    "agents/quirks.py": "says which program has habits of its own",
    "agents/codex.py": "is about Codex alone",
    "agents/codex_threads.py": "the same",
    "agents/app_server.py": "is the client of Codex's App Server",
    "agents/trust.py": "writes the entries by which Codex trusts hooks",
    "agents/holding.py": "knows the original mailbox program, which installs itself for Codex",
    "agents/original.py": "the same",
    "autonomy/envelope.py": "OACP's word for a runtime",
    "wiring/enveloping.py": "the same",
    "wiring/founding.py": "OACP's list of runtimes",
    "wiring/mailing.py": "the same, with the variables that OACP's programs look at",
    "faces/oacp/enveloping.py": "OACP's word for a receiver",
    "faces/oacp/gating.py": "the same",
    "faces/oacp/setting_up.py": "OACP's list of runtimes",
    "wiring/wakers.py": "gives each of the closed list of ways to wake what it needs",
    "system/identity.py": "reads Claude Code's own record of its sessions",
}
# Each of these is one program's, or shows made-up sessions.
OWN = ("programs/", "agents/wake/", "testing/")


def modules() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if not path.relative_to(PACKAGE).as_posix().startswith(OWN)]


def names_in(path: Path) -> set[str]:
    """The words of a module that are a program's name, apart from what it only documents."""
    return {
        node.value
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES
    }


def test_only_modules_about_one_program_name_it() -> None:
    found = {path.relative_to(PACKAGE).as_posix() for path in modules() if names_in(path)}
    assert found - set(NAMED) == set(), "ask restante.programs instead"
    assert set(NAMED) - found == set(), "nothing is named there any more: take it out of the list"


def test_only_the_table_imports_the_modules_of_programs() -> None:
    importing = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("restante.programs.")
    }
    assert importing == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_one_module_of_values(name: str) -> None:
    tree = tree_of(PACKAGE / "programs" / f"{name}.py")
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert PROGRAMS[name].name == name
    assert program(name) is PROGRAMS[name]


def test_the_first_two_are_taught_unless_others_are_named() -> None:
    assert DEFAULTS == NAMES[:2] == ("codex", "claude")
    assert program("emacs") is None
