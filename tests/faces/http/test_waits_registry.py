"""The registry of who waits: pure, so that everything about it can be tried."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.domain.errors import Busy, RateLimited, SessionBusy
from restante.faces.http.parking import Patience
from restante.faces.http.waits import TURNS, Caps, Waiter, Waits, Why

if TYPE_CHECKING:
    from restante.faces.http.asking import Ask
    from restante.faces.http.parking import Parking


def waiter(owner: str, session: str, heard: list[Why], *, is_own: bool = False) -> Waiter:
    return Waiter(owner, session, is_own=is_own, wake=heard.append)


def test_a_post_wakes_who_waits_for_the_session_and_lets_watchers_look_again() -> None:
    waits = Waits(Caps(4, 9, 9))
    inbox: list[Why] = []
    turns: list[Why] = []
    owner: list[Why] = []
    other: list[Why] = []
    foreign: list[Why] = []
    waits.park(waiter("o", "s", inbox))
    waits.park(waiter("o", TURNS + "s", turns))
    waits.park(waiter("o", "", owner))
    waits.park(waiter("o", "t", other))
    waits.park(waiter("p", "s", foreign))
    waits.posted("o", "s")
    assert (inbox, turns, owner, other, foreign) == ([Why.POST], [Why.CHANGE], [Why.CHANGE], [], [])


def test_a_waiter_is_woken_once_and_keeps_its_place_until_it_leaves() -> None:
    waits = Waits(Caps(1, 9, 9))
    heard: list[Why] = []
    one = waiter("o", "s", heard)
    waits.park(one)
    waits.posted("o", "s")
    waits.posted("o", "s")
    assert heard == [Why.POST]
    with pytest.raises(SessionBusy):
        waits.park(waiter("o", "s", []))
    one.is_armed = True
    waits.dropped("o", "s")
    assert heard == [Why.POST, Why.DROP]
    waits.leave(one)
    waits.leave(one)
    assert len(waits) == 0
    waits.park(waiter("o", "s", []))


@pytest.mark.parametrize("why", [Why.DROP, Why.STOP])
def test_what_releases_for_good_is_not_missed_by_one_that_looks_again(why: Why) -> None:
    waits = Waits(Caps(1, 9, 9))
    heard: list[Why] = []
    one = waiter("o", "s", heard)
    waits.park(one)
    waits.changed("o", "s")
    waits.posted("o", "s")
    missed = [one.missed]
    waits.dropped("o", "s") if why is Why.DROP else waits.stop()
    missed.append(one.missed)
    assert heard == [Why.CHANGE]
    assert missed == [None, why]


@pytest.mark.parametrize("why", [Why.DROP, Why.STOP])
def test_s16_s56_a_release_that_comes_during_a_look_ends_the_wait_after_it(why: Why) -> None:
    """The way of a read in the server: parked, let look again by a change, and released for good before it parked."""

    class Client:
        async def hung_up(self) -> None:
            await asyncio.Event().wait()

    class Places:
        def __init__(self) -> None:
            self.waits = Waits(Caps(9, 9, 9))

        def enter(self, waiter: Waiter) -> None:
            self.waits.park(waiter)

        def leave(self, waiter: Waiter) -> None:
            self.waits.leave(waiter)

    async def wait() -> list[Why]:
        places = Places()
        patience = Patience(cast("Ask", Client()), 60.0, cast("Parking", places))
        patience.park("o", "s")
        places.waits.changed("o", "s")
        heard = [await patience.released()]
        places.waits.dropped("o", "s") if why is Why.DROP else places.waits.stop()
        patience.park("o", "s")
        async with asyncio.timeout(20):
            heard.append(await patience.released())
        patience.close()
        assert len(places.waits) == 0
        return heard

    assert asyncio.run(wait()) == [Why.CHANGE, why]


def test_the_caps() -> None:
    waits = Waits(Caps(per_session=2, per_owner=3, total=4))
    for _ in range(2):
        waits.park(waiter("o", "s", []))
    with pytest.raises(SessionBusy):
        waits.check("o", "s")
    # Those who wait for turns or watch an owner take no place of a session's own.
    waits.park(waiter("o", TURNS + "s", []))
    with pytest.raises(RateLimited):
        waits.check("o", "t")
    waits.park(waiter("p", "", []))
    with pytest.raises(RateLimited):
        waits.check("q", "")


def test_after_a_stop_nobody_waits() -> None:
    waits = Waits(Caps(9, 9, 9))
    heard: list[Why] = []
    waits.park(waiter("o", "s", heard))
    waits.park(waiter("p", "", heard))
    waits.stop()
    assert heard == [Why.STOP, Why.STOP]
    with pytest.raises(Busy):
        waits.park(waiter("o", "s", []))


def test_only_own_waits_count_as_parked() -> None:
    waits = Waits(Caps(9, 9, 9))
    waits.park(waiter("o", "s", []))
    assert (waits.parked("o", "s"), waits.own()) == (0, 0)
    waits.park(waiter("o", "s", [], is_own=True))
    waits.park(waiter("o", "s", [], is_own=True))
    assert (waits.parked("o", "s"), waits.own()) == (2, 1)


@given(st.lists(st.tuples(st.sampled_from("op"), st.sampled_from(["", "s", "t"]), st.booleans()), max_size=60))
def test_places_are_counted_right_whatever_comes_and_goes(steps: list[tuple[str, str, bool]]) -> None:
    caps = Caps(3, 6, 8)
    waits = Waits(caps)
    here: list[Waiter] = []
    for owner, session, comes in steps:
        if comes:
            one = waiter(owner, session, [])
            full = sum((w.owner, w.session) == (owner, session) for w in here) >= caps.per_session and bool(session)
            many = sum(w.owner == owner for w in here) >= caps.per_owner or len(here) >= caps.total
            if full or many:
                with pytest.raises((SessionBusy, RateLimited)):
                    waits.park(one)
            else:
                waits.park(one)
                here.append(one)
        elif here:
            waits.leave(here.pop(0))
        assert len(waits) == len(here)
        assert set(waits.owners()) == {w.owner for w in here}
