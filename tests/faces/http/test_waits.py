"""Waiting for mail: parked while nothing is unseen, freed at once, bounded, and never at anybody's cost."""

from __future__ import annotations

import socket
import struct
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.faces.http.api import Background, eventually, request_bytes, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.http.api import Actor, Api


def parked(actor: Actor, count: int = 1) -> None:
    """Wait until so many calls are parked in all."""
    eventually(lambda: actor.api.metric("restante_parked") == count, f"{count} parked")


@pytest.fixture(autouse=True)
def nobody_else_waits(api: Api) -> None:
    eventually(lambda: api.metric("restante_parked") == 0)


def waiting(actor: Actor, milliseconds: int = 30_000, of: Actor | None = None) -> Background:
    return Background(lambda: actor.read(f"?wait={milliseconds}", of=of))


def test_s10_a_read_parks_while_nothing_is_unseen_although_mail_is_unacknowledged(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "first")
    alice.read()
    reading = waiting(alice)
    parked(alice)
    assert not reading.is_over
    bob.post(alice, "second")
    answer = reading.result()
    assert [one["text"] for one in answer["messages"]] == ["first", "second"]
    assert answer["timedOut"] is False


def test_s12_a_post_releases_a_parked_read_at_once(alice: Actor, bob: Actor) -> None:
    reading = waiting(alice, 600_000)
    parked(alice)
    bob.post(alice, "now")
    answer = reading.result()
    assert [one["text"] for one in answer["messages"]] == ["now"]
    assert answer["waitedMs"] < 20_000


def test_s12_no_post_is_lost_between_looking_and_parking(api: Api, alice: Actor, bob: Actor) -> None:
    for number in range(60):
        reading = waiting(alice, 20_000)
        message = bob.post(alice, str(number)).data["message"]["id"]
        answer = reading.result()
        assert [one["id"] for one in answer["messages"]] == [message]
        assert answer["timedOut"] is False
        alice.ack(message)


def test_s14_a_timeout_is_200_and_carries_what_is_unacknowledged(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "seen before")
    alice.read()
    answer = alice.ask("GET", f"/sessions/{alice.id}/inbox?wait=1")
    assert answer.status == 200
    assert answer.data["timedOut"] is True
    # Held to its least.
    assert answer.data["waitedMs"] >= 900
    assert [one["text"] for one in answer.data["messages"]] == ["seen before"]


def test_s13_the_fifth_wait_of_a_session_is_409_and_s15_a_hang_up_frees_a_place(alice: Actor, bob: Actor) -> None:
    readings = [waiting(alice) for _ in range(3)]
    leaver = alice.api.connect()
    leaver.sendall(request_bytes("GET", f"/sessions/{alice.id}/inbox?wait=60000", headers=alice.proof))
    parked(alice, 4)
    refused = alice.ask("GET", f"/sessions/{alice.id}/inbox?wait=60000")
    assert (refused.status, refused.word) == (409, "SESSION_BUSY")
    leaver.close()
    parked(alice, 3)
    readings.append(waiting(alice))
    parked(alice, 4)
    bob.post(alice, "to all of them")
    assert {one["text"] for reading in readings for one in reading.result()["messages"]} == {"to all of them"}


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
def test_s15_a_client_that_hangs_up_marks_nothing_seen(alice: Actor, bob: Actor, is_reset: bool) -> None:
    leaver = alice.api.connect()
    leaver.sendall(request_bytes("GET", f"/sessions/{alice.id}/inbox?wait=60000", headers=alice.proof))
    parked(alice)
    if is_reset:
        leaver.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    leaver.close()
    parked(alice, 0)
    bob.post(alice, "for nobody yet")
    assert alice.counts()["unseen"] == 1


def test_s16_deleting_a_session_releases_its_reads(server: Any, api: Api, alice: Actor) -> None:
    reading = waiting(alice)
    parked(alice)
    assert api.ask("DELETE", f"/sessions/{alice.id}", headers=server.person()).status == 200
    answer = reading.result()
    assert (answer["timedOut"], answer["messages"], answer["pending"]) == (False, [], 0)


def test_s56_detaching_releases_reads_and_keeps_mail(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "kept")
    alice.read()
    reading = waiting(alice)
    parked(alice)
    assert alice.ask("DELETE", f"/sessions/{alice.id}?killMux=false").status == 200
    answer = reading.result()
    assert (answer["timedOut"], [one["text"] for one in answer["messages"]]) == (False, ["kept"])
    again = alice.api.ask("POST", "/sessions", {"id": alice.id}, alice.proof)
    assert again.data["session"]["detachedAt"] is None
    assert [one["text"] for one in alice.read()["messages"]] == ["kept"]


def test_s16_stopping_the_server_releases_reads(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        alice = server.api().actor()
        reading = waiting(alice, 600_000)
        parked(alice)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 10
        assert reading.result()["timedOut"] is False


@pytest.mark.parametrize("kept", [0, 3, 120])
def test_a_wait_for_more_than_is_read_at_once_hands_over_whatever_was_kept_before(tmp_path: Path, kept: int) -> None:
    with running(tmp_path, RESTANTE_SESSIONS_MESSAGES="5000", RESTANTE_SESSIONS_SHARE="1") as server:
        api = server.api()
        alice, bob = api.actor(), api.actor()
        for number in range(kept):
            bob.post(alice, f"{number}")
        if kept:
            alice.read()
        reading = waiting(alice)
        parked(alice)
        bob.post(alice, "new")
        answer = reading.result()
        assert [one["text"] for one in answer["messages"]] == [*(f"{number}" for number in range(kept)), "new"]
        assert answer["timedOut"] is False


def test_s17_two_parked_reads_are_both_released_and_both_carry_the_post(alice: Actor, bob: Actor) -> None:
    readings = [waiting(alice), waiting(alice)]
    parked(alice, 2)
    message = bob.post(alice, "one").data["message"]["id"]
    for reading in readings:
        answer = reading.result()
        assert [one["id"] for one in answer["messages"]] == [message]
        assert answer["timedOut"] is False
    assert alice.counts()["unseen"] == 0
    assert alice.counts()["pending"] == 1


def test_s41_only_the_receivers_own_wait_makes_it_parked(alice: Actor, bob: Actor) -> None:
    coordinators = waiting(bob, of=alice)
    parked(alice)
    assert alice.counts()["parked"] is False
    own = waiting(alice)
    parked(alice, 2)
    eventually(lambda: bob.counts(alice)["parked"])
    assert bob.counts(alice)["parkedSince"] is not None
    bob.post(alice, "wake")
    own.result()
    coordinators.result()
    eventually(lambda: not bob.counts(alice)["parked"])


def test_s13_parked_does_not_flicker_between_slices(alice: Actor, bob: Actor) -> None:
    alice.read("?wait=1000")
    between = bob.counts(alice)
    assert between["parked"] is True
    second = waiting(alice)
    parked(alice)
    eventually(lambda: bob.counts(alice)["parkedSince"] == between["parkedSince"], "one spell over two waits")
    # A post ends it at once, also where nobody waits at this moment.
    bob.post(alice, "wake")
    second.result()
    assert bob.counts(alice)["parked"] is False


def test_s13_waits_are_bounded_for_each_owner_and_in_all(tmp_path: Path) -> None:
    with running(tmp_path, RESTANTE_SERVER_WAITS_PER_OWNER="2") as server:
        api = server.api()
        actors = [api.actor() for _ in range(3)]
        readings = [waiting(one) for one in actors[:2]]
        eventually(lambda: api.metric("restante_parked") == 2)
        refused = actors[2].ask("GET", f"/sessions/{actors[2].id}/inbox?wait=60000")
        assert (refused.status, refused.word) == (429, "RATE_LIMITED")
        assert int(refused.headers["retry-after"]) >= 1
        # Looking without waiting, and posting, go on.
        assert actors[2].read()["messages"] == []
        for one in actors[:2]:
            actors[2].post(one, "wake")
        assert all(reading.result()["messages"] for reading in readings)


def test_a_wait_ends_within_its_bounds_whatever_is_asked(alice: Actor) -> None:
    began = time.monotonic()
    answer = alice.read("?wait=1500")
    assert answer["timedOut"] is True
    assert 1.4 <= time.monotonic() - began < 20


def test_a_post_of_another_process_releases_a_parked_read(server: Any, api: Api, alice: Actor) -> None:
    assert api.ask("PUT", "/persistence", {"on": True}, server.person()).data["on"] is True
    try:
        from restante.domain.message import Draft
        from restante.domain.registry import Identity
        from restante.wiring.sessions import open_exchange

        reading = waiting(alice)
        parked(alice)
        exchange = open_exchange({"RESTANTE_DATA": str(server.data), "HOME": str(server.data)})
        exchange.window(Identity(verified=True)).post(alice.id, Draft("from outside"))
        exchange.close()
        answer = reading.result()
        assert [one["text"] for one in answer["messages"]] == ["from outside"]
        assert answer["timedOut"] is False
    finally:
        api.ask("PUT", "/persistence", {"on": False}, server.person())


def test_s58_a_wait_for_something_that_cannot_come_is_400(api: Api) -> None:
    shell = api.actor(mode="shell")
    answer = api.ask("GET", f"/sessions/{shell.id}/wait?until=stop&timeout=1000")
    assert (answer.status, answer.word) == (400, "INVALID_INPUT")
    # From the usual it is left out in silence.
    told = api.ask("GET", f"/sessions/{shell.id}/wait?timeout=1000").data["wait"]
    assert (told["until"], told["timedOut"]) == (["exit"], True)
    assert api.ask("GET", f"/sessions/{shell.id}/wait?until=lunch").status == 400


def test_s58_the_wait_for_a_turn_to_end(api: Api, alice: Actor, bob: Actor) -> None:
    alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": False})
    waiter = Background(lambda: bob.ask("GET", f"/sessions/{alice.id}/wait?until=stop,exit&timeout=30000").data)
    parked(alice)
    alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True})
    told = waiter.result()
    assert (told["sessionId"], told["status"], told["wait"]["signal"]) == (alice.id, "idle", "stop")
    assert (told["wait"]["immediate"], told["wait"]["timedOut"]) == (False, False)
    # It is true already, and so answered at once; with fresh only the next end counts.
    assert bob.ask("GET", f"/sessions/{alice.id}/wait?until=stop").data["wait"]["immediate"] is True
    fresh = Background(lambda: bob.ask("GET", f"/sessions/{alice.id}/wait?until=stop&fresh=1&timeout=30000").data)
    parked(alice)
    alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True})
    assert fresh.result()["wait"]["signal"] == "stop"


def test_s58_the_wait_for_exit_ends_with_the_session(server: Any, api: Api, alice: Actor, bob: Actor) -> None:
    waiter = Background(lambda: bob.ask("GET", f"/sessions/{alice.id}/wait?until=exit&timeout=30000").data)
    parked(alice)
    alice.ask("DELETE", f"/sessions/{alice.id}", headers={})
    told = waiter.result()
    assert (told["wait"]["signal"], told["wait"]["ended"], told["status"]) == ("exit", True, "stopped")


def test_the_wait_for_mail_of_another_session(alice: Actor, bob: Actor) -> None:
    waiter = Background(lambda: bob.ask("GET", f"/sessions/{alice.id}/wait?until=inbox&timeout=30000").data)
    parked(alice)
    bob.post(alice, "hello")
    assert waiter.result()["wait"]["signal"] == "inbox"
