"""``make demo``, with the real program and without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.agents import Codex

pytestmark = pytest.mark.e2e

PROJECT = Path(__file__).resolve().parents[2]
STEPS = 12


def test_the_demo_shows_every_step_with_the_real_program(codex: Codex, tmp_path: Path) -> None:
    told = demonstrate(tmp_path, RESTANTE_TEST_CODEX=codex.program)
    assert "the real Codex program" in told
    assert told.count("\n== ") == STEPS


def test_the_demo_plays_the_agents_part_where_the_program_is_missing(tmp_path: Path) -> None:
    told = demonstrate(tmp_path, RESTANTE_TEST_CACHE=str(tmp_path), PATH="/usr/bin:/bin")
    assert "its part, played through the installed hook lines" in told
    assert told.count("\n== ") == STEPS


def test_the_demo_needs_no_git(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    told = demonstrate(tmp_path, RESTANTE_TEST_CACHE=str(tmp_path), PATH=str(tools))
    assert told.count("\n== ") == STEPS


def demonstrate(home: Path, **environment: str) -> str:
    """Run the demo, which must end well and leave nothing behind, and return what it told."""
    base = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TMPDIR": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "demo.run"],
        cwd=PROJECT,
        env=base | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(home.glob("restante-demo-*"))
    return done.stdout
