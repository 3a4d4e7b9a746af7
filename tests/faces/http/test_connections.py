"""Clients that are slow, silent or many do not stop a server."""

from __future__ import annotations

import resource
import time
from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import eventually, request_bytes

from restante.faces.http import connections

if TYPE_CHECKING:
    import socket

    from tests.faces.http.api import Actor, Api, Running

SLOWEST = connections.BODY_SECONDS + 2 * connections.SWEEP_SECONDS + 10


def is_ended(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(65_536) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


@pytest.mark.slow
def test_a_client_that_sends_its_head_byte_by_byte_is_cut_off(api: Api) -> None:
    client = api.connect()
    began = time.monotonic()
    data = request_bytes("GET", "/health", headers={"X": "y" * 10_000})
    for place in range(len(data)):
        try:
            client.send(data[place : place + 1])
        except OSError:
            break
        if is_ended(client):
            break
        client.setblocking(True)
        assert time.monotonic() - began < SLOWEST
        time.sleep(0.5)
    client.close()


@pytest.mark.slow
def test_a_client_that_sends_nothing_or_half_a_body_is_cut_off(api: Api, alice: Actor) -> None:
    silent = api.connect()
    half = api.connect()
    half.sendall(request_bytes("POST", f"/sessions/{alice.id}/inbox", body=b'{"text": "x"}')[:-5])
    for client in (silent, half):
        end = time.monotonic() + SLOWEST
        while not is_ended(client):
            assert time.monotonic() < end
            time.sleep(0.1)
        client.close()
    assert api.ask("GET", "/health").status == 200


def test_a_client_that_keeps_its_connection_is_served_again(api: Api) -> None:
    with api.connect() as client:
        for _ in range(3):
            client.sendall(request_bytes("GET", "/health"))
            answer = b""
            while b'"version"' not in answer:
                answer += client.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200")


def test_two_requests_at_once_on_one_connection_are_both_answered(api: Api) -> None:
    with api.connect() as client:
        client.sendall(request_bytes("GET", "/health") * 2)
        answer = b""
        while answer.count(b"HTTP/1.1 200") < 2:
            answer += client.recv(65_536)


@pytest.mark.slow
def test_idle_connections_without_number_do_not_stop_it_serving(server: Running, api: Api, bob: Actor) -> None:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(10_000, files - 200)
    # One that waits for its mail must not be among those that have to go.
    alice = api.actor()
    waiter = api.connect()
    waiter.sendall(request_bytes("GET", f"/sessions/{alice.id}/inbox?wait=600000", headers=alice.proof))
    eventually(lambda: api.metric("restante_parked") == 1)
    idle: list[socket.socket] = []
    try:
        for number in range(wanted):
            idle.append(api.connect())
            if number % 1000 == 0:
                assert api.ask("GET", "/health").status == 200
        assert api.ask("GET", "/health").status == 200
        assert bob.post(alice, "still here").status == 200
        assert b"still here" in waiter.recv(65_536)
        with open(f"/proc/{server.process.pid}/statm") as file:
            pages = int(file.read().split()[1])
        assert pages * resource.getpagesize() < 400_000_000
    finally:
        for one in [*idle, waiter]:
            one.close()
    assert api.ask("GET", "/health").status == 200
