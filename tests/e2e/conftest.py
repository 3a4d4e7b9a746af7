"""What the end-to-end tests share. The agent programs are fetched when the first test asks for one."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.e2e import programs
from tests.e2e.agents import AGENTS, MORE_AGENTS, Claude, Codex, Gemini, Opencode
from tests.e2e.worktree import Gate, Worktree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@cache
def _program(name: str) -> str | programs.Unavailable:
    try:
        return programs.get(name)
    except programs.Unavailable as error:
        return error


def agent_in(name: str, home: Path) -> Codex | Claude:
    """Return a program in a home directory; the test is skipped where it is not available."""
    return AGENTS[name](_found(name), home)


def more_agent_in(name: str, home: Path) -> Opencode | Gemini:
    """Return one of the further programs; as ``agent_in``."""
    return MORE_AGENTS[name](_found(name), home)


def _found(name: str) -> str:
    found = _program(name)
    if isinstance(found, programs.Unavailable):
        if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS"):
            raise found
        pytest.skip(f"the real {name} program is not available: {found}")
    return found


@pytest.fixture(params=["codex", "claude"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Codex | Claude:
    """Each of the two programs, in a home directory of its own."""
    return agent_in(request.param, tmp_path / "home")


@pytest.fixture
def codex(tmp_path: Path) -> Codex:
    """Codex, in a home directory of its own."""
    found = agent_in("codex", tmp_path / "home")
    assert isinstance(found, Codex)
    return found


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A moment inside a running tool."""
    made = Gate(tmp_path)
    yield made
    made.close()


def worktree_of(agent: Codex | Claude | Opencode | Gemini, root: Path) -> Worktree:
    """Return a new repository with Restante installed, trusted by the agent's person."""
    made = Worktree(root, agent.environment())
    made.init()
    agent.trust(root)
    made.restante("install", "--agent", agent.name)
    return made


@pytest.fixture
def worktree(agent: Codex | Claude, tmp_path: Path) -> Worktree:
    """A repository with Restante installed for the agent."""
    return worktree_of(agent, tmp_path / "repo")
