"""What must not come further does not, and is told so in the same envelope as everything else."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import eventually, request_bytes, running

from restante.domain.errors import RateLimited
from restante.faces.http.guards import Buckets, host_name, names_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.http.api import Actor, Api, Running


def raw(api: Api, data: bytes) -> bytes:
    """Send bytes and return everything until the server ends the connection."""
    with api.connect() as client:
        client.sendall(data)
        answer = b""
        while part := client.recv(65_536):
            answer += part
    return answer


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "[::2]"])
def test_a_host_that_is_not_ours_is_403(api: Api, host: str) -> None:
    answer = api.ask("GET", "/health", headers={"Host": host})
    assert (answer.status, answer.word) == (403, "FORBIDDEN")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:8377", "[::1]"])
def test_the_names_of_this_machine_are_ours(api: Api, host: str) -> None:
    assert api.ask("GET", "/health", headers={"Host": host}).status == 200


def test_further_names_can_be_set(tmp_path: Path) -> None:
    with running(tmp_path, RESTANTE_SERVER_HOSTS="mail.example, other.example") as server:
        api = server.api()
        assert api.ask("GET", "/health", headers={"Host": "Mail.Example:80"}).status == 200
        assert api.ask("GET", "/health", headers={"Host": "evil.example"}).status == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:1", "file://", "http://127.0.0.1.evil.example"]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_page_of_elsewhere_changes_nothing(api: Api, alice: Actor, origin: str, method: str) -> None:
    answer = alice.ask(method, f"/sessions/{alice.id}", {"name": "taken"}, {"Origin": origin})
    assert (answer.status, answer.word) == (403, "FORBIDDEN")
    assert alice.ask("GET", f"/sessions/{alice.id}", headers={"Origin": origin}).data["name"] == ""


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/events", "/watch?wait=60000", "/sessions"])
def test_a_page_of_elsewhere_takes_no_place_of_those_who_wait(api: Api, site: str, path: str) -> None:
    for mode in ("no-cors", "cors"):
        answer = api.ask("GET", path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
        assert (answer.status, answer.word) == (403, "FORBIDDEN")
    # Whoever follows a link there only sees it.
    told = api.ask("GET", "/sessions", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"})
    assert told.status == 200
    for own in ("same-origin", "none"):
        assert api.ask("GET", "/sessions", headers={"Sec-Fetch-Site": own, "Sec-Fetch-Mode": "cors"}).status == 200


def test_ones_own_origin_and_none_may_change_things(api: Api, alice: Actor, bob: Actor) -> None:
    path = f"/sessions/{alice.id}/inbox"
    own = f"http://{api.host}:{api.port}"
    assert bob.ask("POST", path, {"text": "x"}, {"Origin": own}).status == 200
    assert bob.ask("POST", path, {"text": "x"}).status == 200


def test_a_body_over_the_limit_is_413_before_it_is_read(api: Api, alice: Actor) -> None:
    head = request_bytes("POST", f"/sessions/{alice.id}/inbox").removesuffix(b"\r\n")
    answer = raw(api, head + b"Content-Length: 1000000000\r\nExpect: 100-continue\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"success":false' in answer
    assert b"100 Continue" not in answer


def test_a_body_that_does_not_say_its_length_is_bounded_too(api: Api, alice: Actor) -> None:
    head = request_bytes("POST", f"/sessions/{alice.id}/inbox").removesuffix(b"\r\n")
    chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    answer = raw(api, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 8 + b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"errorCode":"INVALID_INPUT"' in answer


def test_a_text_at_its_cap_may_be_all_escapes(api: Api, alice: Actor) -> None:
    body = b'{"text": "' + rb"\u0001" * 16_384 + b'"}'
    assert api.ask("POST", f"/sessions/{alice.id}/inbox", raw=body).status == 200


@pytest.mark.parametrize(
    "data",
    [
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /api/v1/health HTTP/1.1\r\n\r\n",
        b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
    ],
    ids=["no version", "tls", "two hosts", "no host", "no length"],
)
def test_what_is_no_http_is_refused_in_the_envelope(api: Api, data: bytes) -> None:
    answer = raw(api, data)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b'"success":false' in answer
    assert b"nosniff" in answer


def test_a_head_without_end_is_cut_off(api: Api) -> None:
    with api.connect() as client, contextlib.suppress(ConnectionError):
        client.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX: ")
        for _ in range(1000):
            client.sendall(b"y" * 10_000)
        raise AssertionError("it went on")
    assert api.ask("GET", "/health").status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/", 404),
        ("GET", "/", 404),
        ("GET", "/api/v1/sessions/", 404),
        ("GET", "/api/v1/sessions/a/b/c", 404),
        ("DELETE", "/api/v1/health", 405),
        ("HEAD", "/api/v1/health", 405),
        ("OPTIONS", "/api/v1/sessions", 405),
        ("TRACE", "/api/v1/sessions", 405),
        ("BREW", "/api/v1/sessions", 405),
        ("GET", "/api/v1/sessions?%ff", 400),
    ],
)
def test_every_error_is_in_the_envelope_with_the_same_headers(api: Api, method: str, path: str, status: int) -> None:
    answer = api.ask(method, path) if path.startswith("/api") else raw_get(api, path)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["x-frame-options"] == "DENY"
    assert "server" not in answer.headers
    if method != "HEAD":
        assert set(answer.document) == {"success", "error", "errorCode", "code", "remedy", "details"}


def raw_get(api: Api, path: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
    import http.client

    from tests.faces.http.api import Answer

    connection = http.client.HTTPConnection(api.host, api.port, timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    answer = Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    connection.close()
    return answer


def test_the_unversioned_paths_are_the_same(api: Api, alice: Actor) -> None:
    assert alice.ask("GET", "/api/sessions").body == alice.ask("GET", "/api/v1/sessions").body


def test_too_many_requests_of_one_caller_are_429_and_another_goes_on(tmp_path: Path) -> None:
    with running(tmp_path, RESTANTE_SERVER_RATE="2") as server:
        api = server.api()
        alice = api.actor()
        answers = [alice.ask("GET", "/whoami") for _ in range(30)]
        limited = [one for one in answers if one.status == 429]
        assert limited
        assert limited[0].word == "RATE_LIMITED"
        assert int(limited[0].headers["retry-after"]) >= 1
        assert limited[0].document["retryAfter"] >= 1
        assert api.ask("GET", "/whoami", headers={"Authorization": "Bearer another"}).status == 200
        # Who calls itself something else each time is one address all the same.
        statuses = {
            api.ask("GET", "/whoami", headers={"X-Restante-Session": f"invented-{number}"}).status
            for number in range(250)
        }
        assert 429 in statuses


def test_a_bucket_fills_with_time_and_only_so_far() -> None:
    now = [0.0]
    buckets = Buckets(1.0, 3, lambda: now[0], "things")
    for _ in range(3):
        buckets.check("a")
    with pytest.raises(RateLimited) as raised:
        buckets.check("a")
    assert raised.value.retry_after == 1
    buckets.check("b")
    now[0] = 1.0
    buckets.check("a")
    with pytest.raises(RateLimited):
        buckets.check("a")
    now[0] = 1000.0
    for _ in range(3):
        buckets.check("a")
    with pytest.raises(RateLimited):
        buckets.check("a")
    # A clock that stands still or is set back gives nothing, and takes nothing.
    now[0] = 999.0
    with pytest.raises(RateLimited):
        buckets.check("a")


def test_callers_without_number_do_not_fill_the_memory() -> None:
    buckets = Buckets(1.0, 2, lambda: 0.0, "things")
    for number in range(20_000):
        buckets.check(number)
    assert len(buckets._buckets) <= 4096


@pytest.mark.parametrize(
    ("header", "name"),
    [(b"Localhost:80", "localhost"), (b"[::1]:80", "::1"), (b"[::1]", "::1"), (b"a.b", "a.b"), (b"", "")],
)
def test_the_name_in_a_host_header(header: bytes, name: str) -> None:
    assert host_name(header) == name


def test_names_are_given_by_comma() -> None:
    assert names_of("A.example,[fe80::1], ", "") == {"localhost", "127.0.0.1", "::1", "a.example", "fe80::1"}


def test_a_refusal_is_counted_by_its_code(api: Api, server: Running) -> None:
    def count() -> float:
        text = api.ask("GET", "/metrics").body.decode()
        lines = [line for line in text.splitlines() if line.startswith('restante_refusals_total{code="forbidden"}')]
        return float(lines[0].split()[1]) if lines else 0.0

    before = count()
    api.ask("GET", "/health", headers={"Host": "evil.example"})
    eventually(lambda: count() == before + 1)
