"""Taking back what was posted to a session: by who proved to have posted it, while it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.exchange.world import World, bodies, send, take

from restante.domain.errors import Forbidden, IllegalStep, MailboxDeleted, MailboxFull, NoSuchMessage
from restante.domain.message import Draft
from restante.domain.overview import Fate

from .conftest import ALICE, BOB

if TYPE_CHECKING:
    from pathlib import Path

    from restante.testing import FakeClock


def test_what_is_taken_back_waits_no_more_and_its_sender_can_learn_it(world: World) -> None:
    bob = world.window(BOB)
    message = send(bob, ALICE, "one")
    send(bob, ALICE, "two")
    trace = bob.withdraw(message.id)
    assert (trace.message_id, trace.to, trace.fate) == (message.id, ALICE, Fate.WITHDRAWN)
    assert bodies(world.window(ALICE)) == ["two"]
    assert bob.receipts([message.id]) == [trace]
    assert bob.withdraw(message.id) == trace


def test_what_was_seen_can_be_taken_back_and_what_was_answered_cannot(world: World) -> None:
    bob, alice = world.window(BOB), world.window(ALICE)
    message = send(bob, ALICE)
    take(alice)
    assert bob.withdraw(message.id).fate is Fate.WITHDRAWN
    message = send(bob, ALICE)
    alice.acknowledge([message.id])
    with pytest.raises(IllegalStep, match="acknowledged"):
        bob.withdraw(message.id)
    assert bob.receipts([message.id])[0].fate is Fate.ACKNOWLEDGED


def test_only_who_posted_it_takes_it_back_and_only_when_proven(world: World) -> None:
    message = send(world.window(BOB), ALICE)
    for other in (world.window(ALICE), world.person):
        with pytest.raises(NoSuchMessage):
            other.withdraw(message.id)
    for claim in (world.claiming(BOB), world.nobody):
        with pytest.raises(Forbidden):
            claim.withdraw(message.id)
    assert bodies(world.window(ALICE)) == ["Look at the parser."]
    own = send(world.person, ALICE, "from a person")
    assert world.person.withdraw(own.id).fate is Fate.WITHDRAWN


def test_another_owner_takes_nothing_back(world: World) -> None:
    world.session("carol-00-1", owner="ann")
    world.session("dave-000-1", owner="ann")
    message = send(world.window("carol-00-1", "ann"), "dave-000-1")
    with pytest.raises(NoSuchMessage):
        world.person.withdraw(message.id)


def test_what_went_with_its_session_is_told_as_that(world: World) -> None:
    message = send(world.window(BOB), ALICE)
    world.person.delete(ALICE)
    with pytest.raises(MailboxDeleted):
        world.window(BOB).withdraw(message.id)


def test_a_full_share_names_the_way_out_that_there_is_and_it_leads_out(tmp_path: Path, clock: FakeClock) -> None:
    world = World(tmp_path, clock, RESTANTE_SESSIONS_MESSAGES="4", RESTANTE_SESSIONS_SHARE="0.5")
    world.session(ALICE)
    bob = world.session(BOB)
    messages = [send(bob, ALICE) for _ in range(2)]
    with pytest.raises(MailboxFull, match="share") as caught:
        bob.post(ALICE, Draft("one more"))
    assert "restante withdraw" in caught.value.remedy
    bob.withdraw(messages[0].id)
    assert bob.post(ALICE, Draft("one more")).counts.pending == 2
    claiming = world.claiming(BOB)
    with pytest.raises(MailboxFull) as caught:
        claiming.post(ALICE, Draft("one more"))
    assert "withdraw" not in caught.value.remedy
    for text in ("1", "2"):
        send(world.person, ALICE, text)
    with pytest.raises(MailboxFull) as caught:
        world.session("carol-00-1").post(ALICE, Draft("one more"))
    assert "withdraw" not in caught.value.remedy
    world.exchange.close()
