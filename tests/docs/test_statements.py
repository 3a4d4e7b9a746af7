"""What was agreed about mail between sessions is 62 numbered statements: each has a test that names its number.

Most are about what the exchange, the server and the commands do, and stand beside those; here are the ones about what
the documents say and what there is none of.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from restante.agents.skill import PLACES, skill_files
from restante.faces.cli.table import COMMANDS
from restante.faces.http.table import PREFIX, ROUTES

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
HOW_TO = " ".join((ROOT / "docs" / "howto" / "sessions.md").read_text(encoding="utf-8").split())


def _numbers() -> dict[int, list[str]]:
    """Return the tests that name each statement."""
    found: dict[int, list[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            for number in re.findall(r"(?<=_)s(\d\d)(?=_)", name):
                found.setdefault(int(number), []).append(name)
    return found


def test_every_statement_has_a_test_that_names_its_number() -> None:
    numbers = _numbers()
    assert [number for number in range(1, 63) if number not in numbers] == []
    assert sorted(set(numbers) - set(range(1, 63))) == []


def test_s29_the_documents_say_what_a_name_of_a_sender_is_worth() -> None:
    _, _, told = HOW_TO.partition("## Whose word it is")
    single = "**In single-user mode a claimed sender is only a hint.**"
    multi = "nobody can name another owner's session, neither as a sender nor as an addressee"
    assert single in told
    assert "All sessions of a machine run as the same person" in told
    assert "**In multi-user mode**" in told[told.index(single) : told.index(multi)]


def test_s31_a_message_comes_by_the_contract_and_by_no_dropped_file() -> None:
    assert ("POST", "/sessions/{id}/inbox") in {(route.method, route.path) for route in ROUTES}
    for word in ("drop a file", "drop file", "drop directory"):
        assert word not in HOW_TO.lower()


def _types_into_terminals(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            names = {alias.name.split(".")[0] for alias in node.names} | {getattr(node, "module", None)}
            return bool(names & {"pty", "pexpect", "ptyprocess", "libtmux"})
        case ast.Constant(value=str(text)):
            return bool(re.search(r"\b(tmux|send-keys|paste-buffer)\b", text))
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in {"TIOCSTI", "openpty", "forkpty", "ptsname"}
    return False


@pytest.mark.parametrize("line", ["import pty", "from pty import spawn", "run(['tmux', 'x'])", "fcntl.TIOCSTI"])
def test_what_types_into_a_terminal_would_be_found(line: str) -> None:
    assert any(map(_types_into_terminals, ast.walk(ast.parse(line))))


def test_s33_s34_nothing_in_the_package_could_type_into_a_terminal() -> None:
    """No pseudo-terminal, no multiplexer, no ioctl that puts characters into a terminal's input."""
    found = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if any(map(_types_into_terminals, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
    ]
    assert len(SOURCES) > 100
    assert found == []


def test_s47_there_is_no_search_that_texts_could_be_fed_to() -> None:
    paths = {route.path for route in ROUTES}
    assert not [path for path in paths if "search" in path or "query" in path]


def test_s62_it_is_delivered_whole_with_routes_commands_reference_and_one_skill_for_every_program() -> None:
    reference = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    assert PREFIX == "/api/v1"
    assert all(f"`{route.method} {route.path}`" in reference for route in ROUTES)
    assert {"ls", "post", "inbox", "ack", "watch", "receipts"} <= {command.name for command in COMMANDS}
    files = skill_files("restante")
    assert set(files) == set(PLACES.values())
    assert len(set(files.values())) == 1
