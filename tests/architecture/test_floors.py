"""Imports only go down, and a part is reached only by its door."""

from __future__ import annotations

import configparser
import subprocess
import sys

from tests.architecture.source import PACKAGE, ROOT


def test_the_floors_hold() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run([*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_contracts_know_every_part() -> None:
    rules = configparser.ConfigParser()
    rules.read(ROOT / ".importlinter")
    floors = rules["importlinter:contract:floors"]
    named = {one.strip("() ") for line in floors["layers"].split("\n") for one in line.split("|") if line}
    parts = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert floors["exhaustive"] == "true"
    assert parts - {"__init__"} <= named


def test_no_test_stands_in_for_the_world_with_a_mock_library() -> None:
    words = ("unittest" + ".mock", "Magic" + "Mock", "mocker" + ".patch")
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in (ROOT / "tests").rglob("*.py")
        for word in words
        if word in path.read_text(encoding="utf-8")
    ]
    assert found == []
