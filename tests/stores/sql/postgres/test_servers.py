"""Several servers of ours on one PostgreSQL database: mail and waits pass between them, and one may die."""

from __future__ import annotations

import signal
import statistics
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from tests import postgres
from tests.faces.http.api import Actor, Background, eventually, running
from tests.stores.sql.postgres.relay import Relay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.http.api import Api, Running
    from tests.postgres import Server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(postgres.reason_to_skip()), reason=postgres.reason_to_skip()),
]

_RATE = {"RESTANTE_SERVER_RATE": "100000"}


@pytest.fixture
def servers(tmp_path: Path, postgres_url: str) -> Iterator[tuple[Running, Running]]:
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(running(tmp_path / name, RESTANTE_DATABASE_URL=postgres_url, **_RATE))
            for name in ("one", "other")
        )
        yield one, other


def at(api: Api, actor: Actor) -> Actor:
    """Return the same session, asking another server."""
    return Actor(api, actor.id, actor.secret)


def parked(actor: Actor, count: int = 1) -> None:
    eventually(lambda: actor.api.metric("restante_parked") == count, f"{count} parked")


def insist(actor: Actor, to: Actor, text: str) -> str:
    """Post until it is told as stored, and return the id; only errors to try again after may come between."""
    while True:
        answer = actor.post(to, text, clientMessageId=text)
        if answer.status == 200:
            return str(answer.data["message"]["id"])
        assert answer.status == 503, answer
        assert answer.document["error"]
        time.sleep(0.02)


def patiently(actor: Actor) -> list[str]:
    """Wait for mail, again when told to try again, and return the texts that came."""
    while True:
        answer = actor.ask("GET", f"/sessions/{actor.id}/inbox?wait=60000")
        if answer.status == 200:
            return [str(message["text"]) for message in answer.data["messages"]]
        assert answer.status == 503, answer
        time.sleep(0.02)


def test_a_wait_on_one_server_is_freed_by_a_post_on_the_other(servers: tuple[Running, Running]) -> None:
    one, other = (server.api() for server in servers)
    alice, bob = one.actor("alice"), other.actor("bob")
    woken = []
    for number in range(20):
        reading = Background(lambda: (alice.read("?wait=30000"), time.monotonic()))
        parked(alice)
        bob.post(at(other, alice), str(number))
        posted = time.monotonic()
        answer, freed = reading.result()
        assert [message["text"] for message in answer["messages"]] == [str(number)]
        assert not answer["timedOut"]
        woken.append(freed - posted)
        alice.ack(answer["messages"][0]["id"])
        parked(alice, 0)
    # Far from the fallback of some seconds: it was heard of.
    assert statistics.median(woken) < 1
    rows = {row["name"]: row for row in other.ask("GET", "/sessions", headers=bob.proof).data["sessions"]}
    assert {"alice", "bob"} <= set(rows)


def test_killing_one_server_loses_nothing(servers: tuple[Running, Running]) -> None:
    one, other = (server.api() for server in servers)
    alice, bob = one.actor(), one.actor()
    stored: dict[str, str] = {}

    def post() -> None:
        for number in range(10_000):
            try:
                answer = bob.post(alice, f"m{number}", clientMessageId=f"m{number}")
            except OSError:
                return
            if answer.status == 409:
                return
            stored[answer.data["message"]["id"]] = f"m{number}"

    posting = threading.Thread(target=post)
    posting.start()
    eventually(lambda: len(stored) > 20)
    servers[0].stop(signal.SIGKILL)
    posting.join(30)
    found = {message["id"]: message["text"] for message in at(other, alice).read("?limit=500")["messages"]}
    assert stored.items() <= found.items()
    assert len(found) <= len(stored) + 1
    assert sorted(found.values()) == sorted(set(found.values()))
    # The other one goes on, and a repeat finds what was stored.
    again = at(other, bob).post(at(other, alice), "m0", clientMessageId="m0").data
    assert again["duplicate"]
    assert at(other, bob).post(at(other, alice), "on").status == 200


def test_a_database_restarted_under_load_gives_errors_to_try_again_after_and_then_goes_on(tmp_path: Path) -> None:
    with postgres.running() as database, running(tmp_path, RESTANTE_DATABASE_URL=database.url(), **_RATE) as server:
        api = server.api()
        alice, bob = api.actor(), api.actor()
        reading = Background(lambda: patiently(alice))
        parked(alice)
        database.restart("immediate")
        ids = [insist(bob, alice, f"m{number}") for number in range(10)]
        assert reading.result()[0] == "m0"
        for number in range(10, 60):
            if number == 30:
                threading.Thread(target=database.restart, args=("fast",)).start()
            ids.append(insist(bob, alice, f"m{number}"))
        texts = [message["text"] for message in alice.read("?limit=200")["messages"]]
        assert texts == [f"m{number}" for number in range(60)]
        assert len(set(ids)) == 60
        eventually(lambda: database.process is not None)


def test_a_lost_primary_is_replaced_and_waits_are_parked_again(tmp_path: Path) -> None:
    from tests.stores.sql.postgres.test_failover import pair

    with pair() as (primary, standby):
        url = primary.url("postgres", standby)
        with running(tmp_path, RESTANTE_DATABASE_URL=url, **_RATE) as server:
            api = server.api()
            alice, bob = api.actor(), api.actor()
            ids = [insist(bob, alice, f"m{number}") for number in range(20)]
            alice.ack(*ids)
            reading = Background(lambda: patiently(alice))
            parked(alice)
            primary.stop("kill")
            standby.promote()
            ids.append(insist(bob, alice, "after"))
            assert reading.result() == ["after"]
            traces = api.ask("GET", "/receipts?limit=100", headers=bob.proof)
            assert traces.status == 200
            assert {one["messageId"] for one in traces.data["receipts"]} == set(ids)


def test_bl25_a_server_in_a_black_hole_frees_its_waits_by_looking_and_stops_in_time(
    tmp_path: Path, postgres_server: Server, postgres_url: str
) -> None:
    with Relay(postgres_server.port) as relay, ExitStack() as stack:
        through = f"postgresql://restante@127.0.0.1:{relay.port}/{postgres_url.rpartition('/')[2]}"
        one = stack.enter_context(running(tmp_path / "one", RESTANTE_DATABASE_URL=postgres_url, **_RATE)).api()
        server = stack.enter_context(running(tmp_path / "two", RESTANTE_DATABASE_URL=through, **_RATE))
        other = server.api()
        alice, bob = other.actor(), one.actor()
        reading = Background(lambda: patiently(alice))
        parked(alice)
        relay.swallow()
        bob.post(at(one, alice), "through the hole")
        assert reading.result() == ["through the hole"]
        relay.swallow(new_ones_too=True)
        began = time.monotonic()
        server.stop(signal.SIGTERM)
        assert time.monotonic() - began < 20
