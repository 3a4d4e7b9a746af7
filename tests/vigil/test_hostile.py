"""What a session, or an account, tries on the monitors of others: it takes nothing from them, not even for a moment."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.vigil.station import ALICE, T1, T2, Station

from restante.domain.errors import Forbidden
from restante.domain.monitoring import Word
from restante.domain.registry import Identity
from restante.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def waiter(station: Station, session: str = T1) -> Iterator[Callable[[], bytes]]:
    """Stand at the pipe of a session's waiter; what is yielded returns what was said to it."""
    fd = os.open(station.data / "bells" / f"session.{session}.fifo", os.O_RDWR | os.O_NONBLOCK)

    def said() -> bytes:
        try:
            return os.read(fd, 1000)
        except BlockingIOError:
            return b""

    with closing(os.fdopen(fd, "rb", buffering=0)):
        yield said


def account(station: Station, owner: str) -> Roster:
    return Roster(station.parts, lambda: Identity(owner, verified=True))


def test_a_session_that_may_not_stop_a_monitor_does_not_end_its_waiter_either(station: Station) -> None:
    station.arm(adapter="claude-rewake")
    before = station.bells()
    with waiter(station) as said:
        station.vigil(T2).stop(ALICE)
        assert said() == b""
        assert station.bells() == before
        assert station.vigil(T1).stop(ALICE).word is Word.INACTIVE
        assert said() == b"q\n"
    assert station.bells() == []


def test_an_account_ends_no_waiter_by_a_role_of_the_same_name(station: Station) -> None:
    station.arm(adapter="claude-rewake")
    before = station.bells()
    with waiter(station) as said:
        other = account(station, "mallory")
        other.join(ALICE)
        other.drop(ALICE)
        assert other.leave(ALICE)
        assert said() == b""
    assert station.bells() == before
    station.post()
    assert station.look().word is Word.WAKE


@pytest.mark.parametrize("adapter", ["codex-socket", "claude-socket"])
def test_only_a_person_arms_what_starts_a_turn_over_a_connection_of_the_programs_own(
    station: Station, adapter: str
) -> None:
    station.roster(T1).join(ALICE)
    with pytest.raises(Forbidden, match="for the person"):
        station.vigil(T1).arm(ALICE, adapter=adapter)
    assert station.rows() == []
    armed = station.vigil().arm(ALICE, session=T1, adapter=adapter).monitor
    assert armed
    assert armed.adapter == adapter
