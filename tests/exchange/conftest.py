"""The worlds that the tests of the exchange play in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.exchange.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from restante.testing import FakeClock

ALICE = "a11ce000-0000-4000-8000-000000000001"
BOB = "b0b00000-0000-4000-8000-000000000002"


@pytest.fixture
def world(tmp_path: Path, clock: FakeClock) -> Iterator[World]:
    """A server that holds mail in memory, with two sessions."""
    made = World(tmp_path, clock)
    made.session(ALICE, name="alice")
    made.session(BOB, name="bob")
    yield made
    made.exchange.close()


@pytest.fixture
def durable(tmp_path: Path, clock: FakeClock) -> Iterator[World]:
    """No server; mail is kept on disk."""
    made = World(tmp_path, clock, holds_mail=False)
    made.session(ALICE, name="alice")
    made.session(BOB, name="bob")
    made.person.set_persistence(True)
    yield made
    made.exchange.close()
