"""The clock a process goes by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from restante.domain.errors import UsageError
from restante.system.clock import SystemClock, clock_for


@pytest.mark.parametrize("environment", [{}, {"RESTANTE_NOW": ""}])
def test_without_a_word_it_is_real_and_in_utc(environment: dict[str, str]) -> None:
    clock = clock_for(environment)
    assert isinstance(clock, SystemClock)
    before = datetime.now(UTC)
    now = clock.now()
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta(0)


@pytest.mark.parametrize("text", ["2026-05-20T15:30:00Z", "2026-05-20T17:30:00+02:00", "2026-05-20T15:30Z"])
def test_a_time_with_a_zone_stands_still_in_utc(text: str) -> None:
    clock = clock_for({"RESTANTE_NOW": text})
    assert clock.now() == clock.now() == datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
    assert clock.now().utcoffset() == timedelta(0)


@pytest.mark.parametrize("text", ["now", "2026-05-20T15:30:00", "2026-05-20", "15:30Z", "2026-13-01T00:00:00Z"])
def test_what_is_no_such_time_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(UsageError, match="RESTANTE_NOW") as caught:
        clock_for({"RESTANTE_NOW": text})
    assert text in caught.value.message


def test_sleeping_waits_by_the_machines_own_time() -> None:
    before = datetime.now(UTC)
    clock_for({"RESTANTE_NOW": "2026-05-20T15:30:00Z"}).sleep(0.01)
    assert datetime.now(UTC) > before
