"""How long an inbox lives: statements 54 to 57, and upkeep (BL-35)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.exchange.conftest import ALICE, BOB
from tests.exchange.world import bodies, send, take

from restante.domain.errors import Forbidden, NoSuchSession
from restante.domain.message import Draft
from restante.domain.overview import Fate
from restante.domain.registry import Arrival, Presence, Process
from restante.system.bells import WorktreeSessionBell, is_ringing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.exchange.world import World

CAROL = "ca401000-0000-4000-8000-000000000003"
ERIN = "e4170000-0000-4000-8000-000000000005"


def test_s54_deleting_a_session_deletes_its_inbox_and_its_senders_see_that(world: World) -> None:
    alice = world.window(ALICE)
    message = send(alice, BOB)
    assert world.person.delete("bob").id == BOB
    with pytest.raises(NoSuchSession):
        send(alice, BOB)
    with pytest.raises(NoSuchSession):
        alice.read(BOB)
    (trace,) = alice.receipts([message.id])
    assert (trace.fate, trace.to, trace.at) == (Fate.DELETED, BOB, world.clock.now())


def test_s55_s56_detaching_keeps_mail_and_the_same_id_finds_it_again(world: World) -> None:
    alice = world.window(ALICE)
    before = send(alice, BOB, "before")
    assert world.window(BOB).detach().detached == world.clock.now()
    after = alice.post(BOB, Draft("while away"))
    assert after.presence is Presence.DETACHED
    assert after.to.id == BOB
    world.clock.advance(60)
    again = world.session(BOB)
    assert [entry.message.body for entry in again.read().entries] == ["before", "while away"]
    assert again.read().entries[0].message == before
    assert world.row(BOB).presence is Presence.ALIVE


def test_s57_another_id_has_an_empty_inbox_and_so_has_the_same_one_after_a_delete(world: World) -> None:
    send(world.window(ALICE), BOB)
    world.window(BOB).delete(BOB)
    assert bodies(world.session(CAROL)) == []
    assert bodies(world.session(BOB)) == []


def test_a_post_that_lands_beside_a_delete_is_not_told_as_stored(world: World) -> None:
    """The session is deleted after the receiver was looked up and before the post is done."""
    alice, real = world.window(ALICE), world.parts.keeping

    class Late:
        def __getattr__(self, name: str) -> object:
            if name == "held":
                world.parts.sessions.delete(BOB, "", world.clock.now())
            return getattr(real, name)

    world.parts.__dict__["keeping"] = Late()
    with pytest.raises(NoSuchSession):
        send(alice, BOB)
    world.parts.__dict__["keeping"] = real
    assert bodies(world.session(BOB)) == []


def test_a_session_may_be_ended_by_itself_its_parent_or_a_person_and_by_nobody_else(world: World) -> None:
    world.session(CAROL, parent=ALICE)
    with pytest.raises(Forbidden):
        world.window(BOB).delete(CAROL)
    world.window(ALICE).detach(CAROL)
    world.window(ALICE).delete(CAROL)
    world.window(BOB).delete("bob")
    world.person.delete("alice")
    assert world.person.sessions() == []


def test_another_session_cannot_register_in_ones_place_and_keeps_its_secret(world: World) -> None:
    with pytest.raises(Forbidden):
        world.window(ALICE).register(Arrival(BOB, name="mine now"))
    world.nobody.register(Arrival(BOB, secret_digest="0" * 64))
    assert world.window(BOB).identity.session == BOB
    world.session("f0000000-foreign", owner="ann")
    with pytest.raises(NoSuchSession):
        world.nobody.register(Arrival("f0000000-foreign"))


def test_a_mere_claim_neither_ends_a_session_for_good_nor_becomes_its_parent(world: World) -> None:
    """Whoever could, would register in its place under a secret of his own, and be proven to be it."""
    world.session(CAROL, parent=ALICE)
    for window in (world.claiming(CAROL), world.claiming(ALICE)):
        with pytest.raises(Forbidden):
            window.delete(CAROL)
    for window in (world.nobody, world.claiming(CAROL)):
        window.register(Arrival(CAROL, name="carol-2", worktree="/elsewhere", parent=BOB, secret_digest="0" * 64))
    found = world.row(CAROL).session
    assert (found.name, found.worktree, found.parent) == ("", "", ALICE)
    with pytest.raises(Forbidden):
        world.window(BOB).delete(CAROL)
    assert world.window(CAROL).register(Arrival(CAROL, name="carol")).name == "carol"
    world.window(ALICE).delete(CAROL)


def test_bl11_a_second_process_with_the_same_id_takes_nothing_from_the_first(world: World) -> None:
    send(world.window(ALICE), BOB)
    take(world.window(BOB))
    before = world.parts.sessions.session(BOB, "")
    assert before
    after = world.window(BOB).register(Arrival(BOB, process=Process("here", 4711, "later")))
    assert (after.process, after.latch, after.name) == (before.process, before.latch, "bob")
    world.kill(BOB)
    assert world.window(BOB).register(Arrival(BOB, process=Process("here", 4711, "later"))).process == Process(
        "here", 4711, "later"
    )


@pytest.mark.parametrize("hours", [13, 30 * 24])
def test_bl35_a_session_proven_alive_is_never_dropped_however_long_it_was_silent(world: World, hours: int) -> None:
    world.clock.advance(hours * 3600)
    assert world.exchange.upkeep().forgotten == ()
    send(world.window(ALICE), BOB, "Are you there?")
    assert bodies(world.window(BOB)) == ["Are you there?"]


def test_bl35_mail_to_a_dead_session_is_taken_told_as_such_and_expires_to_be_seen_by_its_sender(world: World) -> None:
    alice = world.window(ALICE)
    world.kill(BOB)
    world.exchange.upkeep()
    handed = alice.post(BOB, Draft("Too late?"))
    assert handed.presence is Presence.GONE
    assert handed.posted.message.expires == world.clock.now() + timedelta(hours=12)
    world.clock.advance(12 * 3600)
    (trace,) = alice.receipts()
    assert (trace.fate, trace.at) == (Fate.EXPIRED, handed.posted.message.expires)
    assert world.row(BOB).counts.pending == 0


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A worktree with a mailbox, where a bell can ring."""
    place = tmp_path / "repo"
    (place / ".git").mkdir(parents=True)
    (place / ".codex-mailbox").mkdir()
    return place


def test_the_bell_of_a_worktree_rings_until_nothing_waits_for_any_owners_session_there(
    world: World, repo: Path
) -> None:
    erin = world.session(ERIN, worktree=str(repo))
    world.session(CAROL, owner="ann", worktree=str(repo))
    world.parts.bell = WorktreeSessionBell("here")
    mine = send(world.window(BOB), ERIN)
    theirs = send(world.session("dora-of-ann", owner="ann"), CAROL)
    assert is_ringing(str(repo))
    assert world.exchange.is_awaited(str(repo), "")
    erin.acknowledge([mine.id])
    assert is_ringing(str(repo))
    world.window(CAROL, "ann").acknowledge([theirs.id])
    assert not is_ringing(str(repo))
    assert not world.exchange.is_awaited(str(repo), "")


def test_mail_for_a_session_that_was_detached_keeps_no_bell_ringing(world: World, repo: Path) -> None:
    erin = world.session(ERIN, worktree=str(repo))
    world.session(CAROL, worktree=str(repo)).detach()
    world.parts.bell = WorktreeSessionBell("here")
    mine = send(world.window(BOB), ERIN)
    send(world.window(BOB), CAROL)
    assert is_ringing(str(repo))
    erin.acknowledge([mine.id])
    assert not is_ringing(str(repo))


def test_upkeep_forgets_who_ended_long_ago_and_has_nothing_pending(world: World) -> None:
    alice = world.window(ALICE)
    send(alice, BOB)
    for session in (BOB, CAROL):
        world.session(session)
        world.window(session).detach()
    world.clock.advance(6 * 24 * 3600)
    assert world.exchange.upkeep().forgotten == ()
    world.clock.advance(2 * 24 * 3600)
    cursor = world.person.watch().cursor
    assert world.exchange.upkeep().forgotten == (BOB, CAROL)
    assert set(world.person.watch(cursor).gone) == {BOB, CAROL}
    assert [row.session.id for row in world.person.sessions()] == [ALICE]


def test_upkeep_and_numbers_are_of_every_owner_whatever_accounts_there_are(world: World) -> None:
    world.session(CAROL, owner="ann")
    send(world.session("dora-of-ann", owner="ann"), CAROL)
    assert sum(one.pending for one in world.exchange.tally()) == 1
    world.window(CAROL, "ann").detach()
    world.clock.advance(8 * 24 * 3600)
    assert world.exchange.upkeep().forgotten == (CAROL,)


def test_what_expired_is_counted_and_is_an_event_by_that(world: World) -> None:
    alice = world.window(ALICE)
    cursor = world.person.watch().cursor
    for _ in range(3):
        send(alice, BOB)
    assert world.exchange.expired() == 0
    world.clock.advance(12 * 3600)
    assert world.exchange.expired() == 3
    assert world.exchange.expired() == 3
    assert BOB in [row.session.id for row in world.person.watch(cursor).rows]
