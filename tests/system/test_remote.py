"""A window through a server: what goes wrong on the way is told in our words, and nothing is done twice.

That it answers what the exchange itself answers is what tests/faces/cli/test_both_ways.py plays.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest
from tests.system.fake_server import fake

from restante.domain import errors
from restante.domain.message import Draft
from restante.domain.registry import Claim
from restante.system.remote import RemoteWindow
from restante.system.transport import Transport, place_of

SESSION = "0199bbbb-0000-7000-8000-00000000000b"
WHO = {"owner": "", "session": SESSION, "verified": True, "claimed": None}
STATE = {
    "id": SESSION, "owner": "", "mode": "codex", "name": "worker", "workingDir": "/w", "parentSessionId": None,
    "process": None, "createdAt": 0, "lastActivityAt": 0, "detachedAt": None, "turn": 0, "turnEndedAt": None,
    "turnEndSource": None, "blocked": None, "openTodos": 0, "totalTodos": 0, "event": 1,
}  # fmt: skip
COUNTS = {"pending": 0, "unseen": 0, "oldestUnseenAt": None, "total": 0, "highWater": 0}
EMPTY: dict[str, Any] = {
    **COUNTS, "messages": [], "peek": False, "leftOut": 0, "truncated": False, "timedOut": False, "waitedMs": 0,
}  # fmt: skip
MESSAGE = {
    "id": "msg_20260520T153000_01hzzzzzzzzzzzzzzzzzzzzzzz", "number": 1, "to": SESSION, "from": None,
    "fromKind": "user", "fromVerified": False, "text": "text", "createdAt": 0,
}  # fmt: skip


def test_s39_of_a_server_without_the_numbers_the_rows_say_that_they_are_not_known() -> None:
    with fake(lambda *_: {"sessions": [{**STATE, "presence": "alive", "status": "idle"}]}) as server:
        row = RemoteWindow(server.url, Claim()).sessions()[0]
    assert not row.is_counted
    assert row.reason is None
    # Older servers tell the list bare.
    with fake(lambda *_: [STATE]) as server:
        assert not RemoteWindow(server.url, Claim()).sessions()[0].is_counted


def test_who_asks_goes_along_and_a_secret_never_goes_into_an_address() -> None:
    with fake(lambda *_: {"sessions": []}) as server:
        RemoteWindow(server.url, Claim("5ec3e7", SESSION)).sessions()
        RemoteWindow(server.url.replace("//", "//ada:p%20w@"), Claim("5ec3e7")).sessions()
        RemoteWindow(server.url.replace("//", "//ada:p%20w@"), Claim("5ec3e7", SESSION)).sessions()
        RemoteWindow(server.url, Claim()).sessions()
    one, two, three, four = server.headers
    assert (one["Authorization"], one["X-Restante-Session"]) == ("Bearer 5ec3e7", SESSION)
    assert two["Authorization"] == "Basic YWRhOnAgdw=="
    assert three["Authorization"] == "Bearer 5ec3e7"
    assert "Authorization" not in four
    assert "5ec3e7" not in str(server.asked)


def test_a_lost_answer_to_a_post_is_asked_for_again_under_the_same_client_id() -> None:
    handed = {"message": MESSAGE, "duplicate": False, **COUNTS, "session": STATE, "presence": "alive"}
    with fake(lambda handler, *_: handler.drop() if len(server.asked) == 1 else handed) as server:
        answer = RemoteWindow(server.url, Claim()).post("worker", Draft("text"))
    assert answer.posted.message.client_id == ""
    names = [body["clientMessageId"] for _, _, body in server.asked]
    assert len(names) == 2
    assert names[0] == names[1]
    assert len(names[0]) >= 32


@pytest.mark.parametrize("kind", ["delete", "turn"])
def test_what_must_not_be_done_twice_is_not_asked_for_twice(kind: str) -> None:
    with fake(lambda handler, *_: handler.drop()) as server:
        window = RemoteWindow(server.url, Claim())
        with pytest.raises(errors.Unreachable, match="whether it was done is not known"):
            window.delete("worker") if kind == "delete" else window.turn("worker", has_ended=True)
    assert len(server.asked) == 1


def test_a_safe_call_is_asked_again_once_and_not_for_ever() -> None:
    with fake(lambda handler, *_: handler.drop()) as server:
        with pytest.raises(errors.Unreachable, match="no server answers at http://127"):
            RemoteWindow(server.url, Claim()).sessions()
    assert len(server.asked) == 2


def test_a_connection_that_the_server_let_go_meanwhile_is_made_again() -> None:
    with fake(lambda *_: {"sessions": []}) as server:
        window = RemoteWindow(server.url, Claim())
        window.sessions()
        kept = window._transport._kept
        assert kept
        assert kept.sock
        kept.sock.shutdown(socket.SHUT_RDWR)
        assert window.sessions() == []


def test_bl31_a_server_that_is_down_is_named_with_the_way_to_start_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(errors.Unreachable) as caught:
        RemoteWindow(f"http://ada:secret@127.0.0.1:{port}", Claim()).sessions()
    assert f"http://127.0.0.1:{port}" in caught.value.message
    assert "secret" not in caught.value.message + caught.value.remedy
    assert "restante serve" in caught.value.remedy
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    ("status", "content", "kind"),
    [
        (200, b"<html>It works!</html>", "text/html"),
        (503, b"<html>proxy says no</html>", "text/html"),
        (404, b"404 page not found", "text/plain"),
        (200, b'{"hello": "world"}', "application/json"),
        (200, b"[1, 2]", "application/json"),
        (200, b"[" * 100_000, "application/json"),
        (302, b"", "text/plain"),
    ],
)
def test_something_else_that_answers_there_is_called_so(status: int, content: bytes, kind: str) -> None:
    with fake(lambda handler, *_: handler.give(status, content, kind)) as server:
        with pytest.raises(errors.Unreachable, match="something else than Restante") as caught:
            RemoteWindow(server.url, Claim()).sessions()
    assert server.url in caught.value.message
    assert f"HTTP {status}" in caught.value.message


def test_what_speaks_no_http_is_called_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def talk() -> None:
            for _ in range(2):
                peer, _address = listener.accept()
                with peer:
                    peer.recv(4096)
                    peer.sendall(b"SSH-2.0-none\r\n")

        thread = threading.Thread(target=talk, daemon=True)
        thread.start()
        with pytest.raises(errors.Unreachable, match="no HTTP server of ours"):
            RemoteWindow(f"http://127.0.0.1:{listener.getsockname()[1]}", Claim()).sessions()
        thread.join(timeout=5)


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (401, b"Unauthorized", errors.Unauthorized),
        (403, b"Forbidden: host not allowed", errors.Forbidden),
        (429, b"Too many requests", errors.RateLimited),
        (503, b"Too many clients", errors.Busy),
    ],
)
def test_guards_that_answer_in_plain_words_are_understood(
    status: int, words: bytes, kind: type[errors.RestanteError]
) -> None:
    with fake(lambda handler, *_: handler.give(status, words, "text/plain", Retry_After="7")) as server:
        with pytest.raises(kind) as caught:
            RemoteWindow(server.url, Claim()).sessions()
    assert words.decode() in caught.value.message
    if isinstance(caught.value, errors.RateLimited):
        assert caught.value.retry_after == 7


def test_errors_come_back_as_what_they_were_there() -> None:
    envelope = {
        "success": False, "error": "no session 'x'", "errorCode": "NOT_FOUND", "code": "no_such_session",
        "remedy": "restante ls", "details": [],
    }  # fmt: skip
    with fake(lambda handler, *_: handler.give(404, envelope)) as server:
        with pytest.raises(errors.NoSuchSession, match="no session 'x'") as caught:
            RemoteWindow(server.url, Claim()).post("x-unknown", Draft("text"))
    assert caught.value.remedy == "restante ls"


def test_an_answer_of_another_version_is_called_so() -> None:
    with fake(lambda *_: {"sessions": [{"id": 7}]}) as server:
        with pytest.raises(errors.Unreachable, match="another version"):
            RemoteWindow(server.url, Claim()).sessions()


def test_a_wait_looks_first_and_then_waits_in_slices() -> None:
    def answer(handler: Any, method: str, path: str, body: Any) -> Any:
        if path == "/whoami":
            return WHO
        if len(server.asked) < 4:
            return {**EMPTY, "timedOut": "wait=" in path}
        return {**EMPTY, "pending": 1, "unseen": 1, "messages": [MESSAGE]}

    with fake(answer) as server:
        reading = RemoteWindow(server.url, Claim(), slice_seconds=2.0).read(wait=60)
    paths = [path.partition("?")[2] for _, path, _ in server.asked[1:]]
    assert paths == ["peek=1", "peek=1&wait=2000", "peek=1&wait=2000"]
    assert (len(reading.entries), reading.timed_out) == (1, False)


def test_a_wait_that_is_over_tells_what_is_read_and_not_acknowledged() -> None:
    seen = {**MESSAGE, "seenAt": 5, "status": "seen"}
    answered = {**EMPTY, "pending": 1, "messages": [seen]}
    with fake(lambda _, __, path, ___: WHO if path == "/whoami" else answered) as server:
        reading = RemoteWindow(server.url, Claim()).read(wait=0.3)
    assert (reading.timed_out, len(reading.entries)) == (True, 1)
    # A server that answers waits at once with nothing is not asked without a pause.
    assert len(server.asked) <= 5


def test_slices_stay_below_what_cuts_long_requests() -> None:
    from restante.system import remote

    assert remote.SLICE_SECONDS <= 50


def test_reading_marks_nothing_and_confirming_does() -> None:
    def answer(handler: Any, method: str, path: str, body: Any) -> Any:
        return WHO if path == "/whoami" else COUNTS if path.endswith("/seen") else EMPTY

    with fake(answer) as server:
        window = RemoteWindow(server.url, Claim())
        window.read()
        window.confirm(["msg_a"], only_noticed=True)
        window.confirm([])
    assert server.asked[1][1].endswith(f"/sessions/{SESSION}/inbox?peek=1")
    assert server.asked[2][0] == "POST"
    assert server.asked[2][2] == {"ids": ["msg_a"], "noticed": True}
    assert len(server.asked) == 3


def test_many_ids_go_in_portions_that_a_server_takes() -> None:
    def answer(handler: Any, method: str, path: str, body: Any) -> Any:
        return {"removed": len(body["ids"]), **COUNTS}

    with fake(answer) as server:
        cleared = RemoteWindow(server.url, Claim()).acknowledge([f"msg_{number}" for number in range(450)], "worker")
    assert cleared.removed == 450
    assert [len(body["ids"]) for _, _, body in server.asked] == [200, 200, 50]


def test_text_that_is_none_is_refused_before_it_is_sent() -> None:
    window = RemoteWindow("http://127.0.0.1:1", Claim())
    with pytest.raises(errors.BadText):
        window.post("worker", Draft("a\ud800b"))
    with pytest.raises(errors.UsageError):
        window.post("worker", Draft(" \n"))


@pytest.mark.parametrize("url", ["", "127.0.0.1:8377", "ftp://host", "http://", "http://host:port", "http://[::1"])
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(errors.UsageError, match="no URL"):
        RemoteWindow(url, Claim())


@pytest.mark.parametrize(
    ("url", "is_loopback"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.8.9.1", True),
        ("http://LOCALHOST:1", True),
        ("http://a.localhost", True),
        ("http://[::1]:1", True),
        ("http://[::ffff:127.0.0.1]:1", True),
        ("http://127.0.0.1.example.com", False),
        ("http://localhost.example.com", False),
        ("http://10.0.0.1", False),
    ],
)
def test_what_is_on_this_machine_is_known_by_its_name(url: str, is_loopback: bool) -> None:
    assert place_of(url).is_loopback is is_loopback


def test_bl31_another_machine_is_asked_through_the_proxy_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with fake(lambda *_: {"sessions": []}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//user:pw@"))
        assert RemoteWindow("http://elsewhere.invalid:8377/base", Claim()).sessions() == []
        assert proxy.asked[0][1].startswith("http://elsewhere.invalid:8377/base/api/v1/sessions")
        assert proxy.headers[0]["Proxy-Authorization"].startswith("Basic ")
        monkeypatch.setenv("no_proxy", "10.0.0.0/8,[::1],elsewhere.invalid")
        with pytest.raises(errors.Unreachable, match=r"elsewhere\.invalid"):
            RemoteWindow("http://elsewhere.invalid:8377", Claim()).sessions()
        assert len(proxy.asked) == 1


def test_a_proxy_of_another_kind_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://user:pw@127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(errors.UsageError, match="proxy") as caught:
        RemoteWindow("http://elsewhere.invalid:8377", Claim()).sessions()
    assert "pw" not in caught.value.message


def test_an_endless_answer_ends() -> None:
    started = time.monotonic()

    def answer(handler: Any, *_: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        handler.close_connection = True
        try:
            while time.monotonic() - started < 20:
                handler.wfile.write(b" " * 1_000_000)
        except OSError:
            pass

    with fake(answer) as server:
        with pytest.raises(errors.Unreachable):
            Transport(place_of(server.url), {}).ask("GET", "/sessions")
