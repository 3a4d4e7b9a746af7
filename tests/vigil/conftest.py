"""The machine that the tests of monitors play on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.vigil.station import Station

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from restante.testing import FakeClock


@pytest.fixture
def station(tmp_path: Path, clock: FakeClock) -> Iterator[Station]:
    """A machine with two sessions and no role yet."""
    made = Station(tmp_path, clock)
    yield made
    made.close()
    made.world.exchange.close()
