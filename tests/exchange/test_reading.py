"""Reading, seeing, acknowledging: statements 1 to 18, and what a wait is."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.exchange.conftest import ALICE, BOB
from tests.exchange.world import bodies, send, take

from restante.domain.errors import Forbidden, NoSuchSession, PersistenceOff, UsageError
from restante.domain.lifecycle import Status
from restante.domain.message import Draft
from restante.domain.overview import Fate
from restante.domain.receipt import Action, Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.exchange.world import World

    from restante.domain.overview import Reading


def test_s01_two_reads_return_the_same_messages(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    sent = [send(alice, BOB, f"Order {number}.") for number in range(3)]
    first, second = bob.read(), bob.read()
    assert [entry.message for entry in first.entries] == sent
    assert second == first


def test_s02_a_confirmed_read_makes_mail_seen_and_leaves_it_pending(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    send(alice, BOB)
    send(alice, BOB)
    reading = bob.read()
    assert (reading.counts.pending, reading.counts.unseen, reading.is_peek) == (2, 2, False)
    take(bob)
    counts = bob.read().counts
    assert (counts.pending, counts.unseen) == (2, 0)


def test_s02_reading_alone_marks_nothing_and_a_part_can_be_confirmed(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    first, second = send(alice, BOB), send(alice, BOB)
    bob.read()
    bob.confirm([])
    assert bob.read().counts.unseen == 2
    bob.confirm([second.id])
    assert {entry.message.id: entry.standing.status for entry in bob.read().entries} == {
        first.id: Status.UNSEEN,
        second.id: Status.SEEN,
    }


def test_s03_only_an_acknowledgement_takes_mail_out(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    message = send(alice, BOB)
    for _ in range(3):
        take(bob)
    world.clock.advance(3600)
    assert bodies(bob) == [message.body]
    assert bob.acknowledge([message.id]).removed == 1
    assert bodies(bob) == []


def test_s05_acknowledging_removes_exactly_the_messages_named(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    first, second, third = (send(alice, BOB, text) for text in ("one", "two", "three"))
    cleared = bob.acknowledge([first.id, third.id, first.id])
    assert (cleared.removed, cleared.counts.pending) == (2, 1)
    assert [entry.message.id for entry in bob.read().entries] == [second.id]


def test_s06_acking_an_id_that_is_gone_is_a_success(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    message, other = send(alice, BOB), send(alice, BOB)
    assert bob.acknowledge([message.id]).removed == 1
    assert bob.acknowledge([message.id]).removed == 0
    assert bob.acknowledge(["msg_20260101T000000_01krzx7zy0000000000000000a", message.id, other.id]).removed == 1
    assert bob.acknowledge([other.id]) == bob.acknowledge([other.id])


def test_s06_a_repeated_plain_ack_takes_back_nothing_that_was_said(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    message = send(alice, BOB)
    bob.acknowledge([message.id], decision=Decision.REJECTED, summary="Not mine.")
    bob.acknowledge([message.id])
    (trace,) = alice.receipts([message.id])
    assert (trace.fate, trace.decision) == (Fate.ACKNOWLEDGED, Decision.REJECTED)


def test_a_plain_ack_accepts_and_a_later_word_adds_to_it(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    message = send(alice, BOB)
    bob.acknowledge([message.id])
    bob.acknowledge([message.id], action=Action.APPLIED, summary="Done.")
    (trace,) = alice.receipts()
    assert (trace.decision, trace.action, trace.to, trace.message_id) == (
        Decision.ACCEPTED,
        Action.APPLIED,
        BOB,
        message.id,
    )


def test_through_acknowledges_a_message_and_all_older_ones_and_spares_later_mail(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    _, second, third = (send(alice, BOB, text) for text in ("one", "two", "three"))
    assert bob.acknowledge([second.id], through=True).removed == 2
    assert [entry.message.id for entry in bob.read().entries] == [third.id]
    assert bob.acknowledge([second.id], through=True).removed == 0
    with pytest.raises(UsageError):
        bob.acknowledge([second.id, third.id], through=True)
    with pytest.raises(UsageError):
        bob.acknowledge([])


def test_s07_seen_and_ack_count_only_from_the_receiver(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    message = send(alice, BOB)
    alice.confirm([message.id], BOB)
    world.person.confirm([message.id], BOB)
    assert bob.read().counts.unseen == 1
    bob.confirm([message.id])
    assert bob.read().counts.unseen == 0


@pytest.mark.parametrize("who", ["other", "person", "nobody"])
def test_s08_a_read_by_anybody_else_is_a_peek_and_changes_no_byte(durable: World, who: str) -> None:
    send(durable.window(ALICE), BOB)
    windows = {"other": durable.window(ALICE), "person": durable.person, "nobody": durable.nobody}
    durable.exchange.close()
    before = (durable.data / "mail.db").read_bytes(), durable.row(BOB).counts
    reading = windows[who].read(BOB)
    windows[who].confirm([entry.message.id for entry in reading.entries], BOB)
    windows[who].read(BOB, wait=0.01)
    durable.exchange.close()
    assert reading.is_peek
    assert len(reading.entries) == 1
    assert ((durable.data / "mail.db").read_bytes(), durable.row(BOB).counts) == before


@pytest.mark.parametrize("who", ["other", "person", "nobody"])
def test_s09_an_ack_by_anybody_else_is_forbidden_and_changes_no_byte(durable: World, who: str) -> None:
    message = send(durable.window(ALICE), BOB)
    windows = {"other": durable.window(ALICE), "person": durable.person, "nobody": durable.nobody}
    durable.exchange.close()
    before = (durable.data / "mail.db").read_bytes()
    for through in (False, True):
        with pytest.raises(Forbidden):
            windows[who].acknowledge([message.id], BOB, through=through)
    durable.exchange.close()
    assert (durable.data / "mail.db").read_bytes() == before
    assert durable.window(BOB).read().counts.unseen == 1


def test_s10_a_wait_parks_while_nothing_is_unseen_even_if_seen_mail_is_pending(world: World) -> None:
    send(world.window(ALICE), BOB)
    bob = world.window(BOB)
    take(bob)
    reading = bob.read(wait=0.15)
    assert reading.timed_out
    assert reading.waited >= 0.15


def test_s11_a_wait_with_something_unseen_answers_at_once(world: World) -> None:
    send(world.window(ALICE), BOB)
    reading = world.window(BOB).read(wait=60.0)
    assert not reading.timed_out
    assert reading.waited < 30
    assert len(reading.entries) == 1


def waiting(read: Callable[[], Reading], answers: list[Reading]) -> threading.Thread:
    thread = threading.Thread(target=lambda: answers.append(read()))
    thread.start()
    return thread


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.005)


def test_s12_a_post_of_another_process_releases_a_wait(durable: World) -> None:
    bob = durable.window(BOB)
    answers: list[Reading] = []
    thread = waiting(lambda: bob.read(wait=60.0), answers)
    until(lambda: durable.row(BOB).is_parked)
    other = durable.another()
    send(other.window(durable.window(ALICE).identity), BOB, "Now.")
    thread.join(20)
    other.close()
    assert [entry.message.body for entry in answers[0].entries] == ["Now."]
    assert not answers[0].timed_out


def test_s12_a_post_between_the_look_and_the_wait_is_not_lost(world: World) -> None:
    """The watcher's first tick comes before the first look, so that a change during the look makes it tick again."""
    alice, bob, ticks = world.window(ALICE), world.window(BOB), []
    real = world.parts.watcher

    class Watcher:
        def ticks(self, timeout: float | None = None) -> object:
            for number, tick in enumerate(real.ticks(timeout)):
                yield tick
                ticks.append(number)
                if number == 0:
                    send(alice, BOB, "Between.")

    world.parts.watcher = Watcher()  # type: ignore[assignment]
    reading = bob.read(wait=60.0)
    assert [entry.message.body for entry in reading.entries] == ["Between."]
    assert reading.waited < 30


def test_s14_a_wait_that_times_out_is_told_so_by_its_path_and_returns_unacked_mail_too(world: World) -> None:
    message = send(world.window(ALICE), BOB)
    bob = world.window(BOB)
    take(bob)
    reading = bob.read(wait=0.01)
    assert reading.timed_out
    assert [entry.message.id for entry in reading.entries] == [message.id]
    assert not bob.read().timed_out


def test_s15_a_read_whose_answer_was_lost_marks_nothing_and_costs_nothing(world: World) -> None:
    send(world.window(ALICE), BOB)
    bob = world.window(BOB)
    bob.read(wait=60.0)
    again = bob.read(wait=60.0)
    assert not again.timed_out
    assert again.counts.unseen == 1


def test_s16_deleting_a_session_releases_its_wait_without_a_timeout(durable: World) -> None:
    bob = durable.window(BOB)
    answers: list[Reading] = []
    errors: list[NoSuchSession] = []

    def read() -> Reading:
        try:
            return bob.read(wait=60.0)
        except NoSuchSession as error:
            errors.append(error)
            raise

    thread = waiting(read, answers)
    until(lambda: durable.row(BOB).is_parked)
    other = durable.another()
    other.window(durable.person.identity).delete(BOB)
    thread.join(20)
    other.close()
    assert errors == []
    assert (answers[0].timed_out, answers[0].entries) == (False, ())


def test_s56_detaching_a_session_releases_its_wait_without_a_timeout_and_keeps_its_mail(durable: World) -> None:
    message = send(durable.window(ALICE), BOB)
    take(durable.window(BOB))
    bob = durable.window(BOB)
    answers: list[Reading] = []
    thread = waiting(lambda: bob.read(wait=60.0), answers)
    until(lambda: durable.row(BOB).is_parked)
    other = durable.another()
    other.window(durable.person.identity).detach(BOB)
    thread.join(20)
    other.close()
    assert [(one.timed_out, [entry.message for entry in one.entries]) for one in answers] == [(False, [message])]
    # It may be waited for again: only an end that comes meanwhile releases.
    assert durable.person.read(BOB, wait=0.01).timed_out


def test_s17_one_post_releases_two_waits_of_one_receiver_and_both_carry_it(durable: World) -> None:
    first, second = durable.another(), durable.another()
    answers: list[Reading] = []
    identity = durable.window(BOB).identity
    threads = [
        waiting(lambda place=place: place.window(identity).read(wait=60.0), answers)  # type: ignore[misc]
        for place in (first, second)
    ]
    until(lambda: durable.row(BOB).is_parked)
    message = send(durable.window(ALICE), BOB)
    for thread in threads:
        thread.join(20)
    assert [[entry.message.id for entry in one.entries] for one in answers] == [[message.id], [message.id]]
    for place in (first, second):
        place.window(identity).confirm([message.id])
        place.close()
    assert durable.window(BOB).read().counts.unseen == 0


def test_s18_messages_come_the_oldest_first_whatever_their_priority(world: World) -> None:
    from restante.domain.message import Priority

    alice, bob = world.window(ALICE), world.window(BOB)
    for text, priority in (("one", Priority.LOW), ("two", Priority.HIGH), ("three", Priority.NORMAL)):
        alice.post(BOB, Draft(text, priority=priority))
    assert bodies(bob) == ["one", "two", "three"]


def test_pages_tell_what_they_leave_out_and_together_hold_everything_once(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    for number in range(7):
        send(alice, BOB, str(number))
    after, seen, left = 0, [], []
    while True:
        page = bob.read(after=after, limit=3)
        seen += [entry.message.body for entry in page.entries]
        left.append(page.left_out)
        if not page.left_out:
            break
        after = page.entries[-1].message.number
    assert seen == [str(number) for number in range(7)]
    assert left == [4, 1, 0]
    with pytest.raises(UsageError):
        bob.read(limit=0)


def test_what_a_checkpoint_showed_is_noticed_and_never_seen(world: World) -> None:
    message = send(world.window(ALICE), BOB)
    bob = world.window(BOB)
    bob.confirm([message.id], only_noticed=True)
    (entry,) = bob.read().entries
    assert entry.standing.status is Status.UNSEEN
    assert entry.standing.noticed_at == world.clock.now()


def test_a_wait_for_mail_after_a_number_is_not_ended_by_what_is_older(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    message = send(alice, BOB)
    assert bob.read(wait=0.01, after=message.number).timed_out
    send(alice, BOB)
    assert not bob.read(wait=60.0, after=message.number).timed_out


def test_without_a_place_for_mail_everything_about_mail_names_both_ways_out(world: World) -> None:
    world.restart(holds_mail=False)
    bob = world.window(BOB)
    acts: list[Callable[[], object]] = [
        lambda: send(bob, ALICE),
        bob.read,
        lambda: bob.read(wait=1.0),
        lambda: bob.acknowledge(["x"]),
        bob.receipts,
    ]
    for act in acts:
        with pytest.raises(PersistenceOff) as caught:
            act()
        assert "restante persist on" in caught.value.remedy
        assert "restante serve" in caught.value.remedy
    assert [row.counts.pending for row in bob.sessions()] == [0, 0]
    assert bob.watch().rows
    bob.confirm(["x"])


def test_who_is_no_session_must_say_whose_mail_it_wants(world: World) -> None:
    for window in (world.nobody, world.person):
        with pytest.raises(UsageError):
            window.read()
    with pytest.raises(NoSuchSession, match="unverified"):
        world.claiming("nothing-like-it").read()
