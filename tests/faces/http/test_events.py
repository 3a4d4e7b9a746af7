"""The stream of events."""

from __future__ import annotations

import http.client
import json
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.faces.http.api import PATIENCE, eventually, running

from restante.faces.http import events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.http.api import Actor, Api


class Event(NamedTuple):
    name: str
    data: Any
    id: str


class Stream:
    """Reads events as they come."""

    def __init__(self, api: Api, headers: dict[str, str] | None = None, query: str = "") -> None:
        self._connection = http.client.HTTPConnection(api.host, api.port, timeout=PATIENCE)
        self._connection.request("GET", f"/api/v1/events{query}", headers=headers or {})
        self.response = self._connection.getresponse()
        self.raw = b""

    def __iter__(self) -> Iterator[Event]:
        fields: dict[str, str] = {}
        while line := self.response.readline():
            self.raw += line
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif fields:
                yield Event(fields["event"], json.loads(fields["data"]), fields.get("id", ""))
                fields = {}

    def until(self, name: str, session: str) -> list[Event]:
        found = []
        for event in self:
            found.append(event)
            if event.name == name and session in (event.data.get("sessionId"), event.data.get("id")):
                return found
        raise AssertionError("the stream ended")

    def close(self) -> None:
        self.response.close()
        self._connection.close()


@pytest.fixture
def stream(api: Api) -> Iterator[Stream]:
    one = Stream(api)
    assert next(iter(one)).name == "sse:heartbeat"
    yield one
    one.close()


def test_a_stream_begins_with_where_it_can_go_on(api: Api) -> None:
    one = Stream(api)
    assert one.response.status == 200
    assert one.response.headers["content-type"].startswith("text/event-stream")
    assert one.response.headers["cache-control"] == "no-store"
    first = next(iter(one))
    assert (first.name, set(first.data)) == ("sse:heartbeat", {"t"})
    assert first.id.startswith("w1.")
    one.close()


def test_s38_a_post_is_an_event_of_the_inbox_and_none_of_the_session(stream: Stream, alice: Actor, bob: Actor) -> None:
    stream.until("session:updated", bob.id)
    canary = "canary" + secrets.token_hex(8)
    bob.post(alice, canary)
    for event in stream:
        assert not (event.name == "session:updated" and event.data["id"] == alice.id)
        if event.name == "inbox:changed" and event.data["sessionId"] == alice.id and event.data["pending"]:
            break
    assert (event.data["pending"], event.data["unseen"]) == (1, 1)
    assert canary.encode() not in stream.raw


def test_turns_and_ends_of_sessions_are_events(stream: Stream, server: Any, api: Api, alice: Actor) -> None:
    stream.until("session:updated", alice.id)
    alice.ask("POST", f"/sessions/{alice.id}/turn", {"ended": True})
    while stream.until("session:updated", alice.id)[-1].data["turn"] != 1:
        pass
    api.ask("DELETE", f"/sessions/{alice.id}", headers=server.person())
    stream.until("session:deleted", alice.id)


def test_a_stream_that_was_cut_goes_on_without_a_gap(api: Api, stream: Stream, alice: Actor, bob: Actor) -> None:
    bob.post(alice, "1")
    last = ""
    for event in stream:
        last = event.id or last
        if event.name == "inbox:changed" and event.data["sessionId"] == alice.id and event.data["pending"] == 1:
            break
    stream.close()
    bob.post(alice, "2")
    alice.ask("PATCH", f"/sessions/{alice.id}", {"name": "renamed"})
    for resumed in (Stream(api, {"Last-Event-ID": last}), Stream(api, query=f"?since={last}")):
        found = resumed.until("inbox:changed", alice.id)
        assert found[-1].data["pending"] == 2
        assert [one.data["name"] for one in found if one.name == "session:updated" and one.data["id"] == alice.id] == [
            "renamed"
        ]
        resumed.close()


def test_a_cursor_that_is_none_is_400_in_the_envelope(api: Api) -> None:
    answer = api.ask("GET", "/events", headers={"Last-Event-ID": "not a cursor"})
    assert (answer.status, answer.word) == (400, "INVALID_INPUT")


def test_a_stream_that_ends_frees_its_place(api: Api, alice: Actor) -> None:
    eventually(lambda: api.metric("restante_event_streams") == 0)
    one = Stream(api)
    next(iter(one))
    assert api.metric("restante_event_streams") == 1
    one.close()
    eventually(lambda: api.metric("restante_event_streams") == 0)


def test_a_heartbeat_is_a_real_event_and_comes_often_enough() -> None:
    # Comments are invisible to EventSource, and proxies cut what is silent for a minute.
    assert events.HEARTBEAT_SECONDS == 15.0


@pytest.mark.slow
def test_a_silent_stream_is_kept_alive_by_heartbeats(stream: Stream) -> None:
    assert next(iter(stream)).name in {"sse:heartbeat", "session:updated", "inbox:changed"}
    while next(iter(stream)).name != "sse:heartbeat":
        pass


def test_streams_end_when_the_server_stops(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        one = Stream(server.api())
        next(iter(one))
        assert server.stop() == 0
        assert list(one) == []
        one.close()
