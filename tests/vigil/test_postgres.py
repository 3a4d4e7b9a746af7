"""The same on PostgreSQL, where monitors, roles and the mail of sessions are in one database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.vigil.station import ALICE, T1, T2, Station

from restante.domain.errors import RoleHeld
from restante.domain.message import Draft
from restante.domain.monitoring import Word

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from restante.testing import FakeClock


@pytest.fixture
def station(tmp_path: Path, clock: FakeClock, postgres_url: str) -> Iterator[Station]:
    """A machine with two sessions and no role yet, on a database of its own."""
    made = Station(tmp_path, clock, RESTANTE_DATABASE_URL=postgres_url)
    yield made
    made.close()
    made.world.exchange.close()


@pytest.mark.slow
def test_a_role_is_watched_for_one_session_and_it_is_woken_once(station: Station) -> None:
    station.arm()
    with pytest.raises(RoleHeld):
        station.vigil(T2).arm(ALICE)
    station.post()
    assert [station.look().word for _ in range(3)] == [Word.WAKE, Word.WAITING, Word.WAITING]
    station.collect()
    assert station.look().word is Word.IDLE
    station.restart()
    station.post()
    assert station.look().word is Word.WAKE
    station.roster(T1).drop(ALICE)
    station.post()
    assert station.look().word is Word.INACTIVE
    assert (len(station.turns), station.rows(), station.bells()) == (2, [], [])


@pytest.mark.slow
def test_a_session_is_watched_too_and_its_reading_ends_the_waking(station: Station) -> None:
    mailbox = f"session:{T1}"
    station.arm(mailbox)
    station.world.person.post(T1, Draft("Look at the parser."))
    assert [station.look(mailbox).word for _ in range(2)] == [Word.WAKE, Word.WAITING]
    window = station.world.window(T1)
    window.confirm([entry.message.id for entry in window.read().entries])
    assert station.look(mailbox).word is Word.IDLE
    window.detach()
    assert station.rows() == []
