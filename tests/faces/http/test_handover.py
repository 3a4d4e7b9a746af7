"""A lost answer costs nothing: mail is seen only once its reader took it."""

from __future__ import annotations

import json
import socket
import struct
from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import eventually, request_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faces.http.api import Actor, Api

LARGE = "x" * 16_000


def reset(client: socket.socket) -> None:
    """End a connection as a crash does."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def sent(alice: Actor, query: str = "", **headers: str) -> socket.socket:
    client = alice.api.connect()
    client.sendall(request_bytes("GET", f"/sessions/{alice.id}/inbox{query}", headers={**alice.proof, **headers}))
    return client


def answered(client: socket.socket) -> None:
    """Wait until an answer is there, and leave it there."""
    assert client.recv(1, socket.MSG_PEEK)


def closed_at_once(alice: Actor) -> None:
    sent(alice).close()


def reset_at_once(alice: Actor) -> None:
    reset(sent(alice))


def closed_with_the_answer_unread(alice: Actor) -> None:
    client = sent(alice)
    answered(client)
    client.close()


def reset_with_the_answer_unread(alice: Actor) -> None:
    client = sent(alice)
    answered(client)
    reset(client)


def closed_after_half_of_it(alice: Actor) -> None:
    client = sent(alice)
    answered(client)
    client.recv(200)
    client.close()


def closed_unread_on_a_connection_that_was_to_end(alice: Actor) -> None:
    client = sent(alice, Connection="close")
    answered(client)
    client.close()


def released_and_then_lost(alice: Actor) -> None:
    client = sent(alice, "?wait=60000")
    answered(client)
    client.close()


LOSSES = [
    closed_at_once,
    reset_at_once,
    closed_with_the_answer_unread,
    reset_with_the_answer_unread,
    closed_after_half_of_it,
    closed_unread_on_a_connection_that_was_to_end,
    released_and_then_lost,
]


@pytest.mark.parametrize("size", [10, len(LARGE)], ids=["short", "long"])
@pytest.mark.parametrize("lose", LOSSES)
def test_a_lost_answer_leaves_mail_unseen_and_the_next_wait_answers_at_once(
    alice: Actor, bob: Actor, lose: Callable[[Actor], None], size: int
) -> None:
    for _ in range(3):
        assert bob.post(alice, LARGE[:size]).status == 200
    for _ in range(5):
        lose(alice)
        assert alice.counts()["unseen"] == 3
    reading = alice.read("?wait=60000")
    assert (len(reading["messages"]), reading["timedOut"]) == (3, False)
    assert alice.counts()["unseen"] == 0


def test_an_answer_that_nobody_takes_leaves_mail_unseen(api: Api, alice: Actor) -> None:
    # Far more than the buffers on both sides hold.
    for writer in (api.actor() for _ in range(2)):
        for _ in range(32):
            assert writer.post(alice, LARGE).status == 200
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((api.host, api.port))
    with client:
        client.sendall(request_bytes("GET", f"/sessions/{alice.id}/inbox", headers=alice.proof))
        answered(client)
        client.recv(2000)
        assert alice.counts()["unseen"] == 64
    assert alice.counts()["unseen"] == 64


def test_mail_is_seen_by_whoever_asks_next_once_the_answer_was_read(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    # The connection stays open, so that nothing but the answer having been read tells.
    with sent(alice) as client:
        text = b""
        while b'"waitedMs"' not in text:
            text += client.recv(65_536)
        assert json.loads(text.partition(b"\r\n\r\n")[2])["data"]["unseen"] == 1
        assert bob.counts(alice)["unseen"] == 0


def test_mail_is_seen_after_a_moment_although_nobody_asks(api: Api, alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    before = api.metric("restante_handed_over_total")
    with sent(alice) as client:
        client.recv(65_536)
        # Reading metrics settles it as well; what counts is that it is settled at all on a connection that stays.
        eventually(lambda: api.metric("restante_handed_over_total") == before + 1)


def test_a_lost_answer_is_counted(api: Api, alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    before = api.metric("restante_answers_lost_total")
    closed_with_the_answer_unread(alice)
    eventually(lambda: api.metric("restante_answers_lost_total") == before + 1)


def test_of_many_readers_one_that_read_is_enough(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    closed_with_the_answer_unread(alice)
    alice.read()
    closed_with_the_answer_unread(alice)
    assert alice.counts()["unseen"] == 0


def test_a_client_that_ends_the_connection_with_its_request_is_served(alice: Actor, bob: Actor) -> None:
    bob.post(alice, "hello")
    answer = alice.ask("GET", f"/sessions/{alice.id}/inbox", headers={"Connection": "close"})
    assert [one["text"] for one in answer.data["messages"]] == ["hello"]
    assert alice.counts()["unseen"] == 0
