"""Texts are searched for the owner alone, only where that owner allows it, a part of a long history at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.exchange.conftest import ALICE, BOB
from tests.exchange.world import send

from restante.domain.errors import Forbidden
from restante.domain.registry import Identity

if TYPE_CHECKING:
    from tests.exchange.world import World

    from restante.exchange.window import LocalWindow

CANARY = "canary-4711"


def found(window: LocalWindow, find: str, before: int = 0) -> tuple[list[str], int]:
    line = window.timeline(BOB, find=find, before=before)
    return [case.entry.message.body for case in line.cases], line.older


def test_nobody_searches_until_the_owner_allows_it(world: World) -> None:
    send(world.window(ALICE), BOB, f"here is the {CANARY}")
    assert not world.person.choices.may_search
    with pytest.raises(Forbidden, match="unless you allow it"):
        found(world.person, CANARY)
    world.person.choices.allow_search(True)
    assert found(world.person, CANARY.upper()) == ([f"here is the {CANARY}"], 0)
    assert found(world.person, "something else") == ([], 0)
    world.person.choices.allow_search(False)
    with pytest.raises(Forbidden):
        found(world.person, CANARY)


@pytest.mark.parametrize("who", [Identity(session=ALICE, verified=True), Identity(), Identity(session=BOB)])
def test_no_session_decides_it_or_searches(world: World, who: Identity) -> None:
    world.person.choices.allow_search(True)
    window = world.exchange.window(who)
    with pytest.raises(Forbidden):
        window.choices.allow_search(True)
    with pytest.raises(Forbidden):
        window.choices.check_search()
    with pytest.raises(Forbidden):
        found(window, CANARY)


def test_what_one_owner_allows_is_no_other_owners(world: World) -> None:
    world.person.choices.allow_search(True)
    ada = world.exchange.window(Identity("ada", verified=True))
    assert not ada.choices.may_search
    with pytest.raises(Forbidden):
        ada.choices.check_search()
    ada.choices.allow_search(True)
    world.person.choices.allow_search(False)
    assert ada.choices.may_search


def test_searching_leaves_no_word_on_disk_and_marks_nothing(world: World) -> None:
    assert not world.person.persistence().is_on
    send(world.window(ALICE), BOB, f"here is the {CANARY}")
    world.person.choices.allow_search(True)
    assert found(world.person, CANARY)[0]
    assert world.holds(CANARY) == []
    assert world.row(BOB).counts.unseen == 1


def test_a_long_history_is_looked_through_a_part_at_a_time(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    world.person.choices.allow_search(True)
    send(alice, BOB, f"long ago, {CANARY}")
    for number in range(1100):
        message = send(alice, BOB, f"number {number}")
        if number % 50 == 49:
            bob.acknowledge([message.id], through=True)
    bodies, older = found(world.person, CANARY)
    assert bodies == []
    assert older
    assert found(world.person, CANARY, older) == ([f"long ago, {CANARY}"], 0)
    many, older = found(world.person, "number")
    assert len(many) == 50
    assert older
