"""A worktree to test in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from restante.domain.limits import Limits
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.store import WorktreeMailbox

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.testing import FakeClock, SequentialIds


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The top level of an empty worktree."""
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    return tmp_path / "tree"


@pytest.fixture
def box(root: Path) -> Path:
    """Where its mailbox is or will be."""
    return root / ".codex-mailbox"


@pytest.fixture
def open_again(root: Path, clock: FakeClock, ids: SequentialIds) -> Callable[[], WorktreeMailbox]:
    """Open the worktree's mailbox as a new process would."""
    return lambda: WorktreeMailbox(find_worktree(str(root)), clock, ids, Limits(message_bytes=100_000))


@pytest.fixture
def mailbox(open_again: Callable[[], WorktreeMailbox]) -> WorktreeMailbox:
    """The worktree's mailbox, empty."""
    return open_again()
