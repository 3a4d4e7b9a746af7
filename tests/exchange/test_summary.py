"""What is told of sessions without a word of their mail: statements 35 to 41."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.exchange.conftest import ALICE, BOB
from tests.exchange.world import send, take

from restante.domain.errors import PersistenceOff
from restante.domain.message import Draft
from restante.domain.overview import Fate, Reason, mutual_waits
from restante.domain.registry import Identity, Presence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.exchange.world import World

CAROL = "ca401000-0000-4000-8000-000000000003"
CANARY = "canary-4711"


def test_s35_a_row_has_pending_unseen_oldest_unseen_and_parked(world: World) -> None:
    alice, first = world.window(ALICE), world.clock.now()
    send(alice, BOB)
    world.clock.advance(60)
    send(alice, BOB)
    row = world.row(BOB)
    assert (row.counts.pending, row.counts.unseen, row.counts.oldest_unseen) == (2, 2, first)
    assert not row.is_parked
    assert world.row(ALICE).counts.pending == 0


def test_a_look_at_one_session_costs_the_same_among_many(world: World) -> None:
    window = world.person
    session = window.find(BOB)

    def cost() -> int:
        calls = 0

        def count(_: object, event: str, __: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        window.row(session)
        sys.setprofile(count)
        try:
            row = window.row(session)
        finally:
            sys.setprofile(None)
        assert row == world.row(BOB)
        return calls

    alone = cost()
    for number in range(200):
        world.session(f"session-{number:08}")
    assert cost() < 2 * alone


def test_s36_no_word_of_mail_is_in_rows_watches_or_receipts(world: World) -> None:
    alice = world.window(ALICE)
    message = alice.post(
        BOB, Draft(f"Text {CANARY}", subject=f"About {CANARY}", conversation=CANARY, client_id=CANARY)
    ).posted.message
    take(world.window(BOB))
    world.window(BOB).acknowledge([message.id], summary=f"Done {CANARY}")
    send(alice, BOB, CANARY)
    told = [alice.sessions(), alice.watch(), alice.receipts(), alice.persistence(), world.exchange.tally()]
    assert CANARY not in repr(told)
    assert CANARY in repr(world.window(BOB).read())


def test_s37_another_owners_sessions_do_not_occur_at_all(world: World) -> None:
    world.session(CAROL, owner="ann", name="carol")
    ann = world.window(CAROL, "ann")
    told = [world.person.sessions(), world.person.watch(), world.person.watch(sessions=[ALICE])]
    assert CAROL not in repr(told)
    assert "carol" not in repr(told)
    assert [row.session.id for row in ann.sessions()] == [CAROL]
    assert world.person.watch(sessions=[CAROL]).gone == (CAROL,)
    assert world.person.watch(sessions=["never-there"]).gone == ("never-there",)


def test_s38_a_post_changes_nothing_of_the_session_itself(world: World) -> None:
    before = world.parts.sessions.session(BOB, ""), world.parts.sessions.tip("")
    send(world.window(ALICE), BOB)
    take(world.window(BOB))
    assert (world.parts.sessions.session(BOB, ""), world.parts.sessions.tip("")) == before


def test_s40_the_oldest_unseen_advances_and_is_none_when_nothing_is_unseen(world: World) -> None:
    alice, bob, start = world.window(ALICE), world.window(BOB), world.clock.now()
    messages = []
    for minute in range(4):
        world.clock.set(start + timedelta(minutes=minute))
        expires = start + timedelta(minutes=30) if minute == 2 else None
        messages.append(alice.post(BOB, Draft("x", expires=expires)).posted.message)
    assert world.row(BOB).counts.oldest_unseen == start
    bob.confirm([messages[0].id])
    assert world.row(BOB).counts.oldest_unseen == start + timedelta(minutes=1)
    bob.acknowledge([messages[1].id])
    assert world.row(BOB).counts.oldest_unseen == start + timedelta(minutes=2)
    world.clock.advance(3600)
    assert world.row(BOB).counts.oldest_unseen == start + timedelta(minutes=3)
    bob.confirm([messages[3].id])
    assert world.row(BOB).counts.unseen == 0
    assert world.row(BOB).counts.oldest_unseen is None


def test_s41_parked_is_the_receivers_own_wait_with_a_grace_and_a_post_ends_it(world: World) -> None:
    bob, now = world.window(BOB), world.clock.now()
    world.exchange.park(BOB, "", now, now + timedelta(seconds=50))
    assert world.row(BOB).is_parked
    assert world.row(BOB).reason is Reason.WAITING_INBOX
    world.clock.advance(54)
    assert world.row(BOB).is_parked
    world.clock.advance(2)
    assert not world.row(BOB).is_parked
    bob.read(wait=0.01)
    assert world.row(BOB).is_parked
    send(world.window(ALICE), BOB)
    assert not world.row(BOB).is_parked


def test_s41_a_dead_waiter_is_not_parked(world: World) -> None:
    now = world.clock.now()
    world.exchange.park(BOB, "", now, now + timedelta(seconds=50))
    world.kill(BOB)
    assert not world.row(BOB).is_parked


def test_the_incident_of_09_23_read_and_dropped_is_not_done(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    send(alice, BOB, "Do the task.")
    bob.turn(has_ended=False)
    take(bob)
    bob.turn(has_ended=True)
    row = next(row for row in alice.sessions() if row.session.id == BOB)
    assert (row.counts.pending, row.counts.unseen, row.is_idle, row.reason) == (1, 0, True, Reason.INBOX_UNACKED)
    assert [trace.fate for trace in alice.receipts()] == [Fate.SEEN]


def test_the_incident_of_09_27_an_idle_worker_with_unread_mail_is_to_be_seen(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    bob.turn(has_ended=True)
    posted = world.clock.now()
    send(alice, BOB)
    world.clock.advance(600)
    row = next(row for row in alice.sessions() if row.session.id == BOB)
    assert (row.counts.unseen, row.counts.oldest_unseen, row.is_parked) == (1, posted, False)
    assert (row.is_idle, row.reason) == (True, Reason.INBOX_UNREAD)


def test_two_sessions_that_wait_for_each_other_are_named(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    send(alice, BOB)
    send(bob, ALICE)
    assert mutual_waits(alice.sessions()) == []
    alice.turn(has_ended=True)
    take(bob)
    bob.read(wait=0.01)
    rows = alice.sessions()
    assert mutual_waits(rows) == [(ALICE, BOB)]
    assert {row.session.id: row.waits_for for row in rows} == {ALICE: (BOB,), BOB: (ALICE,)}


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        ("kill", Reason.EXITED),
        ("block", Reason.BLOCKED),
        ("wait", Reason.WAITING_INBOX),
        ("post", Reason.INBOX_UNREAD),
        ("see", Reason.INBOX_UNACKED),
        ("todo", Reason.OPEN_TODOS),
        ("end", Reason.DONE),
        ("work", None),
    ],
)
def test_s60_reasons_come_in_their_order(world: World, prepare: str, reason: Reason | None) -> None:
    """Each step leaves in place what the later ones have, so that the order of the words is what decides."""
    steps = ["kill", "block", "wait", "post", "see", "todo", "end"]
    wanted = steps[steps.index(prepare) :] if prepare in steps else []
    bob, now = world.window(BOB), world.clock.now()
    if "end" in wanted:
        bob.turn(has_ended=True)
    if "todo" in wanted:
        bob.describe(open_todos=2, total_todos=3)
    if "see" in wanted:
        send(world.window(ALICE), BOB)
        take(bob)
    if "wait" in wanted:
        world.exchange.park(BOB, "", now, now + timedelta(seconds=50))
    elif "post" in wanted:
        send(world.window(ALICE), BOB)
    if "block" in wanted:
        bob.describe(blocked="permission")
    if "kill" in wanted:
        world.kill(BOB)
    assert world.row(BOB).reason is reason


def test_presence_is_proven_here_and_elsewhere_judged_by_silence(world: World) -> None:
    world.session(CAROL, host="elsewhere")
    assert [world.row(one).presence for one in (ALICE, CAROL)] == [Presence.ALIVE, Presence.UNKNOWN]
    world.clock.advance(12 * 3600 + 1)
    assert [world.row(one).presence for one in (ALICE, CAROL)] == [Presence.ALIVE, Presence.DETACHED]
    world.window(CAROL)
    assert world.row(CAROL).presence is Presence.UNKNOWN
    world.window(ALICE).detach()
    assert world.row(ALICE).presence is Presence.DETACHED
    world.kill(ALICE)
    assert world.row(ALICE).presence is Presence.GONE


def test_rows_are_told_where_nothing_can_be_written(world: World) -> None:
    from restante.domain.errors import StorageFailed

    real = world.parts.sessions

    class ReadOnly:
        def __getattr__(self, name: str) -> object:
            if name in {"latch", "detach", "park", "beat", "describe"}:
                raise StorageFailed("read-only")
            return getattr(real, name)

    world.kill(BOB)
    world.parts.turns.sign(ALICE, has_ended=True)
    world.parts.__dict__["sessions"] = ReadOnly()
    rows = {row.session.id: row for row in world.exchange.window(Identity()).sessions()}
    assert rows[BOB].presence is Presence.GONE
    assert rows[ALICE].is_idle


def test_a_wait_that_failed_leaves_nobody_parked(world: World) -> None:
    class Broken:
        def ticks(self, timeout: float | None = None) -> Iterator[None]:
            yield
            raise KeyboardInterrupt

    world.parts.watcher = Broken()
    with pytest.raises(KeyboardInterrupt):
        world.window(BOB).read(wait=60.0)
    assert not world.row(BOB).is_parked
    world.restart(holds_mail=False)
    with pytest.raises(PersistenceOff):
        world.window(BOB).read(wait=60.0)
    assert not world.row(BOB).is_parked
