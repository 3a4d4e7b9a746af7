from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.receiving.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long chaos: it takes its time and little else, while other workers go on."""
    items.sort(key=lambda item: not item.nodeid.endswith("[long]") or "tests/chaos/" not in item.nodeid)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "data")
    yield made
    made.close()
