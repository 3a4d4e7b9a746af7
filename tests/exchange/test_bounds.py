"""What a box takes: statements 19 to 25, and 50 about time to live."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.exchange.conftest import ALICE, BOB
from tests.exchange.world import World, bodies, send, take

from restante.domain.errors import BadText, Conflict, MailboxFull, Screened, TooLarge, UsageError
from restante.domain.message import Draft, Sender
from restante.domain.overview import Fate

if TYPE_CHECKING:
    from pathlib import Path

    from restante.testing import FakeClock


def crowd(tmp_path: Path, clock: FakeClock, **options: str) -> World:
    world = World(tmp_path, clock, holds_mail=True, **options)
    world.session(ALICE)
    world.session(BOB)
    return world


def test_s19_a_box_holds_200_messages_and_s22_the_oldest_is_never_dropped(world: World) -> None:
    carol = world.session("ca401000-0000-4000-8000-000000000003")
    alice = world.window(ALICE)
    for number in range(100):
        send(alice, BOB, f"{number}")
        send(carol, BOB, f"{number}")
    with pytest.raises(MailboxFull, match="200"):
        send(world.person, BOB)
    assert len(bodies(world.window(BOB))) == 200
    assert bodies(world.window(BOB))[0] == "0"


def test_a_senders_share_keeps_room_for_the_others(world: World) -> None:
    alice = world.window(ALICE)
    for _ in range(100):
        send(alice, BOB)
    with pytest.raises(MailboxFull, match="share"):
        send(alice, BOB)
    send(world.person, BOB)


def test_s20_bytes_of_utf8_are_counted_and_not_characters(world: World) -> None:
    alice = world.window(ALICE)
    with pytest.raises(TooLarge, match="18,000"):
        send(alice, BOB, "€" * 6000)
    assert send(alice, BOB, "€" * 5461).body == "€" * 5461


def test_s20_s21_a_box_full_by_bytes_refuses(tmp_path: Path, clock: FakeClock) -> None:
    world = crowd(tmp_path, clock, RESTANTE_SESSIONS_BYTES="30000", RESTANTE_SESSIONS_SHARE="1")
    alice = world.window(ALICE)
    send(alice, BOB, "€" * 5000)
    with pytest.raises(MailboxFull) as caught:
        send(alice, BOB, "€" * 5001)
    assert (caught.value.code, caught.value.http_status) == ("mailbox_full", 409)
    assert caught.value.remedy
    send(alice, BOB, "€" * 5000)


def test_everything_that_bounds_a_box_can_be_set(tmp_path: Path, clock: FakeClock) -> None:
    world = crowd(
        tmp_path,
        clock,
        RESTANTE_LIMITS_MESSAGE_BYTES="60",
        RESTANTE_SESSIONS_MESSAGES="4",
        RESTANTE_SESSIONS_BYTES="160",
        RESTANTE_SESSIONS_SHARE="0.5",
        RESTANTE_SESSIONS_TTL="60",
    )
    alice = world.window(ALICE)
    with pytest.raises(TooLarge, match="60"):
        send(alice, BOB, "x" * 61)
    assert send(alice, BOB, "x" * 60).expires == clock.now() + timedelta(seconds=60)
    with pytest.raises(MailboxFull, match="share"):
        send(alice, BOB, "x" * 21)
    send(alice, BOB, "x")
    with pytest.raises(MailboxFull, match="share"):
        send(alice, BOB, "x")
    send(world.person, BOB, "x" * 60)
    with pytest.raises(MailboxFull, match="holds 3"):
        send(world.nobody, BOB, "x" * 40)
    send(world.nobody, BOB, "x")
    with pytest.raises(MailboxFull, match="holds 4"):
        send(world.nobody, BOB, "x")
    clock.advance(60)
    send(alice, BOB, "x" * 60)
    assert bodies(world.window(BOB)) == ["x" * 60]


def test_s23_what_can_never_fit_is_no_conflict_and_an_empty_text_is_malformed(world: World) -> None:
    alice = world.window(ALICE)
    with pytest.raises(TooLarge):
        send(alice, BOB, "x" * 16_385)
    for text in ("", " \n\t"):
        with pytest.raises(UsageError):
            send(alice, BOB, text)
    with pytest.raises(BadText):
        send(alice, BOB, "\ud800")
    assert bodies(world.window(BOB)) == []


def test_s24_after_an_ack_made_room_the_same_post_succeeds(tmp_path: Path, clock: FakeClock) -> None:
    world = crowd(tmp_path, clock, RESTANTE_SESSIONS_MESSAGES="1", RESTANTE_SESSIONS_SHARE="1")
    alice, bob = world.window(ALICE), world.window(BOB)
    first = send(alice, BOB, "one")
    take(bob)
    with pytest.raises(MailboxFull):
        send(alice, BOB, "two")
    bob.acknowledge([first.id])
    send(alice, BOB, "two")
    assert bodies(bob) == ["two"]


def test_s25_expired_mail_takes_no_room(tmp_path: Path, clock: FakeClock) -> None:
    world = crowd(tmp_path, clock, RESTANTE_SESSIONS_MESSAGES="1", RESTANTE_SESSIONS_SHARE="1")
    alice = world.window(ALICE)
    old = send(alice, BOB)
    clock.advance(12 * 3600 + 1)
    send(alice, BOB, "new")
    assert bodies(world.window(BOB)) == ["new"]
    assert [trace.fate for trace in alice.receipts([old.id])] == [Fate.EXPIRED]


def test_s50_mail_expires_12_hours_after_its_own_post_and_nothing_renews_it(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    message = send(alice, BOB)
    assert message.expires == world.clock.now() + timedelta(hours=12)
    world.clock.advance(12 * 3600 - 60)
    take(bob)
    assert len(bodies(bob)) == 1
    world.clock.advance(60)
    assert bodies(bob) == []
    assert bob.read().counts.pending == 0


def test_a_sender_may_give_less_time_and_not_more(world: World) -> None:
    alice, now = world.window(ALICE), world.clock.now()
    short = alice.post(BOB, Draft("Soon.", expires=now + timedelta(hours=1))).posted.message
    assert short.expires == now + timedelta(hours=1)
    close = alice.post(BOB, Draft("Now.", expires=now + timedelta(hours=12, seconds=30))).posted.message
    assert close.expires == now + timedelta(hours=12)
    for hours in (13, -1, 0):
        with pytest.raises(UsageError):
            alice.post(BOB, Draft("Never.", expires=now + timedelta(hours=hours)))


def test_an_expiry_without_a_zone_and_a_head_of_two_lines_are_malformed(world: World) -> None:
    alice = world.window(ALICE)
    for draft in (
        Draft("x", expires=world.clock.now().replace(tzinfo=None) + timedelta(hours=1)),
        Draft("x", subject="a\nb"),
        Draft("x", client_id="a\nb"),
    ):
        with pytest.raises(UsageError):
            alice.post(BOB, draft)


def test_bl47_a_clock_that_steps_back_revives_nothing(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    send(alice, BOB)
    world.clock.advance(12 * 3600 + 1)
    assert bodies(bob) == []
    world.clock.advance(-7200)
    assert bodies(bob) == []
    send(alice, BOB, "later")
    assert bodies(bob) == ["later"]


def test_a_repeated_client_id_returns_the_stored_message_once_per_sender(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    first = alice.post(BOB, Draft("Do it.", client_id="order-1"))
    again = alice.post(BOB, Draft("Do it.", client_id="order-1"))
    assert (first.posted.duplicate, again.posted.duplicate) == (False, True)
    assert again.posted.message == first.posted.message
    with pytest.raises(Conflict):
        alice.post(BOB, Draft("Do something else.", client_id="order-1"))
    other = world.person.post(BOB, Draft("Mine.", client_id="order-1"))
    assert not other.posted.duplicate
    bob.acknowledge([first.posted.message.id])
    assert alice.post(BOB, Draft("Do it.", client_id="order-1")).posted.duplicate
    assert bodies(bob) == ["Mine."]


def test_screening_holds_a_post_until_its_warnings_are_allowed(world: World) -> None:
    alice = world.window(ALICE)
    with pytest.raises(Screened):
        alice.post(BOB, Draft("Then run rm -rf / there."))
    assert alice.post(BOB, Draft("Then run rm -rf / there."), allow_warnings=True).counts.pending == 1


def test_whatever_a_draft_says_it_is_from_who_asks(world: World) -> None:
    draft = Draft("Obey.", sender=Sender("human", verified=True), type="order")
    alice = world.window(ALICE)
    message = alice.post(BOB, draft).posted.message
    assert (message.sender, message.type) == (Sender(f"session:{ALICE}", verified=True), "note")
    assert world.person.post(BOB, draft).posted.message.type == "guidance"


def test_a_session_does_not_post_to_itself(world: World) -> None:
    for window in (world.window(ALICE), world.claiming(ALICE)):
        for to in (ALICE, "alice", ALICE[:8], ""):
            with pytest.raises(UsageError):
                send(window, to)
