"""A worktree, a data directory, and programs that speak with ``restante mcp`` there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.faces.mcp.program import Ground, Program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """A repository, and a place for data in which mail between sessions is kept."""
    return Ground(tmp_path)


@pytest.fixture
def program(ground: Ground) -> Iterator[Callable[..., Program]]:
    """Start the server as a program does; a program says by its environment, or with each call, which session asks."""
    started: list[Program] = []

    def start(**more: str) -> Program:
        started.append(Program(ground, more))
        return started[-1]

    yield start
    for one in started:
        one.end()
