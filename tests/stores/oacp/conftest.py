"""A tree of two projects for the tests of this directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.oacp import make_tree

from restante.stores.oacp.layout import Tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A tree with project ``demo`` of alice, bob and carol, and project ``other`` of alice."""
    home = tmp_path / "home"
    make_tree(home, "demo", "alice", "bob", "carol")
    make_tree(home, "other", "alice")
    return Tree(str(home))
