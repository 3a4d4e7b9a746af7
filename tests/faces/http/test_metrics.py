"""What a server tells of itself, and what it does about its own faults."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.faces.http.api import Background, eventually, request_bytes

from restante.faces.http import app
from restante.faces.http.logs import Log
from restante.faces.http.metrics import Metrics
from restante.faces.http.routes import Route
from restante.faces.http.waits import Caps, Waiter, Waits
from restante.system.pulse import DataWatcher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faces.http.api import Actor, Api, Running

    from restante.faces.http.asking import Office


def test_a_watcher_that_hears_nothing_is_told_while_somebody_waits() -> None:
    class Deaf:
        age, is_stale = 7.5, True

        def ticks(self, timeout: float | None = None) -> Iterator[None]:
            yield

    waits = Waits(Caps(1, 1, 1))
    metrics = Metrics(waits)
    metrics.listens(Deaf())
    assert b"restante_watcher_stale 0.0" in metrics.text()
    waits.park(Waiter("", "session", is_own=False, wake=lambda _: None))
    assert b"restante_watcher_stale 1.0" in metrics.text()
    assert b"restante_watcher_age_seconds 7.5" in metrics.text()
    plain = Metrics(waits)
    plain.listens(DataWatcher("nowhere"))
    assert b"restante_watcher" not in plain.text()


def test_expiries_are_counted_on_where_mail_moves_elsewhere() -> None:
    metrics = Metrics(Waits(Caps(1, 1, 1)))
    for so_far in (0, 3, 3, 5, 1):
        metrics.expired(so_far)
    assert b"restante_expired_total 6.0" in metrics.text()


def test_the_numbers_follow_what_happens(api: Api, alice: Actor, bob: Actor) -> None:
    def numbers() -> dict[str, float]:
        names = ("posts_total", "acknowledged_total", "duplicates_total", "pending_messages", "unseen_messages")
        return {name: api.metric(f"restante_{name}") for name in names}

    before = numbers()
    first = bob.post(alice, "1", clientMessageId="k").data["message"]["id"]
    bob.post(alice, "1", clientMessageId="k")
    bob.post(alice, "2")
    alice.ack(first)
    after = numbers()
    assert {name: after[name] - before[name] for name in after} == {
        "posts_total": 2,
        "acknowledged_total": 1,
        "duplicates_total": 1,
        "pending_messages": 1,
        "unseen_messages": 1,
    }
    assert api.metric("restante_oldest_unseen_seconds") >= 0


def test_parked_calls_and_sessions_are_told(api: Api, alice: Actor, bob: Actor) -> None:
    own = Background(lambda: alice.read("?wait=60000"))
    other = Background(lambda: bob.read("?wait=60000", of=alice))
    eventually(lambda: api.metric("restante_parked") == 2)
    assert api.metric("restante_parked_sessions") == 1
    bob.post(alice, "x")
    own.result()
    other.result()
    eventually(lambda: api.metric("restante_parked") == 0)


def test_no_label_names_a_session_or_a_text(api: Api, alice: Actor, bob: Actor) -> None:
    bob.post(alice, "canary of a text")
    answer = api.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = answer.body.decode()
    assert alice.id not in text
    assert "canary" not in text
    assert 'route="POST /sessions/{id}/inbox"' in text


def test_what_is_no_http_is_logged_as_json(server: Running, api: Api) -> None:
    with api.connect() as client:
        client.sendall(b"canary\r\n\r\n")
        assert client.recv(65_536).startswith(b"HTTP/1.1 400")
    eventually(lambda: any(one["event"] == "library" for one in server.log))
    assert server.words == []
    assert "canary" not in str(server.log)
    with api.connect() as client:
        client.sendall(request_bytes("GET", "/health"))
        assert client.recv(65_536).startswith(b"HTTP/1.1 200")


def office_with(log: Log, metrics: Metrics) -> Office:
    class Few:
        pass

    few: Any = Few()
    few.log, few.metrics = log, metrics
    return cast("Office", few)


@pytest.mark.parametrize("is_late", [False, True], ids=["before", "within"])
def test_a_fault_of_our_own_is_500_and_logged_by_its_place_alone(is_late: bool) -> None:
    stream = io.StringIO()
    log = Log(stream)
    sent: list[dict[str, Any]] = []

    async def fail(ask: Any) -> None:
        if is_late:
            await ask.send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("canary of a text")

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    metrics = Metrics(Waits(Caps(1, 1, 1)))
    handler = app._Handler(Route("GET", "/x", fail, "Fail", None), office_with(log, metrics))
    scope = {"type": "http", "method": "GET", "path": "/x", "query_string": b"", "headers": []}
    asyncio.run(handler(scope, receive, send))
    log.stop()
    if is_late:
        assert len(sent) == 1
    else:
        assert sent[0]["status"] == 500
        told = json.loads(sent[1]["body"])
        assert (told["success"], told["errorCode"]) == (False, "INTERNAL_ERROR")
        assert "canary" not in str(told)
    (line,) = [json.loads(one) for one in stream.getvalue().splitlines()]
    assert (line["event"], line["error"], line["route"]) == ("fault", "ValueError", "GET /x")
    assert "test_metrics.py:" in line["where"]
    assert "canary" not in stream.getvalue()
    assert b'restante_refusals_total{code="internal"} 1.0' in metrics.text()


def test_libraries_are_not_quoted() -> None:
    stream = io.StringIO()
    log = Log(stream)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        log.take_over(loop)
        logging.getLogger("asyncio").error("Task failed\nfuture: <canary>")
        try:
            raise ValueError("canary")
        except ValueError:
            logging.getLogger("uvicorn.error").exception("Exception in application")
        loop.call_exception_handler({"message": "canary", "exception": KeyError("canary")})
        loop.call_exception_handler({"message": "canary"})

    asyncio.run(run())
    log.stop()
    lines = [json.loads(one) for one in stream.getvalue().splitlines()]
    assert [one["event"] for one in lines] == ["library", "fault", "fault", "fault"]
    assert "canary" not in stream.getvalue()


def test_what_a_person_reads_of_a_log_acts_on_no_terminal_and_forges_no_line() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    log = Log(stream)
    log.say("monitor", words="woke worktree:/\x1b]0;x\x07\n12:00:00 listening \u202e\ud800")
    log.stop()
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().rstrip("\n").isprintable()


def test_a_log_that_takes_nothing_stops_nobody() -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    log = Log(Broken())
    for _ in range(20_000):
        log.say("x")
    log.stop()
